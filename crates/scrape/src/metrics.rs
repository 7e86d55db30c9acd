//! What is counted here.

use metrics::counter;

/// Steps taken to pages, by `engine` and `reason`: `first`, what was asked for that needs the engine, or what was lacking
/// after the step before.
const STEPS: &str = "quarry_fetch_steps_total";

pub(crate) fn step(engine: &'static str, reason: &'static str) {
    counter!(STEPS, "engine" => engine, "reason" => reason).increment(1);
}
