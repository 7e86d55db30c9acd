//! API keys.

use store::keys::{self, ApiKey, KeyChange};
use store::teams::{self, Team};
use store::{List, Store};

use crate::{at, suite};

suite!(
    a_key_is_found_by_its_hash,
    a_revoked_key_is_found_as_revoked,
    a_rule_comes_back_and_goes,
    only_revoked_keys_are_named,
    lists_are_paged_by_id,
    use_is_noted_once_a_minute
);

async fn team(store: &Store, id: &str) -> Team {
    let team = Team::new(id, id, at(0));
    teams::create(&mut store.conn().await.unwrap(), &team).await.unwrap();
    team
}

fn key(id: &str, team: &str) -> ApiKey {
    ApiKey {
        id: id.to_owned(),
        team_id: team.to_owned(),
        name: "for tests".to_owned(),
        hash: format!("hash of {id}"),
        hint: "12ab".to_owned(),
        created_at: at(0),
        revoked_at: None,
        last_used_at: None,
        endpoints: None,
        formats: None,
    }
}

async fn a_key_is_found_by_its_hash(store: Store) {
    let (red, blue) = (team(&store, "red").await, team(&store, "blue").await);
    let mut conn = store.conn().await.unwrap();
    let (one, two) = (key("k1", "red"), key("k2", "blue"));
    keys::create(&mut conn, &one).await.unwrap();
    keys::create(&mut conn, &two).await.unwrap();
    assert_eq!(keys::find_by_hash(&mut conn, &one.hash).await.unwrap(), Some((one.clone(), red)));
    assert_eq!(keys::find_by_hash(&mut conn, &two.hash).await.unwrap(), Some((two, blue)));
    assert_eq!(keys::find_by_hash(&mut conn, "other").await.unwrap(), None);
    let twin = ApiKey { id: "k3".to_owned(), ..one };
    assert!(keys::create(&mut conn, &twin).await.unwrap_err().is_duplicate());
    assert!(keys::create(&mut conn, &key("k4", "nobody")).await.is_err());
}

async fn a_revoked_key_is_found_as_revoked(store: Store) {
    team(&store, "red").await;
    let mut conn = store.conn().await.unwrap();
    let one = key("k1", "red");
    keys::create(&mut conn, &one).await.unwrap();
    assert!(keys::revoke(&mut conn, "k1", at(5)).await.unwrap());
    assert!(!keys::revoke(&mut conn, "k1", at(6)).await.unwrap());
    assert!(!keys::revoke(&mut conn, "k2", at(6)).await.unwrap());
    let (found, _) = keys::find_by_hash(&mut conn, &one.hash).await.unwrap().unwrap();
    assert_eq!(found.revoked_at, Some(at(5)));
    let listed = keys::list(&mut conn, "red", None, 10).await.unwrap();
    assert_eq!(listed, vec![ApiKey { revoked_at: Some(at(5)), ..one }]);
}

fn list(words: &[&str]) -> Option<List> {
    Some(List(words.iter().map(|word| (*word).to_owned()).collect()))
}

async fn a_rule_comes_back_and_goes(store: Store) {
    team(&store, "red").await;
    let mut conn = store.conn().await.unwrap();
    let limited = ApiKey { endpoints: list(&["scrape", "map"]), formats: list(&["rawHtml"]), ..key("k1", "red") };
    keys::create(&mut conn, &limited).await.unwrap();
    let (found, _) = keys::find_by_hash(&mut conn, &limited.hash).await.unwrap().unwrap();
    assert_eq!(found, limited);
    let same = keys::update(&mut conn, "k1", &KeyChange::default()).await.unwrap();
    assert_eq!(same, Some(limited.clone()));
    let change = KeyChange { endpoints: Some(None), formats: Some(list(&["links"])), ..KeyChange::default() };
    let changed = keys::update(&mut conn, "k1", &change).await.unwrap();
    assert_eq!(changed, Some(ApiKey { endpoints: None, formats: list(&["links"]), ..limited.clone() }));
    let named = KeyChange { name: Some("other".to_owned()), ..KeyChange::default() };
    let named = keys::update(&mut conn, "k1", &named).await.unwrap().unwrap();
    assert_eq!((named.name.as_str(), named.formats), ("other", list(&["links"])));
    assert_eq!(keys::update(&mut conn, "k2", &change).await.unwrap(), None);
}

async fn only_revoked_keys_are_named(store: Store) {
    team(&store, "red").await;
    let mut conn = store.conn().await.unwrap();
    for id in ["k1", "k2", "k3"] {
        keys::create(&mut conn, &key(id, "red")).await.unwrap();
    }
    keys::revoke(&mut conn, "k2", at(5)).await.unwrap();
    keys::revoke(&mut conn, "k3", at(5)).await.unwrap();
    let ids = ["k1", "k2", "k9"].map(str::to_owned);
    assert_eq!(keys::revoked(&mut conn, &ids).await.unwrap(), ["k2"]);
    assert_eq!(keys::revoked(&mut conn, &[]).await.unwrap(), [""; 0]);
}

async fn lists_are_paged_by_id(store: Store) {
    team(&store, "red").await;
    team(&store, "blue").await;
    let mut conn = store.conn().await.unwrap();
    for n in 0..7 {
        keys::create(&mut conn, &key(&format!("r{n}"), "red")).await.unwrap();
        keys::create(&mut conn, &key(&format!("b{n}"), "blue")).await.unwrap();
    }
    let page = |after| {
        let store = store.clone();
        async move {
            let keys = keys::list(&mut store.conn().await.unwrap(), "red", after, 3).await.unwrap();
            keys.into_iter().map(|key| key.id).collect::<Vec<_>>()
        }
    };
    assert_eq!(page(None).await, ["r0", "r1", "r2"]);
    assert_eq!(page(Some("r2")).await, ["r3", "r4", "r5"]);
    assert_eq!(page(Some("r5")).await, ["r6"]);
    assert_eq!(page(Some("r6")).await, [""; 0]);
}

async fn use_is_noted_once_a_minute(store: Store) {
    team(&store, "red").await;
    let mut conn = store.conn().await.unwrap();
    keys::create(&mut conn, &key("k1", "red")).await.unwrap();
    let seconds = chrono::TimeDelta::seconds;
    for (moment, expect) in [(at(1), at(1)), (at(1) + seconds(59), at(1)), (at(2), at(2)), (at(1), at(2))] {
        keys::touch(&mut conn, "k1", moment).await.unwrap();
        let used = keys::list(&mut conn, "red", None, 1).await.unwrap()[0].last_used_at;
        assert_eq!(used, Some(expect));
    }
}
