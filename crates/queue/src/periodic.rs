//! Periodic tasks, each run by one of the processes that share a database.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use base::{Clock, new_id};
use chrono::TimeDelta;
use futures_util::FutureExt;
use futures_util::future::join_all;
use metrics::{counter, gauge};
use serde_json::{Map, Value};
use store::periodic::TaskRun;
use store::{Store, StoreError, leases, periodic};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;

/// Longest interval between two renewals of a lease while its task runs.
const MAX_RENEWAL: Duration = Duration::from_secs(60);
/// Number of renewals or runs that the holder may miss before another process takes over.
const MISSED: u32 = 2;

/// Runs of a task in this process, by result.
const RUNS: &str = "quarry_task_runs_total";
/// Duration of the last run of a task in this process, in seconds.
const SECONDS: &str = "quarry_task_seconds";
/// Status of a run that returned an error or panicked.
const FAILED: &str = "failed";

type Run = Pin<Box<dyn Future<Output = Result<Status, String>> + Send>>;

/// Result of a run, for operators.
#[derive(Debug, Clone, PartialEq)]
pub struct Status {
    /// Word, such as `done`.
    pub word: &'static str,
    /// Details, such as the number of removed rows.
    pub details: Map<String, Value>,
}

impl Status {
    /// Returns the status of a run that did its work.
    #[must_use]
    pub fn done() -> Self {
        Self::new("done")
    }

    /// Returns a status with this word, which is also a label of a metric.
    #[must_use]
    pub fn new(word: &'static str) -> Self {
        Self { word, details: Map::new() }
    }

    /// Adds a detail.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }
}

/// Periodic task.
pub struct Periodic {
    name: &'static str,
    every: Duration,
    task: Box<dyn Fn() -> Run + Send + Sync>,
}

impl Periodic {
    /// Creates a task. `name` is also the name of its lease and of its status: the same in all processes, and different
    /// for each task.
    pub fn new<F, E>(name: &'static str, every: Duration, task: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Status, E>> + Send + 'static,
        E: fmt::Debug,
    {
        let task = move || -> Run {
            let run = task();
            Box::pin(async move { run.await.map_err(|error| format!("{error:?}")) })
        };
        Self { name, every: every.max(Duration::from_millis(1)), task: Box::new(task) }
    }

    fn renewal(&self) -> Duration {
        self.every.min(MAX_RENEWAL)
    }

    /// Returns the duration of the lease: until the next run, plus a margin.
    fn lease(&self) -> Duration {
        self.every + self.renewal() * MISSED
    }
}

impl fmt::Debug for Periodic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Periodic").field("name", &self.name).field("every", &self.every).finish_non_exhaustive()
    }
}

/// Runs each task at once and then at its interval until `stop`, unless another process has its lease. The holder keeps
/// the lease until it stops or is lost. A failed task is logged and runs again at its next turn. A task that runs at
/// `stop` ends first; a task whose lease is lost is dropped. The last run of each task is kept in [`store::periodic`].
#[crate::boxed]
pub async fn run_periodic(store: Store, clock: Arc<dyn Clock>, tasks: Vec<Periodic>, stop: CancellationToken) {
    let process = Process { store, clock, id: new_id().to_string() };
    join_all(tasks.iter().map(|task| process.repeat(task, &stop))).await;
}

struct Process {
    store: Store,
    clock: Arc<dyn Clock>,
    /// Holder of the leases.
    id: String,
}

impl Process {
    async fn repeat(&self, task: &Periodic, stop: &CancellationToken) {
        let mut ticks = interval(task.every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut is_ours = false;
        while stop.run_until_cancelled(ticks.tick()).await.is_some() {
            match self.acquire(task).await {
                Ok(acquired) => is_ours = acquired,
                Err(error) => {
                    if error.is_news() {
                        tracing::warn!(task = task.name, %error, "could not acquire the lease of a periodic task; trying again at its next turn");
                    }
                    continue;
                }
            }
            if is_ours {
                is_ours = self.once(task).await;
            }
        }
        if is_ours {
            let release = async { leases::release(&mut self.store.conn().await?, task.name, &self.id).await };
            if let Err(error) = release.await {
                tracing::debug!(task = task.name, %error, "could not release the lease of a periodic task; it will expire");
            }
        }
    }

    /// Runs the task once; `false` if the lease was lost.
    async fn once(&self, task: &Periodic) -> bool {
        let (started_at, started) = (self.clock.now(), Instant::now());
        let run = AssertUnwindSafe((task.task)()).catch_unwind();
        let done = tokio::select! {
            done = run => done,
            () = self.lost(task) => {
                tracing::warn!(task = task.name, "lost the lease of a periodic task; this run is cancelled");
                return false;
            }
        };
        let (status, error) = match done {
            Ok(Ok(status)) => (status, None),
            Ok(Err(error)) => {
                tracing::warn!(task = task.name, error, "periodic task failed; trying again at its next turn");
                (Status::new(FAILED), Some(error))
            }
            Err(_) => {
                tracing::error!(task = task.name, "periodic task panicked; trying again at its next turn");
                (Status::new(FAILED), Some("panicked".to_owned()))
            }
        };
        let took = started.elapsed();
        counter!(RUNS, "task" => task.name, "result" => status.word).increment(1);
        gauge!(SECONDS, "task" => task.name).set(took.as_secs_f64());
        tracing::debug!(task = task.name, status = status.word, details = ?status.details, ?took, "periodic task ended");
        self.keep(TaskRun {
            name: task.name.to_owned(),
            started_at,
            duration_ms: i64::try_from(took.as_millis()).unwrap_or(i64::MAX),
            status: status.word.to_owned(),
            details: Value::Object(status.details).to_string(),
            error,
            next_at: (started_at + TimeDelta::from_std(task.every).unwrap_or_default()).max(self.clock.now()),
        })
        .await;
        true
    }

    /// Stores the status of a run. Without it operators see the one before.
    async fn keep(&self, run: TaskRun) {
        let (name, keep) = (run.name.clone(), async { periodic::keep(&mut self.store.conn().await?, run).await });
        if let Err(error) = keep.await {
            tracing::debug!(task = name, %error, "could not store the status of a periodic task");
        }
    }

    /// Renews the lease for as long as it is polled; returns when the lease is lost.
    async fn lost(&self, task: &Periodic) {
        let mut until = Instant::now() + task.lease();
        loop {
            sleep(task.renewal()).await;
            match self.acquire(task).await {
                Ok(true) => until = Instant::now() + task.lease(),
                Err(error) if Instant::now() < until => {
                    tracing::debug!(task = task.name, %error, "could not renew the lease of a periodic task; trying again");
                }
                _ => return,
            }
        }
    }

    async fn acquire(&self, task: &Periodic) -> Result<bool, StoreError> {
        let now = self.clock.now();
        let until = now + TimeDelta::from_std(task.lease()).unwrap_or_default();
        leases::acquire(&mut self.store.conn().await?, task.name, &self.id, now, until).await
    }
}
