//! Type-erased handlers, so that a worker can hold several.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use futures_util::FutureExt;
use parking_lot::Mutex;
use politeness::HostAnswer;
use store::StoreError;
use store::jobs::{self, Claimed, HeldJob, Payload as _, Queue, Retry};
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::bury::{self, DeadJob};
use crate::claims::{AnyHandler, ServedQueue, Slot, Task, put_off};
use crate::commits::{self, AtWork, Report};
use crate::handler::{pause, running};
use crate::shared::Core;
use crate::{Asking, Failure, Finished, Handler, Polite, Running};

/// Limit of reports that wait for a commit.
const MAX_WAITING: usize = 256;
/// Delay of a job whose host must not be asked now: by then the refusal is usually committed, with the time to wait.
const HOST_PAUSE: TimeDelta = TimeDelta::milliseconds(100);
/// Shortest wait for the start of a job; tokio's timer cannot resolve less.
const MIN_PATIENCE: Duration = Duration::from_millis(1);

pub(crate) struct Erased<H: Handler> {
    handler: H,
    answer: fn(&H::Done) -> Option<HostAnswer>,
    /// Channels to the committers. Reports of one team go to the same committer: concurrent transactions of a team
    /// would only wait for each other.
    reports: Mutex<Vec<mpsc::Sender<Report<H>>>>,
    inboxes: Mutex<Vec<mpsc::Receiver<Report<H>>>>,
    at_work: AtWork,
}

impl<H: Handler> Erased<H> {
    /// Wraps a handler, with this number of committers.
    pub(crate) fn new(handler: H, committers: usize) -> Self {
        let (reports, inboxes) = (0..committers).map(|_| mpsc::channel(MAX_WAITING)).unzip();
        let (reports, inboxes) = (Mutex::new(reports), Mutex::new(inboxes));
        Self { handler, answer: |_| None, reports, inboxes, at_work: AtWork::default() }
    }

    /// Wraps a handler that sends requests to hosts.
    pub(crate) fn polite(handler: H, committers: usize) -> Self
    where
        H: Polite,
    {
        Self { answer: H::answer, ..Self::new(handler, committers) }
    }

    async fn work(&self, core: &Core, claimed: &Claimed, mut slot: Slot, cancelled: CancellationToken) {
        let mut job = match running::<H::Payload>(claimed, cancelled.clone()) {
            Ok(job) => job,
            Err(error) => return self.bury_unread(core, claimed, &error).await,
        };
        match cancelled.run_until_cancelled(turn(core, claimed)).await {
            Some(Some(asking)) => (job.asking, slot.asking) = (asking.clone(), asking),
            Some(None) => {
                return put_off(core, claimed, HOST_PAUSE, "its host refused a request or had no free slot in time")
                    .await;
            }
            None => {
                self.give_back(core, claimed).await;
                return core.wake_all();
            }
        }
        let run = async {
            // Must end before the report is sent: otherwise the committer would wait for this job.
            let _working = self.at_work.begin();
            AssertUnwindSafe(self.handler.run(&job)).catch_unwind().await
        };
        let failure = match cancelled.run_until_cancelled(run).await {
            // The job was cancelled, or the worker stops and it is still held: release has no effect in the first case.
            None => {
                self.give_back(core, claimed).await;
                return core.wake_all();
            }
            Some(Ok(Ok(done))) => return self.report(Finished { job, done }, claimed, slot).await,
            Some(Ok(Err(failure))) => failure,
            Some(Err(_)) => Failure::retry("the handler panicked"),
        };
        slot.asking.end(failure.answer());
        if let Err(error) = self.fail(core, claimed, &job, failure).await
            && error.is_news()
        {
            tracing::warn!(%error, job = claimed.id, "could not record the failed attempt; the job will be ready again when its lease expires");
        }
        // The job has left a free slot in its lane.
        core.wake_all();
    }

    /// Puts the job back for any worker, at once. Has no effect if its lease is lost.
    async fn give_back(&self, core: &Core, claimed: &Claimed) {
        let back = async { jobs::release(&mut core.store.conn().await?, &claimed.held(None), core.now()).await };
        if let Err(error) = back.await
            && error.is_news()
        {
            tracing::warn!(%error, job = claimed.id, "could not release the job; it will be ready again when its lease expires");
        }
    }

    /// Sends the result to a committer. The job keeps its slot until the commit.
    async fn report(&self, finished: Finished<H::Payload, H::Done>, claimed: &Claimed, slot: Slot) {
        let Some(reports) = self.committer_for(&claimed.team_id) else { return };
        let answer = (self.answer)(&finished.done);
        slot.asking.end(answer);
        let (token, queue) = (claimed.token.clone(), claimed.queue.clone());
        // Fails only without committers, at the end of the process: the job is ready again when its lease expires.
        let _ = reports.send(Report { finished, token, queue, answer, slot }).await;
    }

    /// Returns the channel for a team; `None` after [`AnyHandler::close`].
    fn committer_for(&self, team: &str) -> Option<mpsc::Sender<Report<H>>> {
        let reports = self.reports.lock();
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(team);
        let at = hash.checked_rem(reports.len() as u64)?;
        reports.get(usize::try_from(at).ok()?).cloned()
    }

    async fn fail(
        &self,
        core: &Core,
        claimed: &Claimed,
        job: &Running<H::Payload>,
        failure: Failure,
    ) -> Result<(), StoreError> {
        let now = core.now();
        match failure {
            Failure::Retry { at, error, answer, counted } if !counted || job.attempt < job.max_attempts => {
                tracing::debug!(
                    job = job.id,
                    kind = H::Payload::KIND,
                    error,
                    "attempt failed; the job will be retried"
                );
                let later = chrono::TimeDelta::from_std(pause(job.attempt, &job.id)).unwrap_or_default();
                let how = Retry { run_at: at.unwrap_or(now + later), error: &error, counted };
                jobs::retry(&mut core.store.conn().await?, &claimed.held(answer), &how, now).await?;
                Ok(())
            }
            Failure::Retry { error, answer, .. } => self.give_up(core, &claimed.held(answer), job, &error).await,
            Failure::Dead { error } => self.give_up(core, &claimed.held(None), job, &error).await,
        }
    }

    async fn give_up(
        &self,
        core: &Core,
        held: &HeldJob<'_>,
        job: &Running<H::Payload>,
        error: &str,
    ) -> Result<(), StoreError> {
        tracing::warn!(job = job.id, kind = H::Payload::KIND, error, "job failed for good; it is dead-lettered");
        bury::bury(core, &self.handler, *held, DeadJob::Read(job), error).await
    }

    async fn bury_unread(&self, core: &Core, claimed: &Claimed, error: &serde_json::Error) {
        tracing::error!(job = claimed.id, kind = H::Payload::KIND, %error, "cannot read the payload; the job is dead-lettered");
        let text = format!("cannot read the payload: {error}");
        let buried = bury::bury(core, &self.handler, claimed.held(None), DeadJob::Unread(claimed), &text);
        if let Err(error) = buried.await
            && error.is_news()
        {
            tracing::warn!(%error, job = claimed.id, "could not dead-letter the job; trying again when its lease expires");
        }
        core.wake_all();
    }
}

/// Waits until the job may start; `None` if its host must not be asked then.
async fn turn(core: &Core, claimed: &Claimed) -> Option<Asking> {
    let asking = match &claimed.host {
        Some(host) => core.hosts.enter(host, claimed.host_slots).await?,
        None => Asking::default(),
    };
    let patience = (claimed.start_at - core.now()).to_std().unwrap_or_default();
    // The timer cannot resolve less.
    if patience >= MIN_PATIENCE {
        sleep(patience).await;
    }
    Some(asking)
}

impl<H: Handler> AnyHandler for Erased<H> {
    fn queue(&self) -> Queue {
        H::Payload::QUEUE
    }

    fn process(self: Arc<Self>, core: Arc<Core>, job: Claimed, slot: Slot, cancelled: CancellationToken) -> Task {
        Box::pin(async move { self.work(&core, &job, slot, cancelled).await })
    }

    fn bury(self: Arc<Self>, core: Arc<Core>, claimed: Claimed) -> Task {
        Box::pin(async move {
            let job = match running::<H::Payload>(&claimed, CancellationToken::new()) {
                Ok(job) => job,
                Err(error) => return self.bury_unread(&core, &claimed, &error).await,
            };
            if let Err(error) = self
                .give_up(&core, &claimed.held(None), &job, "the lease of the last attempt expired: the worker was lost")
                .await
                && error.is_news()
            {
                tracing::warn!(%error, job = claimed.id, "could not dead-letter the job; trying again when its lease expires");
            }
        })
    }

    fn commits(self: Arc<Self>, core: &Arc<Core>, served: Option<&Arc<ServedQueue>>) -> Vec<Task> {
        let inboxes = std::mem::take(&mut *self.inboxes.lock());
        let run = |inbox| -> Task {
            let (this, core, served) = (Arc::clone(&self), Arc::clone(core), served.cloned());
            Box::pin(async move { commits::run(&core, served.as_ref(), &this.handler, &this.at_work, inbox).await })
        };
        inboxes.into_iter().map(run).collect()
    }

    fn close(&self) {
        self.reports.lock().clear();
    }
}
