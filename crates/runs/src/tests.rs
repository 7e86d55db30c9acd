//! Tests of a minimal kind of run.

use std::time::Duration;

use base::Timestamp;
use kernel::auth::Caller;
use kernel::{App, AppError, fingerprint};
use queue::{Failure, Finished, Handler, Lane, NewJob, Payload, Queue, Running, Worker};
use serde::{Deserialize, Serialize};
use store::{Conn, StoreError, jobs, runs};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use wire::{JobStatus, ResultsQuery, event};

use super::*;
use crate::fixture::{app, scraper_of};

/// Kind of run whose items are steps, one job each.
static COUNTING: Kind = Kind {
    name: "count",
    noun: "count",
    events: &event::CRAWL,
    endpoint: None,
    lanes: |run| vec![(STEPS, run.to_owned())],
    verdict: |progress| if progress.failed == 0 { Ok(()) } else { Err("a step has failed") },
    explain: |_| None,
    total: |progress| progress.done + progress.pending,
    drained: nothing_more,
    closed: nothing_then,
    retention: RETENTION,
    owns_reservation: true,
};

/// Another kind of run.
static OTHER: Kind = Kind { name: "other", noun: "other run", ..COUNTING };

const STEPS: Queue = Queue { name: "steps", slots: 4 };

/// Payload of a step.
#[derive(Serialize, Deserialize)]
struct StepPayload {
    run: String,
    fails: bool,
}

impl Payload for StepPayload {
    const KIND: &'static str = "count.step";
    const QUEUE: Queue = STEPS;
}

/// Handler of steps.
struct StepHandler {
    runs: Runs,
}

impl Handler for StepHandler {
    type Payload = StepPayload;
    type Done = ();

    async fn run(&self, job: &Running<StepPayload>) -> Result<(), Failure> {
        if job.payload.fails { Err(Failure::Dead { error: "on purpose".to_owned() }) } else { Ok(()) }
    }

    async fn commit(&self, conn: &mut Conn, done: &[&Finished<StepPayload, ()>]) -> Result<(), StoreError> {
        for finished in done {
            let Some(mut progress) = runs::lock(conn, &finished.job.payload.run).await? else { continue };
            progress.pending -= 1;
            progress.done += 1;
            save(&self.runs, conn, &COUNTING, &mut progress).await?;
        }
        Ok(())
    }

    async fn give_up(&self, conn: &mut Conn, job: &Running<StepPayload>, _: &str) -> Result<(), StoreError> {
        let Some(mut progress) = runs::lock(conn, &job.payload.run).await? else { return Ok(()) };
        progress.pending -= 1;
        progress.failed += 1;
        save(&self.runs, conn, &COUNTING, &mut progress).await
    }

    fn after_commit(&self, done: &[&Finished<StepPayload, ()>]) {
        done.iter().for_each(|finished| self.runs.changed(&finished.job.payload.run));
    }
}

/// Start of a run of this kind: one job per step.
struct Steps {
    team: String,
    fail: Vec<bool>,
}

impl Begin for Steps {
    async fn begin(self, conn: &mut Conn, progress: &mut runs::Progress, now: Timestamp) -> Result<(), StoreError> {
        let job = |fails: &bool| {
            NewJob::of(base::new_id(), &StepPayload { run: progress.run_id.clone(), fails: *fails }, now)
        };
        let new: Vec<NewJob> = self.fail.iter().map(job).collect::<Result<_, _>>()?;
        progress.pending = progress.max_items;
        let (id, team_id) = (progress.run_id.as_str(), self.team.as_str());
        let lane = Lane { queue: STEPS.name, id, team_id, cap: 2, team_cap: 4, delay: Duration::ZERO };
        jobs::enqueue(conn, &lane, &new, now).await?;
        Ok(())
    }
}

/// Starts a run of this kind.
async fn count(runs: &Runs, caller: &Caller, fail: Vec<bool>, key: Option<&str>) -> Result<Uuid, AppError> {
    let max_items = fail.len() as i64;
    let new = Submission {
        kind: &COUNTING,
        subject: None,
        spec: r#"{"webhook":"http://hook.test/"}"#.to_owned(),
        secrets: None,
        private: false,
        webhook: Some(wire::WebhookConfig::new(&event::CRAWL, "http://hook.test/".parse().unwrap())),
        idempotency_key: key.map(str::to_owned),
        fingerprint: fingerprint(&format!("{fail:?}")),
        max_items,
        worst: max_items,
        warning: None,
    };
    submit(runs, caller, new, Steps { team: caller.team.id.clone(), fail }).await
}

async fn events_of(app: &App, caller: &Caller, run: Uuid) -> Vec<String> {
    let mut conn = app.conn().await.unwrap();
    let mut all = store::webhooks::list(&mut conn, &caller.team.id, None, None, 100).await.unwrap();
    all.retain(|logged| logged.job_id == run.to_string());
    all.into_iter().rev().map(|logged| logged.event).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_kind_of_run_begins_is_read_ends_and_is_cancelled() {
    let (app, caller, _folder) = app().await;
    let runs = Runs::new(scraper_of(&app), vec![RunKind::of_steps(&COUNTING), RunKind::of_steps(&OTHER)]);
    let good = count(&runs, &caller, vec![false; 3], Some("k")).await.unwrap();
    assert_eq!(count(&runs, &caller, vec![false; 3], Some("k")).await.unwrap(), good);
    assert!(matches!(count(&runs, &caller, vec![false], Some("k")).await, Err(AppError::DuplicateRequest)));
    let bad = count(&runs, &caller, vec![false, true], None).await.unwrap();
    let idle = count(&runs, &caller, vec![false], None).await.unwrap();
    cancel(&runs, &caller, &COUNTING, idle).await.unwrap();
    let stop = CancellationToken::new();
    let worker = Worker::new(app.store().clone(), app.clock().clone(), queue::Settings::default());
    let worker = worker.woken_by(app.waker().clone()).with(StepHandler { runs: runs.clone() });
    let working = tokio::spawn(worker.run(stop.clone()));
    for (run, expect, done, error) in [
        (good, JobStatus::Completed, 3, None),
        (bad, JobStatus::Failed, 1, Some("a step has failed")),
        (idle, JobStatus::Cancelled, 0, Some("cancelled by its owner")),
    ] {
        let mut changes = runs.watch(run);
        let progress = loop {
            let progress = status(&runs, &caller, &COUNTING, run, ResultsQuery::default()).await.unwrap();
            if progress.status.is_final() {
                break progress;
            }
            let _ = tokio::time::timeout(Duration::from_millis(100), changes.changed()).await;
        };
        assert_eq!((progress.status, progress.completed, progress.error.as_deref()), (expect, done, error));
        let end = if error.is_none() { "crawl.completed" } else { "crawl.failed" };
        assert_eq!(events_of(&app, &caller, run).await, ["crawl.started", end]);
        assert!(matches!(cancel(&runs, &caller, &COUNTING, run).await, Err(RunsError::JobFinished)));
        let other = status(&runs, &caller, &OTHER, run, ResultsQuery::default()).await;
        assert!(matches!(other, Err(AppError::NotFound("other run"))));
    }
    stop.cancel();
    working.await.unwrap();
}
