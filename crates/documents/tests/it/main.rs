//! Comparison of what a PDF shows with what the reader extracts.
#![expect(clippy::expect_used, reason = "helpers of tests fail the test")]

mod contract;
mod detection;
mod fonts;
mod hostile;
mod layout;
#[cfg(feature = "office")]
mod office;
mod packages;
mod paper;
mod reading;
mod recognised;
#[cfg(feature = "office")]
mod repairs;
mod tables;
#[cfg(feature = "office")]
mod values;
