//! Only what stands in the cache for a team is shown to it.

use bytes::Bytes;
use cache::CacheSettings;
use fetch::Fetched;
use indexing::{IndexingError, Query, Question};
use tokio::time::Instant;

use crate::world::{DAY, World, address, page};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_of_another_team_are_never_found() {
    let world = World::start().await;
    let server = world.server("index");
    server.keep("team-a", page("/a", "marble quarries")).await;
    server.keep("team-b", page("/b", "marble statues")).await;
    server.indexing.catch_up().await.unwrap();
    assert_eq!(server.pages().await, 2);
    assert_eq!(server.paths("team-a", "marble").await, ["/a"]);
    assert_eq!(server.paths("team-b", "marble").await, ["/b"]);
    assert!(server.paths("team-c", "marble").await.is_empty());
    for query in ["quarries", "\"marble quarries\"", "site:a.test", "intitle:page", "inurl:a"] {
        assert!(!server.paths("team-b", query).await.contains(&"/a".to_owned()), "{query}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shared_cache_is_found_by_all() {
    let world = World::with(CacheSettings { shared: true, ..CacheSettings::default() }).await;
    let server = world.server("index");
    server.keep("team-a", page("/a", "marble")).await;
    server.indexing.catch_up().await.unwrap();
    assert_eq!(server.paths("team-b", "marble").await, ["/a"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_erased_copy_is_gone_at_once_and_then_from_the_index() {
    let world = World::start().await;
    let server = world.server("index");
    let erased = server.keep("team-a", page("/erased", "slate roofs")).await;
    server.keep("team-a", page("/stays", "slate floors")).await;
    server.indexing.catch_up().await.unwrap();
    assert_eq!(server.paths("team-a", "slate").await, ["/erased", "/stays"]);
    store::cache::remove(&mut world.store.conn().await.unwrap(), &erased).await.unwrap();
    assert_eq!(server.paths("team-a", "slate").await, ["/stays"]);
    assert_eq!(server.pages().await, 2, "the index lags behind");
    server.indexing.catch_up().await.unwrap();
    assert_eq!(server.pages().await, 1);
    assert_eq!(server.paths("team-a", "slate").await, ["/stays"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_expired_copy_is_gone_before_it_is_removed() {
    let world = World::with(CacheSettings { retention: 2 * DAY, ..CacheSettings::default() }).await;
    let server = world.server("index");
    server.keep("team-a", page("/old", "granite")).await;
    world.clock.advance(DAY);
    server.keep("team-a", page("/new", "granite")).await;
    server.indexing.catch_up().await.unwrap();
    assert_eq!(server.paths("team-a", "granite").await, ["/new", "/old"]);
    world.clock.advance(DAY);
    assert_eq!(server.paths("team-a", "granite").await, ["/new"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_that_are_gone_hide_none_that_stand() {
    let world = World::start().await;
    let server = world.server("index");
    let mut erased = Vec::new();
    for number in 0..40 {
        erased.push(server.keep("team-a", page(&format!("/gone/{number}"), "basalt basalt columns")).await);
    }
    server.keep("team-a", page("/stands", "columns of the temple with some basalt")).await;
    server.indexing.catch_up().await.unwrap();
    for id in erased {
        store::cache::remove(&mut world.store.conn().await.unwrap(), &id).await.unwrap();
    }
    let question = Question { limit: 1, per_site: None, ..Question::new(Query::parse("basalt columns")) };
    let hits = server.indexing.find("team-a", question, Instant::now() + DAY).await.unwrap();
    assert_eq!(hits.len(), 1);
    assert!(hits[0].url.ends_with("/stands"), "{}", hits[0].url);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_not_loaded_or_has_no_text_is_no_page() {
    let world = World::start().await;
    let server = world.server("index");
    let sent = |path: &str, status, kind: &str, body: &'static str| {
        Fetched::new(address(path), status, Some(kind.to_owned()), Bytes::from_static(body.as_bytes()))
    };
    server.keep("team-a", sent("/missing", 404, "text/html", "<h1>Pumice was here</h1>")).await;
    server.keep("team-a", sent("/data", 200, "application/json", "{\"pumice\": 1}")).await;
    server.keep("team-a", sent("/notes.txt", 200, "text/plain", "pumice floats")).await;
    server.keep("team-a", sent("/notes.md", 200, "text/markdown", "# Pumice\n\nfloats")).await;
    server.keep("team-a", sent("/on-pumice.pdf", 200, "application/pdf", "%PDF-1.4 none")).await;
    server.indexing.catch_up().await.unwrap();
    assert_eq!(server.paths("team-a", "pumice").await, ["/notes.md", "/notes.txt", "/on-pumice.pdf"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_query_needs_an_index_and_time() {
    let world = World::with(CacheSettings { enabled: false, ..CacheSettings::default() }).await;
    let server = world.server("index");
    let question = || Question::new(Query::parse("granite"));
    let found = server.indexing.find("team-a", question(), Instant::now() + DAY).await;
    assert!(matches!(found, Err(IndexingError::Disabled)), "{found:?}");
    let world = World::start().await;
    let server = world.server("index");
    assert!(server.paths("team-a", "granite").await.is_empty());
    assert!(!world.files("index").exists(), "a query alone makes no index");
    server.keep("team-a", page("/a", "granite")).await;
    server.indexing.catch_up().await.unwrap();
    let found = server.indexing.find("team-a", question(), Instant::now()).await;
    assert!(matches!(found, Err(IndexingError::Timeout)) || found.is_ok(), "{found:?}");
}
