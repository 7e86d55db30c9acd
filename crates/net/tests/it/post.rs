//! POST requests: sent exactly, answered in time, never redirected, never to a blocked address.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use net::{Client, Config, Egress, Error, Limits, Post, Posted};
use testkit::{Body, Reply, Script};
use tokio::time::Instant;
use url::Url;

use crate::world::{World, redirect};

fn post(url: Url) -> Post {
    Post {
        url,
        headers: HeaderMap::new(),
        body: Bytes::from_static(b"{\"a\": 1}\n"),
        repeatable: true,
        deadline: Instant::now() + Duration::from_secs(10),
        answer_bytes: 64 << 10,
    }
}

async fn send(world: &World, path: &str) -> Result<Posted, Error> {
    world.client.post(post(world.url(path))).await
}

#[tokio::test]
async fn the_exact_bytes_arrive_with_the_callers_headers() {
    let world = World::start().await;
    world.site.respond("/h", Reply { status: 201, body: "thanks".into(), ..Reply::default() }.header("x-a", "1"));
    let mut message = post(world.url("/h?q=1"));
    for (name, value) in
        [("host", "evil.test"), ("content-length", "1"), ("transfer-encoding", "chunked"), ("x-b", "2")]
    {
        message.headers.insert(name, HeaderValue::from_static(value));
    }
    let answer = world.client.post(message).await.unwrap();
    assert_eq!((answer.status.as_u16(), answer.body.as_ref()), (201, &b"thanks"[..]));
    assert_eq!((answer.headers["x-a"].as_bytes(), answer.peer), (&b"1"[..], world.site.addr()));
    let seen = &world.site.requests()[0];
    assert_eq!((seen.method.as_str(), seen.path.as_str(), seen.flaw.as_ref()), ("POST", "/h?q=1", None));
    assert_eq!(seen.body, "{\"a\": 1}\n");
    assert_eq!((seen.header("content-length"), seen.header("x-b")), ("9", "2"));
    assert_eq!(seen.header("host"), format!("origin.test:{}", world.site.addr().port()));
    assert!(!seen.headers.contains_key("transfer-encoding") && seen.header("accept-encoding") == "identity");
}

#[tokio::test]
async fn large_bodies_are_sent_whole() {
    let world = World::start().await;
    world.site.respond("/h", Reply::default());
    let body = Bytes::from(vec![b'x'; 5 << 20]);
    world.client.post(Post { body: body.clone(), ..post(world.url("/h")) }).await.unwrap();
    assert_eq!(world.site.requests()[0].body, body);
}

#[tokio::test]
async fn redirects_are_answers() {
    let world = World::start().await;
    for status in [301, 302, 303, 307, 308] {
        world.site.respond("/r", redirect(status, "/elsewhere"));
        assert_eq!(send(&world, "/r").await.unwrap().status, status);
    }
    assert!(world.site.requests().iter().all(|seen| seen.path == "/r"));
}

#[tokio::test]
async fn refused_addresses_are_not_dialled() {
    let world = World::start().await;
    let port = world.canary.addr().port();
    for host in ["127.0.0.1", "[::1]", "localhost", "[::ffff:127.0.0.1]", "0x7f.1"] {
        let url = format!("http://{host}:{port}/hook").parse().unwrap();
        assert!(matches!(world.client.post(post(url)).await, Err(Error::Blocked { .. })), "{host}");
    }
    assert_eq!(world.canary.connects(), 0);
    // The service's own listener, although `allow` contains all of loopback.
    let own = world.site.addr();
    let egress = Egress { allow: vec!["127.0.0.0/8".parse().unwrap()], refuse: vec![own], ..Egress::default() };
    let client = Client::new(Config { egress, limits: Limits::default() }).unwrap();
    assert!(matches!(client.post(post(world.site.url("/"))).await, Err(Error::Blocked { .. })));
    assert_eq!(world.site.connections(), 0);
}

#[tokio::test]
async fn the_head_has_to_come_before_the_deadline() {
    let world = World::start().await;
    world.site.script("/head", vec![Script::DripHead(Duration::from_millis(20))]);
    world.site.script("/hang", vec![Script::Hang(Duration::from_secs(600))]);
    for path in ["/head", "/hang"] {
        let start = Instant::now();
        let message = Post { deadline: start + Duration::from_millis(300), ..post(world.url(path)) };
        assert_eq!(world.client.post(message).await.unwrap_err(), Error::Timeout, "{path}");
        assert!(start.elapsed() < Duration::from_secs(2), "{path}");
    }
}

#[tokio::test]
async fn only_the_beginning_of_an_answer_is_read() {
    let world = World::start().await;
    let endless = Body::Repeat { prefix: Bytes::new(), unit: "word ".into(), bytes: None, suffix: Bytes::new() };
    world.site.respond("/endless", Reply { body: endless, ..Reply::default() });
    assert_eq!(send(&world, "/endless").await.unwrap().body.len(), 64 << 10);
    world.site.respond("/drip", Reply { body: Body::Drip { every: Duration::from_millis(20) }, ..Reply::default() });
    let start = Instant::now();
    let message = Post { deadline: start + Duration::from_millis(1500), ..post(world.url("/drip")) };
    assert_eq!(world.client.post(message).await.unwrap().status, 200);
    assert!(start.elapsed() < Duration::from_secs(3));
}

#[tokio::test]
async fn connections_are_kept_and_replaced() {
    let world = World::start().await;
    world.site.respond("/h", Reply { body: "ok".into(), ..Reply::default() });
    for _ in 0..5 {
        send(&world, "/h").await.unwrap();
    }
    assert_eq!(world.site.connections(), 1);
    // The pooled connection turns out to be closed: the same request goes over a new one.
    world.site.script("/dies", vec![Script::Raw(Bytes::new()), Script::Reply(Reply::default())]);
    assert_eq!(send(&world, "/dies").await.unwrap().status, 200);
    // Requests that must not be repeated never use a pooled connection.
    let before = world.site.connections();
    world.client.post(Post { repeatable: false, ..post(world.url("/h")) }).await.unwrap();
    assert_eq!(world.site.connections(), before + 1);
}

#[tokio::test]
async fn certificates_have_to_be_valid() {
    let world = World::start().await;
    let url = world.url("/h").as_str().replace("http:", "https:").parse().unwrap();
    assert!(matches!(world.client.post(post(url)).await, Err(Error::Tls { .. })));
}
