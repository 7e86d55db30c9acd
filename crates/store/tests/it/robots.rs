//! Cache of robots.txt responses.

use store::Store;
use store::robots::{self, RobotsAnswer};

use crate::{at, suite};

suite!(an_answer_holds_for_its_time, a_newer_answer_takes_the_place, expired_answers_go);

fn answer(origin: &str, verified: bool, fetched: i64) -> RobotsAnswer {
    RobotsAnswer {
        origin: origin.to_owned(),
        verified,
        status: Some(200),
        error: None,
        body: Some(b"User-agent: *\nDisallow: /\xff\0".to_vec()),
        fetched_at: at(fetched),
        expires_at: at(fetched + 100),
    }
}

async fn an_answer_holds_for_its_time(store: Store) {
    let mut conn = store.conn().await.unwrap();
    let one = answer("https://a.test", true, 0);
    robots::keep(&mut conn, one.clone()).await.unwrap();
    assert_eq!(robots::find(&mut conn, "https://a.test", true, at(99)).await.unwrap(), Some(one));
    for (origin, verified, now) in
        [("https://a.test", true, 100), ("https://a.test", false, 0), ("http://a.test", true, 0)]
    {
        assert_eq!(robots::find(&mut conn, origin, verified, at(now)).await.unwrap(), None, "{origin} {verified}");
    }
}

async fn a_newer_answer_takes_the_place(store: Store) {
    let mut conn = store.conn().await.unwrap();
    robots::keep(&mut conn, answer("https://a.test", true, 0)).await.unwrap();
    let failed =
        RobotsAnswer { status: None, error: Some("dns".to_owned()), body: None, ..answer("https://a.test", true, 50) };
    robots::keep(&mut conn, failed.clone()).await.unwrap();
    assert_eq!(robots::find(&mut conn, "https://a.test", true, at(60)).await.unwrap(), Some(failed));
}

async fn expired_answers_go(store: Store) {
    let mut conn = store.conn().await.unwrap();
    for (origin, verified, fetched) in [("a", true, 0), ("a", false, 1), ("b", true, 2), ("c", true, 50)] {
        robots::keep(&mut conn, answer(origin, verified, fetched)).await.unwrap();
    }
    assert_eq!(robots::forget(&mut conn, at(99), 9).await.unwrap(), 0);
    assert_eq!(robots::forget(&mut conn, at(110), 2).await.unwrap(), 2);
    assert_eq!(robots::forget(&mut conn, at(110), 9).await.unwrap(), 1);
    assert!(robots::find(&mut conn, "c", true, at(110)).await.unwrap().is_some());
}
