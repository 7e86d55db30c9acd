//! Workers that stop, die or resume after losing their leases; jobs that are cancelled.

use std::time::Duration;

use base::{Clock, SystemClock};
use queue::Settings;
use serde_json::json;
use store::jobs::{self, Filter, NewJob};
use tokio::time::{Instant, sleep};

use crate::act::{Log, PAGES, Worked, add, assert_empty, job, lane, one_page, settings, well};
use crate::db::Db;
use crate::suite;

suite!(
    a_cancelled_job_is_dropped,
    a_stopped_worker_gives_its_jobs_back,
    a_stopped_worker_lets_jobs_end,
    the_jobs_of_a_killed_worker_are_done_by_another,
    a_zombie_writes_nothing,
    a_job_whose_workers_die_is_given_up,
    two_workers_share_the_work,
);

fn hanging(id: &str) -> NewJob {
    job(id, json!({ "act": "hang" }))
}

async fn a_cancelled_job_is_dropped(db: Db) {
    let (store, log) = (db.open().await, Log::default());
    add(&store, &lane("l", "a"), &[hanging("j"), hanging("k")]).await;
    add(&store, &lane("m", "a"), &[hanging("other")]).await;
    let worker = Worked::start(db.open().await, &log, settings());
    log.reach("run", 3).await;
    let before = Instant::now();
    let cancelled = jobs::cancel(&mut store.conn().await.unwrap(), PAGES.name, "l", SystemClock.now()).await;
    assert_eq!(cancelled.unwrap(), 2);
    log.reach("drop", 2).await;
    assert!(before.elapsed() < Duration::from_secs(2));
    assert_eq!((log.count("drop other"), log.count("commit")), (0, 0));
    let mut conn = store.conn().await.unwrap();
    assert_eq!(jobs::inconsistencies(&mut conn).await.unwrap(), Vec::<String>::new());
    worker.end().await;
}

async fn a_stopped_worker_gives_its_jobs_back(db: Db) {
    let (store, log) = (db.open().await, Log::default());
    add(&store, &lane("l", "a"), &[hanging("j")]).await;
    let worker = Worked::start(db.open().await, &log, settings());
    log.reach("run", 1).await;
    let before = Instant::now();
    worker.end().await;
    assert!(before.elapsed() >= Duration::from_millis(300) && before.elapsed() < Duration::from_secs(5));
    let left = jobs::list(&mut store.conn().await.unwrap(), Filter::default(), None, 9).await.unwrap();
    assert_eq!((left.len(), left[0].is_running, left[0].attempt), (1, false, 0));
    let mut conn = store.conn().await.unwrap();
    assert_eq!(jobs::inconsistencies(&mut conn).await.unwrap(), Vec::<String>::new());
}

async fn a_stopped_worker_lets_jobs_end(db: Db) {
    let (store, log) = (db.open().await, Log::default());
    add(&store, &lane("l", "a"), &[job("j", json!({ "act": "held" })), well("k")]).await;
    let settings = Settings { slots: one_page(), drain: Duration::from_secs(20), ..settings() };
    let worker = Worked::start(db.open().await, &log, settings);
    log.reach("run j", 1).await;
    worker.stop.cancel();
    sleep(Duration::from_millis(300)).await;
    log.add("go on".to_owned());
    worker.end().await;
    assert_eq!((log.count("done j"), log.count("run k")), (1, 0), "nothing new is begun");
    let left = jobs::list(&mut store.conn().await.unwrap(), Filter::default(), None, 9).await.unwrap();
    assert_eq!(left.len(), 1);
}

async fn the_jobs_of_a_killed_worker_are_done_by_another(db: Db) {
    let (store, log, dead) = (db.open().await, Log::default(), Log::default());
    let new: Vec<NewJob> = (0..4).map(|n| job(&format!("j{n}"), json!({ "act": "hang", "times": 1 }))).collect();
    add(&store, &lane("l", "a"), &new).await;
    // A runtime of its own, which is dropped with all its tasks, as when a process dies.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let short = Settings { lease: Duration::from_millis(1500), heartbeat: Duration::from_millis(300), ..settings() };
    let first = runtime.spawn({
        let (store, dead) = (db.open().await, dead.clone());
        async move { Worked::start(store, &dead, short).task.await }
    });
    dead.reach("run", 4).await;
    drop(first);
    runtime.shutdown_background();
    let worker = Worked::start(db.open().await, &log, settings());
    log.reach("done", 4).await;
    worker.end().await;
    assert_eq!(dead.count("commit"), 0);
    assert_empty(&store).await;
}

/// A suspended worker, as with SIGSTOP, whose job another one has done meanwhile.
async fn a_zombie_writes_nothing(db: Db) {
    let (store, log, zombie) = (db.open().await, Log::default(), Log::default());
    add(&store, &lane("l", "a"), &[job("j", json!({ "act": "well", "wait": 2500 }))]).await;
    let never = Duration::from_secs(600);
    let lease = Duration::from_millis(300);
    // It has one slot, so it cannot claim the job again.
    let asleep = Settings { slots: one_page(), heartbeat: never, check: never, reap: never, lease, ..settings() };
    let first = Worked::start(db.open().await, &zombie, asleep);
    zombie.reach("run", 1).await;
    let second = Worked::start(db.open().await, &log, settings());
    log.reach("run j", 1).await;
    // The suspended worker commits first and is refused; then the other one commits.
    log.reach("done j", 1).await;
    second.end().await;
    first.end().await;
    assert_eq!((zombie.count("drop"), zombie.count("commit"), zombie.count("done")), (1, 0, 0));
    assert_eq!(log.count("commit"), 1);
    assert_empty(&store).await;
}

async fn a_job_whose_workers_die_is_given_up(db: Db) {
    let (store, log) = (db.open().await, Log::default());
    let mut conn = store.conn().await.unwrap();
    add(&store, &lane("l", "a"), &[NewJob { max_attempts: 1, ..hanging("j") }]).await;
    let now = SystemClock.now();
    let want =
        jobs::Claim { queue: PAGES.name, most: 1, token: "gone", now, lease_until: now, per_host: 4, worker: None };
    assert_eq!(jobs::claim(&mut conn, &want).await.unwrap().len(), 1);
    let worker = Worked::start(db.open().await, &log, settings());
    log.reach("gave up j", 1).await;
    for _ in 0..500 {
        if !jobs::dead(&mut conn, None, 9).await.unwrap().is_empty() {
            break;
        }
        sleep(Duration::from_millis(20)).await;
    }
    worker.end().await;
    assert_eq!(log.count("run"), 0);
    assert_eq!(jobs::dead(&mut conn, None, 9).await.unwrap().len(), 1);
    assert_empty(&store).await;
}

async fn two_workers_share_the_work(db: Db) {
    let (store, logs) = (db.open().await, [Log::default(), Log::default()]);
    let new: Vec<NewJob> = (0..200).map(|n| job(&format!("j{n}"), json!({ "act": "well", "wait": 10 }))).collect();
    add(&store, &lane("l", "a"), &new).await;
    let mut workers = Vec::new();
    for log in &logs {
        workers.push(Worked::start(db.open().await, log, settings()));
    }
    for _ in 0..1000 {
        if logs[0].count("done") + logs[1].count("done") >= 200 {
            break;
        }
        sleep(Duration::from_millis(20)).await;
    }
    for worker in workers {
        worker.end().await;
    }
    let done = logs.each_ref().map(|log| log.count("done"));
    assert_eq!(done[0] + done[1], 200, "{done:?}");
    assert_eq!(logs[0].count("run") + logs[1].count("run"), 200);
    assert!(done.iter().all(|done| *done > 0), "{done:?}");
    assert_empty(&store).await;
}
