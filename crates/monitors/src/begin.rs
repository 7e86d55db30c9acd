//! Beginning of a check, in one transaction: whether it may start, its row, its runs, the reservation of its credits and
//! the next fire of its monitor.

use ::runs::{PAGES, Placing, submit_in};
use base::{Clock, Timestamp, new_id};
use billing::LedgerError;
use monitor_scheduler::{Grant, NoCredits, Schedule, Situation, Start, Trigger, may_start};
use queue::NewJob;
use serde_json::{Value, json};
use store::ledger::{self, Booking};
use store::monitors::{self as rows, Check, CheckTarget, Monitor};
use store::{Conn, StoreError, jobs, teams};
use uuid::Uuid;
use wire::{BillingStatus, CheckStatus};

use crate::link::Link;
use crate::payload::{self, FirePayload, MONITORS, SearchPayload};
use crate::plan::{Part, Plan, Work};
use crate::{end, metrics};

/// Beginning of a check.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cause {
    /// Fire of the schedule. `at` is the fire that the monitor waits for, `last` the last one that has passed.
    Fire {
        /// Fire that the monitor waits for.
        at: Timestamp,
        /// Last fire that has passed.
        last: Timestamp,
        /// Next fire.
        next: Option<Timestamp>,
    },
    /// Call of the team.
    Call,
}

/// Result of a beginning.
pub(crate) enum Begun {
    /// A check was added, skipped or not.
    Check(Box<Check>),
    /// Nothing was to be done: another server was faster, or the monitor was changed, paused or removed.
    Nothing,
    /// The monitor was changed after the plan was made; another one is needed.
    Outdated,
}

/// Locks what comes first in the order of locks. Called once for each team, before any check begins.
///
/// # Errors
/// [`StoreError`]; then the transaction must be rolled back.
pub(crate) async fn lock(conn: &mut Conn, team: &str) -> Result<(), StoreError> {
    for queue in [MONITORS.name, PAGES.name] {
        jobs::lock_team(conn, queue, team).await?;
    }
    Ok(())
}

/// Begins a check, or skips it. Its time is read once the monitor is locked, so no check seems to begin before the end of
/// the one that it has waited for.
///
/// # Errors
/// [`StoreError`]; then the transaction must be rolled back.
#[crate::boxed]
pub(crate) async fn begin(conn: &mut Conn, plan: Plan, cause: Cause, clock: &dyn Clock) -> Result<Begun, StoreError> {
    let locked = match cause {
        Cause::Fire { at, .. } => rows::claim(conn, &plan.monitor.id, at).await?,
        Cause::Call => rows::lock(conn, &plan.monitor.id).await?,
    };
    let Some(mut monitor) = locked else { return Ok(Begun::Nothing) };
    if monitor.revision != plan.monitor.revision {
        return Ok(Begun::Outdated);
    }
    let now = clock.now();
    if let Cause::Fire { next, .. } = cause {
        monitor.next_run_at = next;
    }
    let mut check = row(&monitor, &plan, cause, now);
    let situation = situation(conn, &monitor, &plan, cause).await?;
    let start = match may_start(&situation) {
        Start::Now => reserve(conn, &plan, &mut check, now).await?,
        other => other,
    };
    let begun = match start {
        Start::Never => Begun::Nothing,
        Start::Now => match accept(conn, plan, check, now).await? {
            Some(check) => {
                (monitor.current_check_id, monitor.last_run_at) = (Some(check.id.clone()), Some(now));
                monitor.withdrawals = 0;
                Begun::Check(Box::new(check))
            }
            // The fire has made a check before, as when the clock was set back.
            None => Begun::Nothing,
        },
        Start::Overlap => {
            monitor.withdrawals = 0;
            skipped(conn, check, CheckStatus::SkippedOverlap, None, now).await?
        }
        Start::NoCredits { why, pauses } => {
            let withdrawn = why == NoCredits::Withdrawn;
            monitor.withdrawals = if withdrawn { monitor.withdrawals + 1 } else { 0 };
            if pauses {
                rows::PAUSED.clone_into(&mut monitor.status);
                monitor.next_run_at = None;
                tracing::info!(monitor = monitor.id, "paused: the partner has withdrawn its grant");
            }
            skipped(conn, check, CheckStatus::SkippedNoCredits, Some(why.to_string()), now).await?
        }
    };
    save(conn, &mut monitor, now).await?;
    match begun {
        // Everything that it consists of was refused: it is over already.
        Begun::Check(check) if check.is_open() => Ok(Begun::Check(Box::new(over(conn, *check, now).await?))),
        other => Ok(other),
    }
}

/// Writes the monitor, and queues its next fire.
async fn save(conn: &mut Conn, monitor: &mut Monitor, now: Timestamp) -> Result<(), StoreError> {
    rows::save(conn, monitor).await?;
    queue(conn, monitor, now).await
}

/// Queues the next fire of a monitor, unless it is queued already.
///
/// # Errors
/// [`StoreError`]; then the transaction must be rolled back.
pub(crate) async fn queue(conn: &mut Conn, monitor: &Monitor, now: Timestamp) -> Result<(), StoreError> {
    let Some(at) = monitor.next_run_at.filter(|_| monitor.status == rows::ACTIVE) else { return Ok(()) };
    let payload = FirePayload { monitor: monitor.id.clone(), at };
    let unique_key = Some(format!("monitor:{}:{}", monitor.id, at.timestamp()));
    let job = NewJob { unique_key, ..NewJob::of(new_id(), &payload, at)? };
    jobs::enqueue(conn, &payload::lane(&monitor.team_id, &monitor.id), &[job], now).await?;
    Ok(())
}

/// Builds the row of a check.
fn row(monitor: &Monitor, plan: &Plan, cause: Cause, now: Timestamp) -> Check {
    let (cause, scheduled_for) = match cause {
        Cause::Fire { last, .. } => (rows::SCHEDULED, Some(last)),
        Cause::Call => (rows::MANUAL, None),
    };
    Check {
        id: new_id().to_string(),
        monitor_id: monitor.id.clone(),
        team_id: monitor.team_id.clone(),
        api_key_id: monitor.api_key_id.clone(),
        status: rows::QUEUED.to_owned(),
        cause: cause.to_owned(),
        scheduled_for,
        started_at: None,
        finished_at: None,
        progress_at: None,
        estimated_credits: Some(plan.estimate),
        reserved_credits: Some(0),
        actual_credits: Some(0),
        billing_status: BillingStatus::Reserved.as_str().to_owned(),
        reservation: None,
        same_pages: 0,
        changed_pages: 0,
        new_pages: 0,
        removed_pages: 0,
        error_pages: 0,
        open_judgments: 0,
        notification: None,
        warning: plan.warning.map(str::to_owned),
        error: None,
        created_at: now,
        updated_at: now,
    }
}

/// Reads everything on which the start of a check depends.
async fn situation(conn: &mut Conn, monitor: &Monitor, plan: &Plan, cause: Cause) -> Result<Situation, StoreError> {
    let whole = |credits: i64| u64::try_from(credits).unwrap_or(0);
    let team = &plan.caller.team;
    let available = match team.unlimited {
        true => None,
        false => Some(whole(ledger::balance(conn, &team.id).await?.available)),
    };
    let grant = match team.partner_grant.as_deref() {
        None => Grant::None,
        Some(teams::WITHDRAWN) => Grant::Withdrawn,
        Some(_) => Grant::Active,
    };
    Ok(Situation {
        trigger: if matches!(cause, Cause::Call) { Trigger::Manual } else { Trigger::Scheduled },
        paused: monitor.status == rows::PAUSED,
        busy: monitor.current_check_id.is_some(),
        grant,
        withdrawals: u32::try_from(monitor.withdrawals).unwrap_or(0),
        estimate: whole(plan.estimate),
        available,
    })
}

/// Reserves the credits of a check. Another request may have spent them since the balance was read.
async fn reserve(conn: &mut Conn, plan: &Plan, check: &mut Check, now: Timestamp) -> Result<Start, StoreError> {
    let team = &plan.caller.team;
    if team.unlimited || plan.estimate == 0 {
        return Ok(Start::Now);
    }
    let key = format!("check:{}", check.id);
    let booking = Booking { key: &key, team: &team.id, api_key: plan.caller.key.as_deref(), at: now };
    match ledger::reserve(conn, &booking, plan.estimate, now + ::runs::MAX_LIFE).await {
        Ok(_) => {
            (check.reservation, check.reserved_credits) = (Some(key), Some(plan.estimate));
            Ok(Start::Now)
        }
        Err(StoreError::Ledger(LedgerError::Insufficient { needed, available })) => {
            let whole = |credits: i64| u64::try_from(credits).unwrap_or(0);
            let why = NoCredits::TooFew { estimate: whole(needed), available: whole(available) };
            Ok(Start::NoCredits { why, pauses: false })
        }
        Err(error) => Err(error),
    }
}

/// Adds the row of a skipped check, which costs nothing and tells nothing.
async fn skipped(
    conn: &mut Conn,
    check: Check,
    status: CheckStatus,
    error: Option<String>,
    now: Timestamp,
) -> Result<Begun, StoreError> {
    let overlaps = status == CheckStatus::SkippedOverlap;
    let check = Check {
        status: status.as_str().to_owned(),
        estimated_credits: if overlaps { Some(0) } else { check.estimated_credits },
        billing_status: BillingStatus::NotApplicable.as_str().to_owned(),
        finished_at: Some(now),
        warning: None,
        error,
        ..check
    };
    if !rows::add_check(conn, &check, &[]).await? {
        return Ok(Begun::Nothing);
    }
    metrics::ended(status);
    Ok(Begun::Check(Box::new(check)))
}

/// Adds a check with its runs; `None` if its fire has made one before.
async fn accept(conn: &mut Conn, plan: Plan, mut check: Check, now: Timestamp) -> Result<Option<Check>, StoreError> {
    let Plan { caller, parts, .. } = plan;
    let parts: Vec<(Part, Uuid)> = parts.into_iter().map(|part| (part, new_id())).collect();
    for (part, _) in &parts {
        if let Work::Refused(error) = &part.work {
            check.error.get_or_insert_with(|| format!("targets[{}]: {error}", part.position));
        }
    }
    let targets: Vec<CheckTarget> = parts.iter().map(|(part, run)| target(&check.id, part, *run)).collect();
    if !rows::add_check(conn, &check, &targets).await? {
        end::give_back(conn, &check, now).await?;
        return Ok(None);
    }
    for (part, run) in parts {
        let link = Link {
            monitor: check.monitor_id.clone(),
            check: check.id.clone(),
            target: part.target,
            position: part.position,
        };
        let placing = Placing { id: run, reservation: check.reservation.clone(), now };
        match part.work {
            Work::Pages(mut submission, pages) => {
                submission.idempotency_key = Some(link.key());
                submit_in(conn, &caller, *submission, pages, placing).await?;
            }
            Work::Crawl(prepared) => {
                let mut prepared = *prepared;
                prepared.submission.idempotency_key = Some(link.key());
                submit_in(conn, &caller, prepared.submission, prepared.beginning, placing).await?;
            }
            Work::Search => SearchPayload::of(&link).enqueue(conn, &caller.team.id, now).await?,
            Work::Refused(_) => {}
        }
    }
    Ok(Some(check))
}

/// Builds the row of what a check does for a target.
fn target(check: &str, part: &Part, run: Uuid) -> CheckTarget {
    let id = &part.target;
    let (kind, run, result): (&str, Option<Uuid>, Value) = match &part.work {
        Work::Pages(_, pages) => {
            ("scrape", Some(run), json!({ "targetId": id, "type": "scrape", "expectedJobs": pages.ids() }))
        }
        Work::Crawl(_) => ("crawl", Some(run), json!({ "targetId": id, "type": "crawl", "crawlId": run })),
        Work::Search => ("search", None, json!({ "targetId": id, "type": "search", "searchCompleted": false })),
        Work::Refused(error) => ("refused", None, json!({ "targetId": id, "type": "scrape", "error": error })),
    };
    CheckTarget {
        check_id: check.to_owned(),
        position: part.position,
        target_id: id.clone(),
        kind: kind.to_owned(),
        run_id: run.map(|run| run.to_string()),
        is_open: kind != "refused",
        result: Some(result.to_string()),
    }
}

/// Ends a check whose targets were all refused.
async fn over(conn: &mut Conn, check: Check, now: Timestamp) -> Result<Check, StoreError> {
    let parts = rows::check_targets(conn, &[&check.id]).await?;
    if parts.iter().any(|part| part.is_open) {
        return Ok(check);
    }
    let error = check.error.clone();
    end::finish(conn, check.clone(), CheckStatus::Failed, error, now).await?;
    Ok(rows::check(conn, &check.monitor_id, &check.id).await?.unwrap_or(check))
}

/// Returns the schedule of a monitor.
///
/// # Errors
/// [`StoreError::Inconsistent`] for one that this version cannot read.
pub(crate) fn schedule(monitor: &Monitor) -> Result<Schedule, StoreError> {
    Schedule::cron(&monitor.cron, &monitor.timezone)
        .map_err(|error| StoreError::Inconsistent(format!("the schedule of the monitor {}: {error}", monitor.id)))
}
