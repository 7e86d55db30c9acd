//! Properties of any input: nothing panics, keys are stable, everything is bounded; and cases with their answers.

mod bounds;
mod properties;
mod robots_cases;
