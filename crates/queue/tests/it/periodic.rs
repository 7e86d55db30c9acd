//! Periodic tasks: which process runs them, and when.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base::{Clock, Timestamp};
use chrono::{DateTime, TimeDelta};
use queue::{Periodic, Status, run_periodic};
use serde_json::{Value, json};
use store::{Store, leases, periodic};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::act::Log;
use crate::db::Db;
use crate::suite;

suite!(
    one_process_does_a_task_again_and_again,
    tasks_do_not_stop_each_other,
    a_task_without_its_lease_is_dropped,
    a_task_that_runs_ends_before_its_process,
    the_status_of_the_last_run_is_kept,
);

const EVERY: Duration = Duration::from_millis(20);

/// Clock that stands still, so that no lease expires because the machine is slow.
#[derive(Debug)]
struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        DateTime::from_timestamp(1_790_000_000, 0).unwrap()
    }
}

fn start(store: &Store, tasks: Vec<Periodic>) -> (CancellationToken, JoinHandle<()>) {
    let stop = CancellationToken::new();
    let running = tokio::spawn(run_periodic(store.clone(), Arc::new(Still), tasks, stop.clone()));
    (stop, running)
}

/// Creates a task that logs its name.
fn dummy(name: &'static str, log: &Log) -> Periodic {
    let log = log.clone();
    Periodic::new(name, EVERY, move || {
        log.add(format!("run {name}"));
        async { Ok::<_, String>(Status::done()) }
    })
}

async fn one_process_does_a_task_again_and_again(db: Db) {
    let logs = [Log::default(), Log::default()];
    let (first, second) = (db.open().await, db.open().await);
    let (stop_first, first) = start(&first, vec![dummy("tidy", &logs[0])]);
    logs[0].reach("run", 2).await;
    let (stop_second, second) = start(&second, vec![dummy("tidy", &logs[1])]);
    logs[0].reach("run", 12).await;
    assert_eq!(logs[1].count("run"), 0, "the lease is the first one's");
    stop_first.cancel();
    first.await.unwrap();
    let done = logs[0].count("run");
    logs[1].reach("run", 2).await;
    stop_second.cancel();
    second.await.unwrap();
    assert_eq!(logs[0].count("run"), done);
    let (store, now) = (db.open().await, Still.now());
    let mut conn = store.conn().await.unwrap();
    let is_free = leases::acquire(&mut conn, "tidy", "test", now, now + TimeDelta::seconds(1)).await.unwrap();
    assert!(is_free, "the lease was given back");
}

async fn tasks_do_not_stop_each_other(db: Db) {
    let log = Log::default();
    let count = Arc::new(AtomicUsize::new(0));
    let odd = Arc::clone(&count);
    let tasks = vec![
        Periodic::new("hang", EVERY, std::future::pending::<Result<Status, String>>),
        Periodic::new("odd", EVERY, move || {
            let n = odd.fetch_add(1, Ordering::Relaxed);
            async move {
                assert!(n > 0, "panics the first time");
                if n == 1 { Err("fails the second time") } else { Ok(Status::done()) }
            }
        }),
        dummy("tidy", &log),
    ];
    let (stop, running) = start(&db.open().await, tasks);
    log.reach("run", 5).await;
    while count.load(Ordering::Relaxed) < 4 {
        sleep(Duration::from_millis(5)).await;
    }
    stop.cancel();
    // The hanging task ends only when it is aborted.
    running.abort();
}

async fn a_task_without_its_lease_is_dropped(db: Db) {
    struct Dropped(Log);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.add("drop".to_owned());
        }
    }
    let (store, log) = (db.open().await, Log::default());
    let logged = log.clone();
    let task = Periodic::new("long", EVERY, move || {
        logged.add("run".to_owned());
        let dropped = Dropped(logged.clone());
        async move {
            let _dropped = dropped;
            std::future::pending::<Result<Status, String>>().await
        }
    });
    let (stop, running) = start(&store, vec![task]);
    log.reach("run", 1).await;
    // As if this process had been suspended, and another one had taken over.
    let (mut conn, now) = (store.conn().await.unwrap(), Still.now());
    let later = now + TimeDelta::minutes(10);
    assert!(leases::acquire(&mut conn, "long", "other", later, later + TimeDelta::minutes(1)).await.unwrap());
    log.reach("drop", 1).await;
    stop.cancel();
    running.await.unwrap();
    assert_eq!(log.count("run"), 1);
}

async fn a_task_that_runs_ends_before_its_process(db: Db) {
    let log = Log::default();
    let logged = log.clone();
    let (held, stopped) = watch::channel(());
    let task = Periodic::new("slow", EVERY, move || {
        let (log, mut stopped) = (logged.clone(), stopped.clone());
        async move {
            log.add("run".to_owned());
            // It goes on for a while after the process was told to stop.
            while stopped.changed().await.is_ok() {}
            sleep(Duration::from_millis(300)).await;
            log.add("done".to_owned());
            Ok::<_, String>(Status::done())
        }
    });
    let (stop, running) = start(&db.open().await, vec![task]);
    log.reach("run", 1).await;
    stop.cancel();
    drop(held);
    running.await.unwrap();
    assert_eq!((log.count("run"), log.count("done")), (1, 1));
}

async fn the_status_of_the_last_run_is_kept(db: Db) {
    let count = Arc::new(AtomicUsize::new(0));
    let own = Arc::clone(&count);
    let counts = Periodic::new("counts", Duration::from_secs(3600), move || {
        let n = own.fetch_add(1, Ordering::Relaxed);
        async move { Ok::<_, String>(Status::new("counted").with("runs", n + 1).with("left", json!(["a"]))) }
    });
    let fails = Periodic::new("fails", Duration::from_secs(60), || async { Err::<Status, _>("no room") });
    let store = db.open().await;
    let (stop, running) = start(&store, vec![counts, fails]);
    let mut conn = store.conn().await.unwrap();
    let mut runs = Vec::new();
    while runs.len() < 2 {
        sleep(Duration::from_millis(5)).await;
        runs = periodic::all(&mut conn).await.unwrap();
    }
    drop(conn);
    stop.cancel();
    running.await.unwrap();
    let seen = |index: usize| {
        let run = &runs[index];
        (run.name.as_str(), run.status.as_str(), run.error.as_deref(), (run.next_at - run.started_at).num_seconds())
    };
    assert_eq!(seen(0), ("counts", "counted", None, 3600));
    assert_eq!(serde_json::from_str::<Value>(&runs[0].details).unwrap(), json!({ "runs": 1, "left": ["a"] }));
    assert_eq!(seen(1), ("fails", "failed", Some("\"no room\""), 60));
    assert!(runs.iter().all(|run| run.started_at == Still.now() && (0..10_000).contains(&run.duration_ms)));
}
