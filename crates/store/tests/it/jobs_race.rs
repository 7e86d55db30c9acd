//! Queue with many concurrent workers.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::future::join_all;
use store::jobs::{self, Claimed, Lane, NewJob, Retry};
use store::{Conn, Store};

use crate::bank::rich_team;
use crate::jobs::{claim, finish, jobs_named, lane, sound, want};
use crate::{at, id, suite};

suite!(
    eight_workers_run_each_job_once,
    a_small_team_is_not_starved,
    everything_at_once_stays_sound,
    an_enqueue_during_claims_is_not_lost,
);

async fn eight_workers_run_each_job_once(store: Store) {
    rich_team(&store, "a", 0).await;
    rich_team(&store, "b", 0).await;
    let mut conn = store.conn().await.unwrap();
    for (name, team) in [("x", "a"), ("y", "a"), ("z", "b")] {
        let narrow = Lane { cap: 7, team_cap: 10, ..lane(name, team) };
        jobs::enqueue(&mut conn, &narrow, &jobs_named(name, 200), at(0)).await.unwrap();
    }
    let seen = Arc::new(Mutex::new(HashSet::new()));
    let running = Arc::new(Mutex::new(HashMap::<String, i32>::new()));
    let done = Arc::new(AtomicUsize::new(0));
    let workers = (0..8).map(|n| {
        let (store, seen, running, done) = (store.clone(), seen.clone(), running.clone(), done.clone());
        tokio::spawn(async move {
            while done.load(Ordering::SeqCst) < 600 {
                let mut conn = store.conn().await.unwrap();
                let got = claim(&mut conn, 1 + n, at(0)).await;
                for job in &got {
                    assert!(seen.lock().unwrap().insert(job.id.clone()), "{} ran twice", job.id);
                    let mut running = running.lock().unwrap();
                    for (name, cap) in [(&job.lane, 7), (&job.team_id, 10)] {
                        let now = running.entry(name.clone()).or_default();
                        *now += 1;
                        assert!(*now <= cap, "{now} of {name}");
                    }
                }
                tokio::task::yield_now().await;
                for job in &got {
                    let mut running = running.lock().unwrap();
                    *running.get_mut(&job.lane).unwrap() -= 1;
                    *running.get_mut(&job.team_id).unwrap() -= 1;
                }
                done.fetch_add(finish(&mut conn, &got, at(0)).await, Ordering::SeqCst);
            }
        })
    });
    for worker in join_all(workers).await {
        worker.unwrap();
    }
    assert_eq!(seen.lock().unwrap().len(), 600);
    sound(&mut conn).await;
}

async fn a_small_team_is_not_starved(store: Store) {
    let mut conn = store.conn().await.unwrap();
    rich_team(&store, "big", 0).await;
    jobs::enqueue(&mut conn, &lane("big", "big"), &jobs_named("big", 10_000), at(0)).await.unwrap();
    for n in 0..30 {
        let team = format!("small{n:02}");
        rich_team(&store, &team, 0).await;
        jobs::enqueue(&mut conn, &lane(&team, &team), &jobs_named(&team, 1), at(0)).await.unwrap();
    }
    let mut small = 0;
    // Two teams at a time, sometimes with the big one among them.
    for _ in 0..17 {
        let got = claim(&mut conn, 20, at(0)).await;
        small += got.iter().filter(|job| job.team_id != "big").count();
        finish(&mut conn, &got, at(0)).await;
    }
    assert_eq!(small, 30, "few claims reach all");
    sound(&mut conn).await;
}

/// All functions from many tasks, with hosts: no deadlock, no lost job, and right counters.
async fn everything_at_once_stays_sound(store: Store) {
    for team in ["a", "b", "c"] {
        rich_team(&store, team, 0).await;
    }
    let (stop, ended) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let workers = (0..8_usize).map(|worker| {
        let (store, stop, ended) = (store.clone(), stop.clone(), ended.clone());
        tokio::spawn(async move {
            let mut round = 0;
            while !stop.load(Ordering::SeqCst) {
                round += 1;
                let mut conn = store.conn().await.unwrap();
                ended.fetch_add(one_round(&mut conn, worker, round).await, Ordering::SeqCst);
            }
        })
    });
    let workers: Vec<_> = workers.collect();
    let mut conn = store.conn().await.unwrap();
    for round in 0..40 {
        let lanes = ["a1", "a2", "b1", "b2", "c1"];
        let name = lanes[round % lanes.len()];
        let mut new = jobs_named(&format!("{name}-{round}-"), 20);
        for (n, job) in new.iter_mut().enumerate() {
            job.host = [None, Some("x"), Some("y"), Some("z")][n % 4].map(str::to_owned);
            job.phase = i32::from(n == 19);
        }
        let lane = Lane { cap: 9, team_cap: 12, ..lane(name, &name[..1]) };
        jobs::enqueue(&mut conn, &lane, &new, at(0)).await.unwrap();
        if round % 13 == 12 {
            jobs::cancel(&mut conn, "pages", name, at(0)).await.unwrap();
        }
        sound(&mut conn).await;
    }
    stop.store(true, Ordering::SeqCst);
    for worker in workers {
        worker.await.unwrap();
    }
    sound(&mut conn).await;
    // Retried and postponed jobs become ready in time, and abandoned leases expire.
    let mut minute = 10;
    while !jobs::list(&mut conn, jobs::Filter::default(), None, 1).await.unwrap().is_empty() {
        minute += 3;
        assert!(minute < 2000, "some jobs never end");
        let reaped = jobs::reap(&mut conn, at(minute), "reaper", at(minute + 1), 999).await.unwrap();
        finish(&mut conn, &reaped.lost, at(minute)).await;
        let got = claim(&mut conn, 64, at(minute)).await;
        finish(&mut conn, &got, at(minute)).await;
        sound(&mut conn).await;
    }
    assert!(ended.load(Ordering::SeqCst) > 20);
}

async fn one_round(conn: &mut Conn, worker: usize, round: usize) -> usize {
    let token = id();
    let got = jobs::claim(conn, &want(&token, 6, at(0))).await.unwrap();
    if got.is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    let held: Vec<_> = got.iter().map(|job| job.held(None)).collect();
    match (worker + round) % 8 {
        0 if !held.is_empty() => {
            let how = Retry { run_at: at(1), error: "again", counted: true };
            usize::from(jobs::retry(conn, &held[0], &how, at(0)).await.unwrap())
        }
        1 if !held.is_empty() => usize::from(jobs::bury(conn, &held[0], "dead", at(0)).await.unwrap()),
        2 => {
            let leases: Vec<_> = got.iter().map(Claimed::lease).collect();
            jobs::renew(conn, &leases, at(2)).await.unwrap();
            0
        }
        3 => jobs::reap(conn, at(0), &token, at(1), 10).await.unwrap().back,
        _ => jobs::finish(conn, &held, at(0)).await.unwrap().len(),
    }
}

/// Race between jobs that are added and a worker that finds none: one of the two must see the other.
async fn an_enqueue_during_claims_is_not_lost(store: Store) {
    rich_team(&store, "a", 0).await;
    let adder = {
        let store = store.clone();
        tokio::spawn(async move {
            let mut conn = store.conn().await.unwrap();
            for n in 0..200 {
                let new = NewJob { phase: n % 2, ..crate::jobs::job(&format!("j{n}")) };
                jobs::enqueue(&mut conn, &lane("l", "a"), &[new], at(0)).await.unwrap();
            }
        })
    };
    let workers = (0..4).map(|_| {
        let store = store.clone();
        tokio::spawn(async move {
            let (mut done, mut idle) = (0, 0);
            while idle < 100 {
                let mut conn = store.conn().await.unwrap();
                let got = claim(&mut conn, 3, at(0)).await;
                idle = if got.is_empty() { idle + 1 } else { 0 };
                done += finish(&mut conn, &got, at(0)).await;
                drop(conn);
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            }
            done
        })
    });
    let workers: Vec<_> = workers.collect();
    adder.await.unwrap();
    let mut done = 0;
    for worker in workers {
        done += worker.await.unwrap();
    }
    let mut conn = store.conn().await.unwrap();
    sound(&mut conn).await;
    while let got @ [_, ..] = claim(&mut conn, 9, at(0)).await.as_slice() {
        done += finish(&mut conn, got, at(0)).await;
    }
    assert_eq!(done, 200);
}
