//! Documents on the wire, against docs/CONTRACT.md, "What clients depend on".

use serde_json::{Value, json};
use wire::{Document, Metadata, ScrapeAnswer};

/// A document with every member, in the shape that the strictest client expects.
fn full() -> Value {
    json!({
        "markdown": "m", "html": "h", "rawHtml": "r", "rawBase64": "YQ==", "links": ["a"], "images": ["b"],
        "attributes": [{ "selector": "img", "attribute": "alt", "values": ["logo"] }],
        "summary": "s", "screenshot": "u", "json": { "a": null }, "answer": "a", "highlights": "h", "audio": "u", "video": "u",
        "actions": { "screenshots": ["u"], "scrapes": [{ "url": "u", "html": "h" }], "pdfs": ["u"],
            "javascriptReturns": [{ "type": "number", "value": 2 }] },
        "pages": [{ "pageNumber": 1, "markdown": "m" }],
        "blocks": [{ "pageNumber": 1, "status": "ok", "width": 600.0, "height": null, "items": [{
            "id": "p1.b0", "type": "section_header", "label": null, "content": "c", "bbox": [0.0, 0.0, 1.0, 1.0],
            "markdownSpan": [0, 3], "readingOrder": 0, "source": null, "confidence": { "layout": 0.5, "ocr": null } }] }],
        "branding": { "colorScheme": "dark", "colors": { "primary": "#fff" }, "fonts": [{ "family": "Inter", "role": "body" }],
            "icons": {}, "animations": {}, "images": { "logo": "u", "favicon": null },
            "typography": { "fontFamilies": { "primary": "Inter" }, "fontSizes": {}, "fontWeights": { "bold": 700 } },
            "spacing": { "baseUnit": 8, "borderRadius": "4px" }, "components": { "buttonPrimary": { "background": "#000" } } },
        "product": { "title": "t", "url": "u", "variants": [{ "price": { "amount": 12.5, "currency": "USD" },
            "sale": { "originalPrice": { "amount": 20.0 } }, "availability": { "inStock": true },
            "values": { "size": "M" }, "images": [{ "url": "u", "alt": "a" }] }] },
        "menu": { "isMenu": true, "confidence": 0.9, "sourceUrl": "u", "merchant": { "name": "n", "type": "cafe" },
            "sections": [{ "id": "s", "name": "n", "items": [{ "id": "i", "name": "n", "availability": { "inStock": true },
                "sourceUrl": "u", "dietary": ["vegan"], "identifiers": { "merchantItemId": "7" } }] }] },
        "changeTracking": { "previousScrapeAt": null, "changeStatus": "new", "visibility": "visible" },
        "tools": [{ "provider": "p", "capability": "c", "description": "d" }],
        "warning": "w",
        "metadata": { "title": "T", "keywords": ["a", "b"], "ogLocaleAlternate": ["de_CH"], "custom:key": "x",
            "url": "u", "sourceURL": "s", "statusCode": 200, "contentType": "text/html", "error": "e", "timezone": "UTC",
            "proxyUsed": "stealth", "cacheState": "hit", "cachedAt": "2026-01-02T03:04:05Z", "scrapeId": "i", "creditsUsed": 1,
            "concurrencyLimited": false, "concurrencyQueueDurationMs": 0, "numPages": 1, "totalPages": 1 },
    })
}

#[test]
fn round_trip() {
    let document: Document = serde_json::from_value(full()).unwrap();
    assert_eq!(serde_json::to_value(&document).unwrap(), full());
    assert_eq!(broken_rules(&full()), Vec::<String>::new());
}

#[test]
fn the_smallest_document() {
    let metadata = Metadata { status_code: 404, url: "u".into(), source_url: "u".into(), ..Metadata::default() };
    let json = serde_json::to_value(ScrapeAnswer::new(Document { metadata, ..Document::default() })).unwrap();
    let want = json!({ "success": true, "data": { "metadata": {
        "url": "u", "sourceURL": "u", "statusCode": 404, "scrapeId": "", "creditsUsed": 0 } } });
    assert_eq!(json, want, "what was not asked for is absent, not null");
    assert_eq!(broken_rules(&json["data"]), Vec::<String>::new());
}

#[test]
fn a_warning_stands_at_both_places() {
    let document = Document { warning: Some("w".into()), ..Document::default() };
    let json = serde_json::to_value(ScrapeAnswer::new(document)).unwrap();
    assert_eq!((&json["warning"], &json["data"]["warning"]), (&json!("w"), &json!("w")));
}

/// Checks the checker: it must detect what breaks a client, and the types must be unable to represent it.
#[test]
fn broken_documents_are_neither_typed_nor_passed() {
    for (pointer, wrong) in [
        ("/links/0", Value::Null),
        ("/images/0", Value::Null),
        ("/highlights", json!(["h"])),
        ("/answer", json!({})),
        ("/metadata/statusCode", json!(200.5)),
        ("/metadata/statusCode", json!("200")),
        ("/metadata/creditsUsed", json!(1.5)),
        ("/metadata/proxyUsed", json!("enhanced")),
        ("/metadata/cacheState", json!("stale")),
        ("/branding/colors/primary", Value::Null),
        ("/blocks/0/items/0/confidence", Value::Null),
        ("/product/variants", Value::Null),
        ("/product/variants/0/availability", json!({})),
        ("/menu/sourceUrl", Value::Null),
        ("/menu/sections/0/name", Value::Null),
    ] {
        let mut document = full();
        *document.pointer_mut(pointer).unwrap() = wrong.clone();
        assert!(!broken_rules(&document).is_empty(), "{pointer} = {wrong} passed the rules");
        assert!(serde_json::from_value::<Document>(document).is_err(), "{pointer} = {wrong} fits the type");
    }
}

/// Returns the rules of "What clients depend on" that a document violates.
fn broken_rules(document: &Value) -> Vec<String> {
    let mut broken = Vec::new();
    let mut rule = |holds: bool, name: &str| {
        if !holds {
            broken.push(name.to_owned());
        }
    };
    let whole = |value: &Value| value.is_i64() || value.is_u64();
    let metadata = &document["metadata"];
    for key in ["statusCode", "creditsUsed"] {
        rule(whole(&metadata[key]), key);
    }
    for key in ["scrapeId", "url", "sourceURL"] {
        rule(metadata[key].is_string(), key);
    }
    let one_of = |value: &Value, words: &[&str]| value.is_null() || words.iter().any(|word| value == word);
    rule(one_of(&metadata["proxyUsed"], &["basic", "stealth"]), "proxyUsed");
    rule(one_of(&metadata["cacheState"], &["hit", "miss"]), "cacheState");
    let texts = |value: &Value| value.as_array().is_none_or(|items| items.iter().all(Value::is_string));
    rule(metadata.get("ogLocaleAlternate").is_none_or(Value::is_array), "ogLocaleAlternate");
    for key in ["links", "images"] {
        rule(document.get(key).is_none_or(Value::is_array) && texts(&document[key]), key);
    }
    let strings = "markdown html rawHtml rawBase64 summary screenshot answer highlights audio video warning";
    for key in strings.split(' ') {
        rule(document.get(key).is_none_or(Value::is_string), key);
    }
    let no_nulls = |pointer: &str, kind: fn(&Value) -> bool| document.pointer(pointer).is_none_or(kind);
    rule(
        no_nulls("/branding/colors", |map| map.as_object().is_some_and(|m| m.values().all(Value::is_string))),
        "colors",
    );
    rule(no_nulls("/blocks/0/items/0/confidence", Value::is_object), "confidence");
    rule(no_nulls("/product/variants", Value::is_array), "variants");
    rule(no_nulls("/product/variants/0/availability", |value| value["inStock"].is_boolean()), "inStock");
    rule(no_nulls("/menu/sourceUrl", Value::is_string), "menu.sourceUrl");
    rule(no_nulls("/menu/sections/0/name", Value::is_string), "section.name");
    broken
}
