//! Reuse of connections, and handling of dead ones.

use bytes::Bytes;
use testkit::{Reply, Script};

use crate::world::{World, redirect};

#[tokio::test]
async fn requests_share_a_connection() {
    let world = World::start().await;
    world.site.html("/", "x");
    world.site.respond("/r", redirect(302, "/"));
    for _ in 0..5 {
        world.path("/").await.unwrap();
        world.path("/r").await.unwrap();
    }
    assert_eq!(world.site.requests().len(), 15);
    assert_eq!(world.site.connections(), 1);
    // Another name of the same address is another key.
    world.get(world.site.url("/")).await.unwrap();
    assert_eq!(world.site.connections(), 2);
}

#[tokio::test]
async fn a_closed_connection_is_not_used_again() {
    let world = World::start().await;
    world.site.respond("/", Reply { body: "x".into(), ..Reply::default() }.header("connection", "close"));
    for _ in 0..3 {
        world.path("/").await.unwrap();
    }
    assert_eq!(world.site.connections(), 3);
}

#[tokio::test]
async fn a_connection_that_died_while_idle_is_replaced_once() {
    let world = World::start().await;
    world.site.html("/", "x");
    // The second request finds the pooled connection closed without an answer, the third gets one.
    world.site.script(
        "/dies",
        vec![Script::Raw(Bytes::new()), Script::Reply(Reply { body: "alive".into(), ..Reply::default() })],
    );
    world.path("/").await.unwrap();
    assert_eq!(world.path("/dies").await.unwrap().body, "alive");
    assert_eq!(world.site.connections(), 2);
    // Two dead ones in a row are an error.
    world.site.script("/dead", vec![Script::Raw(Bytes::new())]);
    assert!(world.path("/dead").await.is_err());
}

#[tokio::test]
async fn an_aborted_request_leaves_nothing_behind() {
    let world = World::start().await;
    world.site.script("/interim", vec![Script::EndlessInterim]);
    let request = world.get(world.url("/interim"));
    assert!(tokio::time::timeout(std::time::Duration::from_millis(100), request).await.is_err());
    world.site.html("/", "x");
    assert_eq!(world.path("/").await.unwrap().body, "x");
    assert_eq!(world.site.connections(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_requests_at_once() {
    let world = std::sync::Arc::new(World::start().await);
    world.site.html("/", "x".repeat(50_000));
    let tasks: Vec<_> = (0..64)
        .map(|_| {
            let world = std::sync::Arc::clone(&world);
            tokio::spawn(async move { world.path("/").await.map(|response| response.body.len()) })
        })
        .collect();
    for task in tasks {
        assert_eq!(task.await.unwrap(), Ok(50_000));
    }
}
