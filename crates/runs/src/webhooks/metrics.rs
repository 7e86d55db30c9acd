//! Metrics of webhook deliveries.

use std::time::Duration;

use metrics::{counter, histogram};

/// Attempts at webhook deliveries by `result`: `delivered`, `retried`, or `failed` for good.
const WEBHOOKS: &str = "quarry_webhook_attempts_total";
/// Duration of webhook delivery attempts, in seconds.
const WEBHOOK_SECONDS: &str = "quarry_webhook_seconds";

pub(super) fn attempt(result: &'static str, took: Duration) {
    counter!(WEBHOOKS, "result" => result).increment(1);
    histogram!(WEBHOOK_SECONDS).record(took.as_secs_f64());
}
