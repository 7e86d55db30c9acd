//! Cache index.

use store::Store;
use store::cache::{self, CacheEntry, Removed, Wanted};
use store::{Conn, StoreError};

use crate::{at, id, suite};

suite!(
    a_copy_comes_back_as_it_was,
    the_newest_in_the_window_come_first,
    expired_copies_go_and_shared_bodies_stay,
    the_oldest_go_first_and_sizes_count_each_body_once,
    a_copy_that_comes_before_the_deletion_keeps_its_body,
    a_copy_that_comes_during_the_deletion_does_without,
    a_deletion_that_was_broken_off_is_done_again,
    a_copy_and_a_deletion_at_the_same_moment_agree,
    small_bodies_come_and_go_with_their_copies,
    a_body_in_two_places_leaves_each_by_itself,
    copies_are_told_apart_by_their_scripts,
    a_copy_keeps_its_validators,
    copies_are_followed_by_their_ids,
    copies_stand_until_they_expire,
);

fn entry(key: &str, body: &str, fetched: i64) -> CacheEntry {
    CacheEntry {
        id: id(),
        scope: "team".to_owned(),
        key: key.to_owned(),
        variant: "v".to_owned(),
        final_url: format!("https://example.com/{key}"),
        status_code: 200,
        content_type: Some("text/html; charset=utf-8".to_owned()),
        charset: None,
        body_digest: body.to_owned(),
        body_bytes: 1 << 40,
        proxy: "basic".to_owned(),
        fetched_at: at(fetched),
        expires_at: at(fetched + 100),
        in_row: false,
        rendered: false,
        etag: None,
        last_modified: None,
    }
}

fn wanted(key: &str, not_before: i64, not_after: i64) -> Wanted<'_> {
    let (not_before, not_after) = (at(not_before), at(not_after));
    Wanted { scope: "team", key, variant: "v", not_before, not_after, rendered: None }
}

async fn copies_are_told_apart_by_their_scripts(store: Store) {
    let mut conn = store.conn().await.unwrap();
    let sent = entry("a", "d1", 1);
    let rendered = CacheEntry { rendered: true, ..entry("a", "d2", 0) };
    cache::insert(&mut conn, &sent).await.unwrap();
    cache::insert(&mut conn, &rendered).await.unwrap();
    for (wants, expect) in [
        (None, vec![sent.clone(), rendered.clone()]),
        (Some(true), vec![rendered.clone()]),
        (Some(false), vec![sent.clone()]),
    ] {
        let wanted = Wanted { rendered: wants, ..wanted("a", 0, 9) };
        assert_eq!(cache::find(&mut conn, &wanted).await.unwrap(), expect, "{wants:?}");
    }
}

async fn a_copy_keeps_its_validators(store: Store) {
    let mut conn = store.conn().await.unwrap();
    let (etag, date) = (Some("W/\"v1\"".to_owned()), Some("Mon, 02 Nov 2026 10:00:00 GMT".to_owned()));
    let both = CacheEntry { etag: etag.clone(), last_modified: date.clone(), ..entry("a", "d1", 3) };
    let first = CacheEntry { etag, ..entry("a", "d2", 2) };
    let second = CacheEntry { last_modified: date, ..entry("a", "d3", 1) };
    let copies = vec![both, first, second, entry("a", "d4", 0)];
    for copy in &copies {
        cache::insert(&mut conn, copy).await.unwrap();
    }
    assert_eq!(cache::find(&mut conn, &wanted("a", 0, 9)).await.unwrap(), copies);
    assert_eq!(cache::by_id(&mut conn, &copies[0].id).await.unwrap().as_ref(), Some(&copies[0]));
}

async fn copies_are_followed_by_their_ids(store: Store) {
    let mut conn = store.conn().await.unwrap();
    assert_eq!(cache::newest(&mut conn).await.unwrap(), None);
    let copies: Vec<CacheEntry> =
        ["a", "b", "c", "d"].map(|key| CacheEntry { in_row: true, ..entry(key, key, 0) }).into();
    for copy in copies.iter().rev() {
        cache::insert_with_body(&mut conn, copy, copy.key.as_bytes()).await.unwrap();
    }
    let ids: Vec<String> = copies.iter().map(|copy| copy.id.clone()).collect();
    assert_eq!(cache::newest(&mut conn).await.unwrap().as_ref(), ids.last());
    assert_eq!(cache::after(&mut conn, "", 3).await.unwrap(), copies[..3]);
    assert_eq!(cache::after(&mut conn, &ids[2], 3).await.unwrap(), copies[3..]);
    assert_eq!(cache::ids_between(&mut conn, &ids[0], &ids[2], 9).await.unwrap(), ids[1..3]);
    assert_eq!(
        cache::by_ids(&mut conn, &[ids[2].clone(), ids[0].clone()]).await.unwrap(),
        [&copies[0], &copies[2]].map(Clone::clone)
    );
    let packed = cache::all_packed(&mut conn, &["a".to_owned(), "d".to_owned(), "none".to_owned()]).await.unwrap();
    assert_eq!(packed, [("a".to_owned(), b"a".to_vec()), ("d".to_owned(), b"d".to_vec())].into());
}

async fn copies_stand_until_they_expire(store: Store) {
    let mut conn = store.conn().await.unwrap();
    let (one, two) = (entry("a", "d", 0), CacheEntry { scope: "*".to_owned(), ..entry("b", "d", 5) });
    for copy in [&one, &two] {
        cache::insert(&mut conn, copy).await.unwrap();
    }
    let ids = [one.id.clone(), two.id.clone(), id()];
    let pair = |copy: &CacheEntry| (copy.id.clone(), copy.scope.clone());
    assert_eq!(cache::standing(&mut conn, &ids, at(99)).await.unwrap(), [pair(&one), pair(&two)].into());
    assert_eq!(cache::standing(&mut conn, &ids, at(100)).await.unwrap(), [pair(&two)].into());
    cache::remove(&mut conn, &two.id).await.unwrap();
    assert_eq!(cache::standing(&mut conn, &ids, at(100)).await.unwrap(), [].into());
}

async fn a_copy_comes_back_as_it_was(store: Store) {
    let mut conn = store.conn().await.unwrap();
    let one = entry("a", "d1", 0);
    cache::insert(&mut conn, &one).await.unwrap();
    assert_eq!(cache::find(&mut conn, &wanted("a", 0, 0)).await.unwrap(), vec![one.clone()]);
    assert_eq!(cache::by_id(&mut conn, &one.id).await.unwrap(), Some(one));
    assert_eq!(cache::by_id(&mut conn, "other").await.unwrap(), None);
    let elsewhere = [
        wanted("b", 0, 0),
        Wanted { scope: "other", ..wanted("a", 0, 0) },
        Wanted { variant: "w", ..wanted("a", 0, 0) },
        Wanted { rendered: Some(true), ..wanted("a", 0, 0) },
    ];
    for wanted in elsewhere {
        assert_eq!(cache::find(&mut conn, &wanted).await.unwrap(), vec![], "{wanted:?}");
    }
}

async fn the_newest_in_the_window_come_first(store: Store) {
    let mut conn = store.conn().await.unwrap();
    for fetched in [3, 1, 8, 5, 2, 7, 4, 6] {
        cache::insert(&mut conn, &entry("a", "d", fetched)).await.unwrap();
    }
    let check = async |from, to, expect: &[i64]| {
        let mut conn = store.conn().await.unwrap();
        let found = cache::find(&mut conn, &wanted("a", from, to)).await.unwrap();
        let times: Vec<_> = found.iter().map(|entry| entry.fetched_at).collect();
        assert_eq!(times, expect.iter().map(|minute| at(*minute)).collect::<Vec<_>>(), "{from} to {to}");
    };
    check(0, 100, &[8, 7, 6, 5, 4]).await;
    check(3, 5, &[5, 4, 3]).await;
    check(9, 100, &[]).await;
}

/// Deletes the bodies that are due, and returns them.
async fn swept(store: &Store) -> Vec<String> {
    let mut conn = store.conn().await.unwrap();
    let bodies = cache::delete_next(&mut conn, 10).await.unwrap();
    cache::deleted(&mut conn, &bodies).await.unwrap();
    bodies
}

async fn expired_copies_go_and_shared_bodies_stay(store: Store) {
    let mut conn = store.conn().await.unwrap();
    for (key, body, fetched) in
        [("a", "shared", 0), ("b", "shared", 50), ("c", "own", 1), ("d", "own", 2), ("e", "x", 3)]
    {
        cache::insert(&mut conn, &entry(key, body, fetched)).await.unwrap();
    }
    let expired = async |now, limit| {
        let removed = cache::expired(&mut store.conn().await.unwrap(), at(now), limit).await.unwrap();
        (removed.rows, swept(&store).await)
    };
    assert_eq!(expired(99, 10).await, (0, vec![]));
    assert_eq!(expired(102, 2).await, (2, vec![]));
    assert_eq!(expired(102, 2).await, (1, vec!["own".to_owned()]));
    assert_eq!(expired(200, 9).await, (2, vec!["shared".to_owned(), "x".to_owned()]));
    assert_eq!(expired(200, 9).await, (0, vec![]));
}

async fn the_oldest_go_first_and_sizes_count_each_body_once(store: Store) {
    let mut conn = store.conn().await.unwrap();
    assert_eq!(cache::bytes(&mut conn).await.unwrap(), 0);
    for (key, body, bytes) in [("a", "one", 5), ("b", "two", 70), ("c", "one", 5), ("d", "three", 900)] {
        let entry = CacheEntry { body_bytes: bytes, ..entry(key, body, 0) };
        cache::insert(&mut conn, &entry).await.unwrap();
    }
    assert_eq!(cache::bytes(&mut conn).await.unwrap(), 975);
    assert_eq!(cache::oldest(&mut conn, 6, 9).await.unwrap(), Removed { rows: 2, bytes: 70 });
    assert_eq!(cache::bytes(&mut conn).await.unwrap(), 905, "the third still uses the first body");
    assert_eq!(swept(&store).await, ["two"]);
    assert_eq!(cache::oldest(&mut conn, 906, 1).await.unwrap(), Removed { rows: 1, bytes: 5 });
    assert_eq!(cache::oldest(&mut conn, 9000, 9).await.unwrap(), Removed { rows: 1, bytes: 900 });
    assert_eq!(cache::oldest(&mut conn, 9000, 9).await.unwrap(), Removed::default());
    assert_eq!(cache::bytes(&mut conn).await.unwrap(), 0);
    assert_eq!(swept(&store).await, ["one", "three"]);
}

async fn a_copy_that_comes_before_the_deletion_keeps_its_body(store: Store) {
    let mut conn = store.conn().await.unwrap();
    cache::insert(&mut conn, &entry("a", "body", 0)).await.unwrap();
    assert!(cache::rely_on(&mut conn, "body").await.unwrap());
    assert_eq!(cache::expired(&mut conn, at(200), 9).await.unwrap().rows, 1);
    cache::insert(&mut conn, &entry("b", "body", 200)).await.unwrap();
    assert!(cache::rely_on(&mut conn, "body").await.unwrap());
    assert_eq!(swept(&store).await, Vec::<String>::new());
    // Again without asking, as when the process dies in between.
    assert_eq!(cache::expired(&mut conn, at(400), 9).await.unwrap().rows, 1);
    cache::insert(&mut conn, &entry("c", "body", 400)).await.unwrap();
    assert_eq!(swept(&store).await, Vec::<String>::new());
    assert_eq!(cache::expired(&mut conn, at(600), 9).await.unwrap().rows, 1);
    assert_eq!(swept(&store).await, ["body"]);
}

async fn a_copy_that_comes_during_the_deletion_does_without(store: Store) {
    let mut conn = store.conn().await.unwrap();
    cache::insert(&mut conn, &entry("a", "body", 0)).await.unwrap();
    cache::expired(&mut conn, at(200), 9).await.unwrap();
    assert_eq!(cache::delete_next(&mut conn, 9).await.unwrap(), ["body"]);
    let late = entry("b", "body", 200);
    cache::insert(&mut conn, &late).await.unwrap();
    assert!(!cache::rely_on(&mut conn, "body").await.unwrap());
    cache::remove(&mut conn, &late.id).await.unwrap();
    assert_eq!(cache::find(&mut conn, &wanted("b", 0, 900)).await.unwrap(), vec![]);
    cache::deleted(&mut conn, &["body".to_owned()]).await.unwrap();
    cache::insert(&mut conn, &entry("c", "body", 201)).await.unwrap();
    assert!(cache::rely_on(&mut conn, "body").await.unwrap(), "the body is gone and can be written again");
}

async fn a_deletion_that_was_broken_off_is_done_again(store: Store) {
    let mut conn = store.conn().await.unwrap();
    cache::insert(&mut conn, &entry("a", "body", 0)).await.unwrap();
    cache::expired(&mut conn, at(200), 9).await.unwrap();
    for _ in 0..2 {
        assert_eq!(cache::delete_next(&mut conn, 9).await.unwrap(), ["body"]);
    }
    cache::deleted(&mut conn, &["body".to_owned()]).await.unwrap();
    assert_eq!(swept(&store).await, Vec::<String>::new());
}

/// In any interleaving, a deleted body has no copy that relies on it.
async fn a_copy_and_a_deletion_at_the_same_moment_agree(store: Store) {
    for round in 0..40 {
        let (body, key) = (format!("body {round}"), format!("key {round}"));
        cache::insert(&mut store.conn().await.unwrap(), &entry(&key, &body, 0)).await.unwrap();
        cache::expired(&mut store.conn().await.unwrap(), at(200), 9).await.unwrap();
        let (adding, deleting) = (store.clone(), store.clone());
        let copy = entry(&key, &body, 300);
        let adding = tokio::spawn(async move {
            let mut conn = adding.conn().await.unwrap();
            cache::insert(&mut conn, &copy).await.unwrap();
            cache::rely_on(&mut conn, &copy.body_digest).await.unwrap()
        });
        let deleting = tokio::spawn(async move {
            let mut conn = deleting.conn().await.unwrap();
            let going = conn.tx(async |conn: &mut Conn| {
                let going = cache::delete_next(conn, 9).await?;
                tokio::task::yield_now().await;
                Ok::<_, StoreError>(going)
            });
            going.await.unwrap()
        });
        let (relies, going) = (adding.await.unwrap(), deleting.await.unwrap());
        assert!(!(relies && going.contains(&body)), "round {round}");
        let mut conn = store.conn().await.unwrap();
        cache::deleted(&mut conn, &going).await.unwrap();
        cache::oldest(&mut conn, i64::MAX, 9).await.unwrap();
        swept(&store).await;
    }
}

fn small(key: &str, body: &str, fetched: i64) -> CacheEntry {
    CacheEntry { in_row: true, ..entry(key, body, fetched) }
}

async fn small_bodies_come_and_go_with_their_copies(store: Store) {
    let mut conn = store.conn().await.unwrap();
    assert!(!cache::insert_beside_body(&mut conn, &small("a", "d", 0)).await.unwrap());
    assert_eq!(cache::find(&mut conn, &wanted("a", 0, 0)).await.unwrap(), []);
    cache::insert_with_body(&mut conn, &small("a", "d", 0), b"packed").await.unwrap();
    cache::insert_with_body(&mut conn, &small("b", "d", 50), b"packed").await.unwrap();
    assert!(cache::insert_beside_body(&mut conn, &small("b", "d", 40)).await.unwrap());
    assert_eq!(cache::packed(&mut conn, "d").await.unwrap().as_deref(), Some(&b"packed"[..]));
    assert_eq!(cache::bytes(&mut conn).await.unwrap(), 1 << 40);
    let removed = cache::expired(&mut conn, at(100), 10).await.unwrap();
    assert_eq!(removed, Removed { rows: 1, bytes: 0 });
    assert!(cache::packed(&mut conn, "d").await.unwrap().is_some());
    let removed = cache::expired(&mut conn, at(150), 10).await.unwrap();
    assert_eq!(removed, Removed { rows: 2, bytes: 1 << 40 });
    assert_eq!(cache::packed(&mut conn, "d").await.unwrap(), None);
    assert_eq!(swept(&store).await, Vec::<String>::new());
}

/// A body in two places: in the database, and in the blob store, where older versions put small ones too.
async fn a_body_in_two_places_leaves_each_by_itself(store: Store) {
    let mut conn = store.conn().await.unwrap();
    cache::insert(&mut conn, &entry("a", "d", 0)).await.unwrap();
    cache::insert_with_body(&mut conn, &small("a", "d", 50), b"packed").await.unwrap();
    assert_eq!(cache::expired(&mut conn, at(100), 10).await.unwrap().rows, 1);
    assert!(cache::packed(&mut conn, "d").await.unwrap().is_some());
    assert_eq!(swept(&store).await, ["d"]);
    assert_eq!(cache::expired(&mut conn, at(150), 10).await.unwrap().rows, 1);
    assert_eq!(cache::packed(&mut conn, "d").await.unwrap(), None);
    assert_eq!(swept(&store).await, Vec::<String>::new());
}
