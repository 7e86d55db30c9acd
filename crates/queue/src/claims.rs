//! Claiming: as many jobs as there are free slots, whenever there may be some. Mostly in the transactions that write down
//! what other jobs brought, which leave slots free ([`Room`]); else in one of its own.

use std::sync::Arc;
use std::time::Duration;

use base::{Timestamp, new_id};
use chrono::TimeDelta;
use store::StoreError;
use store::jobs::{self, Claim, Claimed, More, Queue, Retry};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::hosts::Asking;
use crate::worker::{Core, Handlers};

/// Jobs of one claim.
const MAX_JOBS: usize = 64;
/// Free slots that a commit fills besides those that it frees, if these are fewer.
const MIN_MORE: usize = 8;
/// How long to wait for more free slots when nearly all are taken.
const GATHER: Duration = Duration::from_millis(3);
/// Pause after the database did not answer.
const PAUSE: Duration = Duration::from_secs(1);
/// When a job is tried again that no handler here knows: a newer worker may.
const UNKNOWN: TimeDelta = TimeDelta::seconds(60);

/// One queue, as it is served here.
pub(crate) struct Line {
    pub(crate) core: Arc<Core>,
    pub(crate) handlers: Arc<Handlers>,
    pub(crate) queue: Queue,
    pub(crate) slots: usize,
    pub(crate) free: Arc<Semaphore>,
    /// Where the jobs run: the tasks, and the runtime.
    pub(crate) running: TaskTracker,
    pub(crate) jobs: Handle,
    /// Then nothing new is begun.
    pub(crate) stop: CancellationToken,
}

/// What a job that runs here holds: one of its queue's slots, and its lease, which is kept until this is dropped.
pub(crate) struct Slot {
    core: Arc<Core>,
    id: String,
    token: String,
    /// Its requests, which count until then after a refusal.
    pub(crate) asking: Asking,
    permit: Option<OwnedSemaphorePermit>,
}

/// Free slots for jobs that are claimed in the transaction that ends others.
pub(crate) struct Room {
    line: Arc<Line>,
    free: Vec<OwnedSemaphorePermit>,
    /// The worker does not end before these jobs have begun.
    _open: TaskTrackerToken,
}

impl Line {
    /// Claims and starts jobs until it is to stop.
    pub(crate) async fn run(self: Arc<Self>) {
        let (core, stop) = (&self.core, &self.stop);
        while let Some(Ok(first)) = stop.run_until_cancelled(Arc::clone(&self.free).acquire_owned()).await {
            // A full worker gets its slots back one by one. Each alone would cost a claim.
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
                    // Some, but not all, does not mean that there are no more: teams are served in turns.
                    if is_none {
                        core.idle.notify_one();
                        stop.run_until_cancelled(core.waker.woken(self.queue)).await;
                    }
                }
                Err(error) => {
                    if error.is_news() {
                        tracing::warn!(%error, queue = self.queue.name, "no jobs claimed");
                    }
                    stop.run_until_cancelled(sleep(PAUSE)).await;
                }
            }
        }
    }

    /// Room for what may be claimed with a commit of so many jobs; `None` when nothing new is to be begun.
    pub(crate) fn room(self: &Arc<Self>, ending: usize) -> Option<Room> {
        // Before the question: once this is there, the end of the worker waits for it.
        let open = self.running.token();
        if self.stop.is_cancelled() {
            return None;
        }
        // Not all: who adds jobs meanwhile need not wait for this commit.
        let free = self.take(ending.max(MIN_MORE).min(MAX_JOBS.saturating_sub(ending))).collect();
        Some(Room { line: Arc::clone(self), free, _open: open })
    }

    /// What to claim.
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
                    tracing::warn!(kind = job.kind, "a job of an unknown kind, it is left for another worker");
                    put_off(&core, &job, UNKNOWN, "no handler for this kind of job").await;
                    drop(slot);
                }
            }
        };
        self.running.spawn_on(work, &self.jobs);
    }
}

impl Room {
    /// What to claim, when so many jobs end.
    pub(crate) fn want<'a>(&'a self, ending: usize, token: &'a str, now: Timestamp) -> Claim<'a> {
        self.line.want(ending + self.free.len(), token, now)
    }

    /// Whether anything new is to be begun.
    pub(crate) fn is_open(&self) -> bool {
        !self.line.stop.is_cancelled()
    }

    /// Starts what was claimed, in the free slots and those of the jobs that have ended.
    pub(crate) fn fill(self, more: More, ended: impl Iterator<Item = Slot>) {
        let Self { line, free: mut permits, .. } = self;
        permits.extend(ended.filter_map(Slot::into_permit));
        line.start(more.jobs, &mut permits);
        if permits.is_empty() && line.free.available_permits() == 0 {
            return;
        }
        // When this was all, only time and those who add jobs bring more.
        if more.is_all {
            line.core.idle.notify_one();
        } else {
            line.core.waker.wake(line.queue);
        }
    }
}

impl Slot {
    /// The queue's slot for another job.
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

/// Leaves a job that was not begun to whoever claims it after a while.
pub(crate) async fn put_off(core: &Core, job: &Claimed, pause: TimeDelta, why: &str) {
    let how = Retry { run_at: core.now() + pause, error: why, counted: false };
    let put_back = async { jobs::retry(&mut core.store.conn().await?, &job.held(None), &how, core.now()).await };
    if let Err(error) = put_back.await
        && error.is_news()
    {
        tracing::warn!(%error, "the job comes back when its lease ends");
    }
}
