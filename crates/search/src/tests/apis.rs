//! The APIs with accounts: their requests, and what becomes of their answers.

use serde_json::{Value, json};
use testkit::Seen;

use super::{Double, KEY, parameter, query, urls};
use crate::operators::Words;
use crate::query::{Domains, EngineQuery, Source, TimeWindow};
use crate::settings::EngineName;

/// Returns a query with everything that an API can be told.
fn full<'a>(words: &'a Words, source: Source) -> EngineQuery<'a> {
    let mut query = query(words);
    query.source = source;
    query.country = Some("DE");
    query.language = Some("de-CH");
    query.location = Some("Berlin");
    query.time = Some(TimeWindow { from: Some("2026-11-01T00:00:00Z".parse().unwrap()), to: None });
    query
}

fn expect(double: &Double, sent: &[(&str, &str)]) {
    let seen = double.site.requests().remove(0);
    for (name, value) in sent {
        assert_eq!(parameter(&seen, name), *value, "{name} of {}", seen.path);
    }
}

/// Returns the numbers of a page of `size` out of `all`, from 0.
fn numbers(page: usize, size: usize, all: usize) -> std::ops::Range<usize> {
    (page * size).min(all)..((page + 1) * size).min(all)
}

fn number(seen: &Seen, name: &str) -> usize {
    parameter(seen, name).parse().unwrap()
}

#[tokio::test]
async fn brave_web_pages() {
    let double = Double::start(EngineName::Brave).await;
    double.answers(|seen| {
        let range = numbers(number(seen, "offset"), 20, 45);
        let results: Vec<Value> = range
            .clone()
            .map(|n| json!({
                "type": "search_result", "title": format!("<strong>R</strong>{n}"), "url": format!("https://a.test/{n}"),
                "description": "An &quot;answer&quot;", "page_age": "2026-11-20T10:00:00", "age": "November 20, 2026",
            }))
            .collect();
        json!({ "type": "search", "query": { "more_results_available": range.end < 45 }, "web": { "results": results } })
    });
    let words = Words::parse("granite -site:b.test");
    let mut query = full(&words, Source::Web);
    query.limit = 50;
    let answer = double.search(&query).await.unwrap();
    assert_eq!((answer.results.len(), double.sent("offset")), (45, vec!["0".to_owned(), "1".into(), "2".into()]));
    let first = &answer.results[0];
    assert_eq!((first.title.as_str(), first.text.as_str()), ("R0", "An \"answer\""));
    assert_eq!(first.published.as_deref(), Some("2026-11-20T10:00:00Z"));
    expect(
        &double,
        &[
            ("q", "granite -site:b.test"),
            ("count", "20"),
            ("country", "DE"),
            ("search_lang", "de"),
            ("safesearch", "moderate"),
            ("freshness", "2026-11-01to2026-11-27"),
            ("result_filter", "web"),
        ],
    );
    assert_eq!(double.paths()[0], "/res/v1/web/search");
    assert_eq!(double.site.requests()[0].header("x-subscription-token"), KEY);
}

#[tokio::test]
async fn brave_news_and_images() {
    let double = Double::start(EngineName::Brave).await;
    double.answers(|seen| {
        if seen.path.contains("/news/") {
            let thumbnail = json!({ "src": "https://imgs.test/small.png", "original": "https://n.test/large.png" });
            let age = "3 hours ago";
            let url = "https://n.test/1";
            return json!({ "results": [{ "title": "N", "url": url, "description": "d", "age": age, "thumbnail": thumbnail }] });
        }
        let properties = json!({ "url": "https://p.test/1.png", "width": 640, "height": 480 });
        json!({ "type": "images", "results": [
            { "title": "I", "url": "https://p.test/1", "properties": properties },
            { "title": "no image", "url": "https://p.test/2", "properties": {} },
        ] })
    });
    let words = Words::parse("granite");
    let news = double.search(&full(&words, Source::News)).await.unwrap();
    assert_eq!(news.results[0].published.as_deref(), Some("2026-11-26T09:00:00Z"));
    assert_eq!(news.results[0].image.as_ref().unwrap().url.as_str(), "https://n.test/large.png");
    let mut query = query(&words);
    query.source = Source::Images;
    let images = double.search(&query).await.unwrap();
    let image = images.results[0].image.as_ref().unwrap();
    assert_eq!((images.results.len(), image.width, image.height), (1, Some(640), Some(480)));
    assert_eq!(double.paths(), ["/res/v1/news/search", "/res/v1/images/search"]);
    assert_eq!(double.sent("safesearch"), ["moderate", "strict"]);
}

#[tokio::test]
async fn serper_in_all_sources() {
    let double = Double::start(EngineName::Serper).await;
    double.answers(|seen| match seen.path.as_str() {
        "/search" => {
            let organic: Vec<Value> = numbers(number(seen, "page") - 1, 10, 15)
                .map(|n| json!({ "title": format!("R{n}"), "link": format!("https://a.test/{n}"), "snippet": "s", "position": n + 1 }))
                .collect();
            json!({ "searchParameters": {}, "organic": organic })
        }
        "/news" => json!({ "news": [{ "title": "N", "link": "https://n.test/", "snippet": "s", "date": "2 days ago", "imageUrl": "https://n.test/i.png" }] }),
        _ => json!({ "images": [{
            "title": "I", "imageUrl": "https://p.test/i.png", "imageWidth": 640, "imageHeight": 480, "link": "https://p.test/",
        }] }),
    });
    let words = Words::parse("granite site:a.test");
    let mut web = full(&words, Source::Web);
    web.limit = 30;
    let answer = double.search(&web).await.unwrap();
    assert_eq!((answer.results.len(), double.sent("page")), (15, vec!["1".to_owned(), "2".into(), "3".into()]));
    expect(
        &double,
        &[
            ("q", "granite site:a.test"),
            ("num", "10"),
            ("gl", "de"),
            ("hl", "de"),
            ("location", "Berlin"),
            ("tbs", "cdr:1,cd_min:11/1/2026,cd_max:11/27/2026"),
        ],
    );
    assert_eq!(double.site.requests()[0].header("x-api-key"), KEY);
    let words = Words::parse("granite");
    let mut news = query(&words);
    news.source = Source::News;
    news.sort_by_date = true;
    news.time = Some(TimeWindow { from: Some("2026-11-26T09:30:00Z".parse().unwrap()), to: None });
    assert!(double.search(&news).await.unwrap().results.is_empty(), "two days ago is too old");
    assert_eq!(double.sent("tbs").last().map(String::as_str), Some("qdr:h3,sbd:1"));
    news.time = None;
    let answer = double.search(&news).await.unwrap();
    assert_eq!(answer.results[0].published.as_deref(), Some("2026-11-24T12:00:00Z"));
    news.source = Source::Images;
    let answer = double.search(&news).await.unwrap();
    assert_eq!(answer.results[0].image.as_ref().map(|image| image.width), Some(Some(640)));
}

#[tokio::test]
async fn google_web_pages_and_images() {
    let double = Double::start(EngineName::Google).await;
    double.answers(|seen| {
        if parameter(seen, "searchType") == "image" {
            return json!({ "items": [{
                "title": "I", "link": "https://p.test/i.png", "snippet": "s",
                "image": { "contextLink": "https://p.test/page", "width": 640, "height": 480 },
            }] });
        }
        let range = numbers((number(seen, "start") - 1) / 10, 10, 12);
        let more = if range.end < 12 { json!({ "nextPage": [{ "startIndex": 11 }] }) } else { json!({}) };
        let items: Vec<Value> = range
            .map(|n| {
                json!({
                    "title": format!("R{n}"), "link": format!("https://a.test/{n}"), "snippet": "s",
                    "pagemap": { "metatags": [{ "article:published_time": "2026-11-20T10:00:00+01:00" }] },
                })
            })
            .collect();
        json!({ "queries": more, "items": items })
    });
    let words = Words::parse("granite");
    let mut web = full(&words, Source::Web);
    web.limit = 100;
    let answer = double.search(&web).await.unwrap();
    assert_eq!((answer.results.len(), double.sent("start")), (12, vec!["1".to_owned(), "11".into()]));
    assert_eq!(answer.results[0].published.as_deref(), Some("2026-11-20T09:00:00Z"));
    let sort = "date:r:20261101:20261127";
    expect(
        &double,
        &[("cx", "cx1"), ("num", "10"), ("gl", "de"), ("lr", "lang_de"), ("safe", "active"), ("sort", sort)],
    );
    let request = double.site.requests().remove(0);
    assert!(request.header("x-goog-api-key") == KEY && !request.path.contains(KEY), "{}", request.path);
    web.source = Source::Images;
    let answer = double.search(&web).await.unwrap();
    assert_eq!(urls(&answer), ["https://p.test/page"]);
    let empty = Double::start(EngineName::Google).await;
    empty.answers(|_| json!({ "searchInformation": { "totalResults": "0" } }));
    assert!(empty.search(&query(&words)).await.unwrap().results.is_empty());
}

#[tokio::test]
async fn tavily_has_parameters_for_domains() {
    let double = Double::start(EngineName::Tavily).await;
    double.answers(|_| json!({ "query": "q", "results": [
        { "title": "A", "url": "https://docs.a.test/1", "content": "c", "score": 0.9, "published_date": "Tue, 24 Nov 2026 08:00:00 GMT" },
        { "title": "B", "url": "https://b.test/1", "content": "c", "score": 0.8 },
    ] }));
    let words = Words::parse("granite -site:old.a.test");
    let mut news = full(&words, Source::News);
    let domains = Domains::Include(vec!["a.test".to_owned()]);
    news.domains = Some(&domains);
    news.limit = 50;
    let answer = double.search(&news).await.unwrap();
    assert_eq!(urls(&answer), ["https://docs.a.test/1"]);
    assert_eq!(answer.results[0].published.as_deref(), Some("2026-11-24T08:00:00Z"));
    expect(
        &double,
        &[
            ("query", "granite"),
            ("topic", "news"),
            ("max_results", "20"),
            ("include_domains", "[\"a.test\"]"),
            ("exclude_domains", "[\"old.a.test\"]"),
            ("start_date", "2026-11-01"),
            ("end_date", "2026-11-27"),
        ],
    );
    let request = double.site.requests().remove(0);
    assert_eq!((request.path.as_str(), request.header("authorization")), ("/search", "Bearer hush9"));
}

#[tokio::test]
async fn hostile_results_of_every_api() {
    let bad = [
        "javascript:alert(1)",
        "http://10.0.0.1/",
        "http://u:p@a.test/",
        "https://elsewhere.test/",
        "https://a.test/ok?gclid=1",
    ];
    for name in [EngineName::Brave, EngineName::Serper, EngineName::Google, EngineName::Tavily] {
        let double = Double::start(name).await;
        double.answers(move |_| {
            let item = |url: &str| json!({ "url": url, "link": url, "title": "<b>T</b>&#39;s", "content": "c" });
            let items: Vec<Value> = bad.iter().map(|url| item(url)).collect();
            match name {
                EngineName::Brave => {
                    json!({ "query": { "more_results_available": false }, "web": { "results": items } })
                }
                EngineName::Serper => json!({ "organic": items }),
                EngineName::Google => json!({ "items": items }),
                _ => json!({ "results": items }),
            }
        });
        let words = Words::parse("granite site:a.test");
        let answer = double.search(&query(&words)).await.unwrap();
        assert_eq!(urls(&answer), ["https://a.test/ok"], "{}", name.as_str());
        assert_eq!(answer.results[0].title, "T's");
    }
}
