//! `data.metadata`: what the page says about itself, and what we say about the scrape.

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::words::words;

/// Keys that only the service may set. A page with `<meta name="creditsUsed">` does not speak for us, not even when we
/// leave the key out.
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
/// Page keys that clients read as a list, even when the page has one value.
const LISTS: &[&str] = &["ogLocaleAlternate"];

/// About the page and about this scrape. Keys of the page and keys of the service share one object on the wire; the
/// service's win.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Metadata {
    /// What the page says: title, description, language, `og…` and every raw meta key. Strings, or arrays of strings
    /// where the page has several values.
    #[serde(flatten, serialize_with = "page_keys")]
    pub page: Map<String, Value>,
    /// Where the page was in the end, after redirects. An uploaded file has no address.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub url: String,
    /// The URL as it was given, letter for letter but for a user name and password.
    #[serde(rename = "sourceURL", skip_serializing_if = "String::is_empty")]
    pub source_url: String,
    /// The name of the uploaded file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_file: Option<String>,
    /// The HTTP status of the page. 2xx and 304 mean that it loaded.
    pub status_code: u16,
    /// The media type of the body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// The reason when the page did not load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The time zone of the browser.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// How the page was reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy_used: Option<ProxyUsed>,
    /// Whether the page came from the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_state: Option<CacheState>,
    /// When the cached copy was made, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_at: Option<String>,
    /// The id of this scrape, a UUID.
    pub scrape_id: String,
    /// Credits charged.
    pub credits_used: i64,
    /// Whether the scrape had to wait for others of the team.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency_limited: Option<bool>,
    /// How long it waited, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency_queue_duration_ms: Option<u64>,
    /// Pages of a document that were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub num_pages: Option<u32>,
    /// Pages that the document has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_pages: Option<u32>,
    /// Of a page of a crawl: hops from the start by the way that it was found. The start and pages of sitemaps have 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Of a page of a crawl: the address of the page that it was found on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
}

words! {
    /// How a page was reached. The enhanced way is `stealth` here: one client fails on any third word.
    pub enum ProxyUsed {
        /// The plain way.
        Basic = "basic",
        /// The enhanced way.
        Stealth = "stealth",
    }
}

words! {
    /// Whether a page came from the cache.
    pub enum CacheState {
        /// It did.
        Hit = "hit",
        /// It was fetched, but the cache was asked first.
        Miss = "miss",
    }
}

/// Writes the keys of the page: without those of the service, without nulls, lists as lists.
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

    /// Every key of the service set.
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
        // Our keys once, and nothing else.
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
