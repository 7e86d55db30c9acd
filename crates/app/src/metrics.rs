//! The names of what is counted here, in one place.

use metrics::counter;

/// Finished scrapes by `result`: `ok`, or the kind of failure.
const SCRAPES: &str = "quarry_scrapes_total";
/// Cache look-ups by `state`: `hit` or `miss`. Requests that do not consult the cache are not counted.
const CACHE_LOOKUPS: &str = "quarry_cache_lookups_total";
/// Credits charged to teams.
const CREDITS: &str = "quarry_credits_total";

pub(crate) fn scraped(result: &'static str) {
    counter!(SCRAPES, "result" => result).increment(1);
}

pub(crate) fn cache_lookup(hit: bool) {
    counter!(CACHE_LOOKUPS, "state" => if hit { "hit" } else { "miss" }).increment(1);
}

pub(crate) fn charged(credits: i64) {
    counter!(CREDITS).increment(u64::try_from(credits).unwrap_or(0));
}
