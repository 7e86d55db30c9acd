//! Every option of a page scrape: defaults, bounds, aliases, refusals.

use serde_json::{Value, json};
use wire::{
    Location, ParserKind, PdfMode, PdfParser, PiiEntity, ProxyMode, RedactMode, RedactPii, ReplaceStyle, ScrapeOptions,
    ScrapeRequest, ToolDetail,
};

use crate::{bounds, decode_page, lengths, page, refused};

#[test]
fn defaults() {
    let request = page(json!({}));
    assert_eq!(request.options, ScrapeOptions::default());
    // Written out from docs/CONTRACT.md, "Options".
    let want = json!({
        "formats": [{ "type": "markdown" }], "onlyMainContent": true, "onlyCleanContent": false, "includeTags": [], "excludeTags": [],
        "headers": {}, "waitFor": 0, "timeout": 60_000, "mobile": false, "blockAds": true, "removeBase64Images": true,
        "proxy": "auto", "storeInCache": true, "lockdown": false, "actions": [],
        "checkPromptInjection": false, "fastMode": false,
    });
    assert_eq!(serde_json::to_value(&request.options).unwrap(), want);
    // The default depends on the other options, until the caller sets it.
    assert!(request.options.skips_tls_verification(false) && !request.options.skips_tls_verification(true));
    assert!(!request.zero_data_retention && !request.domain_tools && request.tool_detail.is_none());
    assert_eq!(request.options.max_age_ms(), 172_800_000);
    assert_eq!(page(json!({ "lockdown": true })).options.max_age_ms(), 63_072_000_000);
    // The Python client sends 4 hours with every option. That counts as given, even under lockdown.
    assert_eq!(page(json!({ "lockdown": true, "maxAge": 14_400_000 })).options.max_age_ms(), 14_400_000);
}

#[test]
fn a_null_is_an_absent_field() {
    let nulls: Value = wire_keys().iter().map(|key| ((*key).to_owned(), Value::Null)).collect();
    assert_eq!(page(nulls), page(json!({})));
    let nested = json!({ "location": { "country": null, "languages": null }, "formats": [{ "type": "screenshot", "viewport": null }] });
    assert_eq!(page(nested.clone()).options.location, Some(Location::default()));
    refused(json!({ "url": null, "formats": ["markdown"] }), "url", "is required");
    refused(json!({ "includeTags": [null] }), "includeTags[0]", "a string");
}

fn wire_keys() -> &'static [&'static str] {
    &[
        "formats",
        "onlyMainContent",
        "onlyCleanContent",
        "includeTags",
        "excludeTags",
        "headers",
        "waitFor",
        "timeout",
        "mobile",
        "blockAds",
        "removeBase64Images",
        "skipTlsVerification",
        "proxy",
        "location",
        "maxAge",
        "minAge",
        "storeInCache",
        "lockdown",
        "parsers",
        "profile",
        "redactPII",
        "actions",
        "auditMetadata",
        "threatProtection",
        "checkPromptInjection",
        "fastMode",
        "zeroDataRetention",
        "domainTools",
        "toolDetail",
        "origin",
        "integration",
        "useMock",
        "alexandria",
    ]
}

#[test]
fn switches() {
    type Read = fn(&ScrapeRequest) -> bool;
    let flags: &[(&str, Read)] = &[
        ("onlyMainContent", |r| r.options.only_main_content),
        ("onlyCleanContent", |r| r.options.only_clean_content),
        ("mobile", |r| r.options.mobile),
        ("blockAds", |r| r.options.block_ads),
        ("removeBase64Images", |r| r.options.remove_base64_images),
        ("skipTlsVerification", |r| r.options.skip_tls_verification.unwrap()),
        ("storeInCache", |r| r.options.store_in_cache),
        ("lockdown", |r| r.options.lockdown),
        ("checkPromptInjection", |r| r.options.check_prompt_injection),
        ("fastMode", |r| r.options.fast_mode),
        ("zeroDataRetention", |r| r.zero_data_retention),
        ("domainTools", |r| r.domain_tools),
    ];
    for (key, read) in flags {
        for value in [true, false] {
            assert_eq!(read(&page(json!({ *key: value }))), value, "{key}");
        }
        for wrong in [json!("true"), json!(1), json!({}), json!([])] {
            refused(json!({ *key: wrong }), key, "must be true or false");
        }
    }
}

#[test]
fn certificates_are_verified_where_credentials_go_unless_the_caller_says_otherwise() {
    let check = |options: serde_json::Value, has_password: bool, expect: bool| {
        let read = page(options.clone()).options;
        assert_eq!(read.skips_tls_verification(has_password), expect, "{options}");
    };
    check(json!({}), false, true);
    check(json!({ "mobile": true, "headers": {}, "actions": [], "skipTlsVerification": null }), false, true);
    check(json!({}), true, false);
    for personal in [
        json!({ "headers": { "Authorization": "Bearer x" } }),
        json!({ "headers": { "User-Agent": "x" } }),
        json!({ "actions": [{ "type": "wait", "milliseconds": 1 }] }),
        json!({ "profile": { "name": "p" } }),
    ] {
        check(personal.clone(), false, false);
        for said in [true, false] {
            let mut options = personal.clone();
            options["skipTlsVerification"] = said.into();
            check(options.clone(), false, said);
            check(options, true, said);
        }
    }
}

#[test]
fn times() {
    bounds("timeout", 1000..=300_000, |value| json!({ "timeout": value }));
    bounds("waitFor", 0..=60_000, |value| json!({ "waitFor": value, "timeout": 300_000 }));
    bounds("maxAge", 0..=9_007_199_254_740_991, |value| json!({ "maxAge": value }));
    bounds("minAge", 0..=9_007_199_254_740_991, |value| json!({ "minAge": value }));
    // A float without a fraction is a whole number.
    assert_eq!(page(json!({ "timeout": 5000.0 })).options.timeout, 5000);
    assert_eq!(page(json!({ "waitFor": 30_000 })).options.wait_for, 30_000);
    refused(json!({ "waitFor": 30_001 }), "waitFor", "waitFor must not exceed half of timeout");
    refused(json!({ "waitFor": 501, "timeout": 1000 }), "waitFor", "waitFor must not exceed half of timeout");
}

#[test]
fn a_wait_over_half_of_the_timeout_is_named_in_the_words_that_callers_look_for() {
    let invalid = decode_page(json!({ "waitFor": 3000, "timeout": 5000, "mobile": 1 })).unwrap_err();
    let sentence = "waitFor must not exceed half of timeout";
    assert_eq!(invalid.message, format!("`mobile` must be true or false, got 1; {sentence}"));
    let advice = "waitFor is 3000: set it to at most 2500, or set timeout to at least 6000";
    assert_eq!(invalid.details()[1], json!({ "path": "waitFor", "message": sentence, "advice": advice }));
    let alone = decode_page(json!({ "waitFor": 3000, "timeout": 5000 })).unwrap_err();
    assert_eq!(alone.message, sentence);
}

#[test]
fn selectors() {
    for key in ["includeTags", "excludeTags"] {
        page(json!({ key: vec!["p"; 250] }));
        refused(json!({ key: vec!["p"; 251] }), key, "0 to 250 entries, has 251");
        lengths(&format!("{key}[1]"), 1..=2000, |value| json!({ key: ["p", value] }));
        refused(json!({ key: "p" }), key, "must be an array");
    }
    assert_eq!(page(json!({ "includeTags": [".a", "main > p"] })).options.include_tags, [".a", "main > p"]);
}

#[test]
fn request_headers() {
    let options = page(json!({ "headers": { "User-Agent": "x", "Cookie": "a=SECRET7" } })).options;
    assert_eq!(options.headers["User-Agent"], "x");
    let shown = format!("{options:?}");
    assert!(shown.contains("Cookie") && !shown.contains("SECRET7"), "{shown}");
    refused(json!({ "headers": { "Host": "internal" } }), "headers", "belongs to the connection");
    refused(json!({ "headers": { "X": "a\r\nb" } }), "headers", "control characters");
    refused(json!({ "headers": "a: b" }), "headers", "an object of strings");
}

#[test]
fn proxy_and_tool_detail() {
    let proxies = [
        ("basic", ProxyMode::Basic),
        ("enhanced", ProxyMode::Enhanced),
        ("stealth", ProxyMode::Stealth),
        ("auto", ProxyMode::Auto),
    ];
    for (word, mode) in proxies {
        assert_eq!(page(json!({ "proxy": word })).options.proxy, mode);
    }
    for wrong in [json!("Basic"), json!(""), json!(true), json!({ "url": "http://127.0.0.1:1" })] {
        refused(json!({ "proxy": wrong }), "proxy", "must be `basic`, `enhanced`, `stealth` or `auto`");
    }
    assert_eq!(page(json!({ "toolDetail": "full" })).tool_detail, Some(ToolDetail::Full));
    refused(json!({ "toolDetail": "all" }), "toolDetail", "`compact`, `summary` or `full`");
}

#[test]
fn location() {
    let read = |location: Value| page(json!({ "location": location })).options.location.unwrap();
    assert_eq!(read(json!({})), Location { country: "US".into(), languages: vec![] });
    let given = read(json!({ "country": "DE", "languages": ["de-DE", "en_US", "zh-Hant-TW", "*"] }));
    assert_eq!(given.languages, ["de-DE", "en-US", "zh-Hant-TW", "*"]);
    for wrong in [json!("us"), json!("USA"), json!("U1"), json!(""), json!("ÄÖ")] {
        refused(json!({ "location": { "country": wrong } }), "location.country", "two capital letters");
    }
    for wrong in ["", "de-", "-de", "de\r\nX: y", "de;q=1", "de,en", "languagelanguage"] {
        refused(json!({ "location": { "languages": ["en", wrong] } }), "location.languages[1]", "a locale code");
    }
    refused(json!({ "location": { "languages": vec!["en"; 21] } }), "location.languages", "0 to 20 entries");
    refused(json!({ "location": { "city": "Bern" } }), "location.city", "not a known key");
    refused(json!({ "location": "US" }), "location", "an object");
}

#[test]
fn parsers() {
    let read = |parsers: Value| page(json!({ "parsers": parsers })).options.parsers.unwrap();
    assert_eq!(read(json!([])), []);
    let kinds: Vec<ParserKind> = read(json!(["pdf", "image"])).iter().map(wire::Parser::kind).collect();
    assert_eq!(kinds, [ParserKind::Pdf, ParserKind::Image]);
    let plain = wire::Parser::Pdf(PdfParser::default());
    assert_eq!(read(json!([{ "type": "pdf" }, { "type": "image" }])), [plain.clone(), wire::Parser::Image]);
    let object =
        json!({ "type": "pdf", "mode": "ocr", "maxPages": 3, "blocks": true, "pages": true, "pageMarkers": true });
    let full = PdfParser { mode: PdfMode::Ocr, max_pages: Some(3), blocks: true, pages: true, page_markers: true };
    assert_eq!(read(json!([object])), [wire::Parser::Pdf(full)]);
    let old_name = PdfParser { pages: true, ..PdfParser::default() };
    assert_eq!(read(json!([{ "type": "pdf", "pageMarkdown": true }])), [wire::Parser::Pdf(old_name)]);

    bounds("parsers[0].maxPages", 1..=10_000, |value| json!({ "parsers": [{ "type": "pdf", "maxPages": value }] }));
    refused(json!({ "parsers": [{ "type": "pdf", "mode": "best" }] }), "parsers[0].mode", "`fast`, `auto` or `ocr`");
    refused(json!({ "parsers": ["docx"] }), "parsers[0]", "`pdf` or `image`");
    refused(json!({ "parsers": ["pdf", { "type": "pdf" }] }), "parsers[1]", "repeats the type");
    refused(json!({ "parsers": [{ "mode": "fast" }] }), "parsers[0].type", "is required");
    refused(json!({ "parsers": [{ "type": "image", "mode": "fast" }] }), "parsers[0].mode", "not a known key");
    refused(json!({ "parsers": "pdf" }), "parsers", "an array");
}

#[test]
fn profile_and_audit() {
    let profile = page(json!({ "profile": { "name": "shop" } })).options.profile.unwrap();
    assert!(profile.save_changes && profile.name == "shop");
    assert!(!page(json!({ "profile": { "name": "a", "saveChanges": false } })).options.profile.unwrap().save_changes);
    lengths("profile.name", 1..=128, |value| json!({ "profile": { "name": value } }));
    refused(json!({ "profile": {} }), "profile.name", "is required");
    refused(json!({ "profile": { "name": "a\u{0}" } }), "profile.name", "control characters");
    refused(json!({ "profile": { "name": "a", "save": true } }), "profile.save", "not a known key");

    lengths("auditMetadata.username", 0..=1024, |value| json!({ "auditMetadata": { "username": value } }));
    refused(json!({ "auditMetadata": { "userName": "u" } }), "auditMetadata.userName", "not a known key");
}

#[test]
fn redact_pii() {
    let read = |value: Value| page(json!({ "redactPII": value })).options.redact_pii;
    assert_eq!(read(json!(false)), None);
    assert_eq!(read(json!(true)), Some(RedactPii::default()));
    assert_eq!(read(json!({})), Some(RedactPii::default()));
    let given =
        read(json!({ "mode": "fast", "entities": ["PHONE", "EMAIL", "EMAIL"], "replaceStyle": "mask" })).unwrap();
    let entities = vec![PiiEntity::Email, PiiEntity::Phone];
    assert_eq!(given, RedactPii { mode: RedactMode::Fast, entities, replace_style: ReplaceStyle::Mask });
    refused(json!({ "redactPII": "yes" }), "redactPII", "true, false or an object");
    refused(json!({ "redactPII": { "mode": "slow" } }), "redactPII.mode", "`accurate`, `aggressive` or `fast`");
    refused(json!({ "redactPII": { "entities": ["email"] } }), "redactPII.entities[0]", "`PERSON`, `EMAIL`");
    refused(json!({ "redactPII": { "entities": [] } }), "redactPII.entities", "1 to 6 entries");
    refused(json!({ "redactPII": { "replaceStyle": "x" } }), "redactPII.replaceStyle", "`tag`, `mask` or `remove`");
    refused(json!({ "redactPII": { "style": "x" } }), "redactPII.style", "not a known key");
}

#[test]
fn threat_protection() {
    let full = json!({
        "mode": "manual-only", "riskScoreThreshold": 100, "blacklist": ["*.bad.test"], "whitelist": [], "blockedTlds": ["zip", "рф"],
        "failurePolicy": "closed",
    });
    page(json!({ "threatProtection": full }));
    let within = |key: &'static str| move |value: Value| json!({ "threatProtection": { key: value } });
    bounds("threatProtection.riskScoreThreshold", 0..=100, within("riskScoreThreshold"));
    for key in ["blacklist", "whitelist", "blockedTlds"] {
        page(within(key)(json!(vec!["a"; 1000])));
        refused(within(key)(json!(vec!["a"; 1001])), &format!("threatProtection.{key}"), "0 to 1000 entries");
    }
    for wrong in [".zip", "ZIP", "", "a b"] {
        refused(
            within("blockedTlds")(json!([wrong])),
            "threatProtection.blockedTlds[0]",
            "in lower case without a dot",
        );
    }
    refused(within("mode")(json!("on")), "threatProtection.mode", "`off`, `manual-only`, `normal` or `zscaler`");
    refused(within("failurePolicy")(json!("x")), "threatProtection.failurePolicy", "`open` or `closed`");
    refused(within("level")(json!(1)), "threatProtection.level", "not a known key");
}

#[test]
fn unknown_keys() {
    refused(json!({ "onlymaincontent": true }), "onlymaincontent", "not a known key");
    let message = |members: Value| decode_page(members).unwrap_err().message;
    assert_eq!(message(json!({ "pageOptions": {} })), "Unrecognized key in body: `pageOptions`");
    assert_eq!(message(json!({ "a": 1, "b": 2 })), "Unrecognized keys in body: `a`, `b`");
    assert_eq!(message(json!({ "location": { "x": 1 } })), "Unrecognized key in body: `location.x`");
    // Experimental keys of other servers have no effect, at any depth.
    let trials = json!({ "__experimental_cache": true, "__experimental_x": { "y": [1] }, "location": { "__experimental_z": 1 } });
    assert_eq!(page(trials), page(json!({ "location": {} })));
    assert_eq!(message(json!({ "__experimental": 1 })), "Unrecognized key in body: `__experimental`");
    // The part of a caller's key that an error echoes stays short and printable.
    let long = message(json!({ "\u{1b}[31m".repeat(100_000): 1 }));
    assert!(long.len() < 500 && !long.contains('\u{1b}'), "{long}");
}

#[test]
fn faults_are_reported_together() {
    let invalid =
        decode_page(json!({ "url": "ftp://x.test", "timeout": 1, "mobile": 2, "formats": ["pdf"] })).unwrap_err();
    let mut paths: Vec<&str> = invalid.fields.iter().map(|fault| fault.path.as_str()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["formats[0]", "mobile", "timeout", "url"]);
    assert_eq!(invalid.details().as_array().map(Vec::len), Some(4));
}

#[test]
fn rules_between_fields() {
    refused(json!({ "zeroDataRetention": true, "onlyCleanContent": true }), "onlyCleanContent", "`zeroDataRetention`");
    let body = json!({ "formats": ["rawBase64"], "checkPromptInjection": true });
    refused(body, "checkPromptInjection", "`rawBase64`");
    // The Python client sends these together, so this is no error: the cache is not used instead.
    page(json!({ "storeInCache": true, "headers": { "a": "b" }, "actions": [{ "type": "scrape" }] }));
}

#[test]
fn urls() {
    assert_eq!(page(json!({ "url": " https://example.com/a " })).url.as_str(), "https://example.com/a");
    assert_eq!(page(json!({ "url": "example.com/x" })).url.as_str(), "https://example.com/x");
    for wrong in ["not a url", "//host", "127.0.0.1:8080/", "file:///etc/passwd", "http:\\\\127.0.0.1:1/", ""] {
        refused(json!({ "url": wrong }), "url", "must");
    }
    refused(json!({ "url": ["https://example.com"] }), "url", "must be a string");
    let invalid = wire::decode_scrape(json!({})).unwrap_err();
    assert_eq!(invalid.message, "`url` is required");
}

#[test]
fn debug_output_keeps_secrets() {
    let request = page(json!({
        "url": "https://user:PASS1@example.com/p?token=TOKEN1",
        "headers": { "Authorization": "Bearer TOKEN2" },
        "actions": [{ "type": "write", "text": "PASS2" }, { "type": "executeJavascript", "script": "PASS3" }],
    }));
    let shown = format!("{request:?}");
    for secret in ["PASS", "TOKEN"] {
        assert!(!shown.contains(secret), "{shown}");
    }
    assert!(shown.contains("example.com") && shown.contains("Authorization"), "{shown}");
    for private in [json!({ "lockdown": true }), json!({ "zeroDataRetention": true })] {
        let request = page(private);
        assert!(request.is_private() && !format!("{request:?}").contains("example.com"));
    }
}
