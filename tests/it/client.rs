//! The client library against the service: every call once, and the handling of errors.

use std::time::Duration;

use client::{Client, Error, Message, Run};
use e2e::TestApp;
use serde_json::{Value, json};
use wire::{CrawlRequest, JobProgress, JobStatus, ResultsQuery, ScrapeRequest};

use crate::ARTICLE;
use crate::crawl::linked_site;

async fn ended(client: &Client, run: Run) -> JobProgress {
    loop {
        let progress = client.status(run, ResultsQuery { skip: None, limit: Some(2) }).await.unwrap();
        if progress.status.is_final() {
            return progress;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn pages_and_maps() {
    let app = TestApp::with_keys().await;
    app.site.html("/", ARTICLE);
    let team = app.team(Some(10), json!({})).await;
    let client = team.typed();
    let page = client.scrape(&ScrapeRequest::new(app.page("/").parse().unwrap())).await.unwrap().data;
    assert!(page.markdown.is_some_and(|text| text.starts_with("# Granite")) && page.metadata.status_code == 200);
    let map = client.map(&json!({"url": app.page("/"), "sitemap": "skip"})).await.unwrap();
    assert!(map.links.iter().any(|link| link.url == app.page("/places")), "{:?}", map.links);
    assert_eq!(client.usage().await.unwrap().remaining_credits, 8);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crawl_is_started_watched_read_and_listed() {
    let app = TestApp::start().await;
    linked_site(&app, 5);
    let anonymous = app.anonymous();
    let client = anonymous.typed();
    let run = client.crawl(&CrawlRequest::new(app.page("/").parse().unwrap())).await.unwrap();
    let mut watcher = client.watch(run).await.unwrap();
    let mut seen = 0;
    let last = loop {
        match watcher.next().await.unwrap() {
            Some(Message::Catchup(progress)) => seen += progress.data.len(),
            Some(Message::Document(document)) => {
                let document: wire::Document = serde_json::from_str(document.get()).unwrap();
                assert!(document.markdown.is_some());
                seen += 1;
            }
            other => break other,
        }
    };
    assert!(matches!(last, Some(Message::Done(progress)) if progress.completed == 5), "not done");
    assert!(watcher.next().await.unwrap().is_none());
    let first = ended(client, run).await;
    assert_eq!((seen, first.status, first.data.len()), (5, JobStatus::Completed, 2));
    let second: JobProgress = client.next(&first.next.unwrap()).await.unwrap();
    assert!(!second.data.is_empty());
    assert_eq!(client.errors(run).await.unwrap().errors, []);
    assert_eq!(client.active().await.unwrap().crawls, []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_is_started_and_stopped() {
    let app = TestApp::start().await;
    let slow = testkit::Reply { delay: Duration::from_secs(20), ..testkit::Reply::default() };
    app.site.respond("/slow", slow);
    let anonymous = app.anonymous();
    let client = anonymous.typed();
    let urls = [app.page("/slow"), "nothing://".to_owned()];
    let started = client.batch(&json!({"urls": urls, "ignoreInvalidURLs": true})).await.unwrap();
    assert_eq!(started.invalid_urls, Some(vec!["nothing://".to_owned()]));
    let run = Run::batch(started.id);
    let mut watcher = client.watch(run).await.unwrap();
    assert!(matches!(watcher.next().await.unwrap(), Some(Message::Catchup(_))));
    assert_eq!(client.cancel(run).await.unwrap().status, JobStatus::Cancelled);
    assert!(matches!(watcher.next().await.unwrap(), Some(Message::Cancelled(progress)) if progress.completed == 0));
    assert_eq!(ended(client, run).await.status, JobStatus::Cancelled);
}

#[tokio::test]
async fn the_operator_makes_and_reads_a_team() {
    let app = TestApp::with_keys().await;
    let operator = app.operator();
    let made = operator.typed().create_team(&json!({"name": "masons", "credits": 3})).await.unwrap();
    let team = operator.typed().team(made.team_id).await.unwrap();
    assert_eq!((team.name.as_str(), team.available), ("masons", Some(3)));
    let unknown = Run::crawl(made.team_id);
    for refused in [
        app.bearer(&made.api_key).typed().status(unknown, ResultsQuery::default()).await.unwrap_err(),
        app.bearer(&made.api_key).typed().watch(unknown).await.unwrap_err(),
    ] {
        let Error::Refused(refusal) = refused else { panic!("{refused}") };
        assert_eq!((refusal.status, refusal.body.code), (404, wire::Code::NotFound));
    }
    let refused = app.anonymous().typed().scrape(&Value::Null).await.unwrap_err();
    assert!(matches!(refused, Error::Refused(refusal) if refusal.status == 401));
}
