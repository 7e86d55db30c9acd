//! Names of the metrics of scrapes, in one place.

use std::time::Duration;

use metrics::{counter, histogram};

/// Finished scrapes by `result`: `ok`, or the kind of failure.
const SCRAPES: &str = "quarry_scrapes_total";
/// Time of pages of crawls and batches, from fetch to document.
const PAGE_SECONDS: &str = "quarry_page_seconds";
/// Cache look-ups by `state`: `hit` or `miss`. Requests that do not consult the cache are not counted.
const CACHE_LOOKUPS: &str = "quarry_cache_lookups_total";

pub(super) fn scraped(result: &'static str) {
    counter!(SCRAPES, "result" => result).increment(1);
}

/// Records the duration of one page of a crawl or batch, from fetch to document.
pub(super) fn page(took: Duration) {
    histogram!(PAGE_SECONDS).record(took);
}

pub(super) fn cache_lookup(hit: bool) {
    counter!(CACHE_LOOKUPS, "state" => if hit { "hit" } else { "miss" }).increment(1);
}
