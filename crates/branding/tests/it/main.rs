//! Tests of the branding of whole pages and samples.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod contract;
mod pages;
mod properties;
