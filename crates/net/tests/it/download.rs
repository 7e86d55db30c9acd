//! Bodies that are read in pieces.

use std::time::Duration;

use net::{Download, Error, Limits, Request};
use testkit::{Body, Encoding, Reply};
use tokio::time::Instant;

use crate::world::{World, get};

async fn open(world: &World, path: &str) -> Result<Download, Error> {
    world.client.open(get(world.url(path))).await
}

/// Returns the number of bytes before the end or the error.
async fn drain(mut download: Download) -> (usize, Result<(), Error>) {
    let mut length = 0;
    loop {
        match download.piece().await {
            Ok(Some(piece)) => {
                assert!((1..=1 << 20).contains(&piece.len()), "{}", piece.len());
                length += piece.len();
            }
            Ok(None) => return (length, Ok(())),
            Err(error) => {
                assert_eq!(download.piece().await, Ok(None));
                return (length, Err(error));
            }
        }
    }
}

#[tokio::test]
async fn pieces_add_up_and_the_connection_is_used_again() {
    let world = World::start().await;
    world.site.respond("/plain", Reply { body: Body::repeat("<", "word ", 100_000, ">"), ..Reply::default() });
    let body = Body::Zeros { bytes: 900_000, encodings: vec![Encoding::Gzip] };
    world.site.respond("/gzip", Reply { body, ..Reply::default() }.header("content-encoding", "gzip"));
    world.site.respond("/empty", Reply { status: 204, ..Reply::default() }.header("content-encoding", "br"));
    world.site.respond("/old", Reply { status: 301, ..Reply::default() }.header("location", "/plain"));
    for (path, expect) in [("/plain", 500_002), ("/gzip", 900_000), ("/empty", 0), ("/old", 500_002)] {
        let download = open(&world, path).await.unwrap();
        assert_eq!(download.redirects.len(), usize::from(path == "/old"));
        assert!(!download.headers.contains_key("content-encoding") || path == "/empty");
        assert_eq!(drain(download).await, (expect, Ok(())), "{path}");
    }
    assert_eq!(world.site.connections(), 1);
}

#[tokio::test]
async fn what_is_not_read_is_not_fetched() {
    let world = World::start().await;
    let body = Body::Repeat { prefix: "".into(), unit: "x".into(), bytes: None, suffix: "".into() };
    world.site.respond("/endless", Reply { body, ..Reply::default() });
    let mut download = open(&world, "/endless").await.unwrap();
    assert!(download.piece().await.unwrap().is_some());
    drop(download);
    world.site.html("/", "<p>x");
    assert_eq!(world.path("/").await.unwrap().body, "<p>x");
    assert_eq!(world.site.connections(), 2);
}

#[tokio::test]
async fn limits_hold_on_the_way() {
    let limits = Limits { body_raw: 1 << 20, body_decoded: 2 << 20, ..Limits::default() };
    let world = World::with(limits, vec![]).await;
    let body = Body::Repeat { prefix: "".into(), unit: "x".into(), bytes: None, suffix: "".into() };
    world.site.respond("/endless", Reply { body, ..Reply::default() });
    let (length, result) = drain(open(&world, "/endless").await.unwrap()).await;
    assert_eq!(result, Err(Error::TooLarge { what: "raw body", limit: 1 << 20 }));
    assert!(length <= 1 << 20);
    let body = Body::Zeros { bytes: 1 << 30, encodings: vec![Encoding::Gzip] };
    world.site.respond("/bomb", Reply { body, ..Reply::default() }.header("content-encoding", "gzip"));
    let (length, result) = drain(open(&world, "/bomb").await.unwrap()).await;
    assert!(matches!(result, Err(Error::TooLarge { .. })) && length <= 2 << 20, "{length} {result:?}");
    world.site.respond("/cut", Reply { body: "short".into(), ..Reply::default() }.header("content-length", "1000"));
    let (length, result) = drain(open(&world, "/cut").await.unwrap()).await;
    assert!(matches!(result, Err(Error::Protocol { .. })) && length == 5, "{length} {result:?}");
}

#[tokio::test]
async fn the_deadline_holds_for_every_piece() {
    let world = World::start().await;
    world.site.respond("/drip", Reply { body: Body::Drip { every: Duration::from_millis(20) }, ..Reply::default() });
    let deadline = Instant::now() + Duration::from_millis(1500);
    let download = world.client.open(Request { deadline, ..get(world.url("/drip")) }).await.unwrap();
    let (length, result) = drain(download).await;
    assert_eq!(result, Err(Error::Timeout));
    assert!(length > 1);
    assert!(matches!(
        world.client.open(Request { deadline, ..get(world.url("/drip")) }).await.map(|_| ()),
        Err(Error::Timeout)
    ));
    let refused = world.client.open(get(format!("http://{}/", world.canary.addr()))).await;
    assert!(matches!(refused, Err(Error::Blocked { .. })));
    assert_eq!(world.canary.connects(), 0);
}
