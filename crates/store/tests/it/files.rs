//! Files.

use base::Secret;
use store::Store;
use store::files::{self, File};
use store::teams::{self, Team};

use crate::{at, suite};

suite!(
    a_file_is_found_until_its_end,
    the_files_of_an_owner_end_together,
    what_is_over_comes_oldest_first,
    one_key_for_all
);

async fn two_teams(store: &Store) {
    let mut conn = store.conn().await.unwrap();
    for id in ["red", "blue"] {
        teams::create(&mut conn, &Team::new(id, id, at(0))).await.unwrap();
    }
}

fn file(id: &str, team: &str, owner: &str, end: i64) -> File {
    File {
        id: id.to_owned(),
        team_id: team.to_owned(),
        owner: owner.to_owned(),
        kind: "screenshot".to_owned(),
        blob: format!("files/{id}"),
        content_type: "image/png".to_owned(),
        name: "Seite – 1.png".to_owned(),
        bytes: 5_000_000_000,
        created_at: at(0),
        expires_at: at(end),
    }
}

async fn a_file_is_found_until_its_end(store: Store) {
    two_teams(&store).await;
    let mut conn = store.conn().await.unwrap();
    let row = file("f1", "red", "run", 10);
    files::insert(&mut conn, &row).await.unwrap();
    assert!(files::insert(&mut conn, &row).await.unwrap_err().is_duplicate());
    assert!(files::insert(&mut conn, &file("f2", "nobody", "run", 10)).await.is_err());
    assert_eq!(files::find(&mut conn, "f1", at(9)).await.unwrap(), Some(row));
    assert_eq!(files::find(&mut conn, "f1", at(10)).await.unwrap(), None);
    assert_eq!(files::find(&mut conn, "f2", at(9)).await.unwrap(), None);
}

async fn the_files_of_an_owner_end_together(store: Store) {
    two_teams(&store).await;
    let mut conn = store.conn().await.unwrap();
    for (id, team, owner) in [("a", "red", "run"), ("b", "red", "run"), ("c", "red", "other"), ("d", "blue", "run")] {
        files::insert(&mut conn, &file(id, team, owner, 10)).await.unwrap();
    }
    files::insert(&mut conn, &file("e", "red", "run", 1)).await.unwrap();
    assert_eq!(files::end(&mut conn, "red", "run", at(2)).await.unwrap(), 2, "e is over already");
    let over = files::expired(&mut conn, at(2), 9).await.unwrap();
    assert_eq!(over.iter().map(|file| file.id.as_str()).collect::<Vec<_>>(), ["e", "a", "b"]);
    for id in ["c", "d"] {
        assert!(files::find(&mut conn, id, at(9)).await.unwrap().is_some(), "{id}");
    }
}

async fn what_is_over_comes_oldest_first(store: Store) {
    two_teams(&store).await;
    let mut conn = store.conn().await.unwrap();
    for (id, end) in [("a", 3), ("b", 1), ("c", 2), ("d", 4)] {
        files::insert(&mut conn, &file(id, "red", "run", end)).await.unwrap();
    }
    let over = files::expired(&mut conn, at(3), 2).await.unwrap();
    let blobs: Vec<&str> = over.iter().map(|file| file.blob.as_str()).collect();
    assert_eq!(blobs, ["files/b", "files/c"]);
    let ids: Vec<String> = over.into_iter().map(|file| file.id).collect();
    files::remove(&mut conn, &ids).await.unwrap();
    let left = files::expired(&mut conn, at(3), 2).await.unwrap();
    assert_eq!(left.iter().map(|file| file.id.as_str()).collect::<Vec<_>>(), ["a"]);
}

async fn one_key_for_all(store: Store) {
    let asked = (0..8).map(|n| {
        let store = store.clone();
        tokio::spawn(async move {
            let fresh = Secret::new(format!("key {n}"));
            files::key(&mut store.conn().await.unwrap(), &fresh, at(n)).await.unwrap()
        })
    });
    let mut keys = Vec::new();
    for asked in asked.collect::<Vec<_>>() {
        keys.push(asked.await.unwrap());
    }
    assert!(keys[0].expose().starts_with("key ") && keys.iter().all(|key| *key == keys[0]));
}
