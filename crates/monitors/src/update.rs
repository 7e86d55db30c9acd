//! Changes of monitors. One that fails changes nothing.

use base::Timestamp;
use kernel::admit::check_open;
use kernel::auth::Caller;
use kernel::{AppError, tracked};
use monitor_scheduler::Schedule;
use store::monitors::{self as rows, Monitor, MonitorSecret, OF_THE_WEBHOOK, Target};
use store::{Conn, StoreError, jobs};
use uuid::Uuid;
use wire::{Invalid, MonitorStatus, MonitorTarget, UpdateMonitor, check_search_goal};

use crate::draft::{self, Before};
use crate::mail::{MAILS, Occasion};
use crate::payload::MONITORS;
use crate::plan::{check_targets, revealed};
use crate::read::NOUN;
use crate::view::Whole;
use crate::{Monitors, MonitorsError, begin, mail, secrets};

/// Attempts at a change that another one has overtaken.
const TRIES: usize = 5;

/// Changes a monitor. A new schedule counts from now, as does one that is resumed; a running check goes on.
///
/// # Errors
/// Those of [`create`](crate::create()), and [`AppError::NotFound`].
#[crate::boxed]
pub async fn update(
    monitors: &Monitors,
    caller: &Caller,
    id: Uuid,
    request: UpdateMonitor,
) -> Result<wire::MonitorView, MonitorsError> {
    let app = monitors.app();
    check_open(app)?;
    for _ in 0..TRIES {
        let now = app.now();
        let changed = Changed::of(monitors, caller, id, &request, now).await?;
        let (worker, has_mail) = (app.clone(), monitors.mail().is_some());
        let written = tracked(app.tracker(), async move {
            let mut conn = worker.store().conn().await?;
            conn.tx(async |conn: &mut Conn| changed.write(conn, has_mail, now).await).await
        });
        let written: Result<Option<Written>, StoreError> = written.await;
        if let Some(Written { row, targets, asked }) = written? {
            [MONITORS, MAILS].iter().for_each(|queue| app.waker().wake(*queue));
            let mail = mail::view(monitors, &mut app.conn().await?, &row, Some(&asked)).await?;
            let has_model = monitors.model().is_some();
            return Ok(Whole { row: &row, targets: &targets, mail, has_model, now }.view()?);
        }
    }
    Err(AppError::internal("a monitor that is changed all the time").into())
}

/// Monitor after its change.
struct Written {
    row: Monitor,
    targets: Vec<Target>,
    /// Recipients that are asked for confirmation.
    asked: Vec<String>,
}

/// Monitor with its changes.
struct Changed {
    row: Monitor,
    /// New targets; `None` if they stay.
    targets: Option<Vec<Target>>,
    /// All secrets, old and new.
    secrets: Vec<MonitorSecret>,
    /// Whether the next fire is another one.
    is_rescheduled: bool,
    /// Targets as they are now.
    shown: Vec<Target>,
    /// Whether recipients of mails are named.
    names_recipients: bool,
}

impl Changed {
    async fn of(
        monitors: &Monitors,
        caller: &Caller,
        id: Uuid,
        request: &UpdateMonitor,
        now: Timestamp,
    ) -> Result<Self, MonitorsError> {
        let (id, mut conn) = (id.to_string(), monitors.app().conn().await?);
        let found = rows::find(&mut conn, &caller.team.id, &id).await?;
        let mut row = found.ok_or(AppError::NotFound(NOUN))?;
        let shown = rows::targets(&mut conn, &[&id]).await?;
        let old = rows::secrets(&mut conn, &id).await?;
        drop(conn);
        row.name = request.name.clone().unwrap_or(row.name);
        row.goal = request.goal.clone().unwrap_or(row.goal);
        row.judge_enabled = request.judge_enabled.or(row.judge_enabled);
        if let Some(days) = request.retention_days {
            row.retention_days = i32::try_from(days).unwrap_or(i32::MAX);
        }
        if let Some(notification) = &request.notification {
            let text = notification.as_ref().map(serde_json::to_string).transpose();
            row.notification = text.map_err(AppError::internal)?;
        }
        let is_rescheduled = reschedule(&mut row, request, now)?;
        let mut changed = Self {
            row,
            targets: None,
            secrets: Vec::new(),
            is_rescheduled,
            shown,
            names_recipients: request.notification.is_some(),
        };
        let read = changed.take_targets(request, &old)?;
        check_search_goal(&read, changed.row.goal.as_deref(), changed.row.judge_enabled)?;
        if request.targets.is_some() {
            check_targets(monitors, caller, &read).await?;
        }
        changed.take_webhook(request, &old)?;
        Ok(changed)
    }

    /// Takes new targets, and returns those that the monitor has then.
    fn take_targets(
        &mut self,
        request: &UpdateMonitor,
        old: &[MonitorSecret],
    ) -> Result<Vec<MonitorTarget>, MonitorsError> {
        let Some(given) = &request.targets else {
            self.secrets.extend(old.iter().filter(|secret| secret.part != OF_THE_WEBHOOK).cloned());
            return self.shown.iter().map(|target| Ok(revealed(target, old)?)).collect();
        };
        let before = self.shown.iter().map(|row| {
            let hidden = secrets::of(old, &row.id)?;
            Ok(Before { row: row.clone(), hidden })
        });
        let before = before.collect::<Result<Vec<_>, AppError>>()?;
        let stored = draft::targets(&self.row.id, given.clone(), before)?;
        self.secrets.extend(stored.secrets);
        self.shown.clone_from(&stored.targets);
        self.targets = Some(stored.targets);
        Ok(stored.read)
    }

    /// Takes a new webhook, or keeps the secrets of the old one.
    fn take_webhook(&mut self, request: &UpdateMonitor, old: &[MonitorSecret]) -> Result<(), MonitorsError> {
        match &request.webhook {
            None => self.secrets.extend(old.iter().find(|secret| secret.part == OF_THE_WEBHOOK).cloned()),
            Some(None) => self.row.webhook = None,
            Some(Some(webhook)) => {
                let (text, secret) = draft::webhook(webhook, &secrets::of(old, OF_THE_WEBHOOK)?)?;
                self.row.webhook = Some(text);
                self.secrets.extend(secret);
            }
        }
        Ok(())
    }

    /// Writes the changes; `None` when the monitor was changed by another call since it was read.
    async fn write(self, conn: &mut Conn, has_mail: bool, now: Timestamp) -> Result<Option<Written>, StoreError> {
        let Self { row: new, targets, secrets, is_rescheduled, shown, names_recipients } = self;
        jobs::lock_team(conn, MONITORS.name, &new.team_id).await?;
        let locked = rows::lock(conn, &new.id).await?;
        let Some(locked) = locked.filter(|locked| locked.revision == new.revision) else { return Ok(None) };
        let mut row = Monitor {
            last_run_at: locked.last_run_at,
            current_check_id: locked.current_check_id,
            last_summary: locked.last_summary,
            revision: locked.revision + 1,
            updated_at: now,
            ..new
        };
        if !is_rescheduled {
            // Fires and skips go on meanwhile, without counting the changes up.
            (row.next_run_at, row.status, row.withdrawals) = (locked.next_run_at, locked.status, locked.withdrawals);
        }
        rows::save(conn, &row).await?;
        rows::replace_secrets(conn, &row.id, &secrets).await?;
        if let Some(targets) = targets {
            rows::replace_targets(conn, &row.id, &targets).await?;
        }
        if is_rescheduled {
            begin::queue(conn, &row, now).await?;
        }
        let asks = has_mail && names_recipients;
        let asked = if asks { mail::ask(conn, &row, Occasion::Call, now).await? } else { Vec::new() };
        Ok(Some(Written { row, targets: shown, asked }))
    }
}

/// Applies the status and the schedule of a request; returns whether the next fire is another one.
fn reschedule(row: &mut Monitor, request: &UpdateMonitor, now: Timestamp) -> Result<bool, Invalid> {
    if let Some(given) = &request.schedule {
        let schedule: Schedule = draft::schedule(given, &row.id)?;
        schedule.expression().clone_into(&mut row.cron);
        schedule.zone().clone_into(&mut row.timezone);
    }
    let before = row.status.clone();
    match request.status {
        Some(MonitorStatus::Paused) => rows::PAUSED.clone_into(&mut row.status),
        Some(MonitorStatus::Active) => rows::ACTIVE.clone_into(&mut row.status),
        _ => {}
    }
    if row.status == before && request.schedule.is_none() {
        return Ok(false);
    }
    if row.status != before {
        row.withdrawals = 0;
    }
    let next = || begin::schedule(row).ok().and_then(|schedule| schedule.next(now));
    row.next_run_at = if row.status == rows::ACTIVE { next() } else { None };
    Ok(true)
}
