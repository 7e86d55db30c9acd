//! The follower: what it takes, and what it survives.

use std::time::Duration;

use base::new_id;
use fetch::Fetched;
use indexing::{ImportedDocument, IndexError, IndexingError, IndexingSettings};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::world::{Server, World, damage, html, page};

/// Waits until a team finds this many pages.
async fn finds(server: &Server, team: &str, query: &str, count: usize) {
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        let paths = server.paths(team, query).await;
        if paths.len() == count {
            return;
        }
        assert!(Instant::now() < until, "{paths:?} are found, not {count}");
        sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_follows_by_itself_and_a_newer_copy_replaces_the_older() {
    let world = World::start().await;
    let server = world.server("index");
    let stop = CancellationToken::new();
    let task = tokio::spawn(server.indexing.clone().follow(stop.clone()));
    server.keep("team-a", page("/a", "limestone caves")).await;
    finds(&server, "team-a", "limestone", 1).await;
    server.keep("team-a", page("/a", "limestone cliffs")).await;
    server.keep("team-a", page("/b", "limestone cliffs")).await;
    finds(&server, "team-a", "cliffs", 2).await;
    assert!(server.paths("team-a", "caves").await.is_empty());
    assert_eq!(server.pages().await, 2);
    stop.cancel();
    task.await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_follow_one_database() {
    let world = World::start().await;
    let (first, second) = (world.server("first"), world.server("second"));
    let stop = CancellationToken::new();
    let tasks = [&first, &second].map(|server| tokio::spawn(server.indexing.clone().follow(stop.clone())));
    first.keep("team-a", page("/a", "shale gas")).await;
    second.keep("team-a", page("/b", "shale oil")).await;
    finds(&first, "team-a", "shale", 2).await;
    finds(&second, "team-a", "shale", 2).await;
    stop.cancel();
    for task in tasks {
        task.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_that_are_committed_late_are_not_missed() {
    let world = World::start().await;
    let server = world.server("index");
    let stop = CancellationToken::new();
    let task = tokio::spawn(server.indexing.clone().follow(stop.clone()));
    // Made before the next one, and committed after it was read.
    let late = new_id().to_string();
    server.keep("team-a", page("/first", "chalk")).await;
    finds(&server, "team-a", "chalk", 1).await;
    world.add_with_id(&late, "team-a", "/late", &html("/late", "chalk")).await;
    finds(&server, "team-a", "chalk", 2).await;
    assert_eq!(server.pages().await, 2);
    stop.cancel();
    task.await.unwrap();
    // It is looked for after a restart too.
    let earlier = Uuid::from_u128(Uuid::parse_str(&late).unwrap().as_u128() - (1000 << 80)).to_string();
    world.add_with_id(&earlier, "team-a", "/earlier", &html("/earlier", "chalk")).await;
    drop(server);
    let server = world.server("index");
    server.indexing.catch_up().await.unwrap();
    assert_eq!(server.paths("team-a", "chalk").await, ["/earlier", "/first", "/late"]);
    assert_eq!(server.pages().await, 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_index_that_is_lost_or_damaged_is_built_again() {
    let world = World::start().await;
    let server = world.server("index");
    server.keep_all("team-a", (0..30).map(|number| page(&format!("/{number}"), "sandstone")).collect()).await;
    server.indexing.catch_up().await.unwrap();
    assert_eq!(server.paths("team-a", "sandstone").await.len(), 30);
    drop(server);
    std::fs::remove_dir_all(world.files("index")).unwrap();
    let server = world.server("index");
    server.indexing.catch_up().await.unwrap();
    assert_eq!(server.paths("team-a", "sandstone").await.len(), 30);
    drop(server);
    damage(&world.files("index"));
    let server = world.server("index");
    // A query comes before the follower.
    assert!(server.paths("team-a", "sandstone").await.is_empty());
    server.indexing.catch_up().await.unwrap();
    assert_eq!(server.paths("team-a", "sandstone").await.len(), 30);
    assert_eq!(server.indexing.rebuild().await.unwrap(), 30);
    assert_eq!(server.paths("team-a", "sandstone").await.len(), 30);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follower_that_is_killed_reads_again_and_none_twice() {
    let world = World::start().await;
    let server = world.server("index");
    let pages: Vec<Fetched> = (0..1200).map(|number| page(&format!("/{number}"), "gneiss")).collect();
    server.keep_all("team-a", pages).await;
    for ms in [300, 600, 700, 800, 900] {
        let server = world.server("index");
        let task = tokio::spawn(server.indexing.clone().follow(CancellationToken::new()));
        sleep(Duration::from_millis(ms)).await;
        task.abort();
        assert!(task.await.is_err());
        // The thread of the writer ends with the work that it has begun; that of a killed process ends at once.
        sleep(Duration::from_secs(1)).await;
    }
    let server = world.server("index");
    let until = Instant::now() + Duration::from_secs(60);
    while let Err(error) = server.indexing.catch_up().await {
        assert!(matches!(error, IndexingError::Index(IndexError::Busy)) && Instant::now() < until, "{error:?}");
        sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(server.pages().await, 1200);
    assert_eq!(server.indexing.waiting().await.unwrap(), 0);
    for number in [0, 1, 599, 600, 1199] {
        let found = server.paths("team-a", &format!("inurl:{number} gneiss")).await;
        assert!(found.iter().filter(|path| **path == format!("/{number}")).count() == 1, "{number}: {found:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_bodies_are_read_from_the_blob_store() {
    let world = World::start().await;
    let server = world.server("index");
    let mut large = html("/large", "obsidian");
    while large.len() < 900_000 {
        large += &format!("<p>{} {}", new_id(), new_id());
    }
    server.keep("team-a", Fetched::new(crate::world::address("/large"), 200, None, large.into())).await;
    server.indexing.catch_up().await.unwrap();
    assert_eq!(server.paths("team-a", "obsidian").await, ["/large"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn imported_documents_are_pages_of_their_team() {
    let world = World::start().await;
    let server = world.server("index");
    let lines = [
        r##"{"url": "https://a.test/text", "title": "On flint", "text": "Flint makes sparks.\nIt is hard.", "language": "en"}"##,
        r##"{"url": "https://a.test/markdown", "title": "More flint", "markdown": "# Other\n\nFlint again.", "published": "2024-05-06"}"##,
        r#"{"url": "https://a.test/html", "html": "<title>Flint in HTML</title><main><p>Flint once more."}"#,
    ];
    let pages = lines.map(|line| serde_json::from_str::<ImportedDocument>(line).unwrap().into_page().unwrap());
    assert_eq!(server.indexing.import("team-a", pages.into()).await.unwrap(), 3);
    server.indexing.catch_up().await.unwrap();
    let mut hits = server.find("team-a", "flint").await;
    hits.sort_by(|one, other| one.url.cmp(&other.url));
    let titles: Vec<&str> = hits.iter().map(|hit| hit.title.as_str()).collect();
    assert_eq!(titles, ["Flint in HTML", "More flint", "On flint"]);
    assert_eq!(hits[1].published, Some(1_714_953_600_000));
    assert!(hits[2].text.contains("Flint makes sparks.\nIt is hard."), "{}", hits[2].text);
    assert!(server.find("team-b", "flint").await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_index_over_its_size_limit_loses_its_oldest_pages() {
    let world = World::start().await;
    let server =
        world.server_with("index", IndexingSettings { max_bytes: Some(100_000), ..IndexingSettings::default() });
    server.keep_all("team-a", (0..700).map(|number| page(&format!("/{number}"), "quartz")).collect()).await;
    server.indexing.catch_up().await.unwrap();
    let left = server.pages().await;
    assert!((200..650).contains(&left), "{left} pages");
    assert!(server.paths("team-a", "inurl:0 quartz").await.is_empty());
    assert_eq!(server.paths("team-a", "inurl:699 quartz").await, ["/699"]);
    // They are left out of the index alone.
    let copies = server.cache.after("", 1000).await.unwrap();
    assert_eq!(copies.len(), 700);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_left_the_cache_leaves_the_index_unasked() {
    let world = World::start().await;
    let server = world.server("index");
    let erased = server.keep("team-a", page("/erased", "tuff")).await;
    server.keep("team-b", page("/stays", "tuff")).await;
    server.indexing.catch_up().await.unwrap();
    store::cache::remove(&mut world.store.conn().await.unwrap(), &erased).await.unwrap();
    server.indexing.catch_up().await.unwrap();
    assert_eq!(server.pages().await, 1);
    assert_eq!(server.paths("team-b", "tuff").await, ["/stays"]);
}
