//! Metrics of this crate.

use metrics::counter;

/// Counter of fetch steps by `engine` and `reason`: `first`, the option that needs the engine, or the shortcoming of
/// the step before.
const STEPS: &str = "quarry_fetch_steps_total";

pub(crate) fn step(engine: &'static str, reason: &'static str) {
    counter!(STEPS, "engine" => engine, "reason" => reason).increment(1);
}
