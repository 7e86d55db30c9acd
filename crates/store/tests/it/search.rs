//! Searches.

use store::Store;
use store::search::{self, Search};
use store::teams::{self, Team};

use crate::{at, suite};

suite!(a_search_comes_back_to_its_team_only, old_searches_are_forgotten);

fn row(id: &str, minute: i64) -> Search {
    Search {
        id: id.to_owned(),
        team_id: "red".to_owned(),
        api_key_id: Some("k".to_owned()),
        query: "granite \"quarry\" ☃".to_owned(),
        sources: "web news".to_owned(),
        engines: "index".to_owned(),
        results: 7,
        credits: 2,
        duration_ms: 12,
        created_at: at(minute),
    }
}

async fn two_teams(store: &Store) {
    let mut conn = store.conn().await.unwrap();
    for id in ["red", "blue"] {
        teams::create(&mut conn, &Team::new(id, id, at(0))).await.unwrap();
    }
}

async fn a_search_comes_back_to_its_team_only(store: Store) {
    two_teams(&store).await;
    let mut conn = store.conn().await.unwrap();
    let one = row("s1", 0);
    search::insert(&mut conn, &one).await.unwrap();
    assert!(search::insert(&mut conn, &one).await.is_err(), "the id is taken");
    assert_eq!(search::find(&mut conn, "red", "s1").await.unwrap(), Some(one));
    assert_eq!(search::find(&mut conn, "blue", "s1").await.unwrap(), None);
}

async fn old_searches_are_forgotten(store: Store) {
    two_teams(&store).await;
    let mut conn = store.conn().await.unwrap();
    for n in 0..5 {
        search::insert(&mut conn, &row(&format!("s{n}"), n)).await.unwrap();
    }
    assert_eq!(search::forget(&mut conn, at(3), 2).await.unwrap(), 2);
    assert_eq!(search::forget(&mut conn, at(3), 2).await.unwrap(), 1);
    assert!(search::find(&mut conn, "red", "s2").await.unwrap().is_none());
    assert!(search::find(&mut conn, "red", "s3").await.unwrap().is_some());
}
