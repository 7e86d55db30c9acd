//! Bodies as the official clients send them (docs/CONTRACT.md, "What clients depend on").

use serde_json::{Value, json};
use wire::{Format, ProxyMode, ScrapeBody, decode_scrape};

use crate::page;

#[test]
fn python() {
    // If any option is set, the Python client fills in all of these.
    let request = page(json!({
        "url": "https://example.com", "formats": ["markdown"], "onlyMainContent": true, "mobile": false, "skipTlsVerification": true,
        "removeBase64Images": true, "fastMode": false, "blockAds": true, "storeInCache": true, "maxAge": 14_400_000,
        "origin": "python-sdk@4.53.2", "headers": { "X-Conformance": "yes-42" },
    }));
    assert_eq!(request.attribution.origin.as_deref(), Some("python-sdk@4.53.2"));
    page(json!({
        "formats": [{ "type": "screenshot", "fullPage": true, "quality": 60, "viewport": { "width": 800, "height": 600 } }],
        "profile": { "name": "a", "saveChanges": true },
        "parsers": [{ "type": "pdf", "mode": "fast", "pages": true, "blocks": true }],
    }));
}

#[test]
fn javascript() {
    let request = page(json!({
        "formats": ["markdown"], "headers": { "a": "b" }, "includeTags": ["main"], "excludeTags": ["nav"], "onlyMainContent": true,
        "timeout": 20_000, "waitFor": 1, "mobile": false, "parsers": ["pdf", { "type": "image" }],
        "location": { "country": "US", "languages": ["en-US"] }, "skipTlsVerification": true, "removeBase64Images": true,
        "fastMode": false, "blockAds": true, "proxy": "stealth", "maxAge": 0, "storeInCache": false, "integration": "kit",
        "useMock": "some-mock", "origin": "js-sdk@4.42.0",
    }));
    assert_eq!(request.options.proxy, ProxyMode::Stealth);
    page(json!({ "redactPII": { "mode": "fast", "entities": ["EMAIL", "PHONE"], "replaceStyle": "tag" } }));
}

#[test]
fn rust_cli_mcp_and_n8n() {
    page(
        json!({ "actions": [{ "type": "screenshot", "full_page": true }], "formats": ["json"], "origin": "rust-sdk@2.21.8" }),
    );
    page(
        json!({ "formats": ["json", { "type": "markdown" }], "onlyMainContent": false, "redactPII": true, "integration": "cli" }),
    );
    let request = page(json!({
        "formats": [{ "type": "json" }, { "type": "query", "prompt": "?" }], "zeroDataRetention": false, "origin": "mcp-x@3.26.0",
        "actions": [{ "type": "generatePDF" }, { "type": "wait", "milliseconds": 10 }],
    }));
    assert!(matches!(request.options.formats[0], Format::Json(_)));
    page(json!({ "formats": [{ "type": "json", "schema": {} }], "proxy": "basic", "skipTlsVerification": false }));
}

#[test]
fn tool_calls() {
    let mcp = json!({ "alexandria": { "provider": "firecrawl", "capability": "find-tools", "options": { "limit": 20 } }, "origin": "mcp" });
    let sdk = json!({ "alexandria": [{ "provider": "firecrawl", "capability": "terms/show", "options": { "provider": "x" } }],
        "timeout": 120_000, "integration": "n8n", "origin": "js-sdk@4.42.0" });
    for body in [mcp, sdk] {
        assert!(matches!(decode_scrape(body), Ok(ScrapeBody::Tools(_))));
    }
}

/// Checks that the stored form of a request decodes to the same request.
#[test]
fn requests_survive_being_written_down() {
    let full = json!({
        "url": "https://example.com/", "zeroDataRetention": true, "domainTools": true, "toolDetail": "compact", "origin": "o",
        "integration": "i", "onlyMainContent": false, "includeTags": ["a"], "excludeTags": ["b"], "headers": { "X": "1" },
        "waitFor": 1, "timeout": 9000, "mobile": true, "blockAds": false, "removeBase64Images": false, "skipTlsVerification": false,
        "proxy": "enhanced", "location": { "country": "CH", "languages": ["de"] }, "maxAge": 1, "minAge": 2, "storeInCache": false,
        "lockdown": true, "parsers": ["image", { "type": "pdf", "mode": "fast", "maxPages": 2, "pageMarkdown": true }],
        "profile": { "name": "p", "saveChanges": false }, "redactPII": { "mode": "aggressive", "entities": ["SECRET"] },
        "auditMetadata": { "username": "u" }, "checkPromptInjection": true, "fastMode": true,
        "threatProtection": { "mode": "normal", "riskScoreThreshold": 5, "blockedTlds": ["zip"], "failurePolicy": "open" },
        "formats": ["markdown", "html", "rawHtml", "links", "images", "summary", "branding", "product", "menu", "audio", "video",
            { "type": "attributes", "selectors": [{ "selector": "a", "attribute": "b" }] },
            { "type": "screenshot", "quality": 3, "viewport": { "width": 4, "height": 5 } },
            { "type": "json", "schema": { "x": null }, "prompt": "p" }, { "type": "query", "prompt": "p", "mode": "directQuote" },
            { "type": "question", "question": "q" }, { "type": "highlights", "query": "h" }],
        "actions": [{ "type": "wait", "milliseconds": 1 }, { "type": "wait", "selector": "a" }, { "type": "screenshot" },
            { "type": "click", "selector": "a", "all": true }, { "type": "write", "text": "t" }, { "type": "press", "key": "k" },
            { "type": "scroll", "direction": "up" }, { "type": "scrape" }, { "type": "executeJavascript", "script": "s" },
            { "type": "pdf", "format": "A4", "landscape": true, "scale": 0.5 }],
    });
    for body in [
        full,
        json!({ "url": "https://example.com/", "formats": ["markdown",
            { "type": "changeTracking", "modes": ["json"], "prompt": "p", "tag": "t" }] }),
        json!({ "url": "https://example.com/" }),
        json!({ "alexandria": { "provider": "p", "capability": "c" } }),
    ] {
        let request = decode_scrape(body).unwrap();
        let written: Value = serde_json::to_value(&request).unwrap();
        assert_eq!(decode_scrape(written).unwrap(), request);
    }
}
