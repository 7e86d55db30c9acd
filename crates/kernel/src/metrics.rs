//! Metric of the charged credits.

use metrics::counter;

/// Credits charged to teams.
const CREDITS: &str = "quarry_credits_total";

/// Counts credits that were charged.
pub fn charged(credits: i64) {
    counter!(CREDITS).increment(u64::try_from(credits).unwrap_or(0));
}
