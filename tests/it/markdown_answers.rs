//! Sites that serve markdown: content negotiation, and separate cache entries.

use e2e::TestApp;
use serde_json::{Value, json};
use testkit::Reply;

use crate::crawl::page;

/// Starts a service with a site that answers with markdown when it is preferred.
async fn start() -> TestApp {
    let app = TestApp::with_keys().await;
    app.site.others(|seen| {
        if seen.path.contains('.') {
            return None;
        }
        let wants_markdown = seen.header("accept").starts_with("text/markdown");
        let text = Reply { body: "# Saws\n\nIn markdown.\n".into(), ..Reply::default() };
        let markdown = text.header("content-type", "text/markdown; charset=utf-8").header("vary", "accept");
        let html = page("<title>Saws</title><main><h1>Saws</h1><p>In HTML.</p><a href=/next>next</a></main>");
        Some(if wants_markdown { markdown } else { html })
    });
    app
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn markdown_is_taken_where_it_does() {
    let app = start().await;
    let team = app.team(Some(100), json!({})).await;
    let saw = team.scrape(&json!({"url": app.page("/a")})).await.body;
    assert_eq!(saw["data"]["markdown"].as_str().unwrap().trim_end(), "# Saws\n\nIn markdown.", "{saw}");
    assert_eq!(
        (&saw["data"]["metadata"]["title"], &saw["data"]["metadata"]["creditsUsed"]),
        (&json!("Saws"), &json!(1))
    );
    for wanted in [
        json!({"formats": ["markdown", "html"]}),
        json!({"formats": ["rawHtml"]}),
        json!({"formats": ["links"]}),
        json!({"formats": ["images"]}),
        json!({"formats": [{"type": "attributes", "selectors": [{"selector": "a", "attribute": "href"}]}]}),
        json!({"onlyMainContent": false}),
        json!({"includeTags": ["main"]}),
        json!({"headers": {"Accept": "text/html"}}),
    ] {
        let mut body = wanted.clone();
        body["url"] = json!(app.page("/a"));
        body["maxAge"] = json!(0);
        drop(app.site.take_requests());
        let answer = team.scrape(&body).await;
        assert_eq!(answer.status, 200, "{wanted}: {}", answer.body);
        let asked = app.site.take_requests();
        let accept: Vec<&str> =
            asked.iter().filter(|seen| seen.path == "/a").map(|seen| seen.header("accept")).collect();
        assert!(accept.len() == 1 && accept[0].starts_with("text/html"), "{wanted}: {accept:?}");
    }
}

/// A crawl needs the links of its pages, which markdown lacks; where no links are followed it accepts markdown.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crawl_asks_for_pages_whose_links_it_follows() {
    let app = start().await;
    let team = app.team(Some(100), json!({})).await;
    let crawl = async |body: Value| {
        let job = team.start("/v2/crawl", &body).await;
        team.ended(&job).await;
        let documents = team.documents(&job).await;
        documents.iter().map(|page| page["markdown"].as_str().unwrap().contains("In HTML")).collect::<Vec<bool>>()
    };
    let body = json!({"url": app.page("/"), "limit": 5, "sitemap": "skip"});
    assert_eq!(crawl(body.clone()).await, [true, true]);
    let mut alone = body;
    alone["maxDiscoveryDepth"] = json!(0);
    alone["scrapeOptions"] = json!({"maxAge": 0});
    assert_eq!(crawl(alone).await, [false]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_in_markdown_are_copies_of_their_own() {
    let app = start().await;
    let team = app.team(Some(100), json!({})).await;
    let scrape = async |formats: Value| {
        let body = team.scrape(&json!({"url": app.page("/a"), "formats": formats})).await.body;
        let data = &body["data"];
        (
            data["metadata"]["cacheState"].as_str().unwrap().to_owned(),
            data["markdown"].as_str().unwrap().contains("In HTML"),
        )
    };
    assert_eq!(scrape(json!(["markdown"])).await, ("miss".to_owned(), false));
    assert_eq!(scrape(json!(["markdown", "html"])).await, ("miss".to_owned(), true));
    assert_eq!(scrape(json!(["markdown"])).await, ("hit".to_owned(), false));
    assert_eq!(scrape(json!(["markdown", "links"])).await, ("hit".to_owned(), true));
    // A site without markdown has one copy for all requests.
    app.site.html("/plain", "<p>In HTML.");
    let plain = |formats: Value| json!({"url": app.page("/plain"), "formats": formats});
    team.scrape(&plain(json!(["markdown"]))).await;
    let again = team.scrape(&plain(json!(["html"]))).await.body;
    assert_eq!(again["data"]["metadata"]["cacheState"], "hit", "{again}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_site_that_refuses_the_list_is_asked_once_more() {
    let app = TestApp::start().await;
    app.site.others(|seen| match seen.header("accept").contains("markdown") {
        true => Some(Reply { status: 406, ..page("<p>not acceptable") }),
        false => Some(page("<p>the page itself")),
    });
    let answer = app.anonymous().scrape(&json!({"url": app.page("/a")})).await;
    assert_eq!((answer.status, answer.markdown()), (200, "the page itself"));
}
