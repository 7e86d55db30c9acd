//! Removal of expired data.

use std::time::Duration;

use app::{Settings, maintain, maintain_once};
use billing::Balance;
use chrono::TimeDelta;
use store::ledger::{self, Booking};
use tokio_util::sync::CancellationToken;
use wire::CacheState;

use crate::world::{DAY, World, large};

#[tokio::test(flavor = "multi_thread")]
async fn copies_leave_with_their_bodies() {
    let world = World::start().await;
    let (one, two) = (world.team(None).await, world.team(None).await);
    world.site.html("/a", large("same"));
    world.site.html("/b", large("other"));
    world.scrape(&one, "/a").await.unwrap();
    world.scrape(&one, "/b").await.unwrap();
    world.clock.advance(20 * DAY);
    world.scrape(&two, "/a").await.unwrap();
    assert_eq!(world.bodies().len(), 2);
    world.clock.advance(11 * DAY);
    let removed = maintain_once(&world.operations).await.unwrap();
    assert_eq!(removed["cache"], 3, "two copies and one body: that of /a is still used by team two");
    assert_eq!(removed["scrapes"], 2);
    assert_eq!(world.bodies().len(), 1);
    world.clock.advance(20 * DAY);
    assert_eq!(maintain_once(&world.operations).await.unwrap()["cache"], 2);
    assert!(world.bodies().is_empty());
    let again = world.scrape(&one, "/a").await.unwrap();
    assert_eq!(again.metadata.cache_state, Some(CacheState::Miss));
}

#[tokio::test(flavor = "multi_thread")]
async fn reservations_of_a_dead_process_come_back() {
    let world = World::start().await;
    let team = world.team(Some(10)).await;
    let now = base::Clock::now(&world.clock);
    let mut conn = world.parts.store.conn().await.unwrap();
    let booking = Booking { key: "scrape:dead", team: &team.team.id, api_key: None, at: now };
    ledger::reserve(&mut conn, &booking, 4, now + TimeDelta::seconds(120)).await.unwrap();
    drop(conn);
    assert_eq!(maintain_once(&world.operations).await.unwrap()["reservations"], 0);
    assert_eq!(world.balance(&team).await.available, 6);
    world.clock.advance(Duration::from_secs(121));
    assert_eq!(maintain_once(&world.operations).await.unwrap()["reservations"], 1);
    assert_eq!(world.balance(&team).await, Balance { available: 10, reserved: 0, spent: 0, granted: 10 });
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_two_processes_leads() {
    let world = World::start().await;
    let team = world.team(None).await;
    let other = world.another(Settings::default()).await;
    world.site.html("/", large("x"));
    world.scrape(&team, "/").await.unwrap();
    world.clock.advance(31 * DAY);
    let stop = CancellationToken::new();
    let loops = [&world.operations, &other].map(|one| tokio::spawn(maintain(one.clone(), stop.clone())));
    while !world.bodies().is_empty() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    stop.cancel();
    for task in loops {
        task.await.unwrap();
    }
    let mut conn = world.parts.store.conn().await.unwrap();
    let now = base::Clock::now(&world.clock);
    for task in ["cache", "scrapes"] {
        let until = now + TimeDelta::seconds(1);
        let is_free = store::leases::acquire(&mut conn, task, "test", now, until).await.unwrap();
        assert!(is_free, "the lease of {task} was given back");
    }
}
