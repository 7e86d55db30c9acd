//! One kind of job with its type put aside, so that a worker can hold many.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt;
use store::StoreError;
use store::jobs::{self, Claimed, Held, Retry};
use tokio::sync::{mpsc, oneshot};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::commits::{self, Report};
use crate::grave::{self, Lost};
use crate::job::{pause, running};
use crate::worker::Core;
use crate::{Failure, Finished, Job, Running};

/// Reports that wait for a commit.
const WAITING: usize = 256;

pub(crate) type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// See [`Job`].
pub(crate) trait Kind: Send + Sync {
    /// Runs one job to its end: until its effects are written, or it is given back or given up.
    fn process(self: Arc<Self>, core: Arc<Core>, job: Claimed, cancelled: CancellationToken) -> Task;
    /// Gives up a job that a lost worker has left without attempts.
    fn bury(self: Arc<Self>, core: Arc<Core>, job: Claimed) -> Task;
    /// What writes down what jobs brought, until [`Kind::close`]. To be asked for once.
    fn commits(self: Arc<Self>, core: &Arc<Core>) -> Vec<Task>;
    /// No more reports will come.
    fn close(&self);
}

pub(crate) struct Typed<J: Job> {
    job: J,
    /// Reports of one team take the same way: its transactions could only wait for each other.
    reports: Mutex<Vec<mpsc::Sender<Report<J>>>>,
    inboxes: Mutex<Vec<mpsc::Receiver<Report<J>>>>,
}

impl<J: Job> Typed<J> {
    /// Writes down what comes in so many transactions at a time.
    pub(crate) fn new(job: J, committers: usize) -> Self {
        let (reports, inboxes) = (0..committers).map(|_| mpsc::channel(WAITING)).unzip();
        Self { job, reports: Mutex::new(reports), inboxes: Mutex::new(inboxes) }
    }

    async fn work(&self, core: &Core, claimed: &Claimed, cancelled: CancellationToken) {
        let job = match running::<J::Payload>(claimed, cancelled.clone()) {
            Ok(job) => job,
            Err(error) => return self.bury_unread(core, claimed, &error).await,
        };
        let patience = (claimed.start_at - core.now()).to_std().unwrap_or_default();
        let run = async {
            if !patience.is_zero() {
                sleep(patience).await;
            }
            AssertUnwindSafe(self.job.run(&job)).catch_unwind().await
        };
        let failure = match cancelled.run_until_cancelled(run).await {
            // Gone from the queue, or still ours and not to end here because the worker stops.
            None => {
                self.give_back(core, claimed).await;
                return core.wake_all();
            }
            Some(Ok(Ok(done))) => return self.report(Finished { job, done }, claimed).await,
            Some(Ok(Err(failure))) => failure,
            Some(Err(_)) => Failure::retry("the handler panicked"),
        };
        if let Err(error) = self.fail(core, claimed, &job, failure).await {
            tracing::warn!(%error, job = claimed.id, "failure not written, the job comes back when its lease ends");
        }
        // It has left room in its lane.
        core.wake_all();
    }

    /// For another worker to do at once. Nothing happens to what is no longer ours.
    async fn give_back(&self, core: &Core, claimed: &Claimed) {
        let back = async { jobs::release(&mut core.store.conn().await?, &claimed.held(None), core.now()).await };
        if let Err(error) = back.await {
            tracing::warn!(%error, job = claimed.id, "not given back, the job comes back when its lease ends");
        }
    }

    /// Waits until it is written: until then the job takes its slot.
    async fn report(&self, finished: Finished<J::Payload, J::Done>, claimed: &Claimed) {
        let (written, wait) = oneshot::channel();
        let Some(reports) = self.way_of(&claimed.team_id) else { return };
        let report = Report { finished, token: claimed.token.clone(), queue: claimed.queue, written };
        if reports.send(report).await.is_ok() {
            let _ = wait.await;
        }
    }

    /// None once there will be no more reports.
    fn way_of(&self, team: &str) -> Option<mpsc::Sender<Report<J>>> {
        let reports = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(team);
        let at = hash.checked_rem(reports.len() as u64)?;
        reports.get(usize::try_from(at).ok()?).cloned()
    }

    async fn fail(
        &self,
        core: &Core,
        claimed: &Claimed,
        job: &Running<J::Payload>,
        failure: Failure,
    ) -> Result<(), StoreError> {
        let now = core.now();
        match failure {
            Failure::Retry { at, error, ended, counted } if !counted || job.attempt < job.max_attempts => {
                tracing::debug!(job = job.id, kind = J::KIND, error, "job is tried again");
                let later = chrono::TimeDelta::from_std(pause(job.attempt, &job.id)).unwrap_or_default();
                let how = Retry { run_at: at.unwrap_or(now + later), error: &error, counted };
                jobs::retry(&mut core.store.conn().await?, &claimed.held(ended), &how, now).await?;
                Ok(())
            }
            Failure::Retry { error, ended, .. } => self.give_up(core, &claimed.held(ended), job, &error).await,
            Failure::Dead { error } => self.give_up(core, &claimed.held(None), job, &error).await,
        }
    }

    async fn give_up(
        &self,
        core: &Core,
        held: &Held<'_>,
        job: &Running<J::Payload>,
        error: &str,
    ) -> Result<(), StoreError> {
        tracing::warn!(job = job.id, kind = J::KIND, error, "job given up");
        grave::bury(core, &self.job, *held, Lost::Read(job), error).await
    }

    async fn bury_unread(&self, core: &Core, claimed: &Claimed, error: &serde_json::Error) {
        tracing::error!(job = claimed.id, kind = J::KIND, %error, "payload not understood, the job is given up");
        let text = format!("payload not understood: {error}");
        let buried = grave::bury(core, &self.job, claimed.held(None), Lost::Unread(claimed), &text);
        if let Err(error) = buried.await {
            tracing::warn!(%error, job = claimed.id, "not buried, the job comes back when its lease ends");
        }
        core.wake_all();
    }
}

impl<J: Job> Kind for Typed<J> {
    fn process(self: Arc<Self>, core: Arc<Core>, job: Claimed, cancelled: CancellationToken) -> Task {
        Box::pin(async move { self.work(&core, &job, cancelled).await })
    }

    fn bury(self: Arc<Self>, core: Arc<Core>, claimed: Claimed) -> Task {
        Box::pin(async move {
            let job = match running::<J::Payload>(&claimed, CancellationToken::new()) {
                Ok(job) => job,
                Err(error) => return self.bury_unread(&core, &claimed, &error).await,
            };
            if let Err(error) = self.give_up(&core, &claimed.held(None), &job, "its workers were lost").await {
                tracing::warn!(%error, job = claimed.id, "not given up, it is tried again when its lease ends");
            }
        })
    }

    fn commits(self: Arc<Self>, core: &Arc<Core>) -> Vec<Task> {
        let inboxes = std::mem::take(&mut *self.inboxes.lock().unwrap_or_else(PoisonError::into_inner));
        let run = |inbox| -> Task {
            let (kind, core) = (Arc::clone(&self), Arc::clone(core));
            Box::pin(async move { commits::run(&core, &kind.job, inbox).await })
        };
        inboxes.into_iter().map(run).collect()
    }

    fn close(&self) {
        self.reports.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
