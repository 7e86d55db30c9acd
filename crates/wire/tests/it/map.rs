//! Requests of maps: bodies of clients, refusals, shape of the response.

use serde_json::{Value, json};
use wire::{MapAnswer, MapLink, MapRequest, SitemapMode, decode_map};

#[track_caller]
fn map(members: Value) -> MapRequest {
    let body = crate::with_url(members);
    decode_map(body.clone()).unwrap_or_else(|invalid| panic!("{body} was refused: {invalid}"))
}

#[track_caller]
fn refused(members: Value, message: &str) {
    let invalid = decode_map(crate::with_url(members)).unwrap_err();
    assert!(invalid.message.contains(message), "{}", invalid.message);
}

#[test]
fn a_map_by_default() {
    let request = map(json!({}));
    assert_eq!(request, MapRequest::new("https://example.com/".parse().unwrap()));
    assert_eq!((request.limit, request.timeout, request.sitemap), (5000, 60_000, SitemapMode::Include));
    assert!(request.include_subdomains && request.ignore_query_parameters);
    assert_eq!(map(json!({ "search": null, "limit": null })), request);
    assert_eq!(map(json!({ "search": " " })), request);
}

#[test]
fn what_clients_send() {
    let all = map(json!({
        "search": "docs", "sitemap": "only", "includeSubdomains": false, "ignoreQueryParameters": false, "limit": 100_000,
        "timeout": 30_000, "location": { "country": "DE", "languages": ["de"] }, "auditMetadata": { "username": "u" },
        "threatProtection": { "mode": "off" }, "integration": "cli", "origin": "js-sdk@4", "zeroDataRetention": true,
        "useMock": "x", "ignoreCache": true, "useIndex": false, "__experimental_a": { "b": 1 },
    }));
    assert_eq!((all.search.as_deref(), all.limit, all.sitemap), (Some("docs"), 100_000, SitemapMode::Only));
    assert!(!all.include_subdomains && !all.ignore_query_parameters && all.zero_data_retention);
    assert_eq!(all.needs(), []);
    assert_eq!(map(json!({ "ignoreSitemap": true })).sitemap, SitemapMode::Skip);
    assert_eq!(map(json!({ "ignoreSitemap": true, "sitemap": "only" })).sitemap, SitemapMode::Only);
    let guarded = map(json!({ "threatProtection": { "mode": "normal" } }));
    assert_eq!(guarded.needs()[0].code.as_str(), "SCRAPE_THREAT_PROTECTION_NOT_SUPPORTED");
}

#[test]
fn what_is_refused() {
    refused(json!({ "formats": ["markdown"], "depth": 1 }), "Unrecognized keys in body: `depth`, `formats`");
    refused(json!({ "limit": 100_001 }), "`limit` must be a whole number from 1 to 100000, got 100001");
    refused(json!({ "limit": 0 }), "`limit`");
    refused(json!({ "timeout": 0 }), "`timeout`");
    refused(json!({ "sitemap": "maybe" }), "`sitemap` must be `include`, `skip` or `only`");
    refused(json!({ "search": 5 }), "`search` must be a string");
    refused(json!({ "url": "file:///etc/passwd" }), "`url` must be an absolute http or https URL");
    assert_eq!(decode_map(json!({})).unwrap_err().message, "`url` is required");
}

#[test]
fn the_answer_has_objects_and_no_nulls() {
    let links = vec![MapLink { url: "https://example.com/".to_owned(), ..MapLink::default() }];
    let answer = MapAnswer { success: true, id: "i".to_owned(), links, warning: None };
    let want = json!({ "success": true, "id": "i", "links": [{ "url": "https://example.com/" }] });
    assert_eq!(serde_json::to_value(answer).unwrap(), want);
}

#[test]
fn debug_hides_what_urls_carry() {
    let request = map(json!({ "url": "https://u:pw@example.com/p?token=SECRET9" }));
    assert!(!format!("{request:?}").contains("SECRET9") && !format!("{request:?}").contains("pw"));
    assert!(format!("{request:?}").contains("example.com"));
    let private = map(json!({ "zeroDataRetention": true }));
    assert!(!format!("{private:?}").contains("example.com"));
}
