//! Checks that are begun by a call, without regard to the schedule.

use ::runs::PAGES;
use ::runs::webhooks::HOOKS;
use kernel::admit::check_open;
use kernel::auth::Caller;
use kernel::{AppError, tracked};
use store::{Conn, StoreError, mails, monitors as rows};
use uuid::Uuid;
use wire::MonitorCheck;

use crate::begin::{self, Begun, Cause};
use crate::mail::MAILS;
use crate::payload::MONITORS;
use crate::plan::plan;
use crate::read::NOUN;
use crate::{Monitors, MonitorsError, draft, view};

/// Attempts at a beginning that a change of the monitor has overtaken.
const TRIES: usize = 5;

/// Begins a check of a monitor, also of one that is paused. The next check of the schedule stays as it is. A check that may
/// not start is skipped, and returned as such.
///
/// # Errors
/// [`AppError::NotFound`], [`AppError::Forbidden`] for teams with zero data retention.
#[crate::boxed]
pub async fn run(monitors: &Monitors, caller: &Caller, id: Uuid) -> Result<MonitorCheck, MonitorsError> {
    draft::check_team(caller)?;
    run_of(monitors, &caller.team.id, id).await
}

/// Begins a check of a team's monitor.
pub(crate) async fn run_of(monitors: &Monitors, team: &str, id: Uuid) -> Result<MonitorCheck, MonitorsError> {
    let app = monitors.app();
    check_open(app)?;
    kernel::room::check(app)?;
    for _ in 0..TRIES {
        let plan = plan(monitors, team, &id.to_string()).await?.ok_or(AppError::NotFound(NOUN))?;
        let (worker, team) = (app.clone(), team.to_owned());
        let begun = tracked(app.tracker(), async move {
            let mut conn = worker.store().conn().await?;
            conn.tx(async |conn: &mut Conn| {
                begin::lock(conn, &team).await?;
                begin::begin(conn, plan, Cause::Call, worker.clock().as_ref()).await
            })
            .await
        });
        let begun: Result<Begun, StoreError> = begun.await;
        match begun? {
            Begun::Check(check) => {
                [PAGES, MONITORS, HOOKS, MAILS].iter().for_each(|queue| app.waker().wake(*queue));
                let mut conn = app.conn().await?;
                let parts = rows::check_targets(&mut conn, &[&check.id]).await?;
                let mails = mails::of_checks(&mut conn, &[&check.id]).await?;
                return Ok(view::check(&check, &parts, &mails)?);
            }
            Begun::Nothing => return Err(AppError::NotFound(NOUN).into()),
            Begun::Outdated => {}
        }
    }
    Err(AppError::internal("a monitor that is changed all the time").into())
}
