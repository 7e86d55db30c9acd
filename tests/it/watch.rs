//! The watcher: a WebSocket on the path of a job.

use std::time::Duration;

use e2e::{Client, TestApp};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::crawl::{linked_site, page};

pub(crate) type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Opens the watcher with these headers.
pub(crate) async fn open(
    app: &TestApp,
    job: &str,
    headers: &[(&'static str, String)],
) -> Result<(Socket, String), Error> {
    let mut request = format!("ws://{}{job}", app.address()).into_client_request().unwrap();
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    let (socket, answer) = connect_async(request).await?;
    let protocol = answer.headers().get("sec-websocket-protocol").map(|value| value.to_str().unwrap().to_owned());
    Ok((socket, protocol.unwrap_or_default()))
}

pub(crate) fn bearer(client: &Client) -> [(&'static str, String); 1] {
    [("authorization", format!("Bearer {}", client.token().unwrap_or_default()))]
}

/// Returns all messages until the server closes the connection.
async fn messages(mut socket: Socket) -> Vec<Value> {
    let mut all = Vec::new();
    let reading = async {
        while let Some(Ok(message)) = socket.next().await {
            if let Message::Text(text) = message {
                all.push(serde_json::from_str(&text).unwrap());
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), reading).await.unwrap();
    all
}

fn types(messages: &[Value]) -> Vec<&str> {
    messages.iter().map(|message| message["type"].as_str().unwrap_or("snapshot")).collect()
}

fn documents(messages: &[Value]) -> Vec<String> {
    let first = messages[0]["data"]["data"].as_array().unwrap();
    let later = messages.iter().filter(|message| message["type"] == "document").map(|message| &message["data"]);
    let url = |document: &Value| document["metadata"]["sourceURL"].as_str().unwrap().to_owned();
    first.iter().chain(later).map(url).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn documents_come_in_order_and_done_comes_last() {
    let app = TestApp::with_keys().await;
    linked_site(&app, 60);
    let team = app.team(Some(1000), json!({})).await;
    let job = team.start("/v2/crawl", &json!({"url": app.page("/"), "limit": 200})).await;
    let (early, _) = open(&app, &job, &bearer(&team)).await.unwrap();
    let early = messages(early).await;
    // A watcher after the end gets the same messages.
    let (late, _) = open(&app, &job, &bearer(&team)).await.unwrap();
    let late = messages(late).await;
    let whole: Vec<String> =
        team.documents(&job).await.iter().map(|d| d["metadata"]["sourceURL"].as_str().unwrap().to_owned()).collect();
    for seen in [&early, &late] {
        let types = types(seen);
        assert_eq!((types[0], types[types.len() - 1]), ("catchup", "done"), "{types:?}");
        assert!(types[1..types.len() - 1].iter().all(|kind| *kind == "document"), "{types:?}");
        assert_eq!(documents(seen), whole);
        let done = &seen[seen.len() - 1]["data"];
        assert_eq!((&done["status"], &done["completed"], &done["data"]), (&json!("completed"), &json!(60), &json!([])));
    }
    // Clients treat a final status in the first message as the end.
    assert_eq!(late[0]["data"]["status"], "scraping", "more than one message of documents");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_short_job_that_has_ended_is_told_at_once() {
    let app = TestApp::start().await;
    linked_site(&app, 3);
    let client = app.anonymous();
    let job = client.start("/v2/batch/scrape", &json!({"urls": [app.page("/p/1"), app.page("/p/2")]})).await;
    client.ended(&job).await;
    let (socket, protocol) = open(&app, &job, &[]).await.unwrap();
    assert_eq!(protocol, "");
    let seen = messages(socket).await;
    assert_eq!(types(&seen), ["catchup", "done"]);
    assert_eq!((&seen[0]["data"]["status"], documents(&seen).len()), (&json!("completed"), 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_key_may_travel_as_the_subprotocol() {
    let app = TestApp::with_keys().await;
    linked_site(&app, 3);
    let team = app.team(Some(100), json!({})).await;
    let job = team.start("/v2/crawl", &json!({"url": app.page("/"), "limit": 5})).await;
    let key = team.token().unwrap().to_owned();
    let (socket, protocol) = open(&app, &job, &[("sec-websocket-protocol", key.clone())]).await.unwrap();
    assert_eq!(protocol, key, "it comes back, or the browser gives up");
    assert_eq!(types(&messages(socket).await).last(), Some(&"done"));
    let chat = [("authorization", format!("Bearer {key}")), ("sec-websocket-protocol", "chat".to_owned())];
    let (_, protocol) = open(&app, &job, &chat).await.unwrap();
    assert_eq!(protocol, "chat");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refused_before_it_opens() {
    let app = TestApp::with_keys().await;
    linked_site(&app, 3);
    let (ours, theirs) = (app.team(Some(100), json!({})).await, app.team(Some(100), json!({})).await);
    let job = ours.start("/v2/crawl", &json!({"url": app.page("/"), "limit": 5})).await;
    let status = async |job: &str, headers: &[(&'static str, String)]| match open(&app, job, headers).await {
        Err(Error::Http(answer)) => answer.status().as_u16(),
        other => panic!("{other:?}"),
    };
    assert_eq!(status(&job, &bearer(&theirs)).await, 404);
    assert_eq!(status("/v2/crawl/01890000-0000-7000-8000-00000000beef", &bearer(&ours)).await, 404);
    assert_eq!(status("/v2/crawl/x", &bearer(&ours)).await, 400);
    assert_eq!(status(&job, &[]).await, 401);
    assert_eq!(status(&job, &[("sec-websocket-protocol", "fc-wrong".to_owned())]).await, 401);
    let broken = ours.request(http::Method::GET, &job).header("upgrade", "websocket");
    assert_eq!(ours.send(broken, bytes::Bytes::new()).await.status, 400);
}

/// Serves a start page that never answers during the test, and returns the request of a crawl that waits for it.
fn stuck(app: &TestApp) -> Value {
    app.site.respond("/", testkit::Reply { delay: Duration::from_secs(600), ..page("<p>slow") });
    let options = json!({"timeout": 300_000, "maxAge": 0});
    json!({"url": app.page("/"), "limit": 5, "scrapeOptions": options})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_is_told_by_the_status() {
    let app = TestApp::start().await;
    let client = app.anonymous();
    let job = client.start("/v2/crawl", &stuck(&app)).await;
    let (mut socket, _) = open(&app, &job, &[]).await.unwrap();
    let first = socket.next().await.unwrap().unwrap().into_text().unwrap();
    assert!(first.contains("\"catchup\"") && first.contains("\"scraping\""), "{first}");
    assert_eq!(client.delete(&job).await.status, 200);
    let seen = messages(socket).await;
    assert_eq!((types(&seen), &seen[0]["status"]), (vec!["snapshot"], &json!("cancelled")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_team_has_a_share_of_the_watchers() {
    let app = TestApp::start().await;
    let (many, other) = (app.anonymous(), app.team(Some(100), json!({})).await);
    let body = stuck(&app);
    let (job, others) = (many.start("/v2/crawl", &body).await, other.start("/v2/crawl", &body).await);
    let mut held = Vec::new();
    for _ in 0..256 {
        held.push(open(&app, &job, &[]).await.unwrap());
    }
    match open(&app, &job, &[]).await {
        Err(Error::Http(answer)) => assert_eq!(answer.status(), 429),
        other => panic!("{other:?}"),
    }
    open(&app, &others, &bearer(&other)).await.unwrap();
    held.pop();
    while open(&app, &job, &[]).await.is_err() {
        tokio::task::yield_now().await;
    }
    for (client, job) in [(&many, &job), (&other, &others)] {
        assert_eq!(client.delete(job).await.status, 200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failure_is_an_error() {
    let app = TestApp::start().await;
    let job = app.anonymous().start("/v2/crawl", &json!({"url": "http://nowhere.test/", "limit": 5})).await;
    let (socket, _) = open(&app, &job, &[]).await.unwrap();
    let seen = messages(socket).await;
    let last = seen.last().unwrap();
    assert_eq!(last["type"], "error");
    assert!(last["error"].as_str().is_some_and(|text| !text.is_empty()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_who_does_not_read_holds_nobody_up() {
    let app = TestApp::start().await;
    let links: String = (0..40).map(|n| format!("<a href=/big/{n}>{n}</a> ")).collect();
    app.site.others(move |seen| {
        let words = "words of a page that is large ".repeat(10_000);
        (seen.path == "/" || seen.path.starts_with("/big/")).then(|| page(&format!("{links}<p>{words}")))
    });
    let client = app.anonymous();
    let body = json!({"url": app.page("/"), "limit": 100, "scrapeOptions": {"onlyMainContent": false}});
    let job = client.start("/v2/crawl", &body).await;
    let (mut lazy, _) = open(&app, &job, &[]).await.unwrap();
    let (eager, _) = open(&app, &job, &[]).await.unwrap();
    let seen = messages(eager).await;
    assert_eq!((types(&seen).last(), documents(&seen).len()), (Some(&"done"), 41));
    // The server may have dropped the watcher meanwhile; its messages are read and ignored.
    let _ = lazy.send(Message::text("hello")).await;
    let seen = messages(lazy).await;
    assert_eq!(seen[0]["type"], "catchup");
}
