//! Leases: renewed while jobs run, checked for cancellations, and taken from workers that were lost.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use base::{Timestamp, new_id};
use parking_lot::Mutex;
use store::StoreError;
use store::jobs::{self, Claimed, Lease};
use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::worker::{Core, Handlers};

/// Jobs that one round takes from lost workers.
const MAX_REAPED: i64 = 200;

/// The jobs that run here, by id and token: the same job can be held twice, once under a token that is lost.
#[derive(Default)]
pub(crate) struct Held(Mutex<Jobs>);

#[derive(Default)]
struct Jobs {
    running: HashMap<Name, CancellationToken>,
    /// Then none is to run any more.
    is_over: bool,
}

/// The id and the token.
type Name = (String, String);

impl Held {
    /// Returns a token that is cancelled when the job is no longer ours.
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

    /// Those that a commit claims yet are cancelled as well.
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

/// Keeps the leases for as long as it is polled.
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
            // After a jump of the clock every lease looks over: ours are renewed first, and so do the others theirs.
            _ = reaps.tick() => if clock.has_jumped(&core) { renew(&core).await } else { reap(&core, &handlers).await },
        };
        if let Err(error) = done
            && error.is_news()
        {
            tracing::warn!(%error, "leases not kept, it is tried again");
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
        let ours = jobs::still_ours(&mut core.store.conn().await?, &leases(&names)).await?;
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
        tracing::info!(jobs = reaped.back, "jobs of a lost worker are done again");
        core.wake_all();
    }
    for job in reaped.lost {
        if let Some(handler) = handlers.get(job.kind.as_str()) {
            Arc::clone(handler).bury(Arc::clone(core), job).await;
        }
    }
    Ok(())
}

/// Compares the clock with the time that has passed.
struct Watch {
    before: (Instant, Timestamp),
}

impl Watch {
    fn new(core: &Core) -> Self {
        Self { before: (Instant::now(), core.now()) }
    }

    /// Whether the clock has gone much further than time since the last call.
    fn has_jumped(&mut self, core: &Core) -> bool {
        let now = (Instant::now(), core.now());
        let (time, clock) = (now.0 - self.before.0, now.1 - self.before.1);
        self.before = now;
        clock.to_std().is_ok_and(|clock| clock > time + core.settings.lease / 4)
    }
}
