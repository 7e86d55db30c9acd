//! Start, progress and end of a check. A check ends in the transaction of its last part: a run, a search or a judgment.

use ::runs::Draining;
use ::runs::webhooks::emit;
use base::Timestamp;
use serde_json::{Value, json};
use store::monitors::{self as rows, Check, CheckTarget};
use store::runs::{Progress, Run};
use store::{Conn, StoreError, ledger};
use wire::{BillingStatus, CheckStatus};

use crate::link::{Link, hook_of};
use crate::{chat, events, mail, metrics, progress};

/// Error of a check without a single page that could be read.
const NOTHING: &str = "no page could be read";

/// Ends the part of a check that a run has carried out.
pub(crate) fn closed<'a>(conn: &'a mut Conn, run: &'a Run, _: &'a Progress, now: Timestamp) -> Draining<'a> {
    Box::pin(async move {
        let link = Link::of(run)?;
        let Some(mut check) = rows::lock_check(conn, &link.check).await? else { return Ok(()) };
        if let Some(warning) = &run.warning {
            warn(&mut check, warning);
        }
        part_ended(conn, check, link.position, None, now).await
    })
}

/// Adds a warning to those of a check.
pub(crate) fn warn(check: &mut Check, warning: &str) {
    let before = check.warning.take();
    check.warning = Some(match before {
        Some(before) if before.contains(warning) => before,
        Some(before) => format!("{before}; {warning}"),
        None => warning.to_owned(),
    });
}

/// Ends the part of a check for the target at a position, and the check with its last part. `result` replaces members of
/// the target's result.
///
/// # Errors
/// [`StoreError`]; then the transaction must be rolled back.
pub(crate) async fn part_ended(
    conn: &mut Conn,
    check: Check,
    position: i32,
    result: Option<Value>,
    now: Timestamp,
) -> Result<(), StoreError> {
    let parts = rows::check_targets(conn, &[&check.id]).await?;
    let Some(part) = parts.into_iter().find(|part| part.position == position) else {
        return rows::save_check(conn, &check).await;
    };
    let merged = result.map(|result| merge(part.result.as_deref(), result));
    let ended = CheckTarget { is_open: false, result: merged.or(part.result.clone()), ..part };
    let open = rows::save_check_target(conn, &ended).await?;
    settle(conn, check, open, now).await
}

/// Puts the members of a result over those before.
fn merge(before: Option<&str>, result: Value) -> String {
    let mut whole = before.and_then(|before| serde_json::from_str::<Value>(before).ok()).unwrap_or_else(|| json!({}));
    if let (Value::Object(whole), Value::Object(result)) = (&mut whole, result) {
        whole.extend(result);
    }
    whole.to_string()
}

/// Writes a locked check, which ends if nothing of it is open.
///
/// # Errors
/// [`StoreError`]; then the transaction must be rolled back.
pub(crate) async fn settle(conn: &mut Conn, check: Check, open: i64, now: Timestamp) -> Result<(), StoreError> {
    if open > 0 || check.open_judgments > 0 {
        return rows::save_check(conn, &check).await;
    }
    let (status, error) = verdict(&check);
    finish(conn, check, status, error, now).await
}

/// Writes a locked check whose part is done already, as after a judgment.
///
/// # Errors
/// [`StoreError`]; then the transaction must be rolled back.
pub(crate) async fn progress(conn: &mut Conn, check: Check, now: Timestamp) -> Result<(), StoreError> {
    let open = rows::check_targets(conn, &[&check.id]).await?.iter().filter(|part| part.is_open).count();
    settle(conn, check, i64::try_from(open).unwrap_or(i64::MAX), now).await
}

/// Decides how a check without open parts has ended.
fn verdict(check: &Check) -> (CheckStatus, Option<String>) {
    let pages = progress::summary(check);
    let why = || check.error.clone().or_else(|| check.warning.clone());
    match pages.error {
        _ if pages.total_pages == 0 && check.error.is_some() => (CheckStatus::Failed, check.error.clone()),
        0 if pages.total_pages == 0 && check.warning.is_some() => (CheckStatus::Failed, why()),
        0 if check.error.is_some() => (CheckStatus::Partial, check.error.clone()),
        0 => (CheckStatus::Completed, None),
        errors if errors == pages.total_pages => {
            (CheckStatus::Failed, Some(check.error.clone().unwrap_or_else(|| NOTHING.to_owned())))
        }
        errors => {
            let pages = if errors == 1 { "page" } else { "pages" };
            let own = check.error.clone().map(|error| format!("; {error}")).unwrap_or_default();
            (CheckStatus::Partial, Some(format!("{errors} {pages} could not be read{own}")))
        }
    }
}

/// Gives back what is left of the reservation of a check.
///
/// # Errors
/// [`StoreError`]; then the transaction must be rolled back.
pub(crate) async fn give_back(conn: &mut Conn, check: &Check, now: Timestamp) -> Result<(), StoreError> {
    if let Some(key) = &check.reservation
        && let Some(held) = ledger::reservation(conn, &check.team_id, key).await?
    {
        ledger::void(conn, &held, now).await?;
    }
    Ok(())
}

/// Ends a locked check: gives the rest of its credits back, frees its monitor and emits its last event.
///
/// # Errors
/// [`StoreError`]; then the transaction must be rolled back.
pub(crate) async fn finish(
    conn: &mut Conn,
    mut check: Check,
    status: CheckStatus,
    error: Option<String>,
    now: Timestamp,
) -> Result<(), StoreError> {
    give_back(conn, &check, now).await?;
    let charged = check.actual_credits.unwrap_or(0);
    check.actual_credits = Some(charged);
    let billing = if charged > 0 { BillingStatus::Confirmed } else { BillingStatus::Released };
    billing.as_str().clone_into(&mut check.billing_status);
    status.as_str().clone_into(&mut check.status);
    check.error = error;
    check.started_at = check.started_at.or(Some(now));
    (check.finished_at, check.updated_at) = (Some(now), now);
    rows::save_check(conn, &check).await?;
    metrics::ended(status);
    let Some(mut monitor) = rows::lock(conn, &check.monitor_id).await? else { return Ok(()) };
    if monitor.current_check_id.as_deref() == Some(check.id.as_str()) {
        monitor.current_check_id = None;
    }
    let summary = serde_json::to_string(&progress::summary(&check));
    monitor.last_summary = summary.ok().or(monitor.last_summary);
    rows::save(conn, &monitor).await?;
    tracing::info!(monitor = monitor.id, check = check.id, status = check.status, credits = charged, "check ended");
    if let Some(hook) = hook_of(conn, &monitor).await? {
        emit(conn, &hook, &check.team_id, &check.id, &events::end(&check)?, now).await?;
    }
    // After the webhooks: all transactions lock the rows of queues in this order.
    mail::tell(conn, &monitor, &check, now).await?;
    chat::tell(conn, &monitor, &check, now).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::check;

    #[test]
    fn a_check_is_completed_partial_or_failed_by_its_pages() {
        let of = |same, errors, error: Option<&str>, warning: Option<&str>| {
            let mut check = check();
            (check.same_pages, check.error_pages) = (same, errors);
            (check.error, check.warning) = (error.map(str::to_owned), warning.map(str::to_owned));
            let (status, error) = verdict(&check);
            (status, error.unwrap_or_default())
        };
        assert_eq!(of(2, 0, None, Some("slow")), (CheckStatus::Completed, String::new()));
        assert_eq!(of(2, 1, None, None), (CheckStatus::Partial, "1 page could not be read".to_owned()));
        assert_eq!(of(0, 3, None, None), (CheckStatus::Failed, NOTHING.to_owned()));
        assert_eq!(of(0, 0, Some("no engine"), None), (CheckStatus::Failed, "no engine".to_owned()));
        assert_eq!(of(2, 0, Some("no engine"), None), (CheckStatus::Partial, "no engine".to_owned()));
        assert_eq!(of(0, 0, None, Some("out of scope")), (CheckStatus::Failed, "out of scope".to_owned()));
        assert_eq!(of(0, 0, None, None), (CheckStatus::Completed, String::new()));
    }

    #[test]
    fn results_and_warnings_are_added_to_those_before() {
        let merged = merge(Some(r#"{"type":"search","resultCount":0}"#), json!({ "resultCount": 3 }));
        assert_eq!(serde_json::from_str::<Value>(&merged).unwrap(), json!({ "type": "search", "resultCount": 3 }));
        let mut check = check();
        ["a", "b", "a"].into_iter().for_each(|text| warn(&mut check, text));
        assert_eq!(check.warning.as_deref(), Some("a; b"));
    }
}
