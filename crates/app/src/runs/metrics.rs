//! Names of the metrics of runs and webhooks, in one place.

use std::time::Duration;

use metrics::{counter, gauge, histogram};

/// Pages of crawls and batches that this process works on.
const PAGES_IN_WORK: &str = "quarry_pages_in_work";
/// Attempts at webhook deliveries by `result`: `delivered`, `retried`, or `failed` for good.
const WEBHOOKS: &str = "quarry_webhook_attempts_total";
/// Duration of webhook delivery attempts, in seconds.
const WEBHOOK_SECONDS: &str = "quarry_webhook_seconds";

/// Guard that counts a page in progress.
pub(crate) struct PageInWork(());

impl PageInWork {
    pub(crate) fn begin() -> Self {
        gauge!(PAGES_IN_WORK).increment(1.0);
        Self(())
    }
}

impl Drop for PageInWork {
    fn drop(&mut self) {
        gauge!(PAGES_IN_WORK).decrement(1.0);
    }
}

pub(crate) fn webhook_attempt(result: &'static str, took: Duration) {
    counter!(WEBHOOKS, "result" => result).increment(1);
    histogram!(WEBHOOK_SECONDS).record(took.as_secs_f64());
}
