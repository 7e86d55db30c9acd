//! Tesseract on images that are drawn here.
#![expect(clippy::expect_used, reason = "helpers of tests fail the test")]

mod hostile;
mod pages;
mod paper;
mod pictures;
