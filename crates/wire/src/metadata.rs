//! `data.metadata`: metadata of the page, and of the scrape itself.

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::words::words;

/// Keys reserved for the service. A page cannot set them (`<meta name="creditsUsed">`), even if the service omits the
/// key.
const RESERVED: &[&str] = &[
    "url",
    "sourceURL",
    "sourceFile",
    "statusCode",
    "contentType",
    "error",
    "timezone",
    "proxyUsed",
    "cacheState",
    "cachedAt",
    "scrapeId",
    "creditsUsed",
    "concurrencyLimited",
    "concurrencyQueueDurationMs",
    "numPages",
    "totalPages",
    "depth",
    "parent",
    "provider",
];
/// Page keys that clients read as a list, even with a single value.
const LISTS: &[&str] = &["ogLocaleAlternate"];

/// Metadata of the page and of this scrape, in one object. If both define a key, the service's value wins.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Metadata {
    /// Metadata that the page declares: title, description, language, `og…` and every other meta key. Values are
    /// strings, or arrays of strings if the page has several.
    #[serde(flatten, serialize_with = "page_keys")]
    pub page: Map<String, Value>,
    /// Final URL after redirects. Absent for uploaded files.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub url: String,
    /// URL as given in the request, without user name and password. For an uploaded file, its name.
    #[serde(rename = "sourceURL", skip_serializing_if = "String::is_empty")]
    pub source_url: String,
    /// File name of the uploaded file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_file: Option<String>,
    /// HTTP status of the page. 2xx and 304 count as loaded.
    pub status_code: u16,
    /// Media type of the response body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// Reason why the page did not load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Time zone of the browser; only if a browser was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// Proxy mode that fetched the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy_used: Option<ProxyUsed>,
    /// Cache hit or miss; absent if the cache was not consulted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_state: Option<CacheState>,
    /// Time when the cached copy was stored, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_at: Option<String>,
    /// Id of this scrape (UUID).
    pub scrape_id: String,
    /// Credits charged for this scrape.
    pub credits_used: i64,
    /// Whether the scrape had to wait for a free browser; only if a browser was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency_limited: Option<bool>,
    /// Time spent waiting for a browser, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency_queue_duration_ms: Option<u64>,
    /// Number of document pages that were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub num_pages: Option<u32>,
    /// Total number of pages of the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_pages: Option<u32>,
    /// Crawls only: number of link hops from the start URL. 0 for the start URL and for URLs from sitemaps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Crawls only: URL of the page that linked here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
}

words! {
    /// Proxy mode that fetched a page. The enhanced proxy is reported as `stealth`.
    // One client rejects any third value.
    pub enum ProxyUsed {
        /// Ordinary proxy, or none.
        Basic = "basic",
        /// Enhanced proxy.
        Stealth = "stealth",
    }
}

words! {
    /// Result of the cache lookup.
    pub enum CacheState {
        /// Answered from the cache.
        Hit = "hit",
        /// Fetched from the site after a cache lookup.
        Miss = "miss",
    }
}

/// Serializes the page's keys: drops reserved keys and nulls, and turns the keys in [`LISTS`] into arrays.
fn page_keys<S: Serializer>(page: &Map<String, Value>, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    let given = page.iter().filter(|(key, value)| !RESERVED.contains(&key.as_str()) && !value.is_null());
    for (key, value) in given {
        match value {
            Value::String(_) if LISTS.contains(&key.as_str()) => map.serialize_entry(key, &[value])?,
            _ => map.serialize_entry(key, value)?,
        }
    }
    map.end()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns metadata with every key of the service set.
    fn full() -> Metadata {
        Metadata {
            page: Map::new(),
            url: "https://example.com/final".into(),
            source_url: "https://example.com/".into(),
            source_file: Some("a.pdf".into()),
            status_code: 200,
            content_type: Some("text/html".into()),
            error: Some("none".into()),
            timezone: Some("Europe/Zurich".into()),
            proxy_used: Some(ProxyUsed::Stealth),
            cache_state: Some(CacheState::Miss),
            cached_at: Some("2026-01-02T03:04:05Z".into()),
            scrape_id: "0192".into(),
            credits_used: 1,
            concurrency_limited: Some(false),
            concurrency_queue_duration_ms: Some(7),
            num_pages: Some(1),
            total_pages: Some(2),
            depth: Some(1),
            parent: Some("https://example.com/".into()),
        }
    }

    #[test]
    fn every_key_of_the_service_is_reserved() {
        let json = serde_json::to_value(full()).unwrap();
        for key in json.as_object().unwrap().keys() {
            assert!(RESERVED.contains(&key.as_str()), "{key} is not reserved");
        }
        assert_eq!(json["sourceURL"], "https://example.com/");
        assert_eq!(json["proxyUsed"], "stealth");
        assert_eq!(json["concurrencyQueueDurationMs"], 7);
    }

    #[test]
    fn a_page_cannot_speak_for_the_service() {
        let page = RESERVED.iter().map(|key| ((*key).to_owned(), json!("lie"))).collect();
        let ours = Metadata { page, url: "https://example.com/".into(), ..Metadata::default() };
        let text = serde_json::to_string(&ours).unwrap();
        assert!(!text.contains("lie"), "{text}");
        // Only keys of the service remain, each once.
        assert_eq!(text.matches("\"url\"").count(), 1);
    }

    #[test]
    fn page_keys_keep_their_shape() {
        let page = json!({ "title": "T", "ogLocaleAlternate": "de_CH", "keywords": ["a", "b"], "gone": null });
        let Value::Object(page) = page else { unreachable!() };
        let json = serde_json::to_value(Metadata { page, ..full() }).unwrap();
        assert_eq!(json["title"], "T");
        assert_eq!(json["ogLocaleAlternate"], json!(["de_CH"]));
        assert_eq!(json["keywords"], json!(["a", "b"]));
        assert!(json.get("gone").is_none());
        let back: Metadata = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(back.page["title"], "T");
        assert_eq!(serde_json::to_value(back).unwrap(), json);
    }
}
