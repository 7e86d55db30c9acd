//! Comparing pages and values: cases with their answers, properties of any input, and bounds.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test stops when it cannot go on")]

mod apply;
mod bounds;
mod diffs;
mod properties;
mod status;
mod values;
mod volatile;
