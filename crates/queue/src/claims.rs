//! Claiming: as many jobs as there are free slots, whenever there may be some.

use std::sync::Arc;
use std::time::Duration;

use base::new_id;
use chrono::TimeDelta;
use store::StoreError;
use store::jobs::{self, Claim, Claimed, Queue, Retry};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::worker::{Core, Handlers};

/// Jobs of one claim.
const MAX_JOBS: usize = 64;
/// How long to wait for more free slots when nearly all are taken.
const GATHER: Duration = Duration::from_millis(3);
/// Pause after the database did not answer.
const PAUSE: Duration = Duration::from_secs(1);
/// When a job is tried again that no handler here knows.
const UNKNOWN: TimeDelta = TimeDelta::seconds(60);

/// The claims of one queue.
pub(crate) struct Claims {
    pub(crate) core: Arc<Core>,
    pub(crate) handlers: Arc<Handlers>,
    pub(crate) queue: Queue,
    pub(crate) slots: usize,
    /// Where the jobs run: the tasks, and the runtime.
    pub(crate) running: TaskTracker,
    pub(crate) jobs: Handle,
}

/// What a job that runs here holds: one of its queue's slots, and its lease, which is kept until this is dropped.
pub(crate) struct Slot {
    core: Arc<Core>,
    id: String,
    token: String,
    _permit: OwnedSemaphorePermit,
}

impl Claims {
    /// Claims and starts jobs until `stop`.
    pub(crate) async fn run(self, stop: CancellationToken) {
        let (core, free) = (&self.core, Arc::new(Semaphore::new(self.slots)));
        while let Some(Ok(first)) = stop.run_until_cancelled(Arc::clone(&free).acquire_owned()).await {
            // A full worker gets its slots back one by one. Each alone would cost a claim.
            if free.available_permits() + 1 < self.slots / 8 {
                sleep(GATHER).await;
            }
            let mut permits = vec![first];
            permits.extend((1..MAX_JOBS).map_while(|_| Arc::clone(&free).try_acquire_owned().ok()));
            match self.claim(permits.len()).await {
                Ok(jobs) => {
                    let came = jobs.len();
                    jobs.into_iter().zip(permits.drain(..)).for_each(|(job, permit)| self.start(job, permit));
                    drop(permits);
                    // Some, but not all, does not mean that there are no more: teams are served in turns.
                    if came == 0 {
                        core.idle.notify_one();
                        stop.run_until_cancelled(core.waker.woken(self.queue)).await;
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, queue = self.queue.name, "no jobs claimed");
                    stop.run_until_cancelled(sleep(PAUSE)).await;
                }
            }
        }
    }

    async fn claim(&self, most: usize) -> Result<Vec<Claimed>, StoreError> {
        let (core, token) = (&self.core, new_id().to_string());
        let (now, lease_until, per_host) = (core.now(), core.lease_until(), core.settings.per_host);
        let want = Claim { queue: self.queue.name, most, token: &token, now, lease_until, per_host };
        jobs::claim(&mut core.store.writing().await?, &want).await
    }

    fn start(&self, job: Claimed, permit: OwnedSemaphorePermit) {
        let (core, handler) = (Arc::clone(&self.core), self.handlers.get(job.kind.as_str()).cloned());
        let cancelled = core.held.add(&job);
        let slot = Slot { core: Arc::clone(&core), id: job.id.clone(), token: job.token.clone(), _permit: permit };
        let work = async move {
            match handler {
                Some(handler) => handler.process(core, job, slot, cancelled).await,
                None => {
                    put_off(&core, &job).await;
                    drop(slot);
                }
            }
        };
        self.running.spawn_on(work, &self.jobs);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.core.held.remove(&self.id, &self.token);
    }
}

/// A newer worker may know this kind of job.
async fn put_off(core: &Core, job: &Claimed) {
    tracing::warn!(kind = job.kind, "a job of an unknown kind, it is left for another worker");
    let how = Retry { run_at: core.now() + UNKNOWN, error: "no handler for this kind of job", counted: false };
    let put_back = async { jobs::retry(&mut core.store.conn().await?, &job.held(None), &how, core.now()).await };
    if let Err(error) = put_back.await {
        tracing::warn!(%error, "the job comes back when its lease ends");
    }
}
