//! Requests of crawls and batches: defaults, bounds, aliases, bodies of clients, stored forms.

use serde_json::{Value, json};
use wire::{
    CrawlRequest, Document, Invalid, JobProgress, JobStatus, ScrapeOptions, SitemapMode, WatchMessage, decode_batch,
    decode_crawl, decode_options, decode_params_preview,
};

fn with(mut members: Value, key: &str, value: Value) -> Value {
    members[key] = value;
    members
}

#[track_caller]
fn crawl(members: Value) -> CrawlRequest {
    let body = crate::with_url(members);
    let request = decode_crawl(body.clone()).unwrap_or_else(|invalid| panic!("{body} was refused: {invalid}"));
    // Jobs are stored as JSON and decoded again.
    assert_eq!(decode_crawl(serde_json::to_value(&request).unwrap()).as_ref(), Ok(&request), "{body}");
    request
}

#[track_caller]
fn refused<T: std::fmt::Debug>(decoded: Result<T, Invalid>, path: &str, words: &str) {
    let invalid = decoded.unwrap_err();
    let fault = invalid.fields.iter().find(|fault| fault.path == path);
    let fault = fault.unwrap_or_else(|| panic!("{path} is not among {:?}", invalid.fields));
    assert!(fault.message.contains(words), "{fault}");
}

fn refused_crawl(members: Value, path: &str, words: &str) {
    refused(decode_crawl(crate::with_url(members)), path, words);
}

#[test]
fn a_crawl_by_default() {
    let request = crawl(json!({}));
    assert_eq!(request, CrawlRequest::new("https://example.com/".parse().unwrap()));
    // Written out from docs/CONTRACT.md, "Crawl".
    let want = json!({
        "url": "https://example.com/", "includePaths": [], "excludePaths": [], "limit": 10_000, "sitemap": "include",
        "ignoreQueryParameters": false, "deduplicateSimilarURLs": true, "crawlEntireDomain": false, "allowExternalLinks": false,
        "allowSubdomains": false, "regexOnFullURL": false, "ignoreRobotsTxt": false, "zeroDataRetention": false,
        "scrapeOptions": ScrapeOptions::default(),
    });
    assert_eq!(serde_json::to_value(&request).unwrap(), want);
}

#[test]
fn crawls_of_the_clients() {
    let python = json!({
        "url": "https://example.com", "limit": 3, "ignoreQueryParameters": false, "crawlEntireDomain": false,
        "allowExternalLinks": false, "allowSubdomains": false, "ignoreRobotsTxt": false, "deduplicateSimilarURLs": true,
        "regexOnFullURL": false, "zeroDataRetention": false, "origin": "python-sdk@4.53.2", "integration": "x",
        "scrapeOptions": { "formats": ["markdown"], "toolDetail": "compact", "maxAge": 14_400_000, "integration": "x",
            "__experimental_a": 1 },
        "__experimental_b": [],
    });
    assert_eq!(crawl(python).options.limit, 3);
    let n8n = json!({ "limit": 500, "ignoreSitemap": true, "delay": 0, "includePaths": [""], "integration": "n8n" });
    let request = crawl(n8n);
    assert_eq!((request.options.sitemap, request.options.delay), (SitemapMode::Skip, None));
    assert_eq!(crawl(json!({ "ignoreSitemap": true, "sitemap": "only" })).options.sitemap, SitemapMode::Only);
    assert_eq!(crawl(json!({ "ignoreSitemap": false })).options.sitemap, SitemapMode::Include);
    crawl(
        json!({ "includePaths": ["/blog/*"], "excludePaths": ["^/x$"], "webhook": "https://hook.test/", "delay": 0.5 }),
    );
    crawl(json!({ "prompt": "all", "maxDiscoveryDepth": 0, "maxConcurrency": 2, "robotsUserAgent": "MyBot/1.0 (x)" }));
    let webhook =
        json!({ "url": "https://hook.test/", "headers": { "a": "b" }, "metadata": { "c": "d" }, "events": ["page"] });
    crawl(json!({ "webhook": webhook, "scrapeOptions": { "lockdown": true, "formats": ["rawHtml", "links"] } }));
}

#[test]
fn faults_of_a_crawl_name_the_field() {
    refused(decode_crawl(json!({ "limit": "x" })), "url", "is required");
    refused(decode_crawl(json!({ "limit": "x" })), "limit", "got a string");
    refused_crawl(
        json!({ "scrapeOptions": { "formats": ["nope"] } }),
        "scrapeOptions.formats[0]",
        "must be `markdown`",
    );
    refused_crawl(json!({ "scrapeOptions": { "url": "https://a.test/" } }), "scrapeOptions.url", "not a known key");
    refused_crawl(json!({ "maxDepth": 2 }), "maxDepth", "not a known key");
    refused_crawl(json!({ "sitemap": "none" }), "sitemap", "`include`, `skip` or `only`");
    refused_crawl(json!({ "robotsUserAgent": "a\r\nb" }), "robotsUserAgent", "visible ASCII");
    refused_crawl(json!({ "webhook": { "url": "nope" } }), "webhook.url", "absolute http or https URL");
    let clean = json!({ "zeroDataRetention": true, "scrapeOptions": { "onlyCleanContent": true } });
    refused_crawl(clean, "scrapeOptions.onlyCleanContent", "`zeroDataRetention`");
    refused_crawl(json!({ "limit": true, "delay": "x", "url": 1 }), "delay", "got a string");
}

#[test]
fn patterns_have_limits() {
    let many = |count: usize| vec!["/a".to_owned(); count];
    let long = |chars: usize| "ä".repeat(chars);
    crawl(json!({ "includePaths": many(1000) }));
    crawl(json!({ "includePaths": [long(2000)] }));
    crawl(json!({ "includePaths": vec![long(2000); 25], "excludePaths": vec![long(2000); 25] }));
    refused_crawl(json!({ "includePaths": many(1001) }), "includePaths", "0 to 1000 entries, has 1001");
    refused_crawl(json!({ "excludePaths": [long(2001)] }), "excludePaths[0]", "0 to 2000 characters, has 2001");
    refused_crawl(json!({ "includePaths": many(500), "excludePaths": many(501) }), "includePaths", "got 1001");
    let over = json!({ "includePaths": vec![long(2000); 25], "excludePaths": vec![long(1001); 50] });
    refused_crawl(over, "includePaths", "more than 100000 characters, got 100050");
    refused_crawl(json!({ "includePaths": ["a\u{0}b"] }), "includePaths[0]", "control characters");
    refused_crawl(json!({ "includePaths": "/a" }), "includePaths", "an array");
}

fn batch(members: Value) -> Result<wire::BatchRequest, Invalid> {
    let request = decode_batch(with(members, "origin", json!("cli")))?;
    assert_eq!(decode_batch(serde_json::to_value(&request).unwrap()).as_ref(), Ok(&request));
    Ok(request)
}

#[test]
fn batches() {
    let mixed = json!(["https://a.test/", "nope", "b.test/x", "https://a.test/", ""]);
    let request = batch(json!({ "urls": mixed, "formats": ["html"], "maxConcurrency": 3 })).unwrap();
    let pages = request.pages();
    let valid: Vec<&str> = pages.valid.iter().map(|page| page.url.as_str()).collect();
    assert_eq!(valid, ["https://a.test/", "https://b.test/x", "https://a.test/"]);
    assert_eq!(pages.invalid, ["nope", ""]);
    assert!(request.ignore_invalid_urls);
    let id = "019a8f6c-0000-7000-8000-000000000000";
    let full = json!({ "urls": ["https://a.test/"], "appendToId": id, "ignoreInvalidURLs": false, "webhook": "https://hook.test/",
        "__experimental_a": 1, "zeroDataRetention": true, "integration": "i", "toolDetail": "full", "onlyMainContent": false });
    assert_eq!(batch(full).unwrap().append_to_id.unwrap().to_string(), id);

    refused(batch(json!({ "formats": ["html"] })), "urls", "is required");
    refused(batch(json!({ "urls": [] })), "urls", "1 to 100000 entries");
    refused(batch(json!({ "urls": ["nope", "x"] })), "urls", "at least one");
    refused(batch(json!({ "urls": [mixed, 5] })), "urls[1]", "a string, got 5");
    refused(batch(json!({ "urls": mixed, "ignoreInvalidURLs": false })), "urls[1]", "absolute http or https URL");
    refused(batch(json!({ "urls": mixed, "appendToId": "5" })), "appendToId", "a UUID");
    refused(batch(json!({ "urls": mixed, "url": "https://a.test/" })), "url", "not a known key");
}

#[test]
fn previews() {
    let body = json!({ "url": "example.com", "prompt": "only the blog", "origin": "o" });
    assert_eq!(decode_params_preview(body).unwrap().url.as_str(), "https://example.com/");
    refused(decode_params_preview(json!({ "url": "example.com" })), "prompt", "is required");
    refused(decode_params_preview(json!({ "prompt": "x" })), "url", "is required");
}

#[test]
fn nobody_sees_paths_or_secrets_in_the_log() {
    let members = json!({ "url": "https://a.test/hush?hush", "webhook": "https://hook.test/hush",
        "scrapeOptions": { "headers": { "Cookie": "hush" } } });
    let shown = format!("{:?}", crawl(members));
    assert!(!shown.contains("hush") && shown.contains("a.test"), "{shown}");
    let shown =
        format!("{:?}", batch(json!({ "urls": ["https://a.test/hush"], "headers": { "Cookie": "hush" } })).unwrap());
    assert!(!shown.contains("hush"), "{shown}");
    assert!(!format!("{:?}", crawl(json!({ "zeroDataRetention": true }))).contains("example.com"));
}

#[test]
fn options_alone() {
    let options = ScrapeOptions { wait_for: 7, only_main_content: false, ..ScrapeOptions::default() };
    assert_eq!(decode_options(serde_json::to_value(&options).unwrap()), Ok(options));
    refused(decode_options(json!({ "nope": 1 })), "nope", "not a known key");
}

#[test]
fn documents_are_written_once() {
    let document = Document { markdown: Some("# a ü \u{1F600}\n\"q\"".into()), ..Document::default() };
    let stored = serde_json::value::to_raw_value(&document).unwrap();
    let time = "2026-01-02T03:04:05Z".parse().unwrap();
    let progress = JobProgress {
        success: true,
        status: JobStatus::Scraping,
        total: 2,
        completed: 1,
        credits_used: 1,
        created_at: time,
        completed_at: None,
        duration: 4,
        expires_at: time,
        next: None,
        warning: None,
        error: None,
        data: vec![stored.clone()],
    };
    let text = serde_json::to_string(&progress).unwrap();
    assert!(text.contains(stored.get()), "{text}");
    let read: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::from_value::<Document>(read["data"][0].clone()).unwrap(), document);
    let keys: Vec<&str> = read.as_object().unwrap().keys().map(String::as_str).collect();
    for key in ["success", "status", "total", "completed", "creditsUsed", "createdAt", "duration", "expiresAt", "data"]
    {
        assert!(keys.contains(&key), "{keys:?}");
    }
    assert!(read.get("next").is_none() && read.get("completedAt").is_none() && read["creditsUsed"].is_i64());

    let message = serde_json::to_string(&WatchMessage::Document { data: &stored }).unwrap();
    assert_eq!(message, format!("{{\"type\":\"document\",\"data\":{}}}", stored.get()));
    let message: Value = serde_json::to_value(WatchMessage::Error { error: "no" }).unwrap();
    assert_eq!(message, json!({ "type": "error", "error": "no" }));
    let message = serde_json::to_string(&WatchMessage::Catchup { data: &progress }).unwrap();
    assert!(message.starts_with("{\"type\":\"catchup\",\"data\":{\"success\":true,"), "{message}");
}
