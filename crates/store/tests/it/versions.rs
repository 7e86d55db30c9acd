//! Versions of pages: series and their holds, and bodies that versions and cached copies share.

use store::cache::{self, BodyPlace, CacheEntry};
use store::versions::{self, Claim, Claimed, CrawlOf, Extraction, FromStart, Series, StoredBody, Version};
use store::{Conn, Store, StoreError, teams};

use crate::{at, id, suite};

suite!(
    a_version_comes_back_as_it_was,
    teams_addresses_and_tags_have_series_of_their_own,
    one_scrape_holds_a_series_at_a_time,
    one_of_many_begins_a_series,
    a_lost_hold_writes_nothing,
    small_bodies_have_two_kinds_of_users,
    large_bodies_have_two_kinds_of_users,
    a_body_and_its_text_may_be_the_same,
    a_body_that_is_stored_has_a_user_before_its_version,
    what_a_dead_scrape_has_stored_goes,
    unused_series_go_with_their_bodies,
    series_that_are_used_stay,
    a_body_that_is_let_go_and_taken_at_the_same_moment_stays,
    a_crawl_is_told_what_earlier_ones_found,
);

const TEAM: &str = "team-a";

async fn conn(store: &Store) -> Conn {
    let mut conn = store.conn().await.unwrap();
    for team in [TEAM, "team-b"] {
        if teams::find(&mut conn, team).await.unwrap().is_none() {
            teams::create(&mut conn, &teams::Team::new(team, team, at(0))).await.unwrap();
        }
    }
    conn
}

fn series(key: &str) -> Series<'_> {
    Series { team: TEAM, key, tag: "" }
}

/// Claims a series for ten minutes.
async fn claim(conn: &mut Conn, series: Series<'_>, holder: &str, now: i64) -> Option<Claimed> {
    let (new, url) = (id(), format!("https://example.com/{}", series.key));
    let claim = Claim { series, url: &url, id: &new, holder, now: at(now), until: at(now + 10) };
    versions::claim(conn, &claim).await.unwrap()
}

fn body(digest: &str, in_row: bool) -> StoredBody {
    StoredBody { place: BodyPlace { digest: digest.to_owned(), in_row }, bytes: 7 }
}

fn version(body: Option<StoredBody>, minute: i64) -> Version {
    Version {
        scraped_at: at(minute),
        status_code: 200,
        final_url: "https://example.com/final".to_owned(),
        content_type: Some("text/html".to_owned()),
        charset: Some("utf-8".to_owned()),
        rendered: true,
        body,
        text: None,
        extraction: None,
        crawl: None,
    }
}

/// Writes a version in a transaction of its own, with the bodies that are in the database.
async fn write(conn: &mut Conn, claimed: &Claimed, holder: &str, version: &Version) -> bool {
    let written: Result<bool, StoreError> = conn
        .tx(async |conn: &mut Conn| {
            let Some(dropped) = versions::write(conn, &claimed.id, holder, version).await? else { return Ok(false) };
            for body in version.body.iter().chain(&version.text).filter(|body| body.place.in_row) {
                cache::add_body(conn, &body.place.digest, b"packed").await?;
            }
            cache::let_go(conn, dropped).await?;
            Ok(true)
        })
        .await;
    written.unwrap()
}

/// Scrapes a page of the series to a version.
async fn scrape(conn: &mut Conn, key: &str, version: &Version, now: i64) {
    let claimed = claim(conn, series(key), "scrape", now).await.unwrap();
    for body in version.body.iter().chain(&version.text).filter(|body| !body.place.in_row) {
        assert!(versions::expect_body(conn, &claimed.id, "scrape", &body.place.digest).await.unwrap());
        assert!(cache::rely_on(conn, &body.place.digest).await.unwrap());
    }
    assert!(write(conn, &claimed, "scrape", version).await);
}

async fn latest(conn: &mut Conn, key: &str) -> Option<Version> {
    let claimed = claim(conn, series(key), "look", 5000).await.unwrap();
    versions::release(conn, &claimed.id, "look").await.unwrap();
    claimed.version
}

/// Deletes the bodies that are due in the blob store, and returns them.
async fn swept(conn: &mut Conn) -> Vec<String> {
    let bodies = cache::delete_next(conn, 10).await.unwrap();
    cache::deleted(conn, &bodies).await.unwrap();
    bodies
}

async fn has(conn: &mut Conn, digest: &str) -> bool {
    cache::has_body(conn, digest).await.unwrap()
}

fn entry(key: &str, body: &str, in_row: bool) -> CacheEntry {
    CacheEntry {
        id: id(),
        scope: TEAM.to_owned(),
        key: key.to_owned(),
        variant: "v".to_owned(),
        final_url: "https://example.com/".to_owned(),
        status_code: 200,
        content_type: None,
        charset: None,
        body_digest: body.to_owned(),
        body_bytes: 7,
        proxy: "basic".to_owned(),
        fetched_at: at(0),
        expires_at: at(100),
        in_row,
        rendered: false,
        etag: None,
        last_modified: None,
    }
}

async fn a_version_comes_back_as_it_was(store: Store) {
    let mut conn = conn(&store).await;
    let first = claim(&mut conn, series("a"), "one", 0).await.unwrap();
    assert_eq!(first.version, None);
    let extraction = Some(Extraction { key: "k".to_owned(), value: "{\"price\":12}".to_owned() });
    let crawl = Some(CrawlOf { start: "s".to_owned(), run: "r".to_owned() });
    let full = Version { text: Some(body("t", true)), extraction, crawl, ..version(Some(body("b", true)), 1) };
    assert!(write(&mut conn, &first, "one", &full).await);
    let again = claim(&mut conn, series("a"), "two", 2).await.unwrap();
    assert_eq!((again.id.as_str(), again.version.as_ref()), (first.id.as_str(), Some(&full)));
    let removed = Version { crawl: None, ..version(None, 3) };
    assert!(write(&mut conn, &again, "two", &removed).await);
    let kept = latest(&mut conn, "a").await.unwrap();
    assert_eq!(kept, Version { crawl: full.crawl, ..removed }, "the series keeps its crawl");
    assert!(!has(&mut conn, "b").await && !has(&mut conn, "t").await);
}

async fn teams_addresses_and_tags_have_series_of_their_own(store: Store) {
    let mut conn = conn(&store).await;
    scrape(&mut conn, "a", &version(Some(body("b", true)), 1), 1).await;
    for other in [series("b"), Series { tag: "t", ..series("a") }, Series { team: "team-b", ..series("a") }] {
        let claimed = claim(&mut conn, other, "other", 2).await.unwrap();
        assert_eq!(claimed.version, None, "{other:?}");
    }
    assert!(latest(&mut conn, "a").await.is_some());
}

async fn one_scrape_holds_a_series_at_a_time(store: Store) {
    let mut conn = conn(&store).await;
    for round in 0..2 {
        let now = round * 100;
        let held = claim(&mut conn, series("a"), "one", now).await.unwrap();
        assert_eq!(claim(&mut conn, series("a"), "two", now + 9).await, None);
        assert!(claim(&mut conn, series("a"), "one", now + 9).await.is_some(), "its retry");
        versions::release(&mut conn, &held.id, "two").await.unwrap();
        assert_eq!(claim(&mut conn, series("a"), "two", now + 9).await, None, "not its to release");
        versions::release(&mut conn, &held.id, "one").await.unwrap();
        let held = claim(&mut conn, series("a"), "two", now + 9).await.unwrap();
        let after = claim(&mut conn, series("a"), "three", now + 19).await.unwrap();
        assert_eq!(after.id, held.id, "the hold has expired");
        assert!(write(&mut conn, &after, "three", &version(Some(body("b", true)), now)).await);
    }
}

async fn one_of_many_begins_a_series(store: Store) {
    conn(&store).await;
    let all = (0..8).map(|number| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut conn = store.conn().await.unwrap();
            claim(&mut conn, series("a"), &format!("scrape {number}"), 0).await.is_some()
        })
    });
    let mut held = 0;
    for one in all.collect::<Vec<_>>() {
        held += usize::from(one.await.unwrap());
    }
    assert_eq!(held, 1);
}

async fn a_lost_hold_writes_nothing(store: Store) {
    let mut conn = conn(&store).await;
    let slow = claim(&mut conn, series("a"), "slow", 0).await.unwrap();
    let other = claim(&mut conn, series("a"), "other", 10).await.unwrap();
    assert!(!versions::expect_body(&mut conn, &slow.id, "slow", "late").await.unwrap());
    assert!(write(&mut conn, &other, "other", &version(Some(body("b", true)), 10)).await);
    assert!(!write(&mut conn, &slow, "slow", &version(Some(body("late", true)), 11)).await);
    assert_eq!(latest(&mut conn, "a").await.unwrap().scraped_at, at(10));
    assert!(!has(&mut conn, "late").await);
}

/// In every order, a body stays as long as a version or a copy uses it.
async fn small_bodies_have_two_kinds_of_users(store: Store) {
    let mut conn = conn(&store).await;
    for (round, version_goes_first) in [(0, true), (1, false), (2, true), (3, false)] {
        let (key, digest) = (format!("key {round}"), format!("body {round}"));
        let with = version(Some(body(&digest, true)), 1);
        let copy = entry(&key, &digest, true);
        if round < 2 {
            scrape(&mut conn, &key, &with, 1).await;
            cache::insert_with_body(&mut conn, &copy, b"packed").await.unwrap();
        } else {
            cache::insert_with_body(&mut conn, &copy, b"packed").await.unwrap();
            scrape(&mut conn, &key, &with, 1).await;
        }
        let other = version(Some(body(&format!("other {round}"), true)), 2);
        if version_goes_first {
            scrape(&mut conn, &key, &other, 2).await;
            assert!(has(&mut conn, &digest).await, "{round}");
            assert_eq!(cache::bytes(&mut conn).await.unwrap(), 7);
            assert_eq!(cache::expired(&mut conn, at(200), 9).await.unwrap().bytes, 7);
        } else {
            assert_eq!(cache::expired(&mut conn, at(200), 9).await.unwrap().bytes, 7, "no copy counts it any more");
            assert!(has(&mut conn, &digest).await, "{round}");
            scrape(&mut conn, &key, &other, 2).await;
        }
        assert!(!has(&mut conn, &digest).await, "{round}");
    }
    assert_eq!(swept(&mut conn).await, Vec::<String>::new());
}

async fn large_bodies_have_two_kinds_of_users(store: Store) {
    let mut conn = conn(&store).await;
    for (round, version_goes_first) in [(0, true), (1, false)] {
        let (key, digest) = (format!("key {round}"), format!("body {round}"));
        scrape(&mut conn, &key, &version(Some(body(&digest, false)), 1), 1).await;
        cache::insert(&mut conn, &entry(&key, &digest, false)).await.unwrap();
        assert!(cache::rely_on(&mut conn, &digest).await.unwrap());
        let removed = version(None, 2);
        if version_goes_first {
            scrape(&mut conn, &key, &removed, 2).await;
            assert_eq!(swept(&mut conn).await, Vec::<String>::new());
            cache::expired(&mut conn, at(200), 9).await.unwrap();
        } else {
            cache::expired(&mut conn, at(200), 9).await.unwrap();
            assert_eq!(swept(&mut conn).await, Vec::<String>::new());
            scrape(&mut conn, &key, &removed, 2).await;
        }
        assert_eq!(swept(&mut conn).await, [digest]);
    }
}

async fn a_body_and_its_text_may_be_the_same(store: Store) {
    let mut conn = conn(&store).await;
    let both = Version { text: Some(body("b", true)), ..version(Some(body("b", true)), 1) };
    scrape(&mut conn, "a", &both, 1).await;
    scrape(&mut conn, "a", &version(Some(body("b", true)), 2), 2).await;
    assert!(has(&mut conn, "b").await);
    scrape(&mut conn, "a", &version(None, 3), 3).await;
    assert!(!has(&mut conn, "b").await);
}

async fn a_body_that_is_stored_has_a_user_before_its_version(store: Store) {
    let mut conn = conn(&store).await;
    scrape(&mut conn, "old", &version(Some(body("b", false)), 0), 0).await;
    let held = claim(&mut conn, series("a"), "scrape", 1).await.unwrap();
    assert!(versions::expect_body(&mut conn, &held.id, "scrape", "b").await.unwrap());
    scrape(&mut conn, "old", &version(None, 1), 1).await;
    assert!(cache::rely_on(&mut conn, "b").await.unwrap());
    assert_eq!(swept(&mut conn).await, Vec::<String>::new());
    assert!(write(&mut conn, &held, "scrape", &version(Some(body("b", false)), 2)).await);
    assert_eq!(swept(&mut conn).await, Vec::<String>::new());
    let held = claim(&mut conn, series("a"), "scrape", 3).await.unwrap();
    assert!(versions::expect_body(&mut conn, &held.id, "scrape", "c").await.unwrap());
    versions::release(&mut conn, &held.id, "scrape").await.unwrap();
    assert_eq!(swept(&mut conn).await, ["c"], "its scrape has failed");
    // A body that is being deleted cannot be relied on.
    scrape(&mut conn, "a", &version(None, 4), 4).await;
    assert_eq!(cache::delete_next(&mut conn, 9).await.unwrap(), ["b"]);
    let held = claim(&mut conn, series("a"), "scrape", 5).await.unwrap();
    assert!(versions::expect_body(&mut conn, &held.id, "scrape", "b").await.unwrap());
    assert!(!cache::rely_on(&mut conn, "b").await.unwrap());
    versions::withdraw_body(&mut conn, &held.id, "b").await.unwrap();
    cache::deleted(&mut conn, &["b".to_owned()]).await.unwrap();
    versions::release(&mut conn, &held.id, "scrape").await.unwrap();
    assert_eq!(swept(&mut conn).await, Vec::<String>::new());
}

async fn what_a_dead_scrape_has_stored_goes(store: Store) {
    let mut conn = conn(&store).await;
    scrape(&mut conn, "old", &version(Some(body("kept", false)), 0), 0).await;
    for key in ["new", "old"] {
        let held = claim(&mut conn, series(key), "dead", 1).await.unwrap();
        assert!(versions::expect_body(&mut conn, &held.id, "dead", key).await.unwrap());
    }
    claim(&mut conn, series("empty"), "dead", 1).await.unwrap();
    assert_eq!(versions::abandoned(&mut conn, at(11), 9).await.unwrap(), 0, "not expired before");
    assert_eq!(versions::abandoned(&mut conn, at(12), 9).await.unwrap(), 3);
    assert_eq!(versions::abandoned(&mut conn, at(12), 9).await.unwrap(), 0);
    assert_eq!(swept(&mut conn).await, ["new", "old"]);
    assert_eq!(latest(&mut conn, "old").await.unwrap().body, Some(body("kept", false)));
    assert_eq!(latest(&mut conn, "new").await, None);
    // A scrape that takes an expired hold over lets go of what the dead one has stored.
    let held = claim(&mut conn, series("old"), "dead", 6000).await.unwrap();
    assert!(versions::expect_body(&mut conn, &held.id, "dead", "lost").await.unwrap());
    scrape(&mut conn, "old", &version(Some(body("next", false)), 6010), 6010).await;
    assert_eq!(swept(&mut conn).await, ["kept", "lost"]);
}

async fn unused_series_go_with_their_bodies(store: Store) {
    let mut conn = conn(&store).await;
    for (key, digest, in_row, minute) in [("a", "one", true, 1), ("b", "two", false, 2), ("c", "one", true, 30)] {
        scrape(&mut conn, key, &version(Some(body(digest, in_row)), minute), minute).await;
    }
    // The time of the last use is known to the hour.
    let unused_at = |minute| at(minute) + versions::USE_PRECISION;
    assert_eq!(versions::forget(&mut conn, unused_at(1), 9).await.unwrap(), 0);
    assert_eq!(versions::forget(&mut conn, unused_at(20), 1).await.unwrap(), 1);
    assert!(has(&mut conn, "one").await, "another series uses it");
    assert_eq!(versions::forget(&mut conn, unused_at(20), 9).await.unwrap(), 1);
    assert_eq!(swept(&mut conn).await, ["two"]);
    assert_eq!(versions::forget(&mut conn, unused_at(40), 9).await.unwrap(), 1);
    assert!(!has(&mut conn, "one").await);
    assert_eq!(claim(&mut conn, series("c"), "scrape", 50).await.unwrap().version, None);
}

async fn series_that_are_used_stay(store: Store) {
    let mut conn = conn(&store).await;
    for minute in [0, 59, 61, 100] {
        scrape(&mut conn, "a", &version(None, minute), minute).await;
    }
    let soon = at(60) + versions::USE_PRECISION;
    assert_eq!(versions::forget(&mut conn, soon, 9).await.unwrap(), 0, "the use after an hour was written");
    let late = at(100) + versions::USE_PRECISION;
    assert_eq!(versions::forget(&mut conn, late, 9).await.unwrap(), 1);
}

/// A body in the database that one series stops using while another begins to: both may commit first.
async fn a_body_that_is_let_go_and_taken_at_the_same_moment_stays(store: Store) {
    let mut first = conn(&store).await;
    for round in 0..30 {
        let digest = format!("body {round}");
        let with = version(Some(body(&digest, true)), 1);
        scrape(&mut first, "old", &with, round).await;
        let (leaving, coming) = (store.clone(), store.clone());
        let taken = with.clone();
        let leaving = tokio::spawn(async move {
            scrape(&mut leaving.conn().await.unwrap(), "old", &version(None, 2), round).await;
        });
        let coming = tokio::spawn(async move {
            scrape(&mut coming.conn().await.unwrap(), &format!("new {round}"), &taken, round).await;
        });
        leaving.await.unwrap();
        coming.await.unwrap();
        assert!(has(&mut first, &digest).await, "round {round}");
    }
}

async fn a_crawl_is_told_what_earlier_ones_found(store: Store) {
    let mut conn = conn(&store).await;
    let crawl = |start: &str, run: &str| Some(CrawlOf { start: start.to_owned(), run: run.to_owned() });
    let page = |minute, crawl| Version { crawl, ..version(Some(body("b", true)), minute) };
    scrape(&mut conn, "a", &page(1, crawl("s", "r1")), 1).await;
    scrape(&mut conn, "b", &page(1, crawl("s", "r1")), 1).await;
    scrape(&mut conn, "c", &Version { crawl: crawl("s", "r1"), ..version(None, 1) }, 1).await;
    scrape(&mut conn, "d", &page(1, crawl("elsewhere", "r0")), 1).await;
    scrape(&mut conn, "e", &page(1, None), 1).await;
    scrape(&mut conn, "b", &page(2, crawl("s", "r2")), 2).await;
    scrape(&mut conn, "a", &page(3, None), 3).await;
    let from = FromStart { team: TEAM, start: "s", tag: "", run: "r2" };
    let found = versions::of_start(&mut conn, &from, "", 9).await.unwrap();
    assert_eq!(found.iter().map(|page| page.url.as_str()).collect::<Vec<_>>(), ["https://example.com/a"]);
    assert!(versions::of_start(&mut conn, &from, &found[0].id, 9).await.unwrap().is_empty());
    for other in
        [FromStart { tag: "t", ..from }, FromStart { team: "team-b", ..from }, FromStart { start: "x", ..from }]
    {
        assert!(versions::of_start(&mut conn, &other, "", 9).await.unwrap().is_empty(), "{other:?}");
    }
    let both = versions::of_start(&mut conn, &FromStart { run: "r3", ..from }, "", 9).await.unwrap();
    assert_eq!(both.len(), 2);
    assert_eq!(versions::of_start(&mut conn, &FromStart { run: "r3", ..from }, "", 1).await.unwrap().len(), 1);
}
