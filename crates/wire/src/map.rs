//! `POST /v2/map`: the addresses of a site (docs/CONTRACT.md, "Map").

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

/// `limit` when none is given.
pub const DEFAULT_MAP_LIMIT: u32 = 5000;
/// Largest `limit`.
pub const MAX_MAP_LIMIT: u32 = 100_000;
/// Longest `search`, in characters.
const MAX_SEARCH_CHARS: usize = 2000;

/// Keys that ask for what happens here anyway: accepted with any value.
const HARMLESS_MAP_KEYS: &[&str] = &["ignoreCache", "useIndex"];

/// A site to map.
#[derive(Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MapRequest {
    /// Where to start: `http` or `https`.
    #[schema(value_type = String, format = "uri", min_length = 1, max_length = 8192)]
    pub url: Url,
    /// What the pages should be about: the addresses that fit come first.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 2000)]
    pub search: Option<String>,
    /// Whether addresses come from sitemaps, from the links of the page, or from both. The old `ignoreSitemap: true`
    /// means `skip`.
    #[schema(required = false, default = "include")]
    pub sitemap: SitemapMode,
    /// Return addresses of subdomains too.
    #[schema(required = false, default = true)]
    pub include_subdomains: bool,
    /// Return no queries; addresses that differ only there are one.
    #[schema(required = false, default = true)]
    pub ignore_query_parameters: bool,
    /// Most addresses.
    #[schema(required = false, default = 5000, minimum = 1, maximum = 100000)]
    pub limit: u32,
    /// Time for the whole map, in milliseconds.
    #[schema(required = false, default = 60000, minimum = 1, maximum = 300000)]
    pub timeout: u32,
    /// Where the visitor seems to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// Which sites may be visited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threat_protection: Option<ThreatProtection>,
    /// Who is behind the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit_metadata: Option<AuditMetadata>,
    /// Keep nothing of this map. The operator enables it per team.
    #[schema(required = false, default = false)]
    pub zero_data_retention: bool,
    /// Who calls; siblings of `url` on the wire.
    #[serde(flatten)]
    pub attribution: Attribution,
}

/// The answer to a map.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MapAnswer {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// The map, for feedback.
    #[schema(value_type = String, format = "uuid")]
    pub id: String,
    /// The addresses, the start first, or with `search` the best first.
    pub links: Vec<MapLink>,
    /// What the caller should know, as that a sitemap could not be read to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// One address of a map.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MapLink {
    /// The address.
    #[schema(format = "uri")]
    pub url: String,
    /// The title of the page, when it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the page is about, when it is known.
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
    /// A map of this site with nothing else asked for.
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
    /// Shows the host at most: paths and queries carry tokens, userinfo carries passwords.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = if self.zero_data_retention { None } else { self.url.host_str() };
        let (sitemap, limit) = (self.sitemap, self.limit);
        write!(f, "MapRequest {{ {} {sitemap:?} limit {limit} }}", host.unwrap_or("***"))
    }
}
