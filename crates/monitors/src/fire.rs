//! Fires: the jobs that begin the checks of schedules. A fire is queued in the transaction of the one before, so each
//! moment of a schedule makes at most one check, with any number of servers.

use std::collections::BTreeSet;

use ::runs::{PAGES, patience};
use base::Timestamp;
use queue::{Failure, Finished, Handler, Running};
use store::monitors as rows;
use store::{Conn, StoreError, jobs};

use crate::begin::{self, Begun, Cause};
use crate::payload::{FirePayload, MONITORS};
use crate::plan::{Plan, plan};
use crate::{Monitors, MonitorsError};

/// Handler of fires.
pub struct Fire {
    /// Monitors that it begins checks of.
    pub monitors: Monitors,
}

/// Plan of a check, and the moments of its schedule.
pub struct Planned {
    plan: Plan,
    cause: Cause,
}

impl Handler for Fire {
    type Payload = FirePayload;
    type Done = Option<Planned>;

    async fn run(&self, job: &Running<FirePayload>) -> Result<Option<Planned>, Failure> {
        let again = |error: MonitorsError| patience::again(self.monitors.app(), job, &error, patience::PAUSE);
        let FirePayload { monitor, at } = &job.payload;
        let Some(plan) = plan(&self.monitors, &job.team_id, monitor).await.map_err(again)? else { return Ok(None) };
        let now = self.monitors.app().now();
        // The database keeps microseconds, so the row is compared where it is locked.
        let schedule = begin::schedule(&plan.monitor).map_err(|error| again(error.into()))?;
        let seen = now.max(*at);
        let last = schedule.last_run(seen).filter(|last| last > at).unwrap_or(*at);
        let cause = Cause::Fire { at: *at, last, next: schedule.next(seen) };
        Ok(Some(Planned { plan, cause }))
    }

    async fn commit(
        &self,
        conn: &mut Conn,
        done: &[&Finished<FirePayload, Option<Planned>>],
    ) -> Result<(), StoreError> {
        let teams: BTreeSet<&str> = done.iter().map(|finished| finished.job.team_id.as_str()).collect();
        for team in teams {
            begin::lock(conn, team).await?;
        }
        let mut planned: Vec<_> =
            done.iter().filter_map(|finished| Some((finished, finished.done.as_ref()?))).collect();
        planned.sort_by(|(one, _), (other, _)| {
            (&one.job.team_id, &one.job.payload.monitor).cmp(&(&other.job.team_id, &other.job.payload.monitor))
        });
        let app = self.monitors.app();
        for (finished, Planned { plan, cause }) in planned {
            if let Begun::Outdated = begin::begin(conn, plan.clone(), *cause, app.clock().as_ref()).await? {
                again(conn, &finished.job.payload, app.now()).await?;
            }
        }
        Ok(())
    }

    fn after_commit(&self, _: &[&Finished<FirePayload, Option<Planned>>]) {
        self.monitors.app().waker().wake(PAGES);
    }
}

/// Queues a fire again, whose monitor was changed while its check was planned.
async fn again(conn: &mut Conn, fire: &FirePayload, now: Timestamp) -> Result<(), StoreError> {
    match rows::lock(conn, &fire.monitor).await? {
        Some(monitor) => begin::queue(conn, &monitor, now).await,
        None => Ok(()),
    }
}

/// Queues the fires of monitors that have been due for a while, whose jobs were lost; returns how many were due.
///
/// # Errors
/// [`MonitorsError`] of the database.
#[crate::boxed]
pub(crate) async fn repair(monitors: &Monitors, before: Timestamp, limit: i64) -> Result<usize, MonitorsError> {
    let app = monitors.app();
    let late = rows::due(&mut app.conn().await?, before, limit).await?;
    for monitor in &late {
        let now = app.now();
        let mut conn = app.conn().await?;
        let queued: Result<(), StoreError> = conn
            .tx(async |conn: &mut Conn| {
                jobs::lock_team(conn, MONITORS.name, &monitor.team_id).await?;
                match rows::lock(conn, &monitor.id).await? {
                    Some(monitor) => begin::queue(conn, &monitor, now).await,
                    None => Ok(()),
                }
            })
            .await;
        queued?;
    }
    if !late.is_empty() {
        app.waker().wake(MONITORS);
    }
    Ok(late.len())
}
