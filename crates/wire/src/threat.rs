//! `threatProtection`: which sites a scrape may not visit (docs/CONTRACT.md, "Options").

use serde::Serialize;
use utoipa::ToSchema;

use crate::read::{Field, Fields};
use crate::words::words;

/// Most entries of each list.
const MAX_ENTRIES: usize = 1000;

/// Overrides of the team's policy, field by field.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ThreatProtection {
    /// Who judges a site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<ThreatMode>,
    /// Sites with a risk score from here on are refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 100)]
    pub risk_score_threshold: Option<u32>,
    /// Domains or globs that are always refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 1000)]
    pub blacklist: Option<Vec<String>>,
    /// Domains or globs that are always admitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 1000)]
    pub whitelist: Option<Vec<String>>,
    /// Top-level domains that are refused, in lower case without a dot.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 1000)]
    pub blocked_tlds: Option<Vec<String>>,
    /// What happens when nobody can judge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_policy: Option<FailurePolicy>,
}

words! {
    /// Who judges a site.
    pub enum ThreatMode {
        /// Nobody.
        Off = "off",
        /// Only the lists.
        ManualOnly = "manual-only",
        /// The lists and the service's own feed.
        Normal = "normal",
        /// The lists and an outside service.
        Zscaler = "zscaler",
    }
}

words! {
    /// What happens when nobody can judge a site.
    pub enum FailurePolicy {
        /// It is admitted.
        Open = "open",
        /// It is refused.
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
