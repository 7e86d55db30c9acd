//! Leases: renewed while jobs run, checked for cancellations, and reaped when other workers are lost.

use std::sync::Arc;

use base::{Timestamp, new_id};
use store::StoreError;
use store::jobs::{self, Lease};
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::claims::Handlers;
use crate::held::Name;
use crate::shared::Core;

/// Limit of jobs that one round reaps.
const MAX_REAPED: i64 = 200;

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
