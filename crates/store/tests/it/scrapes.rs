//! Scrapes.

use store::Store;
use store::scrapes::{self, Scrape};
use store::teams::{self, Team};

use crate::{at, suite};

suite!(a_scrape_comes_back_to_its_team_only, the_last_success_is_found, old_rows_are_forgotten);

async fn two_teams(store: &Store) {
    let mut conn = store.conn().await.unwrap();
    for id in ["red", "blue"] {
        teams::create(&mut conn, &Team::new(id, id, at(0))).await.unwrap();
    }
}

pub(crate) fn scrape(id: &str, minute: i64, error: Option<&str>) -> Scrape {
    Scrape {
        id: id.to_owned(),
        team_id: "red".to_owned(),
        api_key_id: Some("k".to_owned()),
        url: Some("https://example.com/".to_owned()),
        status_code: Some(404),
        error_code: error.map(str::to_owned),
        cache_state: Some("miss".to_owned()),
        credits: 1,
        duration_ms: 1234,
        created_at: at(minute),
        kept: Some("{}".to_owned()),
    }
}

async fn a_scrape_comes_back_to_its_team_only(store: Store) {
    two_teams(&store).await;
    let mut conn = store.conn().await.unwrap();
    let one = scrape("s1", 0, None);
    let bare = Scrape {
        url: None,
        api_key_id: None,
        status_code: None,
        cache_state: None,
        kept: None,
        ..scrape("s2", 1, Some("E"))
    };
    for row in [&one, &bare] {
        scrapes::insert(&mut conn, row).await.unwrap();
    }
    assert_eq!(scrapes::find(&mut conn, "red", "s1").await.unwrap(), Some(one));
    assert_eq!(scrapes::find(&mut conn, "red", "s2").await.unwrap(), Some(bare));
    assert_eq!(scrapes::find(&mut conn, "blue", "s1").await.unwrap(), None);
}

async fn the_last_success_is_found(store: Store) {
    two_teams(&store).await;
    let mut conn = store.conn().await.unwrap();
    assert_eq!(scrapes::last_success(&mut conn, "red").await.unwrap(), None);
    for (id, minute, error) in [("a", 1, None), ("b", 3, None), ("c", 2, None), ("d", 9, Some("SCRAPE_TIMEOUT"))] {
        scrapes::insert(&mut conn, &scrape(id, minute, error)).await.unwrap();
    }
    assert_eq!(scrapes::last_success(&mut conn, "red").await.unwrap(), Some(at(3)));
    assert_eq!(scrapes::last_success(&mut conn, "blue").await.unwrap(), None);
}

async fn old_rows_are_forgotten(store: Store) {
    two_teams(&store).await;
    let mut conn = store.conn().await.unwrap();
    for n in 0..5 {
        scrapes::insert(&mut conn, &scrape(&format!("s{n}"), n, None)).await.unwrap();
    }
    assert_eq!(scrapes::forget(&mut conn, at(3), 2).await.unwrap(), 2);
    assert_eq!(scrapes::forget(&mut conn, at(3), 2).await.unwrap(), 1);
    assert_eq!(scrapes::forget(&mut conn, at(3), 2).await.unwrap(), 0);
    assert!(scrapes::find(&mut conn, "red", "s3").await.unwrap().is_some());
}
