//! Tests of the formats of whole pages.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cases;
mod hostile;
mod pages;
mod properties;
