//! Writing down what jobs brought: many in one transaction, as a transaction costs more than what is in it.
//!
//! Others wait for a committer, so it never waits for one job. What cannot be written together is tried alone, once: what
//! can never be written is given up at once, all else is put back and comes again after its own pause. Lanes in which that
//! happened are written last and by themselves for a while, so that they spoil nobody's transaction.

use std::collections::{HashMap, HashSet};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use politeness::HostAnswer;
use store::jobs::{self, Held, Lease, Payload as _, Retry};
use store::{Conn, StoreError};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout_at};

use crate::bury::{self, Lost};
use crate::claims::Slot;
use crate::handler::pause;
use crate::worker::Core;
use crate::{Finished, Handler};

/// Jobs of one transaction.
const MAX_JOBS: usize = 64;
/// How long the first report of a transaction waits for more, as long as there are jobs that may bring some. A transaction
/// costs nearly the same for one job as for many.
const GATHER: Duration = Duration::from_millis(3);
/// Before each try while the database does not answer: then nobody's jobs can be written.
const PAUSES: [Duration; 3] = [Duration::ZERO, Duration::from_millis(300), Duration::from_secs(3)];
/// How long a lane is written by itself after one of its jobs could not be written.
const APART: Duration = Duration::from_secs(60);
/// Lanes that are remembered so.
const MAX_APART: usize = 1000;

/// A job that ran well, on its way to be written down.
pub(crate) struct Report<H: Handler> {
    pub(crate) finished: Finished<H::Payload, H::Done>,
    pub(crate) token: String,
    pub(crate) queue: String,
    /// See [`Polite::answer`](crate::Polite::answer).
    pub(crate) answer: Option<HostAnswer>,
    /// Dropped when it is written.
    #[expect(dead_code, reason = "its end is the message")]
    pub(crate) slot: Slot,
}

/// How many jobs of a handler are at work: they may report soon.
#[derive(Debug, Default)]
pub(crate) struct AtWork(AtomicUsize);

/// One of them, until it is dropped.
pub(crate) struct Working<'a>(&'a AtWork);

impl AtWork {
    pub(crate) fn begin(&self) -> Working<'_> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Working(self)
    }

    fn any(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A committer: what writes down the reports of one kind of job.
struct Committer<'a, H: Handler> {
    core: &'a Core,
    handler: &'a H,
    /// Lanes that are written by themselves, until when.
    apart: HashMap<String, Instant>,
}

/// Takes reports until there will be none.
pub(crate) async fn run<H: Handler>(core: &Core, handler: &H, at_work: &AtWork, mut inbox: mpsc::Receiver<Report<H>>) {
    let mut committer = Committer { core, handler, apart: HashMap::new() };
    loop {
        let mut reports = gather(at_work, &mut inbox).await;
        if reports.is_empty() {
            return;
        }
        // The same job may be there twice, once under a token that is lost. In one call they could not be told apart.
        let twice = split_twice(&mut reports);
        let apart = committer.split_apart(&mut reports);
        committer.write(reports).await;
        for report in apart.into_iter().chain(twice) {
            committer.write(vec![report]).await;
        }
    }
}

/// The reports of the next transaction; none when there will be no more.
async fn gather<H: Handler>(at_work: &AtWork, inbox: &mut mpsc::Receiver<Report<H>>) -> Vec<Report<H>> {
    let mut reports = Vec::with_capacity(MAX_JOBS);
    inbox.recv_many(&mut reports, MAX_JOBS).await;
    let end = Instant::now() + GATHER;
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
    /// Takes out the reports of lanes that are written by themselves.
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

    /// Writes them down, and tells those who may have something to do then.
    async fn write(&mut self, reports: Vec<Report<H>>) {
        if reports.is_empty() {
            return;
        }
        match self.patiently(&reports).await {
            // They have left room where they were.
            Ok(added) => added.iter().map(String::as_str).chain([H::Payload::QUEUE.name]).for_each(|queue| {
                self.core.waker.wake_named(queue);
            }),
            Err(error) => {
                self.one_by_one(&reports, &error).await;
                self.core.wake_all();
            }
        }
    }

    /// After an error of all together: each alone.
    async fn one_by_one(&mut self, reports: &[Report<H>], error: &StoreError) {
        if let [report] = reports {
            self.failed(report, error).await;
            return;
        }
        tracing::warn!(%error, kind = H::Payload::KIND, jobs = reports.len(), "commit failed, each is tried alone");
        for report in reports.chunks(1) {
            let Err(error) = commit(self.core, self.handler, report).await else { continue };
            if !self.failed(&report[0], &error).await {
                // Nothing can be written just now: the others come back when their leases end.
                return;
            }
        }
    }

    /// One try, and more only while the database does not answer at all. Returns the queues that got jobs.
    async fn patiently(&self, reports: &[Report<H>]) -> Result<Vec<String>, StoreError> {
        let mut tried = Ok(Vec::new());
        for pause in PAUSES {
            // Sleeping for no time takes a tick of the timer, a millisecond.
            if !pause.is_zero() {
                sleep(pause).await;
            }
            tried = commit(self.core, self.handler, reports).await;
            let Err(error) = &tried else { break };
            if !error.is_away() || self.core.store.ping().await.is_ok() {
                break;
            }
            tracing::debug!(%error, kind = H::Payload::KIND, "the database does not answer, the commit is tried again");
        }
        tried
    }

    /// What a job could not be written for decides what becomes of it. `false` when the database did not take even that.
    async fn failed(&mut self, report: &Report<H>, error: &StoreError) -> bool {
        let job = &report.finished.job;
        let done = if error.is_permanent() || job.attempt >= job.max_attempts {
            tracing::error!(%error, job = job.id, kind = H::Payload::KIND, "effects of a job cannot be written, it is given up");
            bury::bury(self.core, self.handler, held(report), Lost::Read(job), &error.to_string()).await
        } else {
            tracing::warn!(%error, job = job.id, kind = H::Payload::KIND, "effects of a job not written, it is tried again");
            put_back(self.core, report, &error.to_string()).await
        };
        match done {
            Ok(()) => {
                if self.apart.len() < MAX_APART {
                    self.apart.insert(job.lane.clone(), Instant::now() + APART);
                }
                true
            }
            Err(error) => {
                tracing::warn!(%error, job = job.id, "the job comes back when its lease ends");
                false
            }
        }
    }
}

/// Returns the queues that got jobs.
fn commit<'a, H: Handler>(core: &'a Core, handler: &'a H, reports: &'a [Report<H>]) -> Writing<'a> {
    Box::pin(async move {
        let now = core.now();
        let mut conn = core.store.writing().await?;
        let written = conn.tx(async |conn: &mut Conn| {
            let held: Vec<Held<'_>> = reports.iter().map(held).collect();
            let ours = jobs::finish(conn, &held, now).await?;
            let done = still_ours(reports, &ours);
            if !done.is_empty() {
                handler.commit(conn, &done).await?;
            }
            Ok::<_, StoreError>(ours)
        });
        let ours = written.await?;
        let added = conn.added();
        drop(conn);
        handler.after_commit(&still_ours(reports, &ours));
        Ok(added)
    })
}

type Writing<'a> = Pin<Box<dyn Future<Output = Result<Vec<String>, StoreError>> + Send + 'a>>;

fn still_ours<'a, H: Handler>(
    reports: &'a [Report<H>],
    ours: &HashSet<String>,
) -> Vec<&'a Finished<H::Payload, H::Done>> {
    reports.iter().map(|report| &report.finished).filter(|finished| ours.contains(&finished.job.id)).collect()
}

fn held<H: Handler>(report: &Report<H>) -> Held<'_> {
    let job = &report.finished.job;
    let lease = Lease { id: &job.id, token: &report.token };
    Held { lease, queue: &report.queue, team_id: &job.team_id, answer: report.answer }
}

async fn put_back<H: Handler>(core: &Core, report: &Report<H>, error: &str) -> Result<(), StoreError> {
    let (job, now) = (&report.finished.job, core.now());
    let later = chrono::TimeDelta::from_std(pause(job.attempt, &job.id)).unwrap_or_default();
    let how = Retry { run_at: now + later, error, counted: true };
    jobs::retry(&mut core.store.conn().await?, &held(report), &how, now).await?;
    Ok(())
}
