//! TLS, HTTP/2, and servers that abuse it.

use std::time::{Duration, Instant};

use http::HeaderValue;
use net::{Allow, Error, Limits, Request};
use testkit::{Answer, Body, Encoding, H2Attack, Reply, Site};

use crate::world::{LOOPBACK, World, get, hurried, named, redirect};

/// A world with one TLS origin more, and its name.
async fn secure() -> (World, Site) {
    let site = Site::start_tls().await;
    let world = World::with(Limits::default(), vec![Allow::Address(site.addr())]).await;
    world.dns.set("secure.test", Answer::from(LOOPBACK));
    (world, site)
}

fn trusting(site: &Site, path: &str) -> Request {
    Request { verify_tls: false, ..get(named("https", "secure.test", site.addr(), path)) }
}

#[tokio::test]
async fn an_unknown_certificate_is_refused_unless_the_caller_accepts_it() {
    let (world, site) = secure().await;
    site.html("/", "<p>secure</p>");
    let strict = Request { verify_tls: true, ..trusting(&site, "/") };
    let error = world.client.send(strict).await.unwrap_err();
    assert!(matches!(&error, Error::Tls { host, .. } if host == "secure.test"), "{error:?}");
    assert!(site.requests().is_empty());
    assert_eq!(world.client.send(trusting(&site, "/")).await.unwrap().body, "<p>secure</p>");
    let by_address = Request { verify_tls: false, ..get(site.url("/")) };
    assert_eq!(world.client.send(by_address).await.unwrap().body, "<p>secure</p>");
    let strict = Request { verify_tls: true, ..trusting(&site, "/") };
    assert!(world.client.send(strict).await.is_err(), "an unverified connection must not serve a verified request");
}

#[tokio::test]
async fn plain_text_behind_https_is_a_tls_error() {
    let (world, _) = secure().await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let world = World::with(Limits::default(), vec![Allow::Address(addr), Allow::Address(world.site.addr())]).await;
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
    });
    let result = world.get(format!("https://127.0.0.1:{}/", addr.port())).await;
    assert!(matches!(result, Err(Error::Tls { .. })), "{result:?}");
}

#[tokio::test]
async fn http2_carries_everything() {
    let (world, site) = secure().await;
    site.respond("/r", redirect(302, "/page?x=1").header("set-cookie", "a=1"));
    let body = Body::Zeros { bytes: 300_000, encodings: vec![Encoding::Br] };
    site.respond("/page", Reply { body, ..Reply::default() }.header("content-encoding", "br"));
    let mut request = trusting(&site, "/r");
    for (name, value) in [("connection", "keep-alive"), ("host", "evil.test"), ("x-own", "1"), ("te", "x")] {
        request.headers.insert(name, HeaderValue::from_static(value));
    }
    let response = world.client.send(request).await.unwrap();
    assert_eq!(response.body.len(), 300_000);
    let seen = site.requests();
    // The fake server keeps no head for HTTP/2.
    assert!(seen.iter().all(|seen| seen.head.is_empty()), "http/1.1 was spoken");
    assert_eq!((seen[1].path.as_str(), seen[1].header("cookie"), seen[1].header("x-own")), ("/page?x=1", "a=1", "1"));
    assert!(!seen[1].headers.contains_key("host") && !seen[1].headers.contains_key("te"));
    assert_eq!(site.connections(), 1);
}

#[tokio::test]
async fn http2_attacks_end_at_the_deadline_at_the_latest() {
    let (world, site) = secure().await;
    for attack in [H2Attack::ContinuationFlood, H2Attack::ZeroWindow] {
        site.attack_h2(Some(attack));
        let start = Instant::now();
        let url = trusting(&site, "/b").url;
        let request = Request { verify_tls: false, ..hurried(&url, Duration::from_millis(800)) };
        let result = world.client.send(request).await;
        assert!(result.is_err(), "{attack:?} {result:?}");
        assert!(start.elapsed() < Duration::from_secs(3), "{attack:?}");
    }
    site.attack_h2(None);
    site.html("/", "fine");
    assert_eq!(world.client.send(trusting(&site, "/")).await.unwrap().body, "fine");
}

#[tokio::test]
async fn http2_heads_are_limited() {
    let (world, site) = secure().await;
    site.respond("/long", Reply::default().header("x-big", &"A".repeat(200 << 10)));
    let result = world.client.send(trusting(&site, "/long")).await;
    assert!(result.is_err(), "{result:?}");
}
