//! Writing down what jobs brought: many in one transaction, as a transaction costs more than what is in it.

use std::collections::HashSet;
use std::pin::Pin;
use std::time::Duration;

use store::jobs::{self, Held, Lease, Queue, Retry};
use store::{Conn, StoreError};
use tokio::sync::{mpsc, oneshot};
use tokio::time::sleep;

use crate::job::pause;
use crate::worker::Core;
use crate::{Finished, Job};

/// Jobs of one transaction.
const MOST: usize = 64;
/// Before each try to write down one job.
const PAUSES: [Duration; 3] = [Duration::ZERO, Duration::from_millis(300), Duration::from_secs(3)];

/// A job that ran well, on its way to be written down.
pub(crate) struct Report<J: Job> {
    pub(crate) finished: Finished<J::Payload, J::Done>,
    pub(crate) token: String,
    pub(crate) queue: Queue,
    /// Dropped when it is over.
    #[expect(dead_code, reason = "its end is the message")]
    pub(crate) written: oneshot::Sender<()>,
}

/// Takes reports until there will be none.
pub(crate) async fn run<J: Job>(core: &Core, job: &J, mut inbox: mpsc::Receiver<Report<J>>) {
    loop {
        let mut reports = Vec::with_capacity(MOST);
        if inbox.recv_many(&mut reports, MOST).await == 0 {
            return;
        }
        // The same job may be there twice, once under a token that is lost. In one call they could not be told apart.
        let twice = split_twice(&mut reports);
        write(core, job, &reports).await;
        for report in twice.chunks(1) {
            write(core, job, report).await;
        }
        drop((reports, twice));
        core.wake_all();
    }
}

fn split_twice<J: Job>(reports: &mut Vec<Report<J>>) -> Vec<Report<J>> {
    let mut seen = HashSet::with_capacity(reports.len());
    let (once, twice) =
        std::mem::take(reports).into_iter().partition(|report| seen.insert(report.finished.job.id.clone()));
    *reports = once;
    twice
}

async fn write<J: Job>(core: &Core, job: &J, reports: &[Report<J>]) {
    match commit(core, job, reports).await {
        Ok(()) => {}
        Err(error) if reports.len() > 1 => {
            tracing::warn!(%error, kind = J::KIND, jobs = reports.len(), "commit failed, each is tried alone");
            for report in reports.chunks(1) {
                alone(core, job, report).await;
            }
        }
        Err(_) => alone(core, job, reports).await,
    }
}

/// A database that restarts, or two transactions in each other's way, are no failure of the job.
async fn alone<J: Job>(core: &Core, job: &J, report: &[Report<J>]) {
    for pause in PAUSES {
        sleep(pause).await;
        match commit(core, job, report).await {
            Ok(()) => return,
            Err(error) if pause == PAUSES[PAUSES.len() - 1] => put_back(core, &report[0], &error).await,
            Err(error) => tracing::debug!(%error, kind = J::KIND, "commit failed, it is tried again"),
        }
    }
}

fn commit<'a, J: Job>(core: &'a Core, job: &'a J, reports: &'a [Report<J>]) -> Writing<'a> {
    Box::pin(async move {
        let now = core.now();
        let mut conn = core.store.conn().await?;
        let written = conn.tx(async |conn: &mut Conn| {
            let held: Vec<Held<'_>> = reports.iter().map(held).collect();
            let ours = jobs::finish(conn, &held, now).await?;
            let done = still_ours(reports, &ours);
            if !done.is_empty() {
                job.commit(conn, &done).await?;
            }
            Ok::<_, StoreError>(ours)
        });
        let ours = written.await?;
        drop(conn);
        job.after_commit(&still_ours(reports, &ours));
        Ok(())
    })
}

type Writing<'a> = Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send + 'a>>;

fn still_ours<'a, J: Job>(reports: &'a [Report<J>], ours: &HashSet<String>) -> Vec<&'a Finished<J::Payload, J::Done>> {
    reports.iter().map(|report| &report.finished).filter(|finished| ours.contains(&finished.job.id)).collect()
}

fn held<J: Job>(report: &Report<J>) -> Held<'_> {
    let job = &report.finished.job;
    let lease = Lease { id: &job.id, token: &report.token };
    Held { lease, queue: report.queue, team_id: &job.team_id, ended: J::ended(&report.finished.done) }
}

async fn put_back<J: Job>(core: &Core, report: &Report<J>, error: &StoreError) {
    let job = &report.finished.job;
    tracing::error!(%error, job = job.id, kind = J::KIND, "effects of a job not written, it is tried again");
    let (now, text) = (core.now(), error.to_string());
    let later = chrono::TimeDelta::from_std(pause(job.attempt, &job.id)).unwrap_or_default();
    let how = Retry { run_at: now + later, error: &text, counted: true };
    let put_back = async { jobs::retry(&mut core.store.conn().await?, &held(report), &how, now).await };
    if let Err(error) = put_back.await {
        tracing::warn!(%error, job = job.id, "the job comes back when its lease ends");
    }
}
