//! The cache alone, on a real database and in a folder of blobs.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has to fail")]

mod versions;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base::{Clock as _, Owner};
use blobs::Blobs;
use bytes::Bytes;
use cache::{
    Cache, CacheSettings, CacheSlot, Look, OnMiss, Page, PageCopy, Parts, Search, Situation, Swept, policy, write_pages,
};
use fetch::{BodyKind, Fetched, Rendered, Validators};
use store::Store;
use tempfile::TempDir;
use testkit::ManualClock;
use url::Url;
use wire::{ProxyUsed, ScrapeOptions};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

struct World {
    cache: Cache,
    store: Store,
    clock: ManualClock,
    has_room: Arc<AtomicBool>,
    folder: TempDir,
}

impl World {
    async fn start(settings: CacheSettings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/quarry.db", folder.path().display());
        let store = Store::open(&url, store::Options::default()).await.unwrap();
        store.migrate().await.unwrap();
        let (clock, has_room) = (ManualClock::default(), Arc::new(AtomicBool::new(true)));
        let room = Arc::clone(&has_room);
        let cache = Cache::new(Parts {
            store: store.clone(),
            blobs: Blobs::open(&format!("file://{}/blobs", folder.path().display())).unwrap(),
            client: net::Client::new(net::Config::default()).unwrap(),
            clock: Arc::new(clock.clone()),
            settings,
            has_room: Box::new(move || room.load(Ordering::Relaxed)),
        });
        Self { cache, store, clock, has_room, folder }
    }

    fn slot(&self, team: &str, path: &str) -> CacheSlot {
        let (url, owner) = (address(path), Owner::new(team, "a scrape"));
        let options = &ScrapeOptions::default();
        self.cache.slot(&Page { url: &url, options, owner: &owner, takes_markdown: false })
    }

    /// Caches a page, as the end of its scrape does, and returns the id of the copy.
    async fn keep(&self, team: &str, page: &Fetched) -> Option<String> {
        let copy = self.cache.keep(&self.slot(team, page.url.path()), page, false).await?;
        let id = copy.id().unwrap().to_owned();
        if let Some(copy) = copy.into_new() {
            write_pages(&mut self.store.conn().await.unwrap(), vec![&copy]).await.unwrap();
        }
        Some(id)
    }

    /// Looks up a page with the default options.
    async fn find(&self, team: &str, path: &str) -> Look {
        self.find_rendered(team, path, None).await
    }

    async fn find_rendered(&self, team: &str, path: &str, rendered: Option<bool>) -> Look {
        let CacheSettings { enabled, retention, .. } = self.cache.settings();
        let situation = Situation { enabled, retention, zero_data_retention: false, credentials: false };
        let policy = policy(&ScrapeOptions::default(), situation, self.clock.now());
        assert_eq!((policy.on_miss, policy.store), (OnMiss::Fetch, true));
        let search = Search { window: policy.window.unwrap(), revalidates: policy.revalidates, rendered };
        self.cache.find(&self.slot(team, path), search).await.unwrap()
    }

    async fn by_id(&self, team: &str, id: &str) -> Option<Bytes> {
        let copy = self.cache.by_id(id, &Owner::of_team(team)).await.unwrap();
        copy.map(|copy| copy.fetched.body)
    }

    /// Returns all files in the blob folder.
    fn bodies(&self) -> Vec<PathBuf> {
        testkit::files_below(&self.folder.path().join("blobs")).unwrap()
    }
}

fn address(path: &str) -> Url {
    Url::parse("https://quarry.test").unwrap().join(path).unwrap()
}

fn page(path: &str, body: impl Into<Bytes>) -> Fetched {
    Fetched {
        url: address(path),
        status: 200,
        kind: BodyKind::Html,
        content_type: Some("text/html".to_owned()),
        body: body.into(),
        charset: None,
        proxy: ProxyUsed::Basic,
        retry_after: None,
        validators: Validators { etag: Some("\"1\"".to_owned()), last_modified: None },
        not_modified: false,
        warnings: Vec::new(),
        room: net::Room::default(),
        rendered: None,
    }
}

/// Returns a body too large for a database row even when compressed.
fn large(text: &str) -> String {
    let mut state = 1_u64;
    let mut letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 "[(state >> 33) as usize % 63])
    };
    format!("<p>{text}</p><p>{}</p>", (0..120_000).map(|_| letter()).collect::<String>())
}

#[tokio::test]
async fn a_page_is_found_until_it_is_too_old() {
    let world = World::start(CacheSettings::default()).await;
    assert!(world.find("red", "/").await.copy.is_none());
    let began = world.clock.now();
    let id = world.keep("red", &page("/", "<p>kept</p>")).await.unwrap();
    world.clock.advance(DAY);
    let copy = world.find("red", "/").await.copy.unwrap();
    assert_eq!((copy.id.as_str(), copy.fetched_at), (id.as_str(), began));
    assert_eq!((copy.fetched.body.as_ref(), copy.fetched.kind), (&b"<p>kept</p>"[..], BodyKind::Html));
    assert!(world.find("red", "/other").await.copy.is_none());

    world.clock.advance(2 * DAY);
    let look = world.find("red", "/").await;
    assert!(look.copy.is_none(), "older than two days");
    let outdated = look.outdated.unwrap();
    assert_eq!(cache::validators(&outdated).etag.as_deref(), Some("\"1\""));
    assert_eq!(cache::proxy(&outdated), ProxyUsed::Basic);
    let page = world.cache.revalidated(&world.slot("red", "/"), outdated).await.unwrap();
    assert_eq!(page.body.as_ref(), b"<p>kept</p>");
}

#[tokio::test]
async fn a_copy_belongs_to_its_team() {
    let world = World::start(CacheSettings::default()).await;
    let id = world.keep("red", &page("/", "<p>red</p>")).await.unwrap();
    assert_eq!(world.by_id("red", &id).await.as_deref(), Some(&b"<p>red</p>"[..]));
    assert_eq!(world.by_id("blue", &id).await, None);
    assert_eq!(world.by_id("red", "another").await, None);
    assert!(world.find("blue", "/").await.copy.is_none());

    let world = World::start(CacheSettings { shared: true, ..CacheSettings::default() }).await;
    let id = world.keep("red", &page("/", "<p>all</p>")).await.unwrap();
    assert_eq!(world.by_id("blue", &id).await.as_deref(), Some(&b"<p>all</p>"[..]));
    assert_eq!(world.find("blue", "/").await.copy.unwrap().id, id);
}

#[tokio::test]
async fn a_page_after_its_scripts_serves_whoever_wants_it() {
    let world = World::start(CacheSettings::default()).await;
    let dom = Some(Bytes::from("<p>after</p>"));
    let rendered = Some(Box::new(Rendered { dom, ..Rendered::default() }));
    world.keep("red", &Fetched { rendered, ..page("/", "<script></script>") }).await.unwrap();
    for (rendered, expect) in [(None, true), (Some(true), true), (Some(false), false)] {
        let copy = world.find_rendered("red", "/", rendered).await.copy;
        assert_eq!(copy.is_some(), expect, "{rendered:?}");
        assert!(copy.is_none_or(|copy| copy.fetched.dom().unwrap() == "<p>after</p>"));
    }
}

#[tokio::test]
async fn a_sweep_removes_what_has_expired_with_its_bodies() {
    let world = World::start(CacheSettings::default()).await;
    let body = large("x");
    let small = world.keep("red", &page("/small", "<p>x</p>")).await.unwrap();
    let kept = world.cache.keep(&world.slot("red", "/large"), &page("/large", body.clone()), false).await;
    assert!(matches!(kept, Some(PageCopy::Kept(_))), "a large body is stored at once");
    assert_eq!(world.bodies().len(), 1);
    assert_eq!(world.find("red", "/large").await.copy.unwrap().fetched.body, body);
    assert_eq!(world.cache.sweep().await.unwrap(), Swept::default());
    world.clock.advance(31 * DAY);
    assert_eq!(world.cache.sweep().await.unwrap(), Swept { rows: 2, bodies: 1 });
    assert!(world.bodies().is_empty());
    assert_eq!(world.by_id("red", &small).await, None);
}

#[tokio::test]
async fn a_full_cache_keeps_nothing_until_it_is_swept() {
    let world = World::start(CacheSettings { max_bytes: Some(1000), ..CacheSettings::default() }).await;
    let body = |letter: &str| letter.repeat(500);
    world.keep("red", &page("/a", body("a"))).await.unwrap();
    world.clock.advance(Duration::from_secs(1));
    let newer = world.keep("red", &page("/b", body("b"))).await.unwrap();
    assert_eq!(world.keep("red", &page("/c", body("c"))).await, None, "more than a tenth over the limit");
    world.keep("red", &page("/d", "d".repeat(99))).await.unwrap();
    assert_eq!(world.cache.sweep().await.unwrap(), Swept { rows: 1, bodies: 0 });
    assert!(world.find("red", "/a").await.copy.is_none());
    assert_eq!(world.find("red", "/b").await.copy.unwrap().id, newer);
    world.keep("red", &page("/c", "c".repeat(400))).await.unwrap();
}

#[tokio::test]
async fn nothing_is_kept_on_a_full_disk_or_of_an_answer_that_does_not_last() {
    let world = World::start(CacheSettings::default()).await;
    assert_eq!(world.keep("red", &Fetched { status: 503, ..page("/", "<p>busy</p>") }).await, None);
    world.has_room.store(false, Ordering::Relaxed);
    assert_eq!(world.keep("red", &page("/", "<p>x</p>")).await, None);
    world.has_room.store(true, Ordering::Relaxed);
    world.keep("red", &page("/", "<p>x</p>")).await.unwrap();
}
