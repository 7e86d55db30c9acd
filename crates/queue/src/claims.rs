//! Claiming jobs for free slots. Most claims run in the transactions that commit the results of other jobs, which free
//! slots ([`FreeSlots`]); the others run in transactions of their own.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use base::{Timestamp, new_id};
use chrono::TimeDelta;
use store::StoreError;
use store::jobs::{self, Claim, Claimed, ClaimedNext, Queue, Retry};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::hosts::Asking;
use crate::shared::Core;

/// Limit of jobs in one claim.
const MAX_JOBS: usize = 64;
/// Least number of other free slots for which a commit claims jobs, besides the slots that it frees.
const MIN_MORE: usize = 8;
/// Time to wait for more free slots when nearly all are taken.
const GATHER: Duration = Duration::from_millis(3);
/// Pause after a failed claim.
const PAUSE: Duration = Duration::from_secs(1);
/// Delay of a job without a handler here: a newer worker may have one.
const UNKNOWN: TimeDelta = TimeDelta::seconds(60);

/// Work on one job, or of one committer.
pub(crate) type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Type-erased [`Handler`](crate::Handler).
pub(crate) trait AnyHandler: Send + Sync {
    /// Returns the queue of its jobs.
    fn queue(&self) -> Queue;
    /// Runs one job until its result waits for a commit, or it is put back or dead-lettered. The slot is released after
    /// that is written.
    fn process(self: Arc<Self>, core: Arc<Core>, job: Claimed, slot: Slot, cancelled: CancellationToken) -> Task;
    /// Dead-letters a job whose lease expired on its last attempt.
    fn bury(self: Arc<Self>, core: Arc<Core>, job: Claimed) -> Task;
    /// Returns the committers, which run until [`AnyHandler::close`] and claim further jobs if their queue is served
    /// here. May be called once.
    fn commits(self: Arc<Self>, core: &Arc<Core>, served: Option<&Arc<ServedQueue>>) -> Vec<Task>;
    /// Closes the channels to the committers: no more reports follow.
    fn close(&self);
}

/// Handlers by the kind of their jobs.
pub(crate) type Handlers = HashMap<&'static str, Arc<dyn AnyHandler>>;

/// Queue served by this worker.
pub(crate) struct ServedQueue {
    pub(crate) core: Arc<Core>,
    pub(crate) handlers: Arc<Handlers>,
    pub(crate) queue: Queue,
    pub(crate) slots: usize,
    pub(crate) free: Arc<Semaphore>,
    /// Tasks of running jobs, and `jobs`, the runtime on which they run.
    pub(crate) running: TaskTracker,
    pub(crate) jobs: Handle,
    /// Cancelled when no new jobs may be started.
    pub(crate) stop: CancellationToken,
}

/// Slot of a running job: a permit of its queue, and its lease, which is renewed until this is dropped.
pub(crate) struct Slot {
    core: Arc<Core>,
    id: String,
    token: String,
    /// Slot at its host; after a refusal it is held until this is dropped.
    pub(crate) asking: Asking,
    permit: Option<OwnedSemaphorePermit>,
}

/// Free slots for jobs that are claimed in a commit.
pub(crate) struct FreeSlots {
    served: Arc<ServedQueue>,
    free: Vec<OwnedSemaphorePermit>,
    /// Keeps the worker from ending before these jobs have started.
    _open: TaskTrackerToken,
}

impl ServedQueue {
    /// Claims and starts jobs until `stop`.
    pub(crate) async fn run(self: Arc<Self>) {
        let (core, stop) = (&self.core, &self.stop);
        while let Some(Ok(first)) = stop.run_until_cancelled(Arc::clone(&self.free).acquire_owned()).await {
            // A full worker frees its slots one by one, and a claim for each would be expensive: wait for more.
            if self.free.available_permits() + 1 < self.slots / 8 {
                sleep(GATHER).await;
            }
            let mut permits = vec![first];
            permits.extend(self.take(MAX_JOBS - 1));
            match self.claim(permits.len()).await {
                Ok(jobs) => {
                    let is_none = jobs.is_empty();
                    self.start(jobs, &mut permits);
                    drop(permits);
                    // Teams are served in turns, so fewer jobs than permits does not mean that no more are ready.
                    if is_none {
                        core.idle.notify_one();
                        stop.run_until_cancelled(core.waker.woken(self.queue)).await;
                    }
                }
                Err(error) => {
                    if error.is_news() {
                        tracing::warn!(%error, queue = self.queue.name, "could not claim jobs; trying again after a pause");
                    }
                    stop.run_until_cancelled(sleep(PAUSE)).await;
                }
            }
        }
    }

    /// Returns free slots for a claim in a commit of `ending` jobs; `None` if no new jobs may be started.
    pub(crate) fn reserve(self: &Arc<Self>, ending: usize) -> Option<FreeSlots> {
        // Taken before the check: from now on the end of the worker waits for this token.
        let open = self.running.token();
        if self.stop.is_cancelled() {
            return None;
        }
        // Not all slots: jobs that are enqueued meanwhile need not wait for this commit.
        let free = self.take(ending.max(MIN_MORE).min(MAX_JOBS.saturating_sub(ending))).collect();
        Some(FreeSlots { served: Arc::clone(self), free, _open: open })
    }

    /// Returns the terms of a claim.
    pub(crate) fn want<'a>(&'a self, most: usize, token: &'a str, now: Timestamp) -> Claim<'a> {
        let Core { settings, name, .. } = &*self.core;
        let (lease_until, per_host, worker) = (self.core.lease_until(), settings.per_host, Some(name.as_str()));
        Claim { queue: self.queue.name, most, token, now, lease_until, per_host, worker }
    }

    fn take(&self, most: usize) -> impl Iterator<Item = OwnedSemaphorePermit> {
        (0..most).map_while(|_| Arc::clone(&self.free).try_acquire_owned().ok())
    }

    async fn claim(&self, most: usize) -> Result<Vec<Claimed>, StoreError> {
        let token = new_id().to_string();
        let want = self.want(most, &token, self.core.now());
        jobs::claim(&mut self.core.store.writing().await?, &want).await
    }

    /// Starts jobs, each with one of the permits.
    fn start(&self, jobs: Vec<Claimed>, permits: &mut Vec<OwnedSemaphorePermit>) {
        for job in jobs {
            self.start_one(job, permits.pop());
        }
    }

    fn start_one(&self, job: Claimed, permit: Option<OwnedSemaphorePermit>) {
        let (core, handler) = (Arc::clone(&self.core), self.handlers.get(job.kind.as_str()).cloned());
        let cancelled = core.held.add(&job);
        let (id, token, asking) = (job.id.clone(), job.token.clone(), Asking::default());
        let slot = Slot { core: Arc::clone(&core), id, token, asking, permit };
        let work = async move {
            match handler {
                Some(handler) => handler.process(core, job, slot, cancelled).await,
                None => {
                    tracing::warn!(
                        kind = job.kind,
                        "no handler for this kind of job; it is released for another worker"
                    );
                    put_off(&core, &job, UNKNOWN, "no handler for this kind of job").await;
                    drop(slot);
                }
            }
        };
        self.running.spawn_on(work, &self.jobs);
    }
}

impl FreeSlots {
    /// Returns the terms of a claim in a commit that ends `ending` jobs.
    pub(crate) fn want<'a>(&'a self, ending: usize, token: &'a str, now: Timestamp) -> Claim<'a> {
        self.served.want(ending + self.free.len(), token, now)
    }

    /// Whether new jobs may be started.
    pub(crate) fn is_open(&self) -> bool {
        !self.served.stop.is_cancelled()
    }

    /// Starts the claimed jobs in the free slots and those of the ended jobs.
    pub(crate) fn fill(self, more: ClaimedNext, ended: impl Iterator<Item = Slot>) {
        let Self { served, free: mut permits, .. } = self;
        permits.extend(ended.filter_map(Slot::into_permit));
        served.start(more.jobs, &mut permits);
        if permits.is_empty() && served.free.available_permits() == 0 {
            return;
        }
        // After a complete claim, only time and new jobs bring more; otherwise claim again at once.
        if more.is_all {
            served.core.idle.notify_one();
        } else {
            served.core.waker.wake(served.queue);
        }
    }
}

impl Slot {
    /// Returns the permit for another job.
    fn into_permit(mut self) -> Option<OwnedSemaphorePermit> {
        self.permit.take()
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.asking.leave();
        self.core.held.remove(&self.id, &self.token);
    }
}

/// Puts back a job that was not started; it can be claimed after `pause`. The attempt does not count.
pub(crate) async fn put_off(core: &Core, job: &Claimed, pause: TimeDelta, why: &str) {
    let how = Retry { run_at: core.now() + pause, error: why, counted: false };
    let put_back = async { jobs::retry(&mut core.store.conn().await?, &job.held(None), &how, core.now()).await };
    if let Err(error) = put_back.await
        && error.is_news()
    {
        tracing::warn!(%error, "could not release the job; it will be ready again when its lease expires");
    }
}
