//! `threatProtection`: policy on which sites may be visited (docs/CONTRACT.md, "Options").

use serde::Serialize;
use utoipa::ToSchema;

use crate::read::{Field, Fields};
use crate::words::words;

/// Maximum number of entries per list.
const MAX_ENTRIES: usize = 1000;

/// Overrides of the team's threat policy, field by field.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ThreatProtection {
    /// Source of the ratings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<ThreatMode>,
    /// Risk score from which a site is blocked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 100)]
    pub risk_score_threshold: Option<u32>,
    /// Domains or globs that are always blocked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 1000)]
    pub blacklist: Option<Vec<String>>,
    /// Domains or globs that are always allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 1000)]
    pub whitelist: Option<Vec<String>>,
    /// Top-level domains that are blocked, in lower case without a dot.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 1000)]
    pub blocked_tlds: Option<Vec<String>>,
    /// Decision if no rating is available.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_policy: Option<FailurePolicy>,
}

words! {
    /// Source of site ratings.
    pub enum ThreatMode {
        /// No ratings: threat protection is off.
        Off = "off",
        /// The lists only.
        ManualOnly = "manual-only",
        /// The lists and the service's own feed.
        Normal = "normal",
        /// The lists and an external service.
        Zscaler = "zscaler",
    }
}

words! {
    /// Decision on a site without a rating.
    pub enum FailurePolicy {
        /// The site is allowed.
        Open = "open",
        /// The site is blocked.
        Closed = "closed",
    }
}

impl ThreatProtection {
    pub(crate) fn read(fields: &mut Fields<'_>) -> Self {
        let mut domains = |key: &'static str| {
            let entry = |field: Field<'_>| field.name(1..=253);
            fields.take(key).and_then(|field| field.list(0..=MAX_ENTRIES, entry))
        };
        let (blacklist, whitelist) = (domains("blacklist"), domains("whitelist"));
        Self {
            mode: fields.take("mode").and_then(Field::word),
            risk_score_threshold: fields.take("riskScoreThreshold").and_then(|field| field.whole32(0..=100)),
            blacklist,
            whitelist,
            blocked_tlds: fields
                .take("blockedTlds")
                .and_then(|field| field.list(0..=MAX_ENTRIES, |entry| entry.parse(tld))),
            failure_policy: fields.take("failurePolicy").and_then(Field::word),
        }
    }
}

fn tld(text: &str) -> Result<String, String> {
    let allowed = |c: char| c == '-' || (c.is_alphanumeric() && !c.is_uppercase());
    if (1..=63).contains(&text.len()) && text.chars().all(allowed) {
        return Ok(text.to_owned());
    }
    Err("must be a top-level domain in lower case without a dot".to_owned())
}
