//! `SearXNG` and searx.
#![expect(clippy::needless_pass_by_value, reason = "`json!` bodies are written in place")]

use serde_json::{Value, json};
use testkit::{Reply, Seen};

use super::{Double, parameter, query, urls};
use crate::error::EngineError;
use crate::operators::Words;
use crate::query::{Domains, Source, TimeWindow};
use crate::settings::EngineName;

/// Returns a result as `SearXNG` gives it.
fn result(number: usize, more: Value) -> Value {
    let url = format!("https://a.test/r{number}");
    let mut item = json!({
        "url": url, "title": format!("Result {number}"), "content": format!("Text of result {number}."), "engine": "a",
        "engines": ["a", "b"], "positions": [number], "score": 1.0, "category": "general", "publishedDate": null,
    });
    for (key, value) in more.as_object().unwrap() {
        item[key] = value.clone();
    }
    item
}

fn body(results: &[Value], silent: Value) -> Value {
    json!({
        "query": "q", "number_of_results": 0, "results": results, "answers": [], "corrections": [], "infoboxes": [],
        "suggestions": [], "unresponsive_engines": silent,
    })
}

/// Answers 20 results a page, 45 in all.
fn many(seen: &Seen) -> Value {
    let page: usize = parameter(seen, "pageno").parse().unwrap();
    let all: Vec<Value> = (1..46).map(|number| result(number, json!({}))).collect();
    let from = (20 * (page - 1)).min(all.len());
    body(&all[from..(from + 20).min(all.len())], json!([]))
}

async fn double(make: impl Fn(&Seen) -> Value + Send + Sync + 'static) -> Double {
    let double = Double::start(EngineName::Searxng).await;
    double.answers(make);
    double
}

#[tokio::test]
async fn pages_until_enough() {
    for (limit, found, pages) in [(5, 5, 1), (20, 20, 1), (21, 21, 2), (45, 45, 3), (100, 45, 4)] {
        let double = double(many).await;
        let words = Words::parse("granite");
        let mut query = query(&words);
        query.limit = limit;
        let answer = double.search(&query).await.unwrap();
        assert_eq!((answer.results.len(), double.paths().len()), (found, pages), "limit {limit}");
        assert_eq!(answer.results[0].title, "Result 1");
        assert!(answer.warnings.is_empty());
    }
}

#[tokio::test]
async fn a_last_page_that_repeats_itself_ends_the_search() {
    let same: Vec<Value> = (1..4).map(|number| result(number, json!({}))).collect();
    let double = double(move |_| body(&same, json!([]))).await;
    let words = Words::parse("granite");
    let mut query = query(&words);
    query.limit = 50;
    assert_eq!(double.search(&query).await.unwrap().results.len(), 3);
    assert_eq!(double.paths().len(), 2);
}

#[tokio::test]
async fn parameters_of_the_request() {
    let double = double(many).await;
    let words = Words::parse("granite \"hard rock\" -soft -site:old.test");
    let mut query = query(&words);
    let domains = Domains::Include(vec!["a.test".to_owned()]);
    query.domains = Some(&domains);
    query.language = Some("de");
    query.country = Some("CH");
    query.safe = false;
    query.time = Some(TimeWindow { from: Some("2026-11-26T11:00:00Z".parse().unwrap()), to: None });
    double.search(&query).await.unwrap();
    let sent = |name: &str| double.sent(name).remove(0);
    assert_eq!(double.paths(), ["/search"]);
    assert_eq!(sent("q"), "granite \"hard rock\" -soft site:a.test -site:old.test");
    assert_eq!((sent("format"), sent("categories"), sent("pageno")), ("json".into(), "general".into(), "1".into()));
    assert_eq!((sent("language"), sent("safesearch")), ("de-CH".into(), "0".into()));
    // No engine knows an hour: the day, and the dates are checked afterwards.
    assert_eq!(sent("time_range"), "day");
}

#[tokio::test]
async fn dates_are_checked() {
    let ages = ["2026-11-26T11:30:00", "2026-11-26T08:00:00", "2026-11-25T23:00:00"];
    let dated: Vec<Value> =
        (1..).zip(ages).map(|(number, age)| result(number, json!({ "publishedDate": age }))).collect();
    let undated = result(9, json!({}));
    let double = double(move |_| body(&[dated.as_slice(), std::slice::from_ref(&undated)].concat(), json!([]))).await;
    let words = Words::parse("granite");
    let mut query = query(&words);
    query.limit = 4;
    query.time = Some(TimeWindow { from: Some("2026-11-26T11:00:00Z".parse().unwrap()), to: None });
    let answer = double.search(&query).await.unwrap();
    assert_eq!(urls(&answer), ["https://a.test/r1", "https://a.test/r9"]);
    assert_eq!(answer.results[0].published.as_deref(), Some("2026-11-26T11:30:00Z"));
    assert_eq!(answer.warnings, ["results whose date is not known: 1"]);
}

#[tokio::test]
async fn silent_engines_are_named() {
    let silent = json!([["a", "timeout"], ["b", "access denied"]]);
    let nothing = {
        let silent = silent.clone();
        double(move |_| body(&[], silent.clone())).await
    };
    let words = Words::parse("granite");
    let error = nothing.search(&query(&words)).await.unwrap_err();
    assert_eq!(error, EngineError::Unresponsive(vec!["a (timeout)".into(), "b (access denied)".into()]));
    assert_eq!(error.to_string(), "none of its engines has answered: a (timeout), b (access denied)");
    let some = double(move |_| body(&[result(1, json!({}))], silent.clone())).await;
    let mut query = query(&words);
    query.limit = 1;
    let answer = some.search(&query).await.unwrap();
    assert_eq!(answer.warnings, ["without its engines a (timeout), b (access denied)"]);
}

#[tokio::test]
async fn nothing_found_is_an_answer() {
    let double = double(|_| body(&[], json!([]))).await;
    let answer = double.search(&query(&Words::parse("granite"))).await.unwrap();
    assert!(answer.results.is_empty() && answer.warnings.is_empty());
}

#[tokio::test]
async fn json_that_is_off_is_explained() {
    let double = Double::start(EngineName::Searxng).await;
    double.replies(Reply { status: 403, body: b"<h1>Forbidden</h1>".to_vec().into(), ..Reply::default() });
    let error = double.search(&query(&Words::parse("granite"))).await.unwrap_err();
    assert_eq!(error, EngineError::JsonOff);
    assert!(error.to_string().contains("settings.yml"), "{error}");
}

#[tokio::test]
async fn hostile_results_are_left_out() {
    let bad = [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "http://169.254.169.254/latest/",
        "http://10.0.0.1/",
        "http://user:pass@host.test/",
        "data:text/html,x",
        "http://[::1]/",
        "http://localhost:8080/",
        "http://router.local/",
        "not a url",
        "",
    ];
    let mut all: Vec<Value> = (100..).zip(bad).map(|(number, url)| result(number, json!({ "url": url }))).collect();
    all.push(json!({ "url": 5, "title": ["x"] }));
    all.push(json!("text"));
    all.push(result(
        1,
        json!({ "title": "<b>Result</b> &amp; more", "content": "A <em>text</em>&nbsp;with &lt;tags&gt;" }),
    ));
    all.push(result(2, json!({ "url": "https://a.test/p?utm_source=z&x=1", "title": "" })));
    for (number, url) in
        (3..).zip(["http://b.test/p", "https://www.b.test/p/", "http://b.test/p#x", "http://b.test/p?utm_source=z"])
    {
        all.push(result(number, json!({ "url": url })));
    }
    let double = double(move |_| body(&all, json!([]))).await;
    let words = Words::parse("granite");
    let mut query = query(&words);
    query.limit = 50;
    let answer = double.search(&query).await.unwrap();
    assert_eq!(urls(&answer), ["https://a.test/r1", "https://a.test/p?x=1", "http://b.test/p"]);
    assert_eq!(
        (answer.results[0].title.as_str(), answer.results[0].text.as_str()),
        ("Result & more", "A text with <tags>")
    );
    assert_eq!(answer.results[1].title, "a.test/p");
}

#[tokio::test]
async fn what_the_engine_ignores_is_enforced() {
    let urls_given = [
        "https://docs.a.test/guide.pdf",
        "https://docs.a.test/guide.html",
        "https://other.test/x.pdf",
        "https://nota.test/x.pdf",
        "https://old.a.test/x.pdf",
    ];
    let all: Vec<Value> = (1..).zip(urls_given).map(|(number, url)| result(number, json!({ "url": url }))).collect();
    let check = |asked: &'static str, domains: Option<Domains>, expect: &'static [&'static str]| {
        let all = all.clone();
        async move {
            let double = double(move |_| body(&all, json!([]))).await;
            let words = Words::parse(asked);
            let mut query = query(&words);
            query.domains = domains.as_ref();
            let answer = double.search(&query).await.unwrap();
            assert_eq!(urls(&answer), expect, "{asked}");
        }
    };
    check("x site:a.test filetype:pdf -site:old.a.test", None, &["https://docs.a.test/guide.pdf"]).await;
    let include = Domains::Include(vec!["docs.a.test".to_owned()]);
    check("x", Some(include), &["https://docs.a.test/guide.pdf", "https://docs.a.test/guide.html"]).await;
    let exclude = Domains::Exclude(vec!["a.test".to_owned()]);
    check("x", Some(exclude), &["https://other.test/x.pdf", "https://nota.test/x.pdf"]).await;
    check("x inurl:GUIDE filetype:pdf", None, &["https://docs.a.test/guide.pdf"]).await;
    check("x site:nowhere.test", None, &[]).await;
}

#[tokio::test]
async fn images_and_news() {
    let pictures: Vec<Value> =
        [("640 x 480", "https://i.test/1.png"), ("", "//i.test/2.png"), ("1x1", ""), ("2x2", "http://10.1.1.1/3.png")]
            .iter()
            .zip(1..)
            .map(|((size, image), number)| {
                result(number, json!({ "img_src": image, "resolution": size, "thumbnail_src": "" }))
            })
            .collect();
    let images = double(move |_| body(&pictures, json!([]))).await;
    let words = Words::parse("granite");
    let mut query = query(&words);
    query.source = Source::Images;
    let answer = images.search(&query).await.unwrap();
    let found: Vec<_> = answer.results.iter().filter_map(|result| result.image.clone()).collect();
    assert_eq!((images.sent("categories").remove(0), found.len()), ("images".to_owned(), 2));
    assert_eq!(
        (found[0].url.as_str(), found[0].width, found[0].height),
        ("https://i.test/1.png", Some(640), Some(480))
    );
    assert_eq!((found[1].url.as_str(), found[1].width), ("https://i.test/2.png", None));

    let article = result(
        1,
        json!({ "publishedDate": "2026-11-20T10:00:00", "img_src": "https://i.test/n.png", "category": "news" }),
    );
    let older = result(2, json!({ "publishedDate": "Nov 19, 2026", "pubdate": "2026-11-19 10:00:00" }));
    let news = double(move |_| body(&[article.clone(), older.clone()], json!([]))).await;
    query.source = Source::News;
    query.limit = 2;
    let answer = news.search(&query).await.unwrap();
    let dates: Vec<_> = answer.results.iter().filter_map(|result| result.published.as_deref()).collect();
    assert_eq!(dates, ["2026-11-20T10:00:00Z", "2026-11-19T10:00:00Z"]);
    assert_eq!(answer.results[0].image.as_ref().map(|image| image.url.as_str()), Some("https://i.test/n.png"));
    assert_eq!(news.sent("categories"), ["news"]);
}

#[tokio::test]
async fn a_later_page_that_fails_leaves_the_first() {
    let double = Double::start(EngineName::Searxng).await;
    double.site.others(|seen| {
        if parameter(seen, "pageno") == "1" {
            return Some(super::json(&many(seen)));
        }
        Some(Reply { status: 500, ..Reply::default() })
    });
    let words = Words::parse("granite");
    let mut query = query(&words);
    query.limit = 40;
    let answer = double.search(&query).await.unwrap();
    assert_eq!(answer.results.len(), 20);
    assert_eq!(answer.warnings, ["further results are missing: it has failed (status 500)"]);
}
