//! Responses that are too large, too slow, truncated or malformed.

use std::time::{Duration, Instant};

use bytes::Bytes;
use net::{Error, Limits, Request};
use testkit::{Body, Encoding, Reply, Script};

use crate::world::{World, get, hurried};

fn coded(names: &str, body: Body) -> Reply {
    Reply { body, ..Reply::default() }.header("content-encoding", names)
}

#[tokio::test]
async fn bombs_in_every_coding_are_cut() {
    let world = World::start().await;
    let bytes = 256 << 20;
    for (names, encodings) in [
        ("gzip", vec![Encoding::Gzip]),
        ("deflate", vec![Encoding::Deflate]),
        ("br", vec![Encoding::Br]),
        ("zstd", vec![Encoding::Zstd]),
        ("gzip, gzip", vec![Encoding::Gzip, Encoding::Gzip]),
    ] {
        world.site.respond("/b", coded(names, Body::Zeros { bytes, encodings }));
        let start = Instant::now();
        let result = world.path("/b").await;
        assert!(matches!(result, Err(Error::TooLarge { .. })), "{names} {result:?}");
        assert!(start.elapsed() < Duration::from_secs(10), "{names}");
    }
    let encodings = vec![Encoding::Gzip; 3];
    world.site.respond("/b", coded("gzip, gzip, gzip", Body::Zeros { bytes: 1000, encodings }));
    assert_eq!(world.path("/b").await.unwrap_err(), Error::TooLarge { what: "content codings", limit: 2 });
}

#[tokio::test]
async fn small_bodies_in_every_coding_are_read() {
    let world = World::start().await;
    for (names, encoding) in
        [("gzip", Encoding::Gzip), ("deflate", Encoding::Deflate), ("br", Encoding::Br), ("zstd", Encoding::Zstd)]
    {
        world.site.respond("/b", coded(names, Body::Zeros { bytes: 100_000, encodings: vec![encoding] }));
        let response = world.path("/b").await.unwrap();
        assert_eq!(response.body, vec![0; 100_000], "{names}");
        assert!(!response.headers.contains_key("content-encoding"));
    }
    world.site.respond("/b", coded("utf-8", Body::from("plain")));
    assert_eq!(world.path("/b").await.unwrap().body, "plain");
    world.site.respond("/b", coded("gzip", Body::from("<p>not gzip")));
    assert!(matches!(world.path("/b").await, Err(Error::Protocol { .. })));
    let head = Request { method: http::Method::HEAD, ..get(world.url("/b")) };
    assert_eq!(world.client.send(head).await.unwrap().body, "");
}

#[tokio::test]
async fn raw_bodies_are_limited_before_and_while_they_come() {
    let limits = Limits { body_raw: 1 << 20, ..Limits::default() };
    let world = World::with(limits, vec![]).await;
    world.site.respond("/known", Reply { body: Body::repeat("", "word ", 1 << 20, ""), ..Reply::default() });
    let endless = Body::Repeat { prefix: Bytes::new(), unit: "word ".into(), bytes: None, suffix: Bytes::new() };
    world.site.respond("/endless", Reply { body: endless, ..Reply::default() });
    for path in ["/known", "/endless"] {
        assert_eq!(world.path(path).await.unwrap_err(), Error::TooLarge { what: "raw body", limit: 1 << 20 }, "{path}");
    }
}

#[tokio::test]
async fn heads_are_limited() {
    let world = World::start().await;
    world.site.respond("/long", Reply::default().header("x-big", &"A".repeat(8 << 20)));
    let many = (0..100_000).fold(Reply::default(), |reply, n| reply.header(&format!("x-{n}"), "1"));
    world.site.respond("/many", many);
    let cookies = (0..10_000)
        .fold(Reply::default(), |reply, n| reply.header("set-cookie", &format!("c{n}={}", "x".repeat(4000))));
    world.site.respond("/cookies", cookies);
    for path in ["/long", "/many", "/cookies"] {
        let result = world.path(path).await;
        assert_eq!(result.unwrap_err(), Error::TooLarge { what: "response head", limit: 64 << 10 }, "{path}");
    }
    let usual = (0..150).fold(Reply { body: "ok".into(), ..Reply::default() }, |reply, n| {
        reply.header(&format!("x-{n}"), &"v".repeat(300))
    });
    world.site.respond("/usual", usual);
    assert_eq!(world.path("/usual").await.unwrap().headers.len(), 151);
}

#[tokio::test]
async fn slow_answers_end_at_the_deadline() {
    let world = World::start().await;
    let pause = Duration::from_millis(20);
    world.site.respond("/drip", Reply { body: Body::Drip { every: pause }, ..Reply::default() });
    world.site.script("/head", vec![Script::DripHead(pause)]);
    world.site.script("/hang", vec![Script::Hang(Duration::from_secs(600))]);
    world.site.script("/interim", vec![Script::EndlessInterim]);
    for path in ["/drip", "/head", "/hang", "/interim"] {
        let start = Instant::now();
        let result = world.client.send(hurried(&world.url(path), Duration::from_millis(300))).await;
        assert_eq!(result.unwrap_err(), Error::Timeout, "{path}");
        assert!(start.elapsed() < Duration::from_secs(2), "{path} {:?}", start.elapsed());
    }
    assert_eq!(world.client.send(hurried(&world.url("/x"), Duration::ZERO)).await.unwrap_err(), Error::Timeout);
}

#[tokio::test]
async fn cut_and_broken_answers_are_errors() {
    let world = World::start().await;
    for (name, raw) in [
        ("short", "HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n<p>short"),
        ("chunk size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZZ\r\n"),
        ("chunk end", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"),
        ("last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"),
        ("no http", "SSH-2.0-OpenSSH_9.2\r\n"),
        ("nothing", ""),
        ("half head", "HTTP/1.1 200 OK\r\nX: "),
    ] {
        world.site.script("/raw", vec![Script::Raw(raw.into())]);
        let result = world.path("/raw").await;
        assert!(matches!(result, Err(Error::Protocol { .. })), "{name} {result:?}");
    }
    world.site.script("/raw", vec![Script::Raw("HTTP/1.1 200 OK\r\n\r\nuntil the end".into())]);
    assert_eq!(world.path("/raw").await.unwrap().body, "until the end");
}

#[tokio::test]
async fn a_refused_connection_is_told_from_a_bad_answer() {
    let world = World::with(Limits::default(), vec!["127.0.0.1:1".parse().unwrap()]).await;
    let result = world.get("http://127.0.0.1:1/").await;
    assert!(matches!(result, Err(Error::Connect { .. })), "{result:?}");
    assert!(result.unwrap_err().is_network_failure());
}
