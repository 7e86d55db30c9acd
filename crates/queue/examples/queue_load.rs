//! Load generator for the queue; prints one figure.
//!
//! Usage: `queue_load URL enqueue|cycle|fill|latency [name=number …]`. The benchmarks `cargo xtask bench queue-…`
//! compare it with plain SQL that does the same work.

use std::io::{Write, stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use base::{Clock, SystemClock, new_id};
use chrono::TimeDelta;
use parking_lot::Mutex;
use queue::{Failure, Finished, Handler, Lane, NewJob, Payload, Queue, Running, Settings, Waker, Worker};
use serde::{Deserialize, Serialize};
use store::jobs::{self, Claim};
use store::teams::{self, Team};
use store::{Conn, Options, Store, StoreError};
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Parameters of a run.
#[derive(Clone)]
struct LoadParameters {
    store: Store,
    /// Concurrent clients.
    clients: usize,
    /// Jobs per call.
    batch: usize,
    /// Teams with one lane each.
    teams: usize,
    seconds: usize,
    /// Jobs to add, or to wait for.
    jobs: usize,
}

#[tokio::main(worker_threads = 2)]
async fn main() -> Outcome<()> {
    let mut args = std::env::args().skip(1);
    let (Some(url), Some(what)) = (args.next(), args.next()) else {
        return Err("usage: queue_load URL enqueue|cycle|fill|latency [name=number …]".into());
    };
    let numbers: Vec<String> = args.collect();
    let number = |name: &str, default: usize| {
        let found = numbers.iter().filter_map(|arg| arg.split_once('=')).find(|(key, _)| *key == name);
        found.and_then(|(_, number)| number.parse().ok()).unwrap_or(default)
    };
    let options = Options { connections: Some(16), ..Options::default() };
    let load = LoadParameters {
        store: Store::open(&url, options.clone()).await?,
        clients: number("clients", 4),
        batch: number("batch", 50),
        teams: number("teams", 1),
        seconds: number("seconds", 5),
        jobs: number("jobs", 10_000),
    };
    load.store.migrate().await?;
    load.make_teams().await?;
    let figure = match what.as_str() {
        "enqueue" => load.enqueue().await?,
        "cycle" => load.cycle().await?,
        "fill" => load.fill(load.jobs).await?,
        "latency" => load.latency(Store::open(&url, options).await?).await?,
        other => return Err(format!("unknown task {other}").into()),
    };
    writeln!(stdout(), "{figure}")?;
    Ok(())
}

impl LoadParameters {
    async fn make_teams(&self) -> Outcome<()> {
        let mut conn = self.store.conn().await?;
        for n in 0..self.teams {
            teams::create_if_absent(&mut conn, &Team::new(team(n), "", SystemClock.now())).await?;
        }
        Ok(())
    }

    /// Measures enqueued jobs per second, `batch` per call. Building the jobs is not counted, because plain SQL has
    /// them ready.
    async fn enqueue(&self) -> Outcome<String> {
        let end = Instant::now() + Duration::from_secs(self.seconds as u64);
        let mut clients = JoinSet::new();
        for client in 0..self.clients {
            let load = self.clone();
            clients.spawn(async move {
                let mut conn = load.store.conn().await?;
                let (mut count, mut busy) = (0, Duration::ZERO);
                while Instant::now() < end {
                    let new = made(load.batch)?;
                    let before = Instant::now();
                    count += load.add(&mut conn, client, &new).await?;
                    busy += before.elapsed();
                }
                Ok::<_, StoreError>(count as f64 / busy.as_secs_f64())
            });
        }
        let mut rate = 0.0;
        while let Some(client) = clients.join_next().await {
            rate += client??;
        }
        Ok(format!("{rate:.0}"))
    }

    /// Adds this many jobs and measures the rate.
    async fn fill(&self, jobs: usize) -> Outcome<String> {
        let before = Instant::now();
        let mut conn = self.store.conn().await?;
        let mut added = 0;
        while added < jobs {
            added += self.add(&mut conn, added / 1000, &made(1000.min(jobs - added))?).await?;
        }
        Ok(rate(added, before))
    }

    /// Measures claimed and finished jobs per second, `batch` at a time.
    async fn cycle(&self) -> Outcome<String> {
        let end = Instant::now() + Duration::from_secs(self.seconds as u64);
        let (count, empty) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let before = Instant::now();
        let mut clients = JoinSet::new();
        for _ in 0..self.clients {
            let (load, count, empty) = (self.clone(), Arc::clone(&count), Arc::clone(&empty));
            clients.spawn(async move {
                let mut conn = load.store.conn().await?;
                while Instant::now() < end {
                    let done = load.once(&mut conn).await?;
                    count.fetch_add(done, Ordering::Relaxed);
                    empty.fetch_add(usize::from(done == 0), Ordering::Relaxed);
                }
                Ok::<_, StoreError>(())
            });
        }
        joined(clients).await?;
        if empty.load(Ordering::Relaxed) > count.load(Ordering::Relaxed) {
            return Err("the queue ran empty: fill it with more jobs".into());
        }
        Ok(rate(count.load(Ordering::Relaxed), before))
    }

    async fn once(&self, conn: &mut Conn) -> Result<usize, StoreError> {
        let (now, token) = (SystemClock.now(), new_id().to_string());
        let lease_until = now + TimeDelta::minutes(1);
        let want =
            Claim { queue: PAGES.name, most: self.batch, token: &token, now, lease_until, per_host: 4, worker: None };
        let claimed = jobs::claim(conn, &want).await?;
        let held: Vec<_> = claimed.iter().map(|job| job.held(None)).collect();
        Ok(jobs::finish(conn, &held, SystemClock.now()).await?.len())
    }

    /// Measures the time from the call that adds a job to the start of its handler, in microseconds: median and 99th
    /// percentile. The worker has its own pool, as in another process.
    async fn latency(&self, worker: Store) -> Outcome<String> {
        let (waker, stop, seen) = (Waker::default(), CancellationToken::new(), LatencyRecorder::default());
        let work = Worker::new(worker, Arc::new(SystemClock), Settings::default()).woken_by(waker.clone());
        let work = tokio::spawn(work.with(seen.clone()).run(stop.clone()));
        sleep(Duration::from_millis(500)).await;
        let mut conn = self.store.conn().await?;
        for n in 0..self.jobs {
            let new = [job(&Noted { at: SystemClock.now().timestamp_micros(), url: String::new() })?];
            jobs::enqueue(
                &mut conn,
                &self.lane(&lane_id(n % self.teams), &team(n % self.teams)),
                &new,
                SystemClock.now(),
            )
            .await?;
            if self.store.backend() == store::Backend::Sqlite {
                waker.wake(PAGES);
            }
            sleep(Duration::from_millis(25)).await;
        }
        sleep(Duration::from_secs(1)).await;
        stop.cancel();
        work.await?;
        let mut times = seen.0.lock().clone();
        times.sort_unstable();
        if times.len() != self.jobs {
            return Err(format!("{} of {} jobs ran", times.len(), self.jobs).into());
        }
        Ok(format!("{} {}", times[times.len() / 2], times[times.len() * 99 / 100]))
    }

    async fn add(&self, conn: &mut Conn, client: usize, new: &[NewJob]) -> Result<usize, StoreError> {
        let n = client % self.teams;
        jobs::enqueue(conn, &self.lane(&lane_id(n), &team(n)), new, SystemClock.now()).await
    }

    fn lane<'a>(&self, id: &'a str, team_id: &'a str) -> Lane<'a> {
        Lane { queue: PAGES.name, id, team_id, cap: 10_000, team_cap: 10_000, delay: Duration::ZERO }
    }
}

const PAGES: Queue = Queue { name: "pages", slots: 64 };

/// Payload: the time of enqueueing in microseconds, padded to the size of a page's payload.
#[derive(Serialize, Deserialize)]
struct Noted {
    at: i64,
    url: String,
}

impl Payload for Noted {
    const KIND: &'static str = "load";
    const QUEUE: Queue = PAGES;
}

/// Handler that records the latency of its jobs.
#[derive(Clone, Default)]
struct LatencyRecorder(Arc<Mutex<Vec<i64>>>);

impl Handler for LatencyRecorder {
    type Payload = Noted;
    type Done = ();

    async fn run(&self, job: &Running<Noted>) -> Result<(), Failure> {
        self.0.lock().push(SystemClock.now().timestamp_micros() - job.payload.at);
        Ok(())
    }

    async fn commit(&self, _: &mut Conn, _: &[&Finished<Noted, ()>]) -> Result<(), StoreError> {
        Ok(())
    }
}

fn job(payload: &Noted) -> Result<NewJob, StoreError> {
    NewJob::of(new_id(), payload, SystemClock.now())
}

fn made(count: usize) -> Result<Vec<NewJob>, StoreError> {
    let payload = Noted { at: 0, url: "x".repeat(290) };
    (0..count).map(|_| job(&payload)).collect()
}

fn team(n: usize) -> String {
    format!("team{n:04}")
}

fn lane_id(n: usize) -> String {
    format!("01a1ff40-bd9d-73e7-a6e5-2edba48b{n:04}")
}

async fn joined(mut clients: JoinSet<Result<(), StoreError>>) -> Outcome<()> {
    while let Some(client) = clients.join_next().await {
        client??;
    }
    Ok(())
}

fn rate(count: usize, before: Instant) -> String {
    format!("{:.0}", count as f64 / before.elapsed().as_secs_f64())
}
