//! Names of this crate's metrics, in one place.

use std::time::Duration;

use metrics::{counter, gauge, histogram};

/// Finished scrapes by `result`: `ok`, or the kind of failure.
const SCRAPES: &str = "quarry_scrapes_total";
/// Time of pages of crawls and batches, from fetch to document.
const PAGE_SECONDS: &str = "quarry_page_seconds";
/// Pages of crawls and batches that this process works on.
const PAGES_IN_WORK: &str = "quarry_pages_in_work";
/// Cache look-ups by `state`: `hit` or `miss`. Requests that do not consult the cache are not counted.
const CACHE_LOOKUPS: &str = "quarry_cache_lookups_total";
/// Credits charged to teams.
const CREDITS: &str = "quarry_credits_total";
/// Attempts at webhook deliveries by `result`: `delivered`, `retried`, or `failed` for good.
const WEBHOOKS: &str = "quarry_webhook_attempts_total";
/// Duration of webhook delivery attempts, in seconds.
const WEBHOOK_SECONDS: &str = "quarry_webhook_seconds";

pub(crate) fn scraped(result: &'static str) {
    counter!(SCRAPES, "result" => result).increment(1);
}

/// Records the duration of one page of a crawl or batch, from fetch to document.
pub(crate) fn page(took: Duration) {
    histogram!(PAGE_SECONDS).record(took);
}

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

pub(crate) fn cache_lookup(hit: bool) {
    counter!(CACHE_LOOKUPS, "state" => if hit { "hit" } else { "miss" }).increment(1);
}

pub(crate) fn charged(credits: i64) {
    counter!(CREDITS).increment(u64::try_from(credits).unwrap_or(0));
}

pub(crate) fn webhook_attempt(result: &'static str, took: Duration) {
    counter!(WEBHOOKS, "result" => result).increment(1);
    histogram!(WEBHOOK_SECONDS).record(took.as_secs_f64());
}
