//! Whole pages and samples in, branding out.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod contract;
mod pages;
mod properties;
