//! Ages at which finished work is removed, and how often that happens.

use std::time::Duration;

use base::setting;
use serde::Deserialize;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const MONTH: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Settings of upkeep, with their defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpkeepSettings {
    /// Retention of finished work.
    pub retention: Retention,
    /// Interval of [`maintain`](crate::maintain). Default: 60 s.
    pub every: Duration,
}

/// Section `retention`: ages at which finished work is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Retention {
    /// Retention of the row of a scrape, with its URL; ledger entries stay. Default: 30 days.
    #[serde(rename = "scrapes_days", deserialize_with = "setting::days")]
    pub scrapes: Duration,
    /// Retention of a webhook delivery in the log. Its body is removed on delivery, or with its job. Default: 3 days.
    #[serde(rename = "deliveries_days", deserialize_with = "setting::days")]
    pub deliveries: Duration,
    /// Retention of a dead-lettered job, which can be put back into its queue until then. Default: 30 days.
    #[serde(rename = "dead_jobs_days", deserialize_with = "setting::days")]
    pub dead_jobs: Duration,
    /// Retention of the rate-limit state of a host that no job contacts. Default: 1 day.
    #[serde(rename = "hosts_days", deserialize_with = "setting::days")]
    pub hosts: Duration,
    /// Retention of an unused profile. Default: 90 days.
    #[serde(rename = "profiles_days", deserialize_with = "setting::days")]
    pub profiles: Duration,
    /// Retention of the version of a page for change tracking that no scrape has asked for. Default: 365 days.
    #[serde(rename = "versions_days", deserialize_with = "setting::days")]
    pub versions: Duration,
}

impl Default for UpkeepSettings {
    fn default() -> Self {
        Self { retention: Retention::default(), every: Duration::from_secs(60) }
    }
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            scrapes: MONTH,
            deliveries: 3 * DAY,
            dead_jobs: MONTH,
            hosts: DAY,
            profiles: 3 * MONTH,
            versions: 365 * DAY,
        }
    }
}
