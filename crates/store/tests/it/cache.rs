//! The cache index.

use store::Store;
use store::cache::{self, CacheEntry, Expired, Wanted};

use crate::{at, id, suite};

suite!(a_copy_comes_back_as_it_was, the_newest_in_the_window_come_first, expired_copies_go_and_shared_bodies_stay);

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
    }
}

fn wanted(key: &str, not_before: i64, not_after: i64) -> Wanted<'_> {
    Wanted { scope: "team", key, variant: "v", not_before: at(not_before), not_after: at(not_after) }
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

async fn expired_copies_go_and_shared_bodies_stay(store: Store) {
    let mut conn = store.conn().await.unwrap();
    for (key, body, fetched) in
        [("a", "shared", 0), ("b", "shared", 50), ("c", "own", 1), ("d", "own", 2), ("e", "x", 3)]
    {
        cache::insert(&mut conn, &entry(key, body, fetched)).await.unwrap();
    }
    let expired = async |now, limit| cache::expired(&mut store.conn().await.unwrap(), at(now), limit).await.unwrap();
    assert_eq!(expired(99, 10).await, Expired::default());
    assert_eq!(expired(102, 2).await, Expired { rows: 2, bodies: vec![] });
    assert_eq!(expired(102, 2).await, Expired { rows: 1, bodies: vec!["own".to_owned()] });
    assert_eq!(expired(200, 9).await, Expired { rows: 2, bodies: vec!["shared".to_owned(), "x".to_owned()] });
    assert_eq!(expired(200, 9).await, Expired::default());
}
