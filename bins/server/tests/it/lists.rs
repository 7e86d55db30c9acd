//! Long lists: skipped pages of a crawl, and crawls.

use std::time::Duration;

use base::new_id;
use quarry_server::Running;
use serde_json::{Value, json};
use store::runs::{self, NewPage, PageRow, PageState};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::{call, service};

/// Starts a crawl that never reaches its page, because no worker runs.
async fn crawl(running: &Running, more: Value) -> String {
    let mut body = json!({"url": "http://192.0.2.1/", "limit": 5});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let started = call(running, "POST /v2/crawl", &[], body.to_string().as_bytes()).await;
    assert_eq!(started.status, 200, "{started:?}");
    started.json()["id"].as_str().unwrap().to_owned()
}

/// Records URLs of 8000 characters: this many as blocked, and for each tenth also one of another site.
async fn leave_out(running: &Running, crawl: &str, number: usize) {
    let mut conn = running.operations().app.store().conn().await.unwrap();
    let page = |kind: &str, n: usize| NewPage {
        parent: None,
        id: new_id().to_string(),
        key: format!("{kind}{n:015}").into_bytes(),
        url: format!("http://{kind}.test/{n}/{}", "x".repeat(8000)),
        depth: 1,
    };
    let now = running.operations().app.now();
    for first in (0..number).step_by(500) {
        let blocked: Vec<NewPage> = (first..(first + 500).min(number)).map(|n| page("b", n)).collect();
        let external: Vec<NewPage> =
            blocked.iter().step_by(10).enumerate().map(|(n, _)| page("e", first + n)).collect();
        let blocked = blocked.into_iter().map(|page| (page, PageState::Blocked, "ROBOTS"));
        let external = external.into_iter().map(|page| (page, PageState::External, "EXTERNAL_LINK"));
        let row = |(page, state, code)| PageRow::new(crawl, page, state).listed(code, "no", now);
        runs::insert_pages(&mut conn, blocked.chain(external).map(row).collect()).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_left_out_is_told_in_pieces() {
    let (running, _folder) = service(|config| config.worker.embedded = false).await;
    let id = crawl(&running, json!({})).await;
    leave_out(&running, &id, 3000).await;
    let (mut blocked, mut external, mut answers) = (Vec::new(), Vec::new(), 0);
    let mut path = format!("/v2/crawl/{id}/errors");
    loop {
        let answer = call(&running, &format!("GET {path}"), &[], b"").await;
        assert_eq!(answer.status, 200, "{:?}", answer.head);
        assert!(answer.body.len() < 11 << 20, "{}", answer.body.len());
        let body = answer.json();
        let list = |name: &str| body[name].as_array().unwrap().clone();
        blocked.extend(list("robotsBlocked").iter().map(|url| url.as_str().unwrap().to_owned()));
        external.extend(list("errors").iter().map(|entry| entry["url"].as_str().unwrap().to_owned()));
        answers += 1;
        let Some(next) = body["next"].as_str() else { break };
        path = next.strip_prefix("http://localhost").expect("as the client has called").to_owned();
    }
    assert_eq!((blocked.len(), external.len(), answers), (3000, 300, 3));
    assert!(blocked.iter().enumerate().all(|(n, url)| url.starts_with(&format!("http://b.test/{n}/"))));
    let bad = call(&running, &format!("GET /v2/crawl/{id}/errors?after=x"), &[], b"").await;
    assert_eq!((bad.status, bad.json()["details"][0]["path"].as_str()), (400, Some("after")));
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_readers_of_lists_wait_for_a_turn() {
    let (running, _folder) = service(|config| config.worker.embedded = false).await;
    let id = crawl(&running, json!({})).await;
    leave_out(&running, &id, 1300).await;
    let mut slow = Vec::new();
    for _ in 0..4 {
        let mut stream = TcpStream::connect(running.address).await.unwrap();
        stream
            .write_all(format!("GET /v2/crawl/{id}/errors HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes())
            .await
            .unwrap();
        // The header has arrived, so it holds a permit.
        stream.read_u8().await.unwrap();
        slow.push(stream);
    }
    for path in [format!("/v2/crawl/{id}/errors"), "/v2/crawl/active".to_owned()] {
        let line = format!("GET {path}");
        let answer = tokio::time::timeout(Duration::from_millis(300), call(&running, &line, &[], b"")).await;
        assert!(answer.is_err(), "a fifth answer is in memory: {path}");
    }
    drop(slow);
    assert_eq!(call(&running, &format!("GET /v2/crawl/{id}/errors"), &[], b"").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn active_crawls_are_told_without_what_makes_them_large() {
    let (running, _folder) = service(|config| config.worker.embedded = false).await;
    let tags: Vec<String> = (0..20).map(|n| format!("{}{n}", "x".repeat(1000))).collect();
    for _ in 0..5 {
        crawl(
            &running,
            json!({"maxDiscoveryDepth": 3, "scrapeOptions": {"includeTags": tags, "onlyMainContent": false}}),
        )
        .await;
    }
    let answer = call(&running, "GET /v2/crawl/active", &[], b"").await;
    assert!(answer.body.len() < 50_000, "{}", answer.body.len());
    let body = answer.json();
    assert_eq!(body["crawls"].as_array().unwrap().len(), 5);
    let options = &body["crawls"][0]["options"];
    assert_eq!(
        (&options["maxDiscoveryDepth"], &options["scrapeOptions"]["onlyMainContent"]),
        (&json!(3), &json!(false))
    );
    assert!(options["scrapeOptions"]["includeTags"].is_null() && body["warning"].is_string(), "{}", body["warning"]);
}
