//! Versions of pages: what is kept, what they share with cached copies, and what is left behind.

use std::sync::atomic::Ordering;
use std::time::Duration;

use base::{Clock as _, Owner};
use bytes::Bytes;
use cache::{NewState, NewVersion, PageToKeep, Series, SeriesOf, VersionNote, write_pages};
use chrono::TimeDelta;
use fetch::Fetched;
use store::versions;

use crate::{DAY, World, address, page};

const TEAM: &str = "team-a";

impl World {
    async fn with_team() -> Self {
        let world = Self::start(cache::CacheSettings::default()).await;
        let mut conn = world.store.conn().await.unwrap();
        let team = store::teams::Team::new(TEAM, TEAM, world.clock.now());
        store::teams::create(&mut conn, &team).await.unwrap();
        world
    }

    async fn series(&self, path: &str, scrape: &str) -> Option<Series> {
        let (url, owner, until) = (address(path), Owner::of_team(TEAM), self.clock.now() + TimeDelta::minutes(1));
        let of = SeriesOf { url: &url, tag: None, owner: &owner, scrape, until };
        self.cache.series(&of).await.unwrap()
    }

    fn note(&self) -> VersionNote {
        VersionNote { scraped_at: self.clock.now(), extraction: None, crawl: None }
    }

    /// Prepares the next version of a page.
    async fn next(&self, path: &str, page: &Fetched, text: Option<&Bytes>) -> NewVersion {
        let series = self.freed(path).await;
        let state = NewState::Page { page, text: text.cloned() };
        series.next(&state, self.note()).await.unwrap().unwrap()
    }

    async fn write(&self, version: NewVersion) {
        let version = PageToKeep::Version(Box::new(version));
        let mut conn = self.store.conn().await.unwrap();
        let written: Result<(), store::StoreError> =
            conn.tx(async |conn: &mut store::Conn| write_pages(conn, vec![&version]).await).await;
        written.unwrap();
    }

    /// Waits until a dropped series is free again, and takes it.
    async fn freed(&self, path: &str) -> Series {
        loop {
            // A holder of its own, so that a release that is under way does not end this hold.
            let scrape = base::new_id().to_string();
            if let Some(series) = self.series(path, &scrape).await {
                return series;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// Returns a body that does not compress below the limit for rows.
fn large(seed: u32) -> Bytes {
    let mut state = seed;
    let byte = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    (0..200_000).map(byte).collect::<Vec<u8>>().into()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_version_comes_back_whatever_its_size() {
    let world = World::with_team().await;
    for (body, text) in
        [(Bytes::from("<p>small"), None), (large(1), None), (large(2), Some(large(3))), (Bytes::new(), None)]
    {
        let sent = page("/a", body.clone());
        let version = world.next("/a", &sent, text.as_ref()).await;
        world.write(version).await;
        let series = world.freed("/a").await;
        let found = series.page().await.unwrap().unwrap();
        assert_eq!((found.body, found.status, found.content_type), (body, 200, sent.content_type.clone()));
        assert_eq!(series.text().await.unwrap(), text);
        assert!(series.has_bytes_of(&sent).await && series.has_terms_of(&sent));
        assert!(!series.has_bytes_of(&page("/a", "<p>other")).await);
        let moved = Fetched { url: address("/b"), ..sent };
        assert!(series.has_bytes_of(&moved).await && !series.has_terms_of(&moved));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_are_shared_with_cached_copies_and_go_with_their_last_user() {
    let world = World::with_team().await;
    let (one, other) = (page("/a", large(1)), page("/a", large(2)));
    world.keep(TEAM, &one).await.unwrap();
    world.write(world.next("/a", &one, None).await).await;
    assert_eq!(world.bodies().len(), 1);
    world.clock.advance(31 * DAY);
    world.cache.sweep().await.unwrap();
    assert_eq!(world.bodies().len(), 1, "the version still uses it");
    world.write(world.next("/a", &other, None).await).await;
    world.cache.sweep().await.unwrap();
    assert_eq!(world.bodies().len(), 1);
    let series = world.freed("/a").await;
    assert_eq!(series.page().await.unwrap().unwrap().body, other.body);
    let removed = NewState::Removed { page: &other };
    let version = series.next(&removed, world.note()).await.unwrap().unwrap();
    world.write(version).await;
    world.cache.sweep().await.unwrap();
    assert!(world.bodies().is_empty());
    assert!(world.freed("/a").await.page().await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_version_that_is_not_written_leaves_nothing_behind() {
    let world = World::with_team().await;
    let version = world.next("/a", &page("/a", large(1)), None).await;
    assert_eq!(world.bodies().len(), 1);
    assert!(world.series("/a", "another scrape").await.is_none(), "it is still held");
    drop(version);
    let series = world.freed("/a").await;
    assert!(series.version.is_none());
    world.cache.sweep().await.unwrap();
    assert!(world.bodies().is_empty());
    // A process that dies releases nothing.
    std::mem::forget(world.next("/b", &page("/b", large(1)), None).await);
    world.clock.advance(DAY);
    let mut conn = world.store.conn().await.unwrap();
    assert!(versions::abandoned(&mut conn, world.clock.now(), 9).await.unwrap() > 0);
    world.cache.sweep().await.unwrap();
    assert!(world.bodies().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_new_is_kept_on_a_full_disk() {
    let world = World::with_team().await;
    let first = page("/a", "<p>first");
    world.write(world.next("/a", &first, None).await).await;
    world.has_room.store(false, Ordering::Relaxed);
    let series = world.freed("/a").await;
    let other = page("/a", "<p>other");
    let state = NewState::Page { page: &other, text: None };
    assert!(series.next(&state, world.note()).await.unwrap().is_none());
    let series = world.freed("/a").await;
    assert_eq!(series.page().await.unwrap().unwrap().body, first.body);
    let state = NewState::Page { page: &first, text: None };
    let same = series.next(&state, world.note()).await.unwrap();
    world.write(same.unwrap()).await;
}
