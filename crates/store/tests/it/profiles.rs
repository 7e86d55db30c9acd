//! Browser profiles.

use store::profiles::{self, NewState};
use store::teams::{self, Team};
use store::{Store, leases};

use crate::{at, suite};

suite!(only_the_holder_saves, names_belong_to_teams, what_nobody_uses_goes, leases_of_a_kind_go);

async fn two_teams(store: &Store) {
    let mut conn = store.conn().await.unwrap();
    for id in ["red", "blue"] {
        teams::create(&mut conn, &Team::new(id, id, at(0))).await.unwrap();
    }
}

async fn save(store: &Store, team: &str, name: &str, state: &[u8], minute: i64) -> bool {
    let (mut conn, now) = (store.conn().await.unwrap(), at(minute));
    let lease = format!("profile:{team}:{name}");
    leases::acquire(&mut conn, &lease, "me", now, at(minute + 1)).await.unwrap();
    profiles::save(&mut conn, &NewState { team, name, state, now }, &lease, "me").await.unwrap()
}

async fn only_the_holder_saves(store: Store) {
    two_teams(&store).await;
    let mut conn = store.conn().await.unwrap();
    let new = |state, minute| NewState { team: "red", name: "shop", state, now: at(minute) };
    assert!(!profiles::save(&mut conn, &new(b"x", 0), "p", "me").await.unwrap(), "nobody has the lease");
    assert!(leases::acquire(&mut conn, "p", "me", at(0), at(5)).await.unwrap());
    assert!(!profiles::save(&mut conn, &new(b"x", 1), "p", "you").await.unwrap());
    assert_eq!(profiles::load(&mut conn, "red", "shop", at(1)).await.unwrap(), None);
    assert!(profiles::save(&mut conn, &new(b"one", 1), "p", "me").await.unwrap());
    assert!(profiles::save(&mut conn, &new(b"two", 2), "p", "me").await.unwrap());
    assert!(!profiles::save(&mut conn, &new(b"late", 5), "p", "me").await.unwrap(), "the lease is over");
    assert_eq!(profiles::load(&mut conn, "red", "shop", at(3)).await.unwrap(), Some(b"two".to_vec()));
}

async fn names_belong_to_teams(store: Store) {
    two_teams(&store).await;
    let large = vec![7; 20 << 20];
    assert!(save(&store, "red", "shop", &large, 0).await);
    assert!(save(&store, "red", "Shop", b"other", 0).await);
    let mut conn = store.conn().await.unwrap();
    assert_eq!(profiles::load(&mut conn, "blue", "shop", at(1)).await.unwrap(), None);
    assert_eq!(profiles::load(&mut conn, "red", "shop", at(1)).await.unwrap(), Some(large));
    assert_eq!(profiles::count_others(&mut conn, "red", "shop").await.unwrap(), 1);
    assert_eq!(profiles::count_others(&mut conn, "red", "new").await.unwrap(), 2);
    assert_eq!(profiles::count_others(&mut conn, "blue", "shop").await.unwrap(), 0);
}

async fn what_nobody_uses_goes(store: Store) {
    two_teams(&store).await;
    for (name, minute) in [("a", 0), ("b", 1), ("c", 5)] {
        assert!(save(&store, "red", name, b"x", minute).await);
    }
    let mut conn = store.conn().await.unwrap();
    profiles::load(&mut conn, "red", "a", at(6)).await.unwrap();
    assert_eq!(profiles::forget(&mut conn, at(4), 9).await.unwrap(), 1);
    assert_eq!(profiles::load(&mut conn, "red", "b", at(7)).await.unwrap(), None);
    assert!(profiles::load(&mut conn, "red", "a", at(7)).await.unwrap().is_some(), "it was used");
}

async fn leases_of_a_kind_go(store: Store) {
    let mut conn = store.conn().await.unwrap();
    for (name, end) in [("profile:a", 1), ("profile:b", 9), ("upkeep", 1)] {
        assert!(leases::acquire(&mut conn, name, "me", at(0), at(end)).await.unwrap());
    }
    assert_eq!(leases::forget(&mut conn, "profile:", at(5), 9).await.unwrap(), 1);
    assert!(leases::has(&mut conn, "profile:b", "me", at(5)).await.unwrap());
    assert!(!leases::has(&mut conn, "profile:b", "me", at(9)).await.unwrap());
    assert!(leases::acquire(&mut conn, "profile:a", "you", at(0), at(1)).await.unwrap(), "the row is gone");
}
