//! One worker and the results of its jobs.

use std::time::{Duration, Instant};

use base::{Clock, SystemClock};
use queue::Settings;
use serde_json::json;
use store::jobs::{self, Lane, NewJob};
use store::{hosts, scrapes};
use tokio::time::{sleep, timeout};

use crate::act::{HOOKS, Hanging, Log, PAGES, Worked, add, assert_empty, job, lane, settings, well};
use crate::db::Db;
use crate::suite;

suite!(
    every_job_is_done_once,
    failures_are_tried_again_and_then_given_up,
    one_spoilt_commit_does_not_spoil_the_others,
    a_commit_that_can_never_succeed_ends_its_job_at_once,
    a_commit_that_fails_comes_back_without_holding_up_others,
    a_commit_that_always_loses_its_connection_is_given_up,
    what_cannot_be_read_is_given_up,
    a_full_queue_of_hooks_does_not_stop_pages,
    a_queue_without_slots_is_left_to_others,
    what_a_host_answers_sets_its_pace,
    lanes_of_many_phases_end_in_order,
    a_worker_that_sleeps_is_woken,
    a_host_is_asked_four_times_at_a_time,
    what_ends_jobs_claims_the_next,
    the_next_request_follows_when_one_is_over,
    a_refusal_sends_back_those_who_wait,
);

async fn every_job_is_done_once(db: Db) {
    let (store, log) = (db.open().await, Log::default());
    for (name, team) in [("x", "a"), ("y", "b")] {
        let new: Vec<NewJob> = (0..150).map(|n| well(&format!("{name}{n}"))).collect();
        add(&store, &Lane { cap: 5, ..lane(name, team) }, &new).await;
    }
    let worker = Worked::start(db.open().await, &log, settings());
    log.reach("done", 300).await;
    worker.end().await;
    assert_eq!((log.count("run"), log.count("drop"), log.count("done")), (300, 300, 300));
    assert!(log.count("commit") < 300, "some are written together");
    assert_empty(&store).await;
    assert!(scrapes::find(&mut store.conn().await.unwrap(), "a", "y149").await.unwrap().is_some());
}

async fn failures_are_tried_again_and_then_given_up(db: Db) {
    let (store, log) = (db.open().await, Log::default());
    let new = [
        job("once", json!({ "act": "fail", "times": 1 })),
        job("always", json!({ "act": "fail" })),
        job("hopeless", json!({ "act": "dead" })),
        job("panics", json!({ "act": "panic", "times": 1 })),
    ];
    add(&store, &lane("l", "a"), &new).await;
    let worker = Worked::start(db.open().await, &log, settings());
    log.reach("done", 2).await;
    log.reach("gave up", 2).await;
    worker.end().await;
    let runs = ["run once", "run always", "run hopeless", "run panics"].map(|line| log.count(line));
    assert_eq!(runs, [2, 3, 1, 2]);
    assert_eq!((log.count("gave up always: failed"), log.count("gave up hopeless: hopeless")), (1, 1));
    let dead = jobs::dead(&mut store.conn().await.unwrap(), None, 9).await.unwrap();
    assert_eq!(dead.iter().map(|dead| dead.id.as_str()).collect::<Vec<_>>(), ["always", "hopeless"]);
    assert_empty(&store).await;
}

async fn one_spoilt_commit_does_not_spoil_the_others(db: Db) {
    let (store, log) = (db.open().await, Log::default());
    let mut new: Vec<NewJob> = (0..6).map(|n| job(&format!("good{n}"), json!({ "act": "well", "wait": 50 }))).collect();
    new.push(NewJob { max_attempts: 1, ..job("bad", json!({ "act": "spoil", "wait": 50 })) });
    add(&store, &lane("l", "a"), &new).await;
    let worker = Worked::start(db.open().await, &log, settings());
    log.reach("done", 6).await;
    for _ in 0..500 {
        let left = jobs::list(&mut store.conn().await.unwrap(), jobs::Filter::default(), None, 9).await.unwrap();
        if left.iter().all(|job| job.last_error.is_some()) {
            break;
        }
        sleep(Duration::from_millis(20)).await;
    }
    worker.end().await;
    let mut conn = store.conn().await.unwrap();
    assert!(scrapes::find(&mut conn, "a", "bad").await.unwrap().is_none(), "its half is rolled back");
    assert_eq!(jobs::inconsistencies(&mut conn).await.unwrap(), Vec::<String>::new());
}

async fn a_commit_that_can_never_succeed_ends_its_job_at_once(db: Db) {
    let (store, log) = (db.open().await, Log::default());
    let poison: Vec<NewJob> = (0..30).map(|n| job(&format!("bad{n}"), json!({ "act": "spoil" }))).collect();
    add(&store, &Lane { cap: 4, ..lane("poison", "a") }, &poison).await;
    let good: Vec<NewJob> = (0..60).map(|n| well(&format!("good{n}"))).collect();
    add(&store, &Lane { cap: 4, ..lane("good", "b") }, &good).await;
    let began = Instant::now();
    let worker = Worked::start(db.open().await, &log, settings());
    log.reach("done good", 60).await;
    assert!(began.elapsed() < Duration::from_secs(10), "each used to take more than three seconds of everybody's time");
    log.reach("gave up bad", 30).await;
    worker.end().await;
    assert_eq!((log.count("run bad"), log.count("done bad")), (30, 0), "none is tried again");
    assert_eq!(jobs::dead(&mut store.conn().await.unwrap(), None, 99).await.unwrap().len(), 30);
    assert_empty(&store).await;
}

async fn a_commit_that_fails_comes_back_without_holding_up_others(db: Db) {
    let (store, log) = (db.open().await, Log::default());
    let jam = |id: &str, times: Option<i32>| job(id, json!({ "act": "jam", "times": times }));
    let always = (0..20).map(|n| jam(&format!("always{n}"), None));
    add(&store, &lane("jam", "a"), &always.chain([jam("once", Some(1))]).collect::<Vec<_>>()).await;
    let worker = Worked::start(db.open().await, &log, settings());
    log.reach("run", 5).await;
    let began = Instant::now();
    for n in 0..5 {
        add(&store, &lane("good", "b"), &[well(&format!("good{n}"))]).await;
        worker.waker.wake(PAGES);
        log.reach(&format!("done good{n}"), 1).await;
    }
    assert!(began.elapsed() < Duration::from_secs(20), "each used to take more than three seconds of everybody's time");
    log.reach("done once", 1).await;
    log.reach("gave up always", 20).await;
    worker.end().await;
    assert_eq!((log.count("run once"), log.count("run always")), (2, 60), "as often as it may");
    assert_empty(&store).await;
}

/// The database is available all the time, so the failures count as attempts.
async fn a_commit_that_always_loses_its_connection_is_given_up(db: Db) {
    let (store, log) = (db.open().await, Log::default());
    let lose = |id: &str, times: Option<i32>| job(id, json!({ "act": "lose", "times": times }));
    add(&store, &lane("l", "a"), &[lose("always", None), lose("once", Some(1)), well("good")]).await;
    let worker = Worked::start(db.open().await, &log, settings());
    log.reach("done good", 1).await;
    log.reach("done once", 1).await;
    log.reach("gave up always", 1).await;
    worker.end().await;
    assert_eq!((log.count("run once"), log.count("run always")), (2, 3), "as often as it may");
    assert_empty(&store).await;
}

async fn what_cannot_be_read_is_given_up(db: Db) {
    let (store, log) = (db.open().await, Log::default());
    add(&store, &lane("l", "a"), &[job("j", json!([1, 2])), NewJob { kind: "newer", ..well("k") }]).await;
    let worker = Worked::start(db.open().await, &log, settings());
    for _ in 0..500 {
        let mut conn = store.conn().await.unwrap();
        let left = jobs::list(&mut conn, jobs::Filter::default(), None, 9).await.unwrap();
        // One job is dead-lettered; the other has no handler here and was put back.
        if left.len() == 1 && left[0].last_error.is_some() && !left[0].is_running {
            break;
        }
        drop(conn);
        sleep(Duration::from_millis(20)).await;
    }
    worker.end().await;
    let mut conn = store.conn().await.unwrap();
    assert!(jobs::dead(&mut conn, None, 9).await.unwrap()[0].error.contains("payload"));
    let left = jobs::list(&mut conn, jobs::Filter::default(), None, 9).await.unwrap();
    assert_eq!((left.len(), left[0].id.as_str(), left[0].attempt), (1, "k", 0), "for a newer worker");
    assert_eq!(log.lines(), ["unread j of l"]);
}

async fn a_full_queue_of_hooks_does_not_stop_pages(db: Db) {
    let (store, log) = (db.open().await, Log::default());
    let hooks = Lane { queue: HOOKS.name, ..lane("l", "a") };
    let hang = |n| NewJob::of(format!("h{n}"), &Hanging {}, SystemClock.now()).unwrap();
    let hang: Vec<NewJob> = (0..9).map(hang).collect();
    add(&store, &hooks, &hang).await;
    let worker = Worked::start(db.open().await, &log, settings());
    log.reach("run h", 4).await;
    add(&store, &lane("l", "a"), &[well("page")]).await;
    worker.waker.wake(PAGES);
    log.reach("done page", 1).await;
    assert_eq!(log.count("run h"), 4);
    worker.end().await;
}

async fn a_queue_without_slots_is_left_to_others(db: Db) {
    let (store, log) = (db.open().await, Log::default());
    let hang = NewJob::of("h", &Hanging {}, SystemClock.now()).unwrap();
    add(&store, &Lane { queue: HOOKS.name, ..lane("l", "a") }, &[hang]).await;
    let slots = [(HOOKS.name.to_owned(), 0)].into_iter().collect();
    let worker = Worked::start(db.open().await, &log, Settings { slots, ..settings() });
    add(&store, &lane("l", "a"), &[well("page")]).await;
    worker.waker.wake(HOOKS);
    worker.waker.wake(PAGES);
    log.reach("done page", 1).await;
    worker.end().await;
    assert_eq!(log.count("run h"), 0);
}

async fn what_a_host_answers_sets_its_pace(db: Db) {
    let (store, log) = (db.open().await, Log::default());
    let ask = |id, act| NewJob { host: Some("h".to_owned()), ..job(id, json!({ "act": act })) };
    let one_by_one = Lane { cap: 1, ..lane("l", "a") };
    add(&store, &one_by_one, &[ask("first", "refused")]).await;
    let worker = Worked::start(db.open().await, &log, settings());
    log.reach("done first", 1).await;
    // The host asks for a pause of a minute.
    add(&store, &one_by_one, &[ask("second", "well")]).await;
    worker.waker.wake(PAGES);
    let due = async {
        loop {
            let due = jobs::next_due(&mut store.conn().await.unwrap()).await.unwrap();
            if due[PAGES.name] > SystemClock.now() + Duration::from_secs(30) {
                return;
            }
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(Duration::from_secs(10), due).await.expect("its lane waits for the host");
    worker.end().await;
    assert_eq!(log.count("run second"), 0);
}

async fn lanes_of_many_phases_end_in_order(db: Db) {
    let (store, log) = (db.open().await, Log::default());
    let new: Vec<NewJob> = (0..12).map(|n| NewJob { phase: n / 4, ..well(&format!("p{}-{n}", n / 4)) }).collect();
    add(&store, &lane("l", "a"), &new).await;
    let worker = Worked::start(db.open().await, &log, Settings { poll: Duration::from_secs(30), ..settings() });
    log.reach("done", 12).await;
    worker.end().await;
    let runs: Vec<String> = log.lines().into_iter().filter(|line| line.starts_with("run")).collect();
    let phases: Vec<&str> = runs.iter().map(|line| &line[4..6]).collect();
    assert!(phases.is_sorted(), "{phases:?}");
    assert_empty(&store).await;
}

/// Poll interval of half a minute: after the first job, which may be found by polling, the others run only when the
/// worker is woken. On PostgreSQL another process notifies it.
async fn a_worker_that_sleeps_is_woken(db: Db) {
    let (store, log) = (db.open().await, Log::default());
    let worker = Worked::start(db.open().await, &log, Settings { poll: Duration::from_secs(30), ..settings() });
    for n in 0..5 {
        add(&store, &lane("l", "a"), &[well(&format!("j{n}"))]).await;
        if store.backend() == store::Backend::Sqlite {
            worker.waker.wake(PAGES);
        }
        timeout(Duration::from_secs(5), log.reach(&format!("done j{n}"), 1)).await.expect("it is woken");
    }
    worker.end().await;
    assert_empty(&store).await;
}

async fn a_host_is_asked_four_times_at_a_time(db: Db) {
    let (store, log) = (db.open().await, Log::default());
    let slow = |n| NewJob { host: Some("h".to_owned()), ..job(&format!("j{n}"), json!({ "act": "well", "wait": 60 })) };
    add(&store, &lane("l", "a"), &(0..12).map(slow).collect::<Vec<_>>()).await;
    let worker = Worked::start(db.open().await, &log, settings());
    while log.count("done") < 12 {
        let running = log.count("run").saturating_sub(log.count("drop"));
        assert!(running <= 4, "{running} at a time");
        assert!(hosts::in_flight(&mut store.conn().await.unwrap(), "h").await.unwrap() <= 4);
        sleep(Duration::from_millis(5)).await;
    }
    worker.end().await;
    assert_empty(&store).await;
}

/// Poll interval of half a minute and one slot: only the commit of a job claims the next one.
async fn what_ends_jobs_claims_the_next(db: Db) {
    let (store, log) = (db.open().await, Log::default());
    for name in ["x", "y"] {
        let new: Vec<NewJob> = (0..30).map(|n| well(&format!("{name}{n}"))).collect();
        add(&store, &Lane { cap: 1, ..lane(name, "a") }, &new).await;
    }
    let worker = Worked::start(db.open().await, &log, Settings { poll: Duration::from_secs(30), ..settings() });
    timeout(Duration::from_secs(15), log.reach("done", 60)).await.expect("one after the other");
    worker.end().await;
    assert_eq!(log.count("run"), 60);
    assert_empty(&store).await;
}

/// Highest numbers of concurrent requests and of concurrent jobs.
fn most(log: &Log) -> (i32, i32) {
    let (mut asking, mut running, mut most) = (0, 0, (0, 0));
    for line in log.lines() {
        match line.split(' ').next() {
            Some("run") => (asking, running) = (asking + 1, running + 1),
            Some("asked") => asking -= 1,
            Some("drop") => running -= 1,
            _ => {}
        }
        most = (asking.max(most.0), running.max(most.1));
    }
    most
}

fn asking(host: &str, id: &str) -> NewJob {
    NewJob { host: Some(host.to_owned()), ..job(id, json!({ "act": "well", "wait": 5, "pack": 40 })) }
}

/// Twenty slots, of which a host that answers in 5 ms gives four.
fn twenty() -> Settings {
    Settings { slots: [(PAGES.name.to_owned(), 20)].into_iter().collect(), ..settings() }
}

async fn the_next_request_follows_when_one_is_over(db: Db) {
    let (store, log) = (db.open().await, Log::default());
    let new: Vec<NewJob> = (0..100).map(|n| asking("h", &format!("j{n}"))).collect();
    add(&store, &lane("l", "a"), &new).await;
    let worker = Worked::start(db.open().await, &log, twenty());
    log.reach("done", 100).await;
    worker.end().await;
    let (requests, running) = most(&log);
    assert!(requests <= 4, "{requests} requests at a time");
    assert!(running > 4, "{running} jobs at a time");
    assert_eq!((log.count("run"), hosts::in_flight(&mut store.conn().await.unwrap(), "h").await.unwrap()), (100, 0));
    assert_empty(&store).await;
}

async fn a_refusal_sends_back_those_who_wait(db: Db) {
    let (store, log) = (db.open().await, Log::default());
    let mut new: Vec<NewJob> = (0..90).map(|n| asking("h", &format!("j{n:02}"))).collect();
    // Sorted by their times.
    let now = SystemClock.now();
    new.iter_mut().zip(0..).for_each(|(job, n)| job.run_at = now + Duration::from_millis(n) - Duration::from_secs(9));
    let refused = job("refused", json!({ "act": "refused" }));
    new[40] = NewJob { host: Some("h".to_owned()), run_at: new[40].run_at, ..refused };
    add(&store, &lane("l", "a"), &new).await;
    let worker = Worked::start(db.open().await, &log, twenty());
    log.reach("done refused", 1).await;
    let lines = log.lines();
    let at = lines.iter().position(|line| line == "drop refused").unwrap();
    let later = || lines[at..].iter().filter(|line| line.starts_with("run"));
    assert!(later().count() <= 3, "{:?} after the refusal", later().collect::<Vec<_>>());
    // All others are ready and have lost no attempt.
    let listed =
        async || jobs::list(&mut store.conn().await.unwrap(), jobs::Filter::default(), None, 99).await.unwrap();
    let (mut left, until) = (listed().await, Instant::now() + Duration::from_secs(10));
    while left.iter().any(|job| job.is_running) && Instant::now() < until {
        sleep(Duration::from_millis(20)).await;
        left = listed().await;
    }
    assert!(!left.is_empty() && left.iter().all(|job| job.attempt == 0 && !job.is_running), "{left:?}");
    worker.end().await;
    assert_eq!(jobs::inconsistencies(&mut store.conn().await.unwrap()).await.unwrap(), Vec::<String>::new());
}
