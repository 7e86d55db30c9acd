//! The OpenAPI schemas agree with the decoder.

use serde_json::{Value, json};
use utoipa::OpenApi;
use wire::{
    decode_batch, decode_crawl, decode_create_key, decode_create_team, decode_developer, decode_feedback, decode_gov,
    decode_map, decode_params_preview, decode_scrape, decode_search, decode_search_feedback, decode_update_key,
    decode_update_team,
};

#[derive(OpenApi)]
#[openapi(components(schemas(
    wire::ScrapeBody, wire::ScrapeAnswer, wire::ToolAnswer, wire::ErrorBody, wire::CreateTeam, wire::UpdateTeam, wire::CreateKey, wire::UpdateKey,
    wire::TeamCreated, wire::Listing<wire::TeamView>, wire::Listing<wire::KeyView>, wire::KeyCreated, wire::DataResponse<wire::CreditUsage>,
    wire::DataResponse<wire::TokenUsage>, wire::Periods<wire::CreditPeriod>, wire::Periods<wire::TokenPeriod>, wire::QueueStatus,
    wire::Concurrency, wire::CrawlRequest, wire::BatchRequest, wire::ParamsPreview, wire::Started, wire::BatchStarted, wire::Cancelled,
    wire::JobProgress, wire::JobErrors, wire::ActiveCrawls, wire::WatchMessage<'static>, wire::MapRequest, wire::MapAnswer,
    wire::ParseUploaded, wire::UploadUrlRequest, wire::DataResponse<wire::UploadUrl>, wire::DataResponse<wire::ParseFormats>,
    wire::SearchRequest, wire::SearchAnswer, wire::SearchFeedback, wire::FeedbackBody, wire::FeedbackAnswer, wire::DeveloperRequest,
    wire::DeveloperAnswer, wire::GovRequest, wire::GovAnswer,
)))]
struct Api;

fn schemas() -> Value {
    serde_json::to_value(Api::openapi()).unwrap()["components"]["schemas"].take()
}

/// Returns the properties of a schema, including those in `allOf`.
fn properties<'a>(schemas: &'a Value, name: &str) -> Vec<(&'a String, &'a Value)> {
    let schema = &schemas[name];
    let parts = schema["allOf"].as_array().map_or_else(|| vec![schema], |parts| parts.iter().collect());
    parts.into_iter().filter_map(|part| part["properties"].as_object()).flatten().collect()
}

/// Function that puts one value into an otherwise valid body.
type Embed = fn(&str, Value) -> Value;

/// Schemas of requests, the place of their fields, and a body that contains one.
const PLACES: &[(&str, &str, Embed)] = &[
    ("ScrapeOptions", "", |key, value| json!({ "url": "https://a.test/", "timeout": 300_000, key: value })),
    ("ScrapeRequest", "", |key, value| json!({ "url": "https://a.test/", key: value })),
    ("Attribution", "", |key, value| json!({ "url": "https://a.test/", key: value })),
    ("ToolRequest", "", |key, value| json!({ "alexandria": { "provider": "p", "capability": "c" }, key: value })),
    (
        "ToolCall",
        "alexandria[0].",
        |key, value| json!({ "alexandria": [with(json!({ "provider": "p", "capability": "c" }), key, value)] }),
    ),
    ("Location", "location.", |key, value| option("location", json!({ key: value }))),
    ("Profile", "profile.", |key, value| option("profile", with(json!({ "name": "n" }), key, value))),
    ("AuditMetadata", "auditMetadata.", |key, value| option("auditMetadata", json!({ key: value }))),
    ("RedactPii", "redactPII.", |key, value| option("redactPII", json!({ key: value }))),
    ("ThreatProtection", "threatProtection.", |key, value| option("threatProtection", json!({ key: value }))),
    ("PdfParser", "parsers[0].", |key, value| option("parsers", json!([{ "type": "pdf", key: value }]))),
    ("AttributesFormat", "formats[0].", |key, value| format("attributes", json!({}), key, value)),
    ("ScreenshotOptions", "formats[0].", |key, value| format("screenshot", json!({}), key, value)),
    ("JsonFormat", "formats[0].", |key, value| format("json", json!({}), key, value)),
    ("QueryFormat", "formats[0].", |key, value| format("query", json!({ "prompt": "p" }), key, value)),
    ("QuestionFormat", "formats[0].", |key, value| format("question", json!({}), key, value)),
    ("HighlightsFormat", "formats[0].", |key, value| format("highlights", json!({}), key, value)),
    ("ChangeTrackingFormat", "formats[0].", |key, value| {
        option("formats", json!([with(json!({ "type": "changeTracking" }), key, value), "markdown"]))
    }),
    ("Viewport", "formats[0].viewport.", |key, value| {
        format("screenshot", json!({}), "viewport", with(json!({ "width": 1, "height": 1 }), key, value))
    }),
    ("AttributeSelector", "formats[0].selectors[0].", |key, value| {
        format(
            "attributes",
            json!({}),
            "selectors",
            json!([with(json!({ "selector": "a", "attribute": "b" }), key, value)]),
        )
    }),
    ("ClickAction", "actions[0].", |key, value| action("click", json!({ "selector": "a" }), key, value)),
    ("WriteAction", "actions[0].", |key, value| action("write", json!({}), key, value)),
    ("PressAction", "actions[0].", |key, value| action("press", json!({}), key, value)),
    ("ScrollAction", "actions[0].", |key, value| action("scroll", json!({}), key, value)),
    ("ScriptAction", "actions[0].", |key, value| action("executeJavascript", json!({}), key, value)),
    ("PdfAction", "actions[0].", |key, value| action("pdf", json!({}), key, value)),
    ("CreateTeam", "", |key, value| with(json!({ "name": "n" }), key, value)),
    ("UpdateTeam", "", |key, value| json!({ key: value })),
    ("CreateKey", "", |key, value| with(json!({ "name": "n" }), key, value)),
    ("UpdateKey", "", |key, value| json!({ key: value })),
    ("CrawlRequest", "", |key, value| json!({ "url": "https://a.test/", key: value })),
    ("CrawlOptions", "", |key, value| json!({ "url": "https://a.test/", key: value })),
    ("BatchRequest", "", |key, value| json!({ "urls": ["https://a.test/"], key: value })),
    ("ParamsPreview", "", |key, value| json!({ "url": "https://a.test/", "prompt": "p", key: value })),
    ("MapRequest", "", |key, value| json!({ "url": "https://a.test/", key: value })),
    ("SearchRequest", "", |key, value| with(json!({ "query": "q" }), key, value)),
    (
        "SearchCategory",
        "categories[0].",
        |key, value| json!({ "query": "q", "categories": [with(json!({ "type": "pdf" }), key, value)] }),
    ),
    ("DeveloperRequest", "", |key, value| with(json!({ "query": "q" }), key, value)),
    ("GovRequest", "", |key, value| with(json!({ "query": "q" }), key, value)),
    ("SearchFeedback", "", |key, value| with(json!({ "rating": "good" }), key, value)),
    ("JobFeedback", "", |key, value| with(json!({ "endpoint": "map", "jobId": JOB, "rating": "good" }), key, value)),
    (
        "ValuableSource",
        "valuableSources[0].",
        |key, value| json!({ "rating": "good", "valuableSources": [with(json!({ "url": "u" }), key, value)] }),
    ),
    (
        "MissingContent",
        "missingContent[0].",
        |key, value| json!({ "rating": "good", "missingContent": [with(json!({ "topic": "t" }), key, value)] }),
    ),
    ("ToolFeedback", "", |key, value| with(json!({ "endpoint": "alexandria" }), key, value)),
    (
        "RequestedWebsite",
        "requestedWebsite.",
        |key, value| json!({ "endpoint": "alexandria", "requestedWebsite": with(json!({ "url": "u" }), key, value) }),
    ),
    (
        "ProviderFeedback",
        "providerFeedback[0].",
        |key, value| json!({ "endpoint": "alexandria", "providerFeedback": [with(json!({ "name": "n" }), key, value)] }),
    ),
    ("CapabilityFeedback", "capabilityFeedback[0].", |key, value| {
        let tool = with(json!({ "name": "n", "provider": "p" }), key, value);
        json!({ "endpoint": "alexandria", "capabilityFeedback": [tool] })
    }),
    ("WebhookConfig", "webhook.", |key, value| {
        option("webhook", with(json!({ "url": "https://a.test/" }), key, value))
    }),
];

const JOB: &str = "0199b5a0-0000-7000-8000-000000000001";

fn with(mut object: Value, key: &str, value: Value) -> Value {
    object[key] = value;
    object
}

fn option(key: &str, value: Value) -> Value {
    json!({ "url": "https://a.test/", key: value })
}

fn format(kind: &str, settings: Value, key: &str, value: Value) -> Value {
    option("formats", json!([with(with(settings, key, value), "type", json!(kind))]))
}

fn action(kind: &str, settings: Value, key: &str, value: Value) -> Value {
    option("actions", json!([with(with(settings, key, value), "type", json!(kind))]))
}

/// Returns the paths of the faults of a body.
fn faults(schema: &str, body: Value) -> Vec<String> {
    let invalid = match schema {
        "CreateTeam" => decode_create_team(body).err(),
        "UpdateTeam" => decode_update_team(body).err(),
        "CreateKey" => decode_create_key(body).err(),
        "UpdateKey" => decode_update_key(body).err(),
        "CrawlRequest" | "CrawlOptions" | "WebhookConfig" => decode_crawl(body).err(),
        "BatchRequest" => decode_batch(body).err(),
        "MapRequest" => decode_map(body).err(),
        "ParamsPreview" => decode_params_preview(body).err(),
        "SearchRequest" | "SearchCategory" => decode_search(body).err(),
        "DeveloperRequest" => decode_developer(body).err(),
        "GovRequest" => decode_gov(body).err(),
        "SearchFeedback" | "ValuableSource" | "MissingContent" => decode_search_feedback(body).err(),
        "JobFeedback" | "ToolFeedback" | "RequestedWebsite" | "ProviderFeedback" | "CapabilityFeedback" => {
            decode_feedback(body).err()
        }
        _ => decode_scrape(body).err(),
    };
    let fields = invalid.map(|invalid| invalid.fields).unwrap_or_default();
    assert!(fields.iter().all(|fault| fault.message != "is not a known key"), "{schema}: {fields:?}");
    fields.into_iter().map(|fault| fault.path).collect()
}

#[test]
fn every_property_is_read() {
    let schemas = schemas();
    for (schema, prefix, embed) in PLACES {
        let properties = properties(&schemas, schema);
        assert!(!properties.is_empty(), "{schema} has no properties");
        for (key, _) in properties {
            // No field accepts this value, so the refusal shows that the key is known.
            let found = faults(schema, embed(key, json!([[[]]])));
            let path = format!("{prefix}{key}");
            assert!(found.iter().any(|fault| fault.starts_with(&path)), "{schema}.{key}: {found:?}");
        }
    }
}

#[test]
fn bounds_are_those_of_the_decoder() {
    let schemas = schemas();
    let mut checked = 0;
    for (schema, prefix, embed) in PLACES {
        for (key, rules) in properties(&schemas, schema) {
            let path = format!("{prefix}{key}");
            let accepts = |value: Value| !faults(schema, embed(key, value)).contains(&path);
            for (good, bad) in edges(rules) {
                checked += 1;
                let shown = |value: &Value| value.to_string().chars().take(40).collect::<String>();
                assert!(accepts(good.clone()), "{schema}.{key} refuses {}", shown(&good));
                assert!(!accepts(bad.clone()), "{schema}.{key} accepts {}", shown(&bad));
            }
        }
    }
    assert!(checked > 50, "only {checked} bounds in the schemas");
}

/// For each bound of a property, checks a value at the bound and one just outside.
fn edges(rules: &Value) -> Vec<(Value, Value)> {
    let mut edges = Vec::new();
    let number = |value: f64| {
        if value.fract() == 0.0 { json!(value as i64) } else { json!(value) }
    };
    let step = if rules["type"] == "number" { 0.01 } else { 1.0 };
    for (bound, outside) in [("minimum", -step), ("maximum", step)] {
        if let Some(limit) = rules[bound].as_f64() {
            edges.push((number(limit), number(limit + outside)));
        }
    }
    // URLs have a syntax of their own; their length is tested next to their parser.
    if rules["format"] != "uri" {
        if let Some(limit) = rules["maxLength"].as_u64() {
            let limit = usize::try_from(limit).unwrap();
            edges.push((json!("a".repeat(limit)), json!("a".repeat(limit + 1))));
        }
        if rules["minLength"] == 1 {
            edges.push((json!("a"), json!("")));
        }
    }
    edges
}

#[test]
fn defaults_are_those_of_the_decoder() {
    let schemas = schemas();
    let decoded = serde_json::to_value(decode_scrape(json!({ "url": "https://a.test/" })).unwrap()).unwrap();
    let mut checked = 0;
    let crawl = serde_json::to_value(decode_crawl(json!({ "url": "https://a.test/" })).unwrap()).unwrap();
    let map = serde_json::to_value(decode_map(json!({ "url": "https://a.test/" })).unwrap()).unwrap();
    let search = serde_json::to_value(decode_search(json!({ "query": "q" })).unwrap()).unwrap();
    for (name, decoded) in [
        ("SearchRequest", &search),
        ("ScrapeOptions", &decoded),
        ("ScrapeRequest", &decoded),
        ("CrawlOptions", &crawl),
        ("CrawlRequest", &crawl),
        ("MapRequest", &map),
    ] {
        for (key, rules) in properties(&schemas, name) {
            let (Some(default), Some(value)) = (rules.get("default"), decoded.get(key)) else {
                continue;
            };
            assert_eq!(default, value, "{name}.{key}");
            checked += 1;
        }
    }
    assert!(checked >= 18, "only {checked} defaults in the schemas");
    assert_eq!(schemas["ScrapeOptions"]["properties"]["maxAge"]["default"], 172_800_000);
}

#[test]
fn only_the_url_is_required() {
    let schemas = schemas();
    let required = |name: &str| -> Vec<Value> {
        let schema = &schemas[name];
        let parts = schema["allOf"].as_array().map_or_else(|| vec![schema], |parts| parts.iter().collect());
        parts.into_iter().filter_map(|part| part["required"].as_array()).flatten().cloned().collect()
    };
    assert_eq!(required("ScrapeRequest"), [json!("url")]);
    assert!(required("ScrapeOptions").is_empty(), "{:?}", required("ScrapeOptions"));
    assert_eq!(required("ToolRequest"), [json!("alexandria")]);
    assert_eq!(required("CreateTeam"), [json!("name")]);
    assert_eq!(required("CreateKey"), [json!("name")]);
    assert_eq!(required("CrawlRequest"), [json!("url")]);
    assert!(required("CrawlOptions").is_empty(), "{:?}", required("CrawlOptions"));
    assert_eq!(required("MapRequest"), [json!("url")]);
    assert_eq!(required("BatchRequest"), [json!("urls")]);
    assert_eq!(required("WebhookConfig"), [json!("url")]);
    assert_eq!(required("SearchRequest"), [json!("query")]);
    assert_eq!(required("DeveloperRequest"), [json!("query")]);
    assert_eq!(required("GovRequest"), [json!("query")]);
    assert_eq!(required("SearchFeedback"), [json!("rating")]);
}

#[test]
fn every_reference_leads_somewhere() {
    let schemas = schemas();
    let text = schemas.to_string();
    for part in text.split("#/components/schemas/").skip(1) {
        let name = part.split('"').next().unwrap();
        assert!(schemas.get(name).is_some(), "{name} is not in the schemas");
    }
}
