//! Settings of searches and feedback.

use serde::Deserialize;

/// Section `verticals`: web sites of the categories `research`, `developer` and `gov`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sites {
    /// Sites of the category `research`, as host names; subdomains are included.
    #[serde(rename = "research_sites")]
    pub research: Vec<String>,
    /// Sites of the category `developer` and of `/v2/search/developer`.
    #[serde(rename = "developer_sites")]
    pub developer: Vec<String>,
    /// Sites of the category `gov` and of `/v2/search/gov`.
    #[serde(rename = "gov_sites")]
    pub gov: Vec<String>,
}

/// Section `feedback`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeedbackSettings {
    /// Maximum number of feedbacks of a team per day.
    pub max_per_day: u32,
    /// Maximum number of credits given back to a team for feedback per day. 0: none are given back.
    pub credits_per_day: u32,
}

impl Default for Sites {
    fn default() -> Self {
        let list = |sites: &[&str]| sites.iter().map(|&site| site.to_owned()).collect();
        Self { research: list(RESEARCH), developer: list(DEVELOPER), gov: list(GOV) }
    }
}

impl Default for FeedbackSettings {
    fn default() -> Self {
        Self { max_per_day: 1000, credits_per_day: 0 }
    }
}

const RESEARCH: &[&str] = &[
    "arxiv.org",
    "biorxiv.org",
    "medrxiv.org",
    "ncbi.nlm.nih.gov",
    "semanticscholar.org",
    "nature.com",
    "science.org",
    "sciencedirect.com",
    "link.springer.com",
    "ieeexplore.ieee.org",
    "dl.acm.org",
    "onlinelibrary.wiley.com",
    "jstor.org",
    "plos.org",
];

const DEVELOPER: &[&str] = &[
    "github.com",
    "docs.rs",
    "doc.rust-lang.org",
    "developer.mozilla.org",
    "docs.python.org",
    "readthedocs.io",
    "nodejs.org",
    "go.dev",
    "learn.microsoft.com",
    "kubernetes.io",
    "postgresql.org",
    "stackoverflow.com",
];

const GOV: &[&str] = &[
    "gov",
    "mil",
    "gov.uk",
    "gc.ca",
    "gov.au",
    "govt.nz",
    "europa.eu",
    "gouv.fr",
    "bund.de",
    "admin.ch",
    "courtlistener.com",
    "law.cornell.edu",
];
