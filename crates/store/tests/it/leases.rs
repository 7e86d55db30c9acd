//! Leases.

use futures_util::future::join_all;
use store::{Store, leases};

use crate::{at, suite};

suite!(a_lease_has_one_holder, one_of_many_gets_it);

async fn a_lease_has_one_holder(store: Store) {
    let mut conn = store.conn().await.unwrap();
    assert!(leases::acquire(&mut conn, "cache", "a", at(0), at(5)).await.unwrap());
    assert!(!leases::acquire(&mut conn, "cache", "b", at(4), at(9)).await.unwrap());
    assert!(leases::acquire(&mut conn, "reaper", "b", at(4), at(9)).await.unwrap());
    assert!(leases::acquire(&mut conn, "cache", "a", at(4), at(9)).await.unwrap(), "renewed");
    assert!(!leases::acquire(&mut conn, "cache", "b", at(8), at(13)).await.unwrap());
    assert!(leases::acquire(&mut conn, "cache", "b", at(9), at(14)).await.unwrap(), "its time was over");
    assert!(!leases::release(&mut conn, "cache", "a").await.unwrap());
    assert!(leases::release(&mut conn, "cache", "b").await.unwrap());
    assert!(leases::acquire(&mut conn, "cache", "a", at(9), at(14)).await.unwrap());
}

async fn one_of_many_gets_it(store: Store) {
    for (now, until) in [(0, 5), (5, 10)] {
        let tries = (0..16).map(|n| {
            let store = store.clone();
            tokio::spawn(async move {
                let mut conn = store.conn().await.unwrap();
                leases::acquire(&mut conn, "cache", &format!("{now}-{n}"), at(now), at(until)).await.unwrap()
            })
        });
        let got = join_all(tries).await.into_iter().filter(|result| *result.as_ref().unwrap()).count();
        assert_eq!(got, 1, "at {now}");
    }
}
