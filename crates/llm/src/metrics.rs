//! Metrics of this crate.

use std::time::Duration;

use metrics::{counter, histogram};

use crate::ask::{Role, Usage};
use crate::error::AskError;

/// Counter of calls that were sent, by `role`.
const CALLS: &str = "quarry_model_calls_total";
/// Time of a call, by `role`.
const SECONDS: &str = "quarry_model_seconds";
/// Counter of tokens by `role` and `direction`: `in` or `out`.
const TOKENS: &str = "quarry_model_tokens_total";
/// Counter of questions without an answer, by `role` and `reason`.
const FAILURES: &str = "quarry_model_failures_total";

pub(crate) fn called(role: Role, time: Duration) {
    counter!(CALLS, "role" => role.word()).increment(1);
    histogram!(SECONDS, "role" => role.word()).record(time.as_secs_f64());
}

pub(crate) fn used(role: Role, usage: Usage) {
    counter!(TOKENS, "role" => role.word(), "direction" => "in").increment(usage.input);
    counter!(TOKENS, "role" => role.word(), "direction" => "out").increment(usage.output);
}

pub(crate) fn failed(role: Role, error: &AskError) {
    counter!(FAILURES, "role" => role.word(), "reason" => error.word()).increment(1);
}
