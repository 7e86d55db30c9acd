//! Provider-tool calls.

use serde_json::{Value, json};
use wire::{RequestId, ScrapeBody, ToolAnswer, ToolRequest, decode_scrape};

#[track_caller]
fn tools(body: Value) -> ToolRequest {
    match decode_scrape(body) {
        Ok(ScrapeBody::Tools(request)) => *request,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn refused(body: Value, path: &str, words: &str) {
    let invalid = decode_scrape(body).expect_err("the body must be refused");
    let fault = invalid.fields.first().expect("a fault");
    assert_eq!(fault.path, path);
    assert!(fault.message.contains(words), "{}", fault.message);
}

fn call() -> Value {
    json!({ "provider": "p", "capability": "c" })
}

#[test]
fn one_or_many() {
    let single = tools(json!({ "alexandria": call() }));
    assert_eq!(single, tools(json!({ "alexandria": [call()], "url": null, "useMock": "x", "__experimental_a": 1 })));
    assert_eq!((single.timeout, single.calls.len(), single.calls[0].options.len()), (60_000, 1, 0));
    let full = json!({ "provider": "p", "capability": "a/b", "options": { "limit": 2, "keep": null }, "version": 3 });
    let request = tools(json!({ "alexandria": [full], "timeout": 1000, "origin": "mcp", "integration": "x" }));
    assert_eq!(request.calls[0].version.as_deref(), Some("3"));
    assert_eq!(request.calls[0].options["keep"], Value::Null, "options belong to the tool");
    assert_eq!(
        (request.timeout, request.attribution.origin.as_deref(), request.attribution.integration.as_deref()),
        (1000, Some("mcp"), Some("x"))
    );
    assert_eq!(tools(json!({ "alexandria": vec![call(); 10] })).calls.len(), 10);
}

#[test]
fn nothing_else_beside() {
    for key in ["url", "formats", "maxAge", "domainTools", "whatever"] {
        refused(json!({ "alexandria": call(), key: 1 }), key, "cannot be combined with `alexandria`");
    }
}

#[test]
fn bounds() {
    refused(json!({ "alexandria": [] }), "alexandria", "1 to 10 entries, has 0");
    refused(json!({ "alexandria": vec![call(); 11] }), "alexandria", "1 to 10 entries, has 11");
    refused(json!({ "alexandria": "find-tools" }), "alexandria", "a call or an array of calls");
    refused(json!({ "alexandria": call(), "timeout": 999 }), "timeout", "1000 to 300000");
    for key in ["provider", "capability"] {
        let with = |value: Value| {
            let mut call = call();
            call[key] = value;
            json!({ "alexandria": [call] })
        };
        let path = format!("alexandria[0].{key}");
        tools(with(json!("x".repeat(200))));
        refused(with(json!("x".repeat(201))), &path, "1 to 200 characters");
        refused(with(json!("")), &path, "1 to 200 characters");
        refused(with(Value::Null), &path, "is required");
        refused(with(json!("a\nb")), &path, "control characters");
    }
    refused(
        json!({ "alexandria": { "provider": "p", "capability": "c", "options": [] } }),
        "alexandria.options",
        "an object",
    );
    refused(json!({ "alexandria": { "provider": "p", "capability": "c", "x": 1 } }), "alexandria.x", "not a known key");
}

#[test]
fn request_ids() {
    for good in ["a", "ok:1._-Z", &"x".repeat(128)] {
        assert_eq!(RequestId::parse(good.as_bytes()).unwrap().as_str(), good);
    }
    for bad in ["", "a b", "a/b", "é", "a\n", &"x".repeat(129)] {
        let invalid = RequestId::parse(bad.as_bytes()).unwrap_err();
        assert!(invalid.message.contains("`x-request-id` must be 1 to 128"), "{bad:?}");
    }
    assert!(RequestId::parse(&[0xff]).is_err());
}

#[test]
fn answers() {
    let answer = json!({
        "success": true, "scrape_id": "0192", "data": { "creditsCost": 3, "alexandria": [
            { "provider": "p", "capability": "c", "creditsCost": 3, "data": { "a": 1 }, "upstreamStatus": 200 },
            { "provider": "p", "capability": "d", "error": { "code": "x", "message": "y", "status": 404 } },
        ] },
    });
    let typed: ToolAnswer = serde_json::from_value(answer.clone()).unwrap();
    assert_eq!(serde_json::to_value(typed).unwrap(), answer);
}
