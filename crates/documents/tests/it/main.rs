//! What a reader sees on paper, and what is read.
#![expect(clippy::expect_used, reason = "helpers of tests fail the test")]

mod contract;
mod fonts;
mod hostile;
mod layout;
mod paper;
mod tables;
