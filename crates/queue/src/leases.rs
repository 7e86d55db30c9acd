//! Leases: renewed while jobs run, checked for cancellations, and reaped when other workers are lost.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use base::{Timestamp, new_id};
use parking_lot::Mutex;
use store::StoreError;
use store::jobs::{self, Claimed, Lease};
use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::worker::{Core, Handlers};

/// Limit of jobs that one round reaps.
const MAX_REAPED: i64 = 200;

/// Running jobs of this process, by id and token: the same job can be held twice, once under a lost token.
#[derive(Default)]
pub(crate) struct RunningJobs(Mutex<Jobs>);

#[derive(Default)]
struct Jobs {
    running: HashMap<Name, CancellationToken>,
    /// Whether all jobs are cancelled, including those that are added later.
    is_over: bool,
}

/// Id and token of a job.
type Name = (String, String);

impl RunningJobs {
    /// Adds a job; returns a token that is cancelled when its lease is lost.
    pub(crate) fn add(&self, job: &Claimed) -> CancellationToken {
        let cancelled = CancellationToken::new();
        let mut jobs = self.0.lock();
        if jobs.is_over {
            cancelled.cancel();
        }
        jobs.running.insert((job.id.clone(), job.token.clone()), cancelled.clone());
        cancelled
    }

    pub(crate) fn remove(&self, id: &str, token: &str) {
        self.0.lock().running.remove(&(id.to_owned(), token.to_owned()));
    }

    /// Cancels all jobs, including those that a commit still claims.
    pub(crate) fn cancel_all(&self) {
        let mut jobs = self.0.lock();
        jobs.is_over = true;
        jobs.running.values().for_each(CancellationToken::cancel);
    }

    fn names(&self) -> Vec<Name> {
        self.0.lock().running.keys().cloned().collect()
    }

    fn cancel_lost(&self, asked: &[Name], ours: &HashSet<String>) {
        let jobs = self.0.lock();
        let lost = asked.iter().filter(|(id, _)| !ours.contains(id)).filter_map(|name| jobs.running.get(name));
        lost.for_each(CancellationToken::cancel);
    }
}

/// Renews, checks and reaps leases for as long as it is polled.
pub(crate) async fn keep(core: Arc<Core>, handlers: Arc<Handlers>) {
    let ticks = |period| {
        let mut ticks = interval(period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks
    };
    let settings = &core.settings;
    let (mut beats, mut checks, mut reaps) = (ticks(settings.heartbeat), ticks(settings.check), ticks(settings.reap));
    let mut clock = Watch::new(&core);
    loop {
        let done = tokio::select! {
            _ = beats.tick() => renew(&core).await,
            _ = checks.tick() => check(&core).await,
            // After a jump of the clock every lease looks expired: renew our own and give other workers time to renew
            // theirs.
            _ = reaps.tick() => if clock.has_jumped(&core) { renew(&core).await } else { reap(&core, &handlers).await },
        };
        if let Err(error) = done
            && error.is_news()
        {
            tracing::warn!(%error, "could not renew, check or reap leases; trying again");
        }
    }
}

async fn renew(core: &Core) -> Result<(), StoreError> {
    let names = core.held.names();
    if !names.is_empty() {
        let ours = jobs::renew(&mut core.store.conn().await?, &leases(&names), core.lease_until()).await?;
        core.held.cancel_lost(&names, &ours);
    }
    Ok(())
}

async fn check(core: &Core) -> Result<(), StoreError> {
    let names = core.held.names();
    if !names.is_empty() {
        let ours = jobs::still_leased(&mut core.store.conn().await?, &leases(&names)).await?;
        core.held.cancel_lost(&names, &ours);
    }
    Ok(())
}

fn leases(names: &[Name]) -> Vec<Lease<'_>> {
    names.iter().map(|(id, token)| Lease { id, token }).collect()
}

async fn reap(core: &Arc<Core>, handlers: &Handlers) -> Result<(), StoreError> {
    let token = new_id().to_string();
    let (now, until) = (core.now(), core.lease_until());
    let reaped = jobs::reap(&mut core.store.conn().await?, now, &token, until, MAX_REAPED).await?;
    if reaped.back > 0 {
        tracing::info!(jobs = reaped.back, "leases of a lost worker expired; their jobs are ready again");
        core.wake_all();
    }
    for job in reaped.lost {
        if let Some(handler) = handlers.get(job.kind.as_str()) {
            Arc::clone(handler).bury(Arc::clone(core), job).await;
        }
    }
    Ok(())
}

/// Detects jumps of the wall clock by comparison with the monotonic clock.
struct Watch {
    before: (Instant, Timestamp),
}

impl Watch {
    fn new(core: &Core) -> Self {
        Self { before: (Instant::now(), core.now()) }
    }

    /// Whether the wall clock has advanced much more than the monotonic clock since the last call.
    fn has_jumped(&mut self, core: &Core) -> bool {
        let now = (Instant::now(), core.now());
        let (time, clock) = (now.0 - self.before.0, now.1 - self.before.1);
        self.before = now;
        clock.to_std().is_ok_and(|clock| clock > time + core.settings.lease / 4)
    }
}
