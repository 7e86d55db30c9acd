//! `POST /v2/search`: pages of the web, and pages that this server has read (docs/CONTRACT.md, "Search").

mod answer;
mod domain;
mod read;
mod time;

use std::fmt;

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::attribution::Attribution;
use crate::decode::HARMLESS_KEYS;
use crate::error::Invalid;
use crate::option::{AuditMetadata, DEFAULT_TIMEOUT_MS};
use crate::scrape::ScrapeOptions;
use crate::threat::ThreatProtection;
use crate::tool::ToolDetail;
use crate::words::words;

pub use answer::*;
pub use time::*;

pub(crate) use domain::host_name;
pub(crate) use read::query_text;

/// Default of `limit`.
pub const DEFAULT_SEARCH_LIMIT: u32 = 5;
/// Maximum of `limit`.
pub const MAX_SEARCH_LIMIT: u32 = 100;
/// Maximum length of `query`, in characters.
pub const MAX_QUERY_CHARS: usize = 500;
/// Maximum number of domains per list.
pub const MAX_SEARCH_DOMAINS: usize = 50;
/// Maximum length of `location`, in characters.
const MAX_LOCATION_CHARS: usize = 200;
/// Maximum length of `filter`, in characters.
const MAX_FILTER_CHARS: usize = 200;
/// Maximum number of `languages`.
const MAX_LANGUAGES: usize = 20;

words! {
    /// Kind of results to search for.
    pub enum SearchSource {
        /// Web pages.
        Web = "web",
        /// News articles.
        News = "news",
        /// Images.
        Images = "images",
        /// Provider tools from the catalog.
        Alexandria = "alexandria",
    }
}

words! {
    /// Category that narrows a search.
    pub enum CategoryName {
        /// Pages of GitHub.
        Github = "github",
        /// Scientific papers, and the web sites of science.
        Research = "research",
        /// PDF documents.
        Pdf = "pdf",
        /// Documentation, issues and pull requests of software. Not combined with other categories.
        Developer = "developer",
        /// Web sites of governments and courts. Not combined with other categories.
        Gov = "gov",
    }
}

words! {
    /// Handling of the query by this server.
    pub enum Enterprise {
        /// Ordinary search.
        Default = "default",
        /// Search without anything that identifies the caller; a search of this server never has it.
        Anon = "anon",
        /// Zero data retention: nothing of this search is kept. The operator enables it per team.
        Zdr = "zdr",
    }
}

/// Entry of `sources`: a name or an object.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(untagged)]
pub enum SourceEntry {
    /// Name only.
    Name(SearchSource),
    /// Object with `type`.
    Object {
        /// Kind of results.
        #[serde(rename = "type")]
        kind: SearchSource,
    },
}

/// Entry of `categories`: a name or an object.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(untagged)]
pub enum CategoryEntry {
    /// Name only.
    Name(CategoryName),
    /// Object with `type` and settings.
    Object(SearchCategory),
}

/// Category with its settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SearchCategory {
    /// Name of the category.
    #[serde(rename = "type")]
    pub name: CategoryName,
    /// Web sites to search instead of the usual ones of the category, as host names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, max_items = 50)]
    pub sites: Vec<String>,
}

/// Search of the web and of pages that this server has read.
#[derive(Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchRequest {
    /// Query. Understands `"exact words"`, `-word`, `site:`, `-site:`, `intitle:`, `inurl:`, `filetype:`, `before:` and
    /// `after:`.
    #[schema(min_length = 1, max_length = 500)]
    pub query: String,
    /// Maximum number of results of each source.
    #[schema(required = false, default = 5, minimum = 1, maximum = 100)]
    pub limit: u32,
    /// Kinds of results, each at most once.
    #[schema(required = false, value_type = Vec<SourceEntry>, default = json!(["web"]), max_items = 4)]
    pub sources: Vec<SearchSource>,
    /// Categories that narrow the search, each at most once. `developer` and `gov` stand alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, value_type = Vec<CategoryEntry>, max_items = 5)]
    pub categories: Vec<SearchCategory>,
    /// Host names that results must belong to, subdomains included. Not together with `excludeDomains`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, max_items = 50)]
    pub include_domains: Vec<String>,
    /// Host names that results must not belong to, subdomains included. Not together with `includeDomains`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, max_items = 50)]
    pub exclude_domains: Vec<String>,
    /// Age of results: `qdr:h`, `qdr:d`, `qdr:w`, `qdr:m` or `qdr:y` for the last hour to year, with a number for
    /// several (`qdr:d3`); `cdr:1,cd_min:1/31/2026,cd_max:12/31/2026` for dates, month first; `sbd:1` for the newest
    /// first. Parts are joined with commas.
    #[serde(skip_serializing_if = "TimeFilter::is_empty")]
    #[schema(required = false, value_type = String)]
    pub tbs: TimeFilter,
    /// Place that results are relevant to, such as `Germany` or `San Francisco,California,United States`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 200)]
    pub location: Option<String>,
    /// Country that results are relevant to (ISO 3166-1 alpha-2). Default: `US` without `location`, otherwise none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[A-Za-z]{2}$")]
    pub country: Option<String>,
    /// Language of the results, such as `de`. Default: the first of `languages`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lang: Option<String>,
    /// Locale codes in order of preference, such as `de-CH`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, max_items = 20)]
    pub languages: Vec<String>,
    /// Filter of a search engine. Accepted without effect on this server.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 200)]
    pub filter: Option<String>,
    /// Whether results that cannot be scraped (by their URL) are left out.
    #[serde(rename = "ignoreInvalidURLs")]
    #[schema(required = false, default = false)]
    pub ignore_invalid_urls: bool,
    /// Whether the descriptions of results are passages of the page that match the query, where this server knows the page.
    #[schema(required = false, default = true)]
    pub highlights: bool,
    /// Timeout of the whole search, with the pages it scrapes, in milliseconds.
    #[schema(required = false, default = 60000, minimum = 1000, maximum = 300000)]
    pub timeout: u32,
    /// Scrape options. If given, the pages of the results are scraped, and their documents are part of the results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scrape_options: Option<ScrapeOptions>,
    /// Handling of the query, each at most once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, max_items = 3)]
    pub enterprise: Vec<Enterprise>,
    /// Whether provider tools that match the query are listed.
    #[schema(required = false, default = false)]
    pub domain_tools: bool,
    /// Level of detail for these tools.
    #[schema(required = false, default = "compact")]
    pub tool_detail: ToolDetail,
    /// Policy on which sites may be visited and returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threat_protection: Option<ThreatProtection>,
    /// Audit metadata for the operator's own records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit_metadata: Option<AuditMetadata>,
    /// Client that makes the call, flattened into this object.
    #[serde(flatten)]
    pub attribution: Attribution,
}

/// Decodes the body of `POST /v2/search`.
///
/// # Errors
/// [`Invalid`] with every fault (up to 20), each with the path of its field.
///
/// ```
/// let body = serde_json::json!({ "query": "granite", "includeDomains": ["a.test"], "excludeDomains": ["b.test"] });
/// let invalid = wire::decode_search(body).unwrap_err();
/// assert_eq!(invalid.message, "`excludeDomains` cannot be combined with `includeDomains`");
/// ```
pub fn decode_search(body: Value) -> Result<SearchRequest, Invalid> {
    crate::read::body(body, |fields| {
        for key in HARMLESS_KEYS {
            let _ignored = fields.take(key);
        }
        SearchRequest::read(fields)
    })
}

impl SearchRequest {
    /// Returns a search of the web for this query with default options.
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            limit: DEFAULT_SEARCH_LIMIT,
            sources: vec![SearchSource::Web],
            categories: Vec::new(),
            include_domains: Vec::new(),
            exclude_domains: Vec::new(),
            tbs: TimeFilter::default(),
            location: None,
            country: None,
            lang: None,
            languages: Vec::new(),
            filter: None,
            ignore_invalid_urls: false,
            highlights: true,
            timeout: DEFAULT_TIMEOUT_MS,
            scrape_options: None,
            enterprise: Vec::new(),
            domain_tools: false,
            tool_detail: ToolDetail::Compact,
            threat_protection: None,
            audit_metadata: None,
            attribution: Attribution::default(),
        }
    }

    /// Whether nothing of this search may be kept (zero data retention).
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.enterprise.contains(&Enterprise::Zdr)
    }

    /// Whether a source is searched.
    #[must_use]
    pub fn wants(&self, source: SearchSource) -> bool {
        self.sources.contains(&source)
    }

    /// Whether provider tools are searched: by a source or by `domainTools`.
    #[must_use]
    pub fn wants_tools(&self) -> bool {
        self.domain_tools || self.wants(SearchSource::Alexandria)
    }

    /// Returns a category, if the search is narrowed to it.
    #[must_use]
    pub fn category(&self, name: CategoryName) -> Option<&SearchCategory> {
        self.categories.iter().find(|category| category.name == name)
    }

    /// Returns the country of the results in upper case: as requested, else `US` without `location`.
    #[must_use]
    pub fn result_country(&self) -> Option<&str> {
        self.country.as_deref().or_else(|| self.location.is_none().then_some("US"))
    }

    /// Returns the language of the results, if requested.
    #[must_use]
    pub fn result_language(&self) -> Option<&str> {
        self.lang.as_deref().or_else(|| self.languages.first().map(String::as_str))
    }
}

impl fmt::Debug for SearchRequest {
    /// Shows no text of the query: it may be personal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sources, limit, count) = (&self.sources, self.limit, self.query.chars().count());
        write!(f, "SearchRequest {{ {count} characters, {sources:?} limit {limit} }}")
    }
}
