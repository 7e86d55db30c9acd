//! `POST /v2/map`: the URLs of a site (docs/CONTRACT.md, "Map").

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;
use utoipa::ToSchema;

use crate::attribution::Attribution;
use crate::crawl::SitemapMode;
use crate::decode::HARMLESS_KEYS;
use crate::error::Invalid;
use crate::option::{AuditMetadata, DEFAULT_TIMEOUT_MS, Location, MAX_TIMEOUT_MS};
use crate::read::{self, Field, Fields};
use crate::target::target_url;
use crate::threat::ThreatProtection;

/// Default of `limit`.
pub const DEFAULT_MAP_LIMIT: u32 = 5000;
/// Maximum of `limit`.
pub const MAX_MAP_LIMIT: u32 = 100_000;
/// Maximum length of `search`, in characters.
const MAX_SEARCH_CHARS: usize = 2000;

/// Keys that request the default behaviour: accepted with any value.
const HARMLESS_MAP_KEYS: &[&str] = &["ignoreCache", "useIndex"];

/// Site to map.
#[derive(Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MapRequest {
    /// Start URL, `http` or `https`.
    #[schema(value_type = String, format = "uri", min_length = 1, max_length = 8192)]
    pub url: Url,
    /// Search text; URLs that match best come first.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 2000)]
    pub search: Option<String>,
    /// Sources of URLs: sitemaps, links of the page, or both. The former `ignoreSitemap: true` means `skip`.
    #[schema(required = false, default = "include")]
    pub sitemap: SitemapMode,
    /// Whether URLs on subdomains are returned too.
    #[schema(required = false, default = true)]
    pub include_subdomains: bool,
    /// Whether queries are removed. URLs that differ only in their query are then one.
    #[schema(required = false, default = true)]
    pub ignore_query_parameters: bool,
    /// Maximum number of URLs.
    #[schema(required = false, default = 5000, minimum = 1, maximum = 100000)]
    pub limit: u32,
    /// Timeout of the whole map, in milliseconds.
    #[schema(required = false, default = 60000, minimum = 1, maximum = 300000)]
    pub timeout: u32,
    /// Location and languages that the site sees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// Policy on which sites may be visited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threat_protection: Option<ThreatProtection>,
    /// Audit metadata for the operator's own records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit_metadata: Option<AuditMetadata>,
    /// Whether nothing of this map is kept (zero data retention). The operator enables it per team.
    #[schema(required = false, default = false)]
    pub zero_data_retention: bool,
    /// Client that makes the call, flattened into this object.
    #[serde(flatten)]
    pub attribution: Attribution,
}

/// Response of `POST /v2/map`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MapAnswer {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// Map id, for feedback.
    #[schema(value_type = String, format = "uuid")]
    pub id: String,
    /// URLs found: the start URL first, or with `search` the best match first.
    pub links: Vec<MapLink>,
    /// Warning for the caller, such as a sitemap that could not be read completely.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// URL found by a map.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MapLink {
    /// The URL.
    #[schema(format = "uri")]
    pub url: String,
    /// Title of the page, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Description of the page, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// Decodes the body of `POST /v2/map`.
///
/// # Errors
/// [`Invalid`] with every fault (up to 20), each with the path of its field.
///
/// ```
/// let body = serde_json::json!({ "url": "https://example.com", "sitmap": "only" });
/// assert_eq!(wire::decode_map(body).unwrap_err().message, "Unrecognized key in body: `sitmap` (did you mean `sitemap`?)");
/// ```
pub fn decode_map(body: Value) -> Result<MapRequest, Invalid> {
    read::body(body, |fields| {
        for key in HARMLESS_KEYS.iter().chain(HARMLESS_MAP_KEYS) {
            let _ignored = fields.take(key);
        }
        MapRequest::read(fields)
    })
}

impl MapRequest {
    /// Returns a map of this site with default options.
    #[must_use]
    pub fn new(url: Url) -> Self {
        Self {
            url,
            search: None,
            sitemap: SitemapMode::default(),
            include_subdomains: true,
            ignore_query_parameters: true,
            limit: DEFAULT_MAP_LIMIT,
            timeout: DEFAULT_TIMEOUT_MS,
            location: None,
            threat_protection: None,
            audit_metadata: None,
            zero_data_retention: false,
            attribution: Attribution::default(),
        }
    }

    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let url = fields
            .need("url")
            .and_then(|field| field.parse(|text| target_url(text).map_err(|error| error.to_string())));
        let search = fields.take("search").and_then(|field| field.text(0..=MAX_SEARCH_CHARS));
        let limit = fields.take("limit").and_then(|field| field.whole32(1..=MAX_MAP_LIMIT));
        let timeout = fields.take("timeout").and_then(|field| field.whole32(1..=MAX_TIMEOUT_MS));
        let (sitemap, ignore_sitemap) =
            (fields.take("sitemap").and_then(Field::word), fields.flag("ignoreSitemap", false));
        let old = if ignore_sitemap { SitemapMode::Skip } else { SitemapMode::default() };
        let (include_subdomains, ignore_query_parameters) =
            (fields.flag("includeSubdomains", true), fields.flag("ignoreQueryParameters", true));
        let location = fields.take("location").and_then(|field| field.record(Location::read));
        let threat_protection = fields.take("threatProtection").and_then(|field| field.record(ThreatProtection::read));
        let audit_metadata = fields.take("auditMetadata").and_then(|field| field.record(AuditMetadata::read));
        let zero_data_retention = fields.flag("zeroDataRetention", false);
        let attribution = Attribution::read(fields);
        Some(Self {
            search: search.filter(|text| !text.trim().is_empty()),
            sitemap: sitemap.unwrap_or(old),
            include_subdomains,
            ignore_query_parameters,
            limit: limit.unwrap_or(DEFAULT_MAP_LIMIT),
            timeout: timeout.unwrap_or(DEFAULT_TIMEOUT_MS),
            location,
            threat_protection,
            audit_metadata,
            zero_data_retention,
            attribution,
            ..Self::new(url?)
        })
    }
}

impl fmt::Debug for MapRequest {
    /// Shows at most the host: paths and queries may contain tokens, userinfo may contain a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = if self.zero_data_retention { None } else { self.url.host_str() };
        let (sitemap, limit) = (self.sitemap, self.limit);
        write!(f, "MapRequest {{ {} {sitemap:?} limit {limit} }}", host.unwrap_or("***"))
    }
}
