//! Tasks that recur, each of them done by one process of all that share a database.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use base::{Clock, new_id};
use chrono::TimeDelta;
use futures_util::FutureExt;
use futures_util::future::join_all;
use store::{Store, StoreError, leases};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;

/// The longest pause between two renewals of a lease while its task runs.
const MAX_RENEWAL: Duration = Duration::from_secs(60);
/// Renewals, or beginnings of the task, that its holder may miss before another process takes over.
const MISSED: u32 = 2;

type Run = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

/// A task that recurs.
pub struct Periodic {
    name: &'static str,
    every: Duration,
    task: Box<dyn Fn() -> Run + Send + Sync>,
}

impl Periodic {
    /// The `name` is also that of the task's lease, so all processes must use the same, and no two tasks.
    pub fn new<F, E>(name: &'static str, every: Duration, task: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
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

    /// Until the next beginning, and a while longer.
    fn lease(&self) -> Duration {
        self.every + self.renewal() * MISSED
    }
}

impl fmt::Debug for Periodic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Periodic").field("name", &self.name).field("every", &self.every).finish_non_exhaustive()
    }
}

/// Does each task at once and then every so often until `stop`, unless another process does it. The process that does it
/// keeps doing it, until it stops or is lost. A failed task is logged, and tried again at its next turn; one that runs when
/// `stop` comes ends first; one whose lease is lost is dropped.
#[crate::boxed]
pub async fn run_periodic(store: Store, clock: Arc<dyn Clock>, tasks: Vec<Periodic>, stop: CancellationToken) {
    let process = Process { store, clock, id: new_id().to_string() };
    join_all(tasks.iter().map(|task| process.repeat(task, &stop))).await;
}

struct Process {
    store: Store,
    clock: Arc<dyn Clock>,
    /// Whose leases they are.
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
                        tracing::warn!(task = task.name, %error, "periodic task not begun, it is tried again");
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
                tracing::debug!(task = task.name, %error, "lease of a periodic task not given back, it will expire");
            }
        }
    }

    /// `false` when the lease was lost.
    async fn once(&self, task: &Periodic) -> bool {
        let run = AssertUnwindSafe((task.task)()).catch_unwind();
        let done = tokio::select! {
            done = run => done,
            () = self.lost(task) => {
                tracing::warn!(task = task.name, "lease of a periodic task lost, the task is dropped");
                return false;
            }
        };
        match done {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(task = task.name, error, "periodic task failed, it is tried again"),
            Err(_) => tracing::error!(task = task.name, "periodic task panicked, it is tried again"),
        }
        true
    }

    /// Renews the lease for as long as it is polled; ends when it is lost.
    async fn lost(&self, task: &Periodic) {
        let mut until = Instant::now() + task.lease();
        loop {
            sleep(task.renewal()).await;
            match self.acquire(task).await {
                Ok(true) => until = Instant::now() + task.lease(),
                Err(error) if Instant::now() < until => {
                    tracing::debug!(task = task.name, %error, "lease of a periodic task not renewed, it is tried again");
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
