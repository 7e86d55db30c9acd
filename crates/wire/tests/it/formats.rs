//! Every format: by name and as an object, with settings and their bounds.

use serde_json::{Value, json};
use wire::{ChangeMode, ChangeTrackingFormat, Format, FormatKind, JsonFormat, QueryFormat, QueryMode, Viewport};

use crate::{bounds, lengths, page, refused};

const PLAIN: &[&str] = &[
    "markdown",
    "html",
    "rawHtml",
    "links",
    "images",
    "screenshot",
    "summary",
    "json",
    "attributes",
    "branding",
    "product",
    "menu",
    "audio",
    "video",
];

fn formats(value: Value) -> Vec<Format> {
    page(json!({ "formats": value })).options.formats
}

#[test]
fn names_and_objects_are_the_same() {
    for name in PLAIN {
        let [plain] = formats(json!([name])).try_into().unwrap();
        assert_eq!(plain.kind().as_str(), *name);
        assert_eq!(formats(json!([{ "type": name }])), [plain]);
    }
    assert_eq!(formats(json!(["rawBase64"])), [Format::RawBase64]);
    assert_eq!(formats(json!([{ "type": "rawBase64" }])), [Format::RawBase64]);
    assert_eq!(formats(json!(PLAIN)).len(), PLAIN.len());
    assert_eq!(formats(json!([])), []);
}

#[test]
fn order_is_kept_and_wants_finds() {
    let options = page(json!({ "formats": ["links", { "type": "markdown" }] })).options;
    assert_eq!(options.formats, [Format::Links, Format::Markdown]);
    assert!(options.wants(FormatKind::Links) && !options.wants(FormatKind::Html));
}

#[test]
fn refusals() {
    refused(json!({ "formats": "markdown" }), "formats", "must be an array");
    refused(json!({ "formats": ["pdf"] }), "formats[0]", "must be `markdown`, `html`");
    refused(json!({ "formats": [7] }), "formats[0]", "must be `markdown`");
    refused(json!({ "formats": ["markdown", {}] }), "formats[1].type", "is required");
    refused(json!({ "formats": [{ "type": "deterministicJson", "x": 1 }] }), "formats[0].type", "must be `markdown`");
    refused(json!({ "formats": [{ "type": "markdown", "x": 1 }] }), "formats[0].x", "not a known key");
    refused(json!({ "formats": ["html", "links", { "type": "html" }] }), "formats[2]", "repeats the type");
    refused(json!({ "formats": ["rawBase64", "markdown"] }), "formats", "another format next to `rawBase64`");
    refused(json!({ "formats": ["changeTracking"] }), "formats", "`markdown`, which `changeTracking` needs");
    refused(json!({ "formats": ["question"] }), "formats[0]", "`type` and `question`");
    refused(json!({ "formats": ["highlights"] }), "formats[0]", "`type` and `query`");
    refused(json!({ "formats": ["query"] }), "formats[0]", "`type` and `prompt`");
    refused(json!({ "formats": vec!["x"; 39] }), "formats", "0 to 38 entries");
}

#[test]
fn screenshot() {
    let one = |settings: Value| {
        let mut format = settings;
        format["type"] = json!("screenshot");
        json!({ "formats": [format] })
    };
    let read = |settings: Value| match page(one(settings)).options.formats.remove(0) {
        Format::Screenshot(options) => options,
        other => panic!("{other:?}"),
    };
    assert!(!read(json!({})).full_page);
    assert!(read(json!({ "fullPage": true })).full_page);
    // Spelling of the Rust client.
    assert!(read(json!({ "full_page": true })).full_page);
    assert!(!read(json!({ "full_page": true, "fullPage": false })).full_page);
    let viewport = read(json!({ "viewport": { "width": 800, "height": 600 } })).viewport;
    assert_eq!(viewport, Some(Viewport { width: 800, height: 600 }));
    bounds("formats[0].quality", 1..=100, |value| one(json!({ "quality": value })));
    let view = "formats[0].viewport";
    bounds(&format!("{view}.width"), 1..=7680, |value| one(json!({ "viewport": { "width": value, "height": 1 } })));
    bounds(&format!("{view}.height"), 1..=4320, |value| one(json!({ "viewport": { "width": 1, "height": value } })));
    refused(one(json!({ "viewport": { "width": 1 } })), "formats[0].viewport.height", "is required");
    refused(
        one(json!({ "viewport": { "width": 1, "height": 1, "scale": 2 } })),
        "formats[0].viewport.scale",
        "known key",
    );
}

#[test]
fn json_format() {
    let one = |settings: Value| {
        let mut format = settings;
        format["type"] = json!("json");
        json!({ "formats": [format] })
    };
    let schema = json!({ "type": "object", "properties": { "a": { "enum": [null, 1], "default": null } } });
    let options = page(one(json!({ "schema": schema, "prompt": "p" }))).options;
    let want =
        JsonFormat { schema: schema.as_object().cloned(), prompt: Some("p".into()), check_prompt_injection: false };
    assert_eq!(options.formats, [Format::Json(want)], "nulls inside a schema are the caller's own");
    page(one(json!({ "schema": {} })));
    // The former place of the switch has the same meaning.
    assert!(page(one(json!({ "checkPromptInjection": true }))).options.check_prompt_injection);
    lengths("formats[0].prompt", 0..=10_000, |value| one(json!({ "prompt": value })));
    refused(one(json!({ "schema": "{}" })), "formats[0].schema", "an object");
    refused(one(json!({ "schema": [] })), "formats[0].schema", "an object");
    refused(one(json!({ "systemPrompt": "x" })), "formats[0].systemPrompt", "not a known key");
}

#[test]
fn attributes() {
    let one = |selectors: Value| json!({ "formats": [{ "type": "attributes", "selectors": selectors }] });
    let Format::Attributes(read) =
        page(one(json!([{ "selector": "img", "attribute": "alt" }]))).options.formats.remove(0)
    else {
        panic!("attributes")
    };
    assert_eq!((read.selectors[0].selector.as_str(), read.selectors[0].attribute.as_str()), ("img", "alt"));
    let entry = |selector: Value, attribute: Value| one(json!([{ "selector": selector, "attribute": attribute }]));
    lengths("formats[0].selectors[0].selector", 1..=2000, |value| entry(value, json!("a")));
    lengths("formats[0].selectors[0].attribute", 1..=200, |value| entry(json!("a"), value));
    refused(one(json!([{ "selector": "a" }])), "formats[0].selectors[0].attribute", "is required");
    refused(one(json!([{ "attribute": "a" }])), "formats[0].selectors[0].selector", "is required");
    refused(one(json!(["a"])), "formats[0].selectors[0]", "an object");
    let many = vec![json!({ "selector": "a", "attribute": "b" }); 251];
    refused(one(json!(many)), "formats[0].selectors", "0 to 250 entries");
}

#[test]
fn model_formats() {
    let one = |name: &str, key: &str, value: Value| json!({ "formats": [{ "type": name, key: value }] });
    for (name, key) in [("question", "question"), ("highlights", "query"), ("query", "prompt")] {
        lengths(&format!("formats[0].{key}"), 1..=10_000, |value| one(name, key, value));
        refused(json!({ "formats": [{ "type": name }] }), &format!("formats[0].{key}"), "is required");
        refused(json!({ "formats": [{ "type": name, key: "q", "x": 1 }] }), "formats[0].x", "not a known key");
    }
    let query = |mode: Value| json!({ "formats": [{ "type": "query", "prompt": "p", "mode": mode }] });
    let want = |mode| [Format::Query(QueryFormat { prompt: "p".into(), mode })];
    assert_eq!(page(query(Value::Null)).options.formats, want(QueryMode::Freeform));
    assert_eq!(page(query(json!("directQuote"))).options.formats, want(QueryMode::DirectQuote));
    refused(query(json!("quote")), "formats[0].mode", "`freeform` or `directQuote`");
}

#[test]
fn change_tracking() {
    let one = |settings: Value| {
        let mut format = settings;
        format["type"] = json!("changeTracking");
        json!({ "formats": ["markdown", format] })
    };
    let read = |settings: Value| page(one(settings)).options.formats.remove(1);
    let plain = Format::ChangeTracking(ChangeTrackingFormat::default());
    assert_eq!(formats(json!(["changeTracking", "markdown"])), [plain.clone(), Format::Markdown]);
    assert_eq!(read(json!({})), plain);
    let full = json!({ "modes": ["git-diff", "json", ], "schema": {}, "prompt": "p", "tag": "t" });
    let Format::ChangeTracking(full) = read(full) else { panic!("change tracking") };
    assert_eq!(full.modes, [ChangeMode::Json, ChangeMode::GitDiff]);
    assert_eq!(full.tag.as_deref(), Some("t"));
    refused(one(json!({ "modes": ["diff"] })), "formats[1].modes[0]", "`json` or `git-diff`");
    refused(one(json!({ "modes": "json" })), "formats[1].modes", "an array");
    for nothing in [json!({}), json!({ "prompt": " " }), json!({ "schema": null })] {
        let mut settings = nothing;
        settings["modes"] = json!(["json"]);
        refused(one(settings), "formats[1].modes", "a `schema` or a `prompt`");
    }
    assert_ne!(read(json!({ "modes": ["json"], "schema": {} })), plain);
    lengths("formats[1].prompt", 0..=10_000, |value| one(json!({ "prompt": value })));
    lengths("formats[1].tag", 1..=200, |value| one(json!({ "tag": value })));
}

#[test]
fn change_tracking_needs_the_page_of_now_and_keeps_it() {
    let with = |key: &str, value: Value| json!({ "formats": ["markdown", "changeTracking"], key: value });
    refused(with("lockdown", json!(true)), "lockdown", "leave out `lockdown`");
    refused(with("minAge", json!(1)), "minAge", "leave out `minAge`");
    refused(with("zeroDataRetention", json!(true)), "formats", "leave out one of them");
    for harmless in [("lockdown", json!(false)), ("minAge", Value::Null), ("maxAge", json!(14_400_000))] {
        page(with(harmless.0, harmless.1));
    }
    let private = |formats: Value| {
        let crawl =
            json!({ "url": "https://a.test/", "zeroDataRetention": true, "scrapeOptions": { "formats": formats } });
        let batch = json!({ "urls": ["https://a.test/"], "zeroDataRetention": true, "formats": formats });
        (wire::decode_crawl(crawl), wire::decode_batch(batch))
    };
    let (crawl, batch) = private(json!(["markdown", "changeTracking"]));
    assert_eq!(crawl.unwrap_err().fields[0].path, "scrapeOptions.formats");
    assert_eq!(batch.unwrap_err().fields[0].path, "formats");
    let (crawl, batch) = private(json!(["markdown"]));
    assert!(crawl.is_ok() && batch.is_ok());
}
