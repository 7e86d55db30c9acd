//! Writing down what jobs brought: many in one transaction, as a transaction costs more than what is in it.
//!
//! Others wait for a committer, so it never waits for one job. What cannot be written together is tried alone, once: what
//! can never be written is given up at once, all else is put back and comes again after its own pause. Lanes in which that
//! happened are written last and by themselves for a while, so that they spoil nobody's transaction.

use std::collections::{HashMap, HashSet};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use base::new_id;
use politeness::HostAnswer;
use store::jobs::{self, Claim, Finishing, Held, Lease, More, Payload as _, Retry};
use store::{Conn, StoreError};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout_at};

use crate::bury::{self, Lost};
use crate::claims::{Line, Room, Slot};
use crate::handler::pause;
use crate::worker::Core;
use crate::{Finished, Handler};

/// Jobs of one transaction.
const MAX_JOBS: usize = 64;
/// How long the first report of a transaction waits for more, as long as there are jobs that may bring some. A transaction
/// costs nearly the same for one job as for many. Where it waits for a disk, that is as long as the last one took.
const GATHER: Duration = Duration::from_millis(3);
const MAX_GATHER: Duration = Duration::from_millis(10);
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
    /// Another's, or dropped, when it is written.
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
    /// Where jobs are claimed in the place of those that end.
    line: Option<&'a Arc<Line>>,
    handler: &'a H,
    /// Lanes that are written by themselves, until when.
    apart: HashMap<String, Instant>,
    /// How long to wait for more reports.
    gather: Duration,
}

/// What a transaction has brought, besides what the jobs wrote.
struct Written {
    /// Queues that got jobs.
    added: Vec<String>,
    /// Jobs that it has claimed, if it was asked to.
    more: More,
}

/// Takes reports until there will be none.
pub(crate) async fn run<H: Handler>(
    core: &Core,
    line: Option<&Arc<Line>>,
    handler: &H,
    at_work: &AtWork,
    mut inbox: mpsc::Receiver<Report<H>>,
) {
    let mut committer = Committer { core, line, handler, apart: HashMap::new(), gather: GATHER };
    loop {
        let mut reports = gather(at_work, &mut inbox, committer.gather).await;
        if reports.is_empty() {
            return;
        }
        // The same job may be there twice, once under a token that is lost. In one call they could not be told apart.
        let twice = split_twice(&mut reports);
        let apart = committer.split_apart(&mut reports);
        committer.write(reports).await;
        for report in apart.into_iter().chain(twice) {
            committer.write_apart(vec![report]).await;
        }
    }
}

/// The reports of the next transaction; none when there will be no more.
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

    /// Writes them down, with jobs to follow them where there are some, and tells those who may have something to do then.
    async fn write(&mut self, reports: Vec<Report<H>>) {
        let room = self.line.filter(|_| !reports.is_empty()).and_then(|line| line.room(reports.len()));
        let Some(room) = room else { return self.write_apart(reports).await };
        let begun = Instant::now();
        match self.patiently(&reports, Some(&room)).await {
            Ok(Written { added, more }) => {
                // The next jobs first: the others only need to be told.
                room.fill(more, reports.into_iter().map(|report| report.slot));
                // Of its own queue the commit has seen all there is.
                let others = added.iter().filter(|queue| *queue != H::Payload::QUEUE.name);
                others.for_each(|queue| self.core.waker.wake_named(queue));
                if self.core.store.parallel_writers() {
                    self.gather = begun.elapsed().clamp(GATHER, MAX_GATHER);
                }
            }
            Err(error) => {
                drop(room);
                self.one_by_one(&reports, &error).await;
                self.core.wake_all();
            }
        }
    }

    /// Writes them down by themselves.
    async fn write_apart(&mut self, reports: Vec<Report<H>>) {
        if reports.is_empty() {
            return;
        }
        match self.patiently(&reports, None).await {
            // They have left room where they were.
            Ok(Written { added, .. }) => {
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

    /// After an error of all together: each alone.
    async fn one_by_one(&mut self, reports: &[Report<H>], error: &StoreError) {
        if let [report] = reports {
            self.failed(report, error).await;
            return;
        }
        if !self.core.is_outage(error) {
            tracing::warn!(%error, kind = H::Payload::KIND, jobs = reports.len(), "commit failed, each is tried alone");
        }
        for report in reports.chunks(1) {
            let Err(error) = self.commit(report, None).await else { continue };
            if !self.failed(&report[0], &error).await {
                // Nothing can be written just now: the others come back when their leases end.
                return;
            }
        }
    }

    /// One try, and more only while the database does not answer at all.
    async fn patiently(&self, reports: &[Report<H>], room: Option<&Room>) -> Result<Written, StoreError> {
        let mut tried = Ok(Written { added: Vec::new(), more: More::default() });
        for pause in PAUSES {
            // Sleeping for no time takes a tick of the timer, a millisecond.
            if !pause.is_zero() {
                sleep(pause).await;
            }
            tried = self.commit(reports, room).await;
            let Err(error) = &tried else { break };
            if !error.is_away() || self.core.store.ping().await.is_ok() {
                break;
            }
            tracing::debug!(%error, kind = H::Payload::KIND, "the database does not answer, the commit is tried again");
        }
        tried
    }

    /// One try. What jobs brought must not be lost because others could not be claimed: then it is one without them.
    async fn commit(&self, reports: &[Report<H>], room: Option<&Room>) -> Result<Written, StoreError> {
        let Some(room) = room.filter(|room| room.is_open()) else {
            return commit(self.core, self.handler, reports, None).await;
        };
        let (token, claiming) = (new_id().to_string(), AtomicBool::new(false));
        let want = room.want(reports.len(), &token, self.core.now());
        match commit(self.core, self.handler, reports, Some((&want, &claiming))).await {
            Err(error) if claiming.load(Ordering::Relaxed) && !error.is_away() => {
                if error.is_news() {
                    tracing::warn!(%error, queue = want.queue, "no jobs claimed with what others brought");
                }
                commit(self.core, self.handler, reports, None).await
            }
            written => written,
        }
    }

    /// What a job could not be written for decides what becomes of it. `false` when the database did not take even that.
    async fn failed(&mut self, report: &Report<H>, error: &StoreError) -> bool {
        let job = &report.finished.job;
        // The job is not to blame for an outage.
        let counts = !self.core.is_outage(error);
        let done = if error.is_permanent() || counts && job.attempt >= job.max_attempts {
            tracing::error!(%error, job = job.id, kind = H::Payload::KIND, "effects of a job cannot be written, it is given up");
            bury::bury(self.core, self.handler, held(report), Lost::Read(job), &error.to_string()).await
        } else {
            if counts {
                tracing::warn!(%error, job = job.id, kind = H::Payload::KIND, "effects of a job not written, it is tried again");
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
                    tracing::warn!(%error, job = job.id, "the job comes back when its lease ends");
                }
                false
            }
        }
    }
}

/// One transaction; sets `claiming` for as long as it claims.
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
            let held: Vec<Held<'_>> = reports.iter().map(held).collect();
            let finishing = Finishing::begin(conn, &held, now).await?;
            let ours = finishing.ours();
            let done = still_ours(reports, &ours);
            if !done.is_empty() {
                handler.commit(conn, &done).await?;
            }
            let set = |is: bool| next.iter().for_each(|(_, claiming)| claiming.store(is, Ordering::Relaxed));
            set(true);
            // The time of the claim is now: the transaction may have waited, and jobs that it adds are due.
            let next = next.map(|(want, _)| Claim { now: core.now(), lease_until: core.lease_until(), ..*want });
            let more = finishing.end(conn, next.as_ref()).await?;
            set(false);
            Ok::<_, StoreError>((ours, more))
        });
        let (ours, more) = written.await?;
        let added = conn.added();
        drop(conn);
        handler.after_commit(&still_ours(reports, &ours));
        Ok(Written { added, more })
    })
}

type Writing<'a> = Pin<Box<dyn Future<Output = Result<Written, StoreError>> + Send + 'a>>;

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
