//! Comparing pages and values: cases with their answers, properties of any input, and bounds.

mod apply;
mod bounds;
mod diffs;
mod properties;
mod status;
mod values;
