//! The pipeline, from a server on loopback to the document.

#[cfg(test)]
mod browser;
#[cfg(test)]
mod captures;
#[cfg(test)]
mod compare;
#[cfg(test)]
mod copies;
#[cfg(test)]
mod cpu;
#[cfg(test)]
mod product_service;
#[cfg(test)]
mod setup;
#[cfg(test)]
mod steps;

use std::sync::Arc;
use std::time::Duration;

use fetch::{FetchError, Fetched};
use scrape::{ScrapeError, Target, Tools};
use serde_json::json;
use setup::{QUIET, document, options, page, run, run_with, scrape_alone, target, tools, with_page};
use testkit::{Reply, Script, Site};
use tokio::time::Instant;
use wire::{AttributeSelector, AttributesFormat, Format, Parser, PdfParser, ProxyUsed, ScrapeOptions, ScrapeRequest};

const ARTICLE: &str = "<title>T</title><base href=/dir/><nav><a href=/home>Home</a></nav><main><h1>News</h1>\
    <p>This is the text of an article, long enough that nobody takes it for a label or a menu, and it has a link \
    <a href=one>one</a> and a picture <img src=a.png alt=pic></p></main><footer>Foot</footer>";

#[tokio::test]
async fn every_format_of_a_page() {
    let attribute = AttributeSelector { selector: "main a".to_owned(), attribute: "href".to_owned() };
    let formats = vec![
        Format::Markdown,
        Format::Html,
        Format::RawHtml,
        Format::Links,
        Format::Images,
        Format::Attributes(AttributesFormat { selectors: vec![attribute] }),
    ];
    let site = Site::start().await;
    site.html("/p?q=1", ARTICLE);
    let document = run(&site, "/p?q=1", options(formats)).await.unwrap().document;
    let base = site.url("/dir/").to_string();
    let markdown = document.markdown.unwrap();
    assert!(markdown.starts_with("# News\n\nThis is the text"), "{markdown}");
    assert!(
        markdown.trim_end().ends_with(&format!("[one]({base}one) and a picture ![pic]({base}a.png)")),
        "{markdown}"
    );
    let html = document.html.unwrap();
    assert!(html.contains("<h1>News</h1>") && html.contains(&format!("{base}one")) && !html.contains("Foot"), "{html}");
    assert_eq!(document.raw_html.as_deref(), Some(ARTICLE));
    assert_eq!(document.links.unwrap(), [site.url("/home").to_string(), format!("{base}one")]);
    assert_eq!(document.images.unwrap(), [format!("{base}a.png")]);
    assert_eq!(document.attributes.unwrap()[0].values, ["one"]);
    let metadata = document.metadata;
    assert_eq!((metadata.page["title"].as_str(), metadata.status_code, metadata.error), (Some("T"), 200, None));
    assert_eq!((metadata.url, metadata.proxy_used), (site.url("/p?q=1").to_string(), Some(ProxyUsed::Basic)));
    assert_eq!((metadata.content_type.as_deref(), document.warning), (Some("text/html; charset=utf-8"), None));
}

#[tokio::test]
async fn only_what_was_asked_for_is_there() {
    let document = page("text/html", ARTICLE, options(vec![Format::Links])).await.unwrap();
    let json = serde_json::to_value(document).unwrap();
    let keys: Vec<_> = json.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["links", "metadata"]);
    let nothing = page("text/html", ARTICLE, options(Vec::new())).await.unwrap();
    assert_eq!(nothing.metadata.page["title"], "T");
}

#[tokio::test]
async fn redirects_and_error_pages() {
    let site = Site::start().await;
    site.respond("/a", Reply { status: 302, ..Reply::default() }.header("location", "/gone"));
    let reply = Reply { status: 404, body: "<h1>Nothing here</h1>".into(), ..Reply::default() };
    site.respond("/gone", reply.header("content-type", "text/html"));
    let document = run(&site, "/a", ScrapeOptions::default()).await.unwrap().document;
    assert_eq!(document.markdown.as_deref().map(str::trim), Some("# Nothing here"));
    let metadata = document.metadata;
    assert_eq!((metadata.source_url, metadata.url), (site.url("/a").to_string(), site.url("/gone").to_string()));
    assert_eq!((metadata.status_code, metadata.error.as_deref()), (404, Some("Not Found")));
}

#[tokio::test]
async fn empty_main_content_falls_back_to_the_whole_page() {
    let html = "<body><nav><p>Only navigation</p></nav><main></main></body>";
    let both = || options(vec![Format::Markdown, Format::Html]);
    let document = page("text/html", html, both()).await.unwrap();
    assert!(document.markdown.unwrap().contains("Only navigation"));
    assert!(document.html.unwrap().contains("Only navigation"));
    let excluded = ScrapeOptions { exclude_tags: vec!["nav".to_owned()], ..both() };
    assert_eq!(page("text/html", html, excluded).await.unwrap().markdown.unwrap().trim(), "");
    let included = ScrapeOptions { include_tags: vec!["nav".to_owned()], ..both() };
    let document = page("text/html", html, included).await.unwrap();
    assert_eq!(document.markdown.unwrap().trim(), "Only navigation");
}

#[tokio::test]
async fn json_and_text_bodies() {
    let all = || options(vec![Format::Markdown, Format::Html, Format::RawHtml, Format::Links, Format::Images]);
    let document = page("application/ld+json", "{\"a\": \"<b>\"}\n", all()).await.unwrap();
    assert_eq!(document.markdown.unwrap(), "```json\n{\"a\": \"<b>\"}\n```");
    assert_eq!(document.html.unwrap(), "<pre>{\"a\": \"&lt;b&gt;\"}\n</pre>");
    assert_eq!(document.raw_html.unwrap(), "{\"a\": \"<b>\"}\n");
    assert_eq!((document.images.unwrap().len(), document.metadata.page.len()), (0, 0));

    let document = page("text/plain", "# <b>as it is</b>\n", all()).await.unwrap();
    assert_eq!(document.markdown.unwrap(), "# <b>as it is</b>\n");

    let text = "# Hi [x](/y) ![z](data:image/png;base64,AAAA)\n";
    let document = page("text/markdown", text, all()).await.unwrap();
    assert_eq!(document.markdown.unwrap(), "# Hi [x](/y) ![z](<Base64-Image-Removed>)\n");
    assert_eq!(document.links.unwrap(), ["http://a.test/y"]);
    let kept = ScrapeOptions { remove_base64_images: false, ..all() };
    assert_eq!(page("text/markdown", text, kept).await.unwrap().markdown.unwrap(), text);
}

#[tokio::test]
async fn charsets_reach_the_document() {
    let utf16: Vec<u8> =
        [0xFE, 0xFF].into_iter().chain("<p>žluť</p>".encode_utf16().flat_map(u16::to_be_bytes)).collect();
    let table: [(&str, &[u8], &str); 5] = [
        ("text/html; charset=windows-1251", b"<p>\xcf\xf0\xe8\xe2\xe5\xf2</p>", "Привет"),
        ("text/html; charset=shift_jis", b"<p>\x93\xfa\x96\x7b\x8c\xea</p>", "日本語"),
        ("text/html", &utf16, "žluť"),
        ("text/html", b"<head><meta charset=windows-1251></head><p>\xcf\xf0\xe8\xe2\xe5\xf2</p>", "Привет"),
        (
            "",
            b"<p>\xcf\xf0\xe8\xe2\xe5\xf2, \xea\xe0\xea \xf3 \xe2\xe0\xf1 \xe4\xe5\xeb\xe0</p>",
            "Привет, как у вас дела",
        ),
    ];
    for (content_type, body, expect) in table {
        let document = document(200, content_type, body, ScrapeOptions::default()).await.unwrap();
        assert_eq!(document.markdown.unwrap().trim(), expect);
    }
}

#[tokio::test]
async fn raw_base64_takes_anything_and_stands_alone() {
    for (content_type, body) in
        [("text/html", &b"<p>x"[..]), ("image/png", b"\x89PNG\r\n\x1a\n"), ("application/pdf", b"%PDF-1.4"), ("", b"")]
    {
        let document = document(200, content_type, body, options(vec![Format::RawBase64])).await.unwrap();
        let json = serde_json::to_value(&document).unwrap();
        let keys: Vec<_> = json.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["metadata", "rawBase64"]);
        assert_eq!(setup::decoded(&document.raw_base64.unwrap()), body);
        assert_eq!(json["metadata"]["statusCode"], 200);
    }
}

#[tokio::test]
async fn files() {
    let pdf = |parsers| {
        document(
            200,
            "application/pdf",
            b"%PDF-1.4",
            ScrapeOptions { parsers, ..options(vec![Format::Markdown, Format::Html]) },
        )
    };
    let unread = pdf(Some(Vec::new())).await.unwrap();
    assert_eq!(unread.markdown, unread.html);
    assert_eq!(setup::decoded(&unread.markdown.unwrap()), b"%PDF-1.4");
    for parsers in [None, Some(vec![Parser::Pdf(PdfParser::default())])] {
        assert!(
            matches!(pdf(parsers).await, Err(ScrapeError::UnsupportedFile { content_type, .. }) if content_type == "application/pdf")
        );
    }
    let html = document(200, "application/pdf", b"<h1>x</h1>", ScrapeOptions::default()).await.unwrap();
    assert_eq!(html.markdown.unwrap().trim(), "# x");
    let missing = document(404, "image/png", b"\x89PNG\r\n\x1a\n", ScrapeOptions::default()).await.unwrap();
    assert_eq!((missing.markdown.as_deref(), missing.metadata.status_code), (Some(""), 404));
}

#[tokio::test]
async fn metadata_is_clean() {
    let html = "<title>a\0b\u{202e}c\u{1b}[31md</title><meta name='x\u{7}' content='y\r\nz'><p>\0x";
    let metadata = page("text/html", html, ScrapeOptions::default()).await.unwrap().metadata;
    let text = json!(metadata.page).to_string();
    for bad in ["\\u0000", "\\u001b", "\\u0007", "\\n", "\u{202e}"] {
        assert!(!text.contains(bad), "{bad} in {text}");
    }
}

#[tokio::test]
async fn the_deadline_holds_in_every_phase() {
    let site = Site::start().await;
    site.script("/hang", vec![Script::Hang(Duration::from_secs(60))]);
    let soon = || Instant::now() + Duration::from_millis(100);
    let hanging = Target { deadline: soon(), ..target(site.url("/hang"), ScrapeOptions::default()) };
    assert!(matches!(run_with(&tools(&[&site]), hanging).await, Err(ScrapeError::Timeout)));

    let busy = with_page(tools(&[]), Fetched::new(site.url("/"), 200, None, "<p>x".into()));
    let (release, released) = std::sync::mpsc::channel::<()>();
    let released = Arc::new(std::sync::Mutex::new(released));
    let later = Instant::now() + Duration::from_secs(60);
    let held = (0..2).map(|_| {
        let (cpu, released) = (busy.cpu.clone(), Arc::clone(&released));
        let wait = move |_: &base::Stop| {
            let _ = released.lock().unwrap().recv();
        };
        async move { cpu.run(&base::Owner::of_team("team"), later, wait).await }
    });
    let waiting = Target { deadline: soon(), ..target(site.url("/"), ScrapeOptions::default()) };
    tokio::select! {
        biased;
        _ = futures_util::future::join_all(held) => panic!("nobody has released them"),
        waited = run_with(&busy, waiting) => assert!(matches!(waited, Err(ScrapeError::Timeout))),
    }
    drop(release);
}

#[tokio::test]
async fn a_panic_is_contained() {
    let _alone = QUIET.write().await;
    let target = target("http://a.test/".parse().unwrap(), ScrapeOptions::default());
    let tools = with_page(tools(&[]), Fetched::new(target.url.clone(), 200, None, "<p>x".into()));
    fail::cfg("convert_panic", "panic(secret internals)").unwrap();
    let error = scrape_alone(&tools, target.clone()).await.unwrap_err();
    fail::remove("convert_panic");
    assert!(matches!(error, ScrapeError::Panicked));
    assert!(!error.to_string().contains("internals"));
    // The CPU slot is free again.
    assert!(scrape_alone(&tools, target).await.is_ok());
}

#[tokio::test]
async fn failures_of_the_fetch_pass_through() {
    let site = Site::start().await;
    let error = run_with(&tools(&[]), target(site.url("/"), ScrapeOptions::default())).await.unwrap_err();
    assert!(matches!(error, ScrapeError::Fetch(FetchError::Blocked { .. })));
    let none = Tools { engines: Vec::new(), ..tools(&[]) };
    let error = run_with(&none, target(site.url("/"), ScrapeOptions::default())).await.unwrap_err();
    assert!(matches!(error, ScrapeError::Fetch(FetchError::Site { .. })));
}

#[tokio::test]
async fn what_had_no_effect_is_said() {
    let site = Site::start().await;
    site.html("/", "<p>x");
    let document = run(&site, "/", ScrapeOptions { wait_for: 500, ..ScrapeOptions::default() }).await.unwrap().document;
    assert!(document.warning.is_some_and(|warning| warning.starts_with("waitFor had no effect")));
}

#[tokio::test]
async fn branding_without_a_browser_is_what_is_declared() {
    let options = || wire::decode_options(json!({ "formats": ["branding"] })).unwrap();
    let document = page("text/html", "<title>Acme</title><style>a { color: #036 }</style>", options()).await.unwrap();
    assert_eq!(document.branding.unwrap().colors["link"], "#003366");
    assert!(document.warning.unwrap().starts_with("branding is taken from the declared styles"));
    let document = page("text/plain", "text", options()).await.unwrap();
    assert_eq!((document.branding, document.warning), (Some(wire::Branding::default()), None));
}

/// Every format in the contract is either in the document under its own name, or rejected before anything is done.
#[tokio::test]
async fn every_format_is_made_or_refused() {
    let bodies = [("text/html", "<title>x</title><p>x"), ("text/plain", "x"), ("application/json", "{}")];
    // The error for an unknown format lists all known ones.
    let refusal = wire::decode_options(json!({ "formats": ["?"] })).unwrap_err().message;
    let names: Vec<&str> = refusal.split('`').skip(1).step_by(2).filter(|name| !name.contains('[')).collect();
    assert!(names.len() >= 19, "{refusal}");
    for name in names {
        let formats = match name {
            "attributes" => json!([{ "type": name, "selectors": [{ "selector": "p", "attribute": "id" }] }]),
            "query" => json!([{ "type": name, "prompt": "?" }]),
            "question" => json!([{ "type": name, "question": "?" }]),
            "highlights" => json!([{ "type": name, "query": "?" }]),
            "changeTracking" => json!(["markdown", name]),
            plain => json!([plain]),
        };
        let options = wire::decode_options(json!({ "formats": formats })).unwrap();
        let request = ScrapeRequest { options, ..ScrapeRequest::new("http://a.test/".parse().unwrap()) };
        let is_refused = !request.needs().is_empty();
        for (content_type, body) in bodies {
            let document = json!(page(content_type, body, request.options.clone()).await.unwrap());
            // A page that sells nothing has no product, and says so.
            let says_none = document["warning"].as_str().is_some_and(|said| said.contains(&format!("no {name} found")));
            let is_answered = document.get(name).is_some() || says_none;
            assert_eq!(is_answered, !is_refused, "{name} of {content_type}: {document}");
        }
    }
}
