//! Committing the results of jobs: many in one transaction, because a transaction costs more than its content.
//!
//! Other jobs wait for a committer, so it never waits for one job. If a batch fails, each job is committed alone, once:
//! one that can never be written is dead-lettered, others are put back and retried after their own back-off. Lanes in
//! which that happened are committed last and on their own for a while, so that they cannot fail the batches of others.

use std::collections::{HashMap, HashSet};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use base::new_id;
use politeness::HostAnswer;
use store::jobs::{self, Claim, ClaimedNext, Finishing, HeldJob, Lease, Payload as _, Retry};
use store::{Conn, StoreError};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout_at};

use crate::bury::{self, DeadJob};
use crate::claims::{FreeSlots, ServedQueue, Slot};
use crate::handler::pause;
use crate::shared::Core;
use crate::{Finished, Handler};

/// Limit of jobs in one transaction.
const MAX_JOBS: usize = 64;
/// Time to gather further results for a transaction, as long as running jobs may report some: a transaction costs
/// nearly the same for one job as for many. If commits wait for a disk, it is the duration of the last one, up to
/// [`MAX_GATHER`].
const GATHER: Duration = Duration::from_millis(3);
const MAX_GATHER: Duration = Duration::from_millis(10);
/// Delays before each attempt to commit while the database does not answer, when no other results could be written
/// either.
const PAUSES: [Duration; 3] = [Duration::ZERO, Duration::from_millis(300), Duration::from_secs(3)];
/// Time for which a lane is committed on its own after a failed commit.
const APART: Duration = Duration::from_secs(60);
/// Limit of such lanes.
const MAX_APART: usize = 1000;

/// Successful job that waits for its commit.
pub(crate) struct Report<H: Handler> {
    pub(crate) finished: Finished<H::Payload, H::Done>,
    pub(crate) token: String,
    pub(crate) queue: String,
    /// Answer of its host, from [`Polite::answer`](crate::Polite::answer).
    pub(crate) answer: Option<HostAnswer>,
    /// Slot of the job; passed to another job or dropped after the commit.
    pub(crate) slot: Slot,
}

/// Number of jobs of a handler that are running and may report soon.
#[derive(Debug, Default)]
pub(crate) struct AtWork(AtomicUsize);

/// Counts one running job until dropped.
pub(crate) struct RunningCount<'a>(&'a AtWork);

impl AtWork {
    pub(crate) fn begin(&self) -> RunningCount<'_> {
        self.0.fetch_add(1, Ordering::Relaxed);
        RunningCount(self)
    }

    fn any(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}

impl Drop for RunningCount<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Task that commits the results of one kind of job.
struct Committer<'a, H: Handler> {
    core: &'a Core,
    /// Queue for which jobs are claimed in the same transaction.
    served: Option<&'a Arc<ServedQueue>>,
    handler: &'a H,
    /// Lanes that are committed on their own, and until when.
    apart: HashMap<String, Instant>,
    /// Time to gather further results.
    gather: Duration,
}

/// Result of a transaction, besides the results of the jobs.
struct CommitOutput {
    /// Queues to which jobs were added.
    added: Vec<String>,
    /// Jobs that were claimed.
    more: ClaimedNext,
}

/// Commits reports until the channel is closed.
pub(crate) async fn run<H: Handler>(
    core: &Core,
    served: Option<&Arc<ServedQueue>>,
    handler: &H,
    at_work: &AtWork,
    mut inbox: mpsc::Receiver<Report<H>>,
) {
    let mut committer = Committer { core, served, handler, apart: HashMap::new(), gather: GATHER };
    loop {
        let mut reports = gather(at_work, &mut inbox, committer.gather).await;
        if reports.is_empty() {
            return;
        }
        // The same job may be reported twice, once under a lost token. A single commit could not tell the two apart.
        let twice = split_twice(&mut reports);
        let apart = committer.split_apart(&mut reports);
        committer.write(reports).await;
        for report in apart.into_iter().chain(twice) {
            committer.write_apart(vec![report]).await;
        }
    }
}

/// Returns the reports for the next transaction; none once the channel is closed.
async fn gather<H: Handler>(
    at_work: &AtWork,
    inbox: &mut mpsc::Receiver<Report<H>>,
    patience: Duration,
) -> Vec<Report<H>> {
    let mut reports = Vec::with_capacity(MAX_JOBS);
    inbox.recv_many(&mut reports, MAX_JOBS).await;
    let end = Instant::now() + patience;
    while reports.len() < MAX_JOBS && at_work.any() {
        let left = MAX_JOBS - reports.len();
        match timeout_at(end, inbox.recv_many(&mut reports, left)).await {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
    }
    reports
}

fn split_twice<H: Handler>(reports: &mut Vec<Report<H>>) -> Vec<Report<H>> {
    let mut seen = HashSet::with_capacity(reports.len());
    let (once, twice) =
        std::mem::take(reports).into_iter().partition(|report| seen.insert(report.finished.job.id.clone()));
    *reports = once;
    twice
}

impl<H: Handler> Committer<'_, H> {
    /// Splits off the reports of lanes that are committed on their own.
    fn split_apart(&mut self, reports: &mut Vec<Report<H>>) -> Vec<Report<H>> {
        self.apart.retain(|_, until| *until > Instant::now());
        if self.apart.is_empty() {
            return Vec::new();
        }
        let all = std::mem::take(reports).into_iter();
        let (apart, rest) = all.partition(|report| self.apart.contains_key(&report.finished.job.lane));
        *reports = rest;
        apart
    }

    /// Commits reports with a claim of further jobs, starts these, and wakes the queues that got jobs.
    async fn write(&mut self, reports: Vec<Report<H>>) {
        let slots = self.served.filter(|_| !reports.is_empty()).and_then(|served| served.reserve(reports.len()));
        let Some(slots) = slots else { return self.write_apart(reports).await };
        let begun = Instant::now();
        match self.patiently(&reports, Some(&slots)).await {
            Ok(CommitOutput { added, more }) => {
                // First the claimed jobs, then the wake-ups.
                slots.fill(more, reports.into_iter().map(|report| report.slot));
                // The claim has seen the new jobs of its own queue already.
                let others = added.iter().filter(|queue| *queue != H::Payload::QUEUE.name);
                others.for_each(|queue| self.core.waker.wake_named(queue));
                if self.core.store.parallel_writers() {
                    self.gather = begun.elapsed().clamp(GATHER, MAX_GATHER);
                }
            }
            Err(error) => {
                drop(slots);
                self.one_by_one(&reports, &error).await;
                self.core.wake_all();
            }
        }
    }

    /// Commits reports without a claim.
    async fn write_apart(&mut self, reports: Vec<Report<H>>) {
        if reports.is_empty() {
            return;
        }
        match self.patiently(&reports, None).await {
            // Ended jobs leave free slots in their lanes, so their own queue is woken as well.
            Ok(CommitOutput { added, .. }) => {
                drop(reports);
                let queues = added.iter().map(String::as_str).chain([H::Payload::QUEUE.name]);
                queues.for_each(|queue| self.core.waker.wake_named(queue));
            }
            Err(error) => {
                self.one_by_one(&reports, &error).await;
                self.core.wake_all();
            }
        }
    }

    /// Commits each report alone after the batch failed.
    async fn one_by_one(&mut self, reports: &[Report<H>], error: &StoreError) {
        if let [report] = reports {
            self.failed(report, error).await;
            return;
        }
        if !self.core.is_outage(error) {
            tracing::warn!(%error, kind = H::Payload::KIND, jobs = reports.len(), "commit failed; each job is committed alone");
        }
        for report in reports.chunks(1) {
            let Err(error) = self.commit(report, None).await else { continue };
            if !self.failed(&report[0], &error).await {
                // The database takes no writes now: the other jobs become ready again when their leases expire.
                return;
            }
        }
    }

    /// Commits once; retries only while the database does not answer.
    async fn patiently(&self, reports: &[Report<H>], slots: Option<&FreeSlots>) -> Result<CommitOutput, StoreError> {
        let mut tried = Ok(CommitOutput { added: Vec::new(), more: ClaimedNext::default() });
        for pause in PAUSES {
            // Even a sleep of zero takes a tick of tokio's timer, a millisecond.
            if !pause.is_zero() {
                sleep(pause).await;
            }
            tried = self.commit(reports, slots).await;
            let Err(error) = &tried else { break };
            if !error.is_away() || self.core.store.ping().await.is_ok() {
                break;
            }
            tracing::debug!(%error, kind = H::Payload::KIND, "the database does not answer; retrying the commit");
        }
        tried
    }

    /// Commits once. If the claim in the same transaction fails, commits again without it, so that no results are lost.
    async fn commit(&self, reports: &[Report<H>], slots: Option<&FreeSlots>) -> Result<CommitOutput, StoreError> {
        let Some(slots) = slots.filter(|slots| slots.is_open()) else {
            return commit(self.core, self.handler, reports, None).await;
        };
        let (token, claiming) = (new_id().to_string(), AtomicBool::new(false));
        let want = slots.want(reports.len(), &token, self.core.now());
        match commit(self.core, self.handler, reports, Some((&want, &claiming))).await {
            Err(error) if claiming.load(Ordering::Relaxed) && !error.is_away() => {
                if error.is_news() {
                    tracing::warn!(%error, queue = want.queue, "could not claim jobs in a commit; committing without a claim");
                }
                commit(self.core, self.handler, reports, None).await
            }
            written => written,
        }
    }

    /// Dead-letters a job or puts it back after its commit failed, depending on the error. `false` if that could not be
    /// written either.
    async fn failed(&mut self, report: &Report<H>, error: &StoreError) -> bool {
        let job = &report.finished.job;
        // An outage does not count as an attempt of the job.
        let counts = !self.core.is_outage(error);
        let done = if error.is_permanent() || counts && job.attempt >= job.max_attempts {
            tracing::error!(%error, job = job.id, kind = H::Payload::KIND, "could not commit the result of the job; it is dead-lettered");
            bury::bury(self.core, self.handler, held(report), DeadJob::Read(job), &error.to_string()).await
        } else {
            if counts {
                tracing::warn!(%error, job = job.id, kind = H::Payload::KIND, "could not commit the result of the job; it will be retried");
            }
            put_back(self.core, report, error, counts).await
        };
        match done {
            Ok(()) => {
                if self.apart.len() < MAX_APART {
                    self.apart.insert(job.lane.clone(), Instant::now() + APART);
                }
                true
            }
            Err(error) => {
                if error.is_news() {
                    tracing::warn!(%error, job = job.id, "could not record the failed commit; the job will be ready again when its lease expires");
                }
                false
            }
        }
    }
}

/// Runs one transaction; `claiming` is set while it claims, so that the caller can tell where it failed.
fn commit<'a, H: Handler>(
    core: &'a Core,
    handler: &'a H,
    reports: &'a [Report<H>],
    next: Option<(&'a Claim<'a>, &'a AtomicBool)>,
) -> Writing<'a> {
    Box::pin(async move {
        let now = core.now();
        let mut conn = core.store.writing().await?;
        let written = conn.tx(async |conn: &mut Conn| {
            let held: Vec<HeldJob<'_>> = reports.iter().map(held).collect();
            let finishing = Finishing::begin(conn, &held, now).await?;
            let ours = finishing.leased();
            let done = still_leased(reports, &ours);
            if !done.is_empty() {
                handler.commit(conn, &done).await?;
            }
            let set = |is: bool| next.iter().for_each(|(_, claiming)| claiming.store(is, Ordering::Relaxed));
            set(true);
            // The time is read again: the transaction may have waited, and jobs that it added must be due by then.
            let next = next.map(|(want, _)| Claim { now: core.now(), lease_until: core.lease_until(), ..*want });
            let more = finishing.end(conn, next.as_ref()).await?;
            set(false);
            Ok::<_, StoreError>((ours, more))
        });
        let (ours, more) = written.await?;
        let added = conn.added();
        drop(conn);
        handler.after_commit(&still_leased(reports, &ours));
        Ok(CommitOutput { added, more })
    })
}

type Writing<'a> = Pin<Box<dyn Future<Output = Result<CommitOutput, StoreError>> + Send + 'a>>;

fn still_leased<'a, H: Handler>(
    reports: &'a [Report<H>],
    ours: &HashSet<String>,
) -> Vec<&'a Finished<H::Payload, H::Done>> {
    reports.iter().map(|report| &report.finished).filter(|finished| ours.contains(&finished.job.id)).collect()
}

fn held<H: Handler>(report: &Report<H>) -> HeldJob<'_> {
    let job = &report.finished.job;
    let lease = Lease { id: &job.id, token: &report.token };
    HeldJob { lease, queue: &report.queue, team_id: &job.team_id, answer: report.answer }
}

async fn put_back<H: Handler>(
    core: &Core,
    report: &Report<H>,
    error: &StoreError,
    counted: bool,
) -> Result<(), StoreError> {
    let (job, now) = (&report.finished.job, core.now());
    let later = chrono::TimeDelta::from_std(pause(job.attempt, &job.id)).unwrap_or_default();
    let how = Retry { run_at: now + later, error: &error.to_string(), counted };
    jobs::retry(&mut core.store.conn().await?, &held(report), &how, now).await?;
    Ok(())
}
