//! Properties of any input: nothing panics, keys are stable, everything is bounded.

mod bounds;
mod properties;
