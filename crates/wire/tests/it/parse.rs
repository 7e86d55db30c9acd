//! Options for uploaded files.

use serde_json::{Value, json};
use wire::{
    Code, Format, ParseRefusal, ParseRequest, Parser, PdfMode, ProxyMode, decode_parse, decode_parse_uploaded,
    decode_upload_url,
};

#[track_caller]
fn parse(options: Value) -> ParseRequest {
    decode_parse(options.clone()).unwrap_or_else(|refusal| panic!("{options} was refused: {refusal}"))
}

/// Returns the paths of options refused as unsupported, in order.
#[track_caller]
fn unsupported(options: Value) -> Vec<String> {
    match decode_parse(options.clone()) {
        Err(ParseRefusal::Unsupported(invalid)) => invalid.fields.into_iter().map(|fault| fault.path).collect(),
        other => panic!("{options} gave {other:?}"),
    }
}

#[test]
fn nothing_is_needed() {
    assert_eq!(parse(json!({})), ParseRequest::default());
    assert_eq!(parse(json!({ "formats": null, "timeout": null })).options.formats, [Format::Markdown]);
}

#[test]
fn every_option_of_a_file_is_taken() {
    for (key, value) in [
        ("formats", json!(["markdown", "html", "rawHtml", "links", "images", "summary", "product", "menu"])),
        ("formats", json!([{ "type": "attributes", "selectors": [{ "selector": "a", "attribute": "href" }] }])),
        ("formats", json!([{ "type": "json", "prompt": "p" }, { "type": "question", "question": "q" }])),
        ("formats", json!([{ "type": "highlights", "query": "q" }, { "type": "query", "prompt": "p" }])),
        ("headers", json!({ "x-a": "1" })),
        ("includeTags", json!(["main"])),
        ("excludeTags", json!(["nav"])),
        ("onlyMainContent", json!(false)),
        ("timeout", json!(5000)),
        ("parsers", json!(["pdf", { "type": "image" }])),
        ("skipTlsVerification", json!(false)),
        ("removeBase64Images", json!(false)),
        ("blockAds", json!(false)),
        ("fastMode", json!(true)),
        ("useMock", json!("anything")),
        ("proxy", json!("basic")),
        ("proxy", json!("auto")),
        ("redactPII", json!({ "mode": "fast" })),
        ("checkPromptInjection", json!(true)),
        ("auditMetadata", json!({ "username": "u" })),
        ("zeroDataRetention", json!(true)),
        ("integration", json!("cli")),
        ("origin", json!("python-sdk@4")),
        // Keys that clients always send, and values that ask for nothing.
        ("mobile", json!(false)),
        ("storeInCache", json!(true)),
        ("maxAge", json!(14_400_000)),
        ("waitFor", json!(0)),
        ("waitFor", json!(0.0)),
        ("lockdown", json!(false)),
        ("actions", json!([])),
    ] {
        parse(json!({ key: value }));
    }
    let options = json!({ "parsers": [{ "type": "pdf", "mode": "ocr", "maxPages": 7, "pages": true, "pageMarkdown": true }], "proxy": "basic" });
    let read = parse(options).options;
    let Some([Parser::Pdf(pdf)]) = read.parsers.as_deref() else { panic!("{:?}", read.parsers) };
    assert_eq!((pdf.mode, pdf.max_pages, pdf.pages, read.proxy), (PdfMode::Ocr, Some(7), true, ProxyMode::Basic));
}

#[test]
fn what_needs_a_page_is_refused_by_name() {
    for (key, value) in [
        ("actions", json!([{ "type": "scrape" }])),
        ("actions", json!("click")),
        ("waitFor", json!(1)),
        ("mobile", json!(true)),
        ("profile", json!({ "name": "p" })),
        ("lockdown", json!(true)),
        ("minAge", json!(0)),
        ("location", json!({ "country": "DE" })),
        ("url", json!("https://example.com/")),
        ("proxy", json!("enhanced")),
        ("proxy", json!("stealth")),
    ] {
        assert_eq!(unsupported(json!({ key: value })), [key]);
    }
    for format in ["screenshot", "changeTracking", "branding", "audio", "video", "rawBase64"] {
        assert_eq!(unsupported(json!({ "formats": ["markdown", format] })), ["formats[1]"]);
        assert_eq!(unsupported(json!({ "formats": [{ "type": format }] })), ["formats[0]"]);
    }
}

#[test]
fn every_fault_is_told() {
    let body =
        json!({ "waitFor": 9, "formats": ["video", "html", "audio"], "timeout": 1, "colour": "red", "url": "x" });
    assert_eq!(unsupported(body), ["waitFor", "url", "formats[0]", "formats[2]", "timeout", "colour"]);
    let many = unsupported(json!({ "formats": vec!["video"; 100], "mobile": true }));
    assert_eq!((many.len(), many[0].as_str()), (20, "mobile"));
}

#[test]
fn what_breaks_the_contract_is_a_bad_request() {
    for (options, path) in [
        (json!({ "colour": "red" }), "colour"),
        (json!({ "formats": ["parchment"] }), "formats[0]"),
        (json!({ "timeout": 1 }), "timeout"),
        (json!({ "waitFor": "1" }), "waitFor"),
        (json!({ "zeroDataRetention": true, "onlyCleanContent": true }), "onlyCleanContent"),
        (json!([]), ""),
        (json!("x"), ""),
    ] {
        let Err(ParseRefusal::Invalid(invalid)) = decode_parse(options.clone()) else { panic!("{options}") };
        assert_eq!(invalid.fields[0].path, path, "{options}");
    }
}

#[test]
fn files_that_were_sent_before() {
    let read = decode_parse_uploaded(json!({ "uploadRef": "0190", "formats": ["html"] })).unwrap();
    assert_eq!((read.upload_ref.as_str(), read.request.options.formats), ("0190", vec![Format::Html]));
    for body in
        [json!({}), json!({ "uploadRef": "" }), json!({ "uploadRef": "x".repeat(65) }), json!({ "uploadRef": 1 })]
    {
        let Err(ParseRefusal::Invalid(invalid)) = decode_parse_uploaded(body.clone()) else { panic!("{body}") };
        assert_eq!(invalid.fields[0].path, "uploadRef", "{body}");
    }
    let refused = decode_parse_uploaded(json!({ "uploadRef": "a", "mobile": true }));
    assert!(matches!(refused, Err(ParseRefusal::Unsupported(_))));
}

#[test]
fn places_for_files() {
    let asked = decode_upload_url(
        json!({ "filename": "a b.pdf", "contentType": "application/pdf", "declaredSizeBytes": 5, "origin": "mcp" }),
    );
    let asked = asked.unwrap();
    assert_eq!((asked.filename.as_str(), asked.declared_size_bytes), ("a b.pdf", Some(5)));
    for (body, path) in [
        (json!({}), "filename"),
        (json!({ "filename": "" }), "filename"),
        (json!({ "filename": "a\nb" }), "filename"),
        (json!({ "filename": "a", "declaredSizeBytes": 0 }), "declaredSizeBytes"),
        (json!({ "filename": "a", "declaredSizeBytes": 52_428_801 }), "declaredSizeBytes"),
    ] {
        assert_eq!(decode_upload_url(body.clone()).unwrap_err().fields[0].path, path, "{body}");
    }
}

#[test]
fn what_a_server_must_have() {
    let needs = |options: Value| parse(options).needs().into_iter().map(|need| need.code).collect::<Vec<_>>();
    assert_eq!(needs(json!({ "formats": ["summary"] })), [Code::ScrapeSummaryNotSupported]);
    assert_eq!(needs(json!({ "parsers": [{ "type": "pdf", "mode": "ocr" }] })), [Code::ScrapeOcrNotSupported]);
    assert_eq!(needs(json!({ "parsers": ["pdf", "image"] })), []);
}
