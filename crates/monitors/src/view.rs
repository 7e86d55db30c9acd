//! Monitors, checks and pages as answers show them.

use base::Timestamp;
use chrono::TimeDelta;
use kernel::{AppError, uuid};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use store::mails::CheckMail;
use store::monitors::{Check, CheckTarget, Monitor, Page, Target};
use wire::{MonitorCheck, MonitorPage, MonitorView, PageChanges, PageSnapshot, ScheduleView};

use crate::begin::schedule;
use crate::content::content;
use crate::draft;
use crate::link::wants_judge;
use crate::mail::{self, MailView};
use crate::plan::price;
use crate::progress::summary;

/// Time that the estimate of the cost covers.
const MONTH: TimeDelta = TimeDelta::days(30);
/// Monitor with its targets.
pub(crate) struct Whole<'a> {
    pub(crate) row: &'a Monitor,
    pub(crate) targets: &'a [Target],
    /// Its mails.
    pub(crate) mail: MailView,
    /// Whether this server has a model that judges.
    pub(crate) has_model: bool,
    pub(crate) now: Timestamp,
}

impl Whole<'_> {
    /// Returns the monitor as answers show it.
    ///
    /// # Errors
    /// [`AppError::Internal`] for rows that this version cannot read.
    pub(crate) fn view(self) -> Result<MonitorView, AppError> {
        let estimate = self.credits_per_month()?;
        let Self { row, targets, mail, .. } = self;
        let shown = targets.iter().map(|target| {
            let mut spec: Map<String, Value> = parsed(&target.spec)?;
            spec.insert("id".to_owned(), target.id.clone().into());
            Ok(spec)
        });
        Ok(MonitorView {
            id: uuid(&row.id)?,
            name: row.name.clone(),
            status: word(&row.status)?,
            schedule: ScheduleView { cron: row.cron.clone(), timezone: row.timezone.clone() },
            next_run_at: row.next_run_at,
            last_run_at: row.last_run_at,
            current_check_id: row.current_check_id.as_deref().map(uuid).transpose()?,
            goal: row.goal.clone(),
            judge_enabled: draft::is_judged(row.judge_enabled, row.goal.as_deref()),
            targets: shown.collect::<Result<_, AppError>>()?,
            webhook: row.webhook.as_deref().map(parsed).transpose()?,
            notification: row.notification.as_deref().map(parsed).transpose()?,
            email_recipient_subscriptions: mail.subscriptions,
            warning: mail.warning,
            retention_days: u32::try_from(row.retention_days).unwrap_or_default(),
            estimated_credits_per_month: Some(estimate),
            last_check_summary: row.last_summary.as_deref().map(parsed).transpose()?,
            created_at: row.created_at,
            updated_at: row.updated_at,
        })
    }

    /// Returns the most that the checks of the next thirty days may cost.
    fn credits_per_month(&self) -> Result<i64, AppError> {
        let Self { row, targets, has_model, now, .. } = self;
        let is_judged = *has_model && wants_judge(row);
        let mut estimate = 0_i64;
        for target in *targets {
            let read = wire::decode_monitor_target(parsed(&target.spec)?)?;
            estimate = estimate.saturating_add(price(&read.work, is_judged));
        }
        let fires = i64::try_from(schedule(row)?.count(*now, *now + MONTH)).unwrap_or(i64::MAX);
        Ok(fires.saturating_mul(estimate))
    }
}

/// Returns a check as answers show it. `parts` and `mails` are those of all checks that are shown.
///
/// # Errors
/// [`AppError::Internal`] for rows that this version cannot read.
pub(crate) fn check(row: &Check, parts: &[CheckTarget], mails: &[CheckMail]) -> Result<MonitorCheck, AppError> {
    let results = parts.iter().filter(|part| part.check_id == row.id).filter_map(|part| part.result.as_deref());
    Ok(MonitorCheck {
        id: uuid(&row.id)?,
        monitor_id: uuid(&row.monitor_id)?,
        status: word(&row.status)?,
        trigger: word(&row.cause)?,
        scheduled_for: row.scheduled_for,
        started_at: row.started_at,
        finished_at: row.finished_at,
        estimated_credits: row.estimated_credits,
        reserved_credits: row.reserved_credits,
        actual_credits: row.actual_credits,
        billing_status: word(&row.billing_status)?,
        summary: summary(row),
        target_results: results.map(parsed).collect::<Result<_, _>>()?,
        notification_status: mail::notification(row, mails),
        warning: row.warning.clone(),
        error: row.error.clone(),
        created_at: row.created_at,
        updated_at: row.updated_at,
    })
}

/// Returns a page as answers show it.
///
/// # Errors
/// [`AppError::Internal`] for rows that this version cannot read.
pub(crate) fn page(row: &Page, packed: Option<&Vec<u8>>) -> Result<MonitorPage, AppError> {
    let mut content = packed.map(|packed| content(packed)).transpose()?.unwrap_or_default();
    let diff: Option<PageChanges> = content.remove("diff").map(serde_json::from_value).transpose().map_err(broken)?;
    let snapshot = content.remove("snapshot");
    let snapshot: Option<PageSnapshot> = snapshot.map(serde_json::from_value).transpose().map_err(broken)?;
    Ok(MonitorPage {
        id: uuid(&row.id)?,
        target_id: uuid(&row.target_id)?,
        url: row.url.clone(),
        status: word(&row.status)?,
        previous_scrape_id: row.previous_scrape_id.as_deref().map(uuid).transpose()?,
        current_scrape_id: row.current_scrape_id.as_deref().map(uuid).transpose()?,
        status_code: row.status_code.and_then(|status| u16::try_from(status).ok()),
        error: row.error.clone(),
        metadata: row.metadata.as_deref().map(parsed).transpose()?.unwrap_or_default(),
        judgment: row.judgment.as_deref().map(parsed).transpose()?,
        diff,
        snapshot,
        created_at: row.created_at,
    })
}

fn word<T: DeserializeOwned>(text: &str) -> Result<T, AppError> {
    serde_json::from_value(text.into()).map_err(broken)
}

fn parsed<T: DeserializeOwned>(text: &str) -> Result<T, AppError> {
    serde_json::from_str(text).map_err(broken)
}

fn broken(error: serde_json::Error) -> AppError {
    AppError::internal(error)
}
