//! Monitors: recurring checks of pages, sites and searches (docs/MONITORS.md).

mod answer;
mod email;
mod query;
mod secret;
mod target;
#[cfg(test)]
mod tests;
mod word;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::attribution::Attribution;
use crate::error::Invalid;
use crate::event::MONITOR;
use crate::read::{self, Field, Fields};
use crate::webhook_config::WebhookConfig;

pub use self::answer::*;
pub(crate) use self::email::addresses as email_addresses;
pub use self::email::{EmailSubscription, EmailToken, EmailTokenQuery, decode_email_token};
pub use self::query::{CheckQuery, ChecksQuery, MonitorsQuery};
pub use self::secret::{HiddenValues, MASK, hide_target, hide_webhook, masked_path, reveal};
pub use self::target::{
    MAX_MONITOR_URLS, MAX_SEARCH_QUERIES, MonitorTarget, ScrapeTarget, SearchTarget, TargetSchema, TargetWork,
    check_search_goal, decode_monitor_target,
};
pub use self::word::*;

/// Maximum length of a monitor's name, in characters.
pub const MAX_MONITOR_NAME_CHARS: usize = 256;
/// Maximum length of a goal, in characters.
pub const MAX_GOAL_CHARS: usize = 2000;
/// Maximum number of targets of a monitor.
pub const MAX_TARGETS: usize = 50;
/// Maximum number of recipients of a monitor's mails.
pub const MAX_RECIPIENTS: usize = 25;
/// Default of `retentionDays`.
pub const DEFAULT_RETENTION_DAYS: u32 = 30;
/// Maximum of `retentionDays`.
pub const MAX_RETENTION_DAYS: u32 = 365;
/// Maximum length of a schedule's text or cron expression, in characters.
const MAX_SCHEDULE_CHARS: usize = 256;
/// Maximum length of the name of a time zone, in characters.
const MAX_ZONE_CHARS: usize = 64;

/// Body of `POST /v2/monitor`: a new monitor.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateMonitor {
    /// Name of the monitor.
    #[schema(min_length = 1, max_length = 256)]
    pub name: String,
    /// Schedule of the checks.
    #[schema(value_type = ScheduleSchema)]
    pub schedule: MonitorSchedule,
    /// The changes that you want to learn of, in your own words. Changes are judged by it, and searches need it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 2000)]
    pub goal: Option<String>,
    /// Whether changes are judged by the goal; true by default if there is a goal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge_enabled: Option<bool>,
    /// Pages, sites and searches to check. Their types may be mixed.
    #[schema(min_items = 1, max_items = 50, value_type = Vec<TargetSchema>)]
    pub targets: Vec<MonitorTarget>,
    /// Webhook that receives the events of the checks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<WebhookSchema>)]
    pub webhook: Option<WebhookConfig>,
    /// Mails about checks that have found something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notification: Option<MonitorNotification>,
    /// Days that checks are kept.
    #[schema(required = false, minimum = 1, maximum = 365, default = 30)]
    pub retention_days: u32,
    /// Client that makes the call, flattened into this object.
    #[serde(flatten)]
    pub attribution: Attribution,
}

/// Body of `PATCH /v2/monitor/{id}`. Fields that are absent stay unchanged; null removes webhook, notification or goal.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UpdateMonitor {
    /// New name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 256)]
    pub name: Option<String>,
    /// `paused` stops the schedule, `active` resumes it from now on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<MonitorStatus>,
    /// New schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<ScheduleSchema>)]
    pub schedule: Option<MonitorSchedule>,
    /// New goal; null removes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, max_length = 2000)]
    pub goal: Option<Option<String>>,
    /// Whether changes are judged by the goal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge_enabled: Option<bool>,
    /// New targets, in place of all. A target that has the id of an old one, or equals it, keeps its history.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_items = 1, max_items = 50, value_type = Option<Vec<TargetSchema>>)]
    pub targets: Option<Vec<MonitorTarget>>,
    /// New webhook; null removes it. Header values that are sent back as `***` stay as they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<WebhookSchema>)]
    pub webhook: Option<Option<WebhookConfig>>,
    /// New notification; null removes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<MonitorNotification>)]
    pub notification: Option<Option<MonitorNotification>>,
    /// New number of days that checks are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 365)]
    pub retention_days: Option<u32>,
    /// Client that makes the call, flattened into this object.
    #[serde(flatten)]
    pub attribution: Attribution,
}

/// Schedule of a monitor as it was given: only the lengths of its texts are checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MonitorSchedule {
    /// Time of the checks.
    #[serde(flatten)]
    pub when: When,
    /// IANA name of a time zone; `None` for UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
}

/// Time of checks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum When {
    /// Cron expression of five fields.
    Cron(String),
    /// Phrase, such as `every 30 minutes`.
    Text(String),
}

/// Schedule: a cron expression or a phrase, not both.
#[derive(ToSchema)]
#[schema(as = MonitorScheduleRequest)]
#[expect(dead_code, reason = "a schema")]
pub struct ScheduleSchema {
    /// Cron expression: minute, hour, day of the month, month, weekday. At least five minutes lie between two checks.
    #[schema(max_length = 256)]
    cron: Option<String>,
    /// Phrase, such as `every 30 minutes`, `hourly`, `daily at 9:00` or `weekly`. What it leaves open is spread.
    #[schema(max_length = 256)]
    text: Option<String>,
    /// IANA name of the time zone, such as `Europe/Berlin`; UTC by default.
    #[schema(max_length = 64)]
    timezone: Option<String>,
}

/// Webhook of a monitor: a URL, or this object.
#[derive(ToSchema)]
#[schema(as = MonitorWebhookRequest)]
#[expect(dead_code, reason = "a schema")]
pub struct WebhookSchema {
    /// URL of the receiver, `http` or `https`.
    #[schema(format = "uri", min_length = 1, max_length = 8192)]
    url: String,
    /// Request headers sent to the receiver: at most 100, at most 64 KiB in total. Answers show `***` for their values.
    headers: Option<std::collections::BTreeMap<String, String>>,
    /// Custom object that is repeated in every event; at most 16 KiB.
    #[schema(value_type = Option<Object>)]
    metadata: Option<Value>,
    /// Events to send; all if absent.
    events: Option<Vec<MonitorEvent>>,
}

/// Notification of a monitor.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct MonitorNotification {
    /// Mails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<EmailNotification>,
}

/// Mails of a monitor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmailNotification {
    /// Whether mails are sent.
    #[schema(required = false, default = true)]
    pub enabled: bool,
    /// Recipients; the addresses of the team for alerts if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 25)]
    pub recipients: Option<Vec<String>>,
    /// Whether mails contain the changes.
    #[serde(default)]
    #[schema(required = false, default = false)]
    pub include_diffs: bool,
}

/// Decodes the body of `POST /v2/monitor`.
///
/// # Errors
/// [`Invalid`] with every fault (up to 20), each with the path of its field.
///
/// ```
/// let body = serde_json::json!({
///     "name": "news", "schedule": { "text": "hourly" }, "targets": [{ "type": "scrape", "urls": ["https://a.test", "b"] }],
/// });
/// let invalid = wire::decode_create_monitor(body).unwrap_err();
/// assert_eq!(invalid.message, "`targets[0].urls[1]` must be an absolute http or https URL");
/// ```
pub fn decode_create_monitor(body: Value) -> Result<CreateMonitor, Invalid> {
    read::body(body, |fields| {
        let name = fields.need("name").and_then(name);
        let schedule = fields.need("schedule").and_then(schedule);
        let goal = fields.take("goal").and_then(goal).flatten();
        let judge_enabled = fields.take("judgeEnabled").and_then(Field::flag);
        let targets = fields.need("targets").and_then(targets);
        let webhook = fields.take("webhook").and_then(webhook);
        let notification = fields.take("notification").and_then(notification);
        let retention_days = fields.take("retentionDays").and_then(retention_days).unwrap_or(DEFAULT_RETENTION_DAYS);
        if let Some(targets) = &targets
            && let Some(reason) = target::search_without_goal(targets, goal.as_deref(), judge_enabled)
        {
            fields.refuse("goal", reason);
        }
        let attribution = Attribution::read(fields);
        Some(CreateMonitor {
            name: name?,
            schedule: schedule?,
            goal,
            judge_enabled,
            targets: targets?,
            webhook,
            notification,
            retention_days,
            attribution,
        })
    })
}

/// Decodes the body of `PATCH /v2/monitor/{id}`. Whether its search targets have a goal is checked with
/// [`check_search_goal`] on the changed monitor.
///
/// # Errors
/// [`Invalid`], as for [`decode_create_monitor`].
pub fn decode_update_monitor(body: Value) -> Result<UpdateMonitor, Invalid> {
    read::body(body, |fields| {
        Some(UpdateMonitor {
            name: fields.take("name").and_then(name),
            status: fields.take("status").and_then(Field::word),
            schedule: fields.take("schedule").and_then(schedule),
            goal: fields.change("goal", goal).map(Option::flatten),
            judge_enabled: fields.take("judgeEnabled").and_then(Field::flag),
            targets: fields.take("targets").and_then(targets),
            webhook: fields.change("webhook", webhook),
            notification: fields.change("notification", notification),
            retention_days: fields.take("retentionDays").and_then(retention_days),
            attribution: Attribution::read(fields),
        })
    })
}

/// Decodes the body of `POST /v2/monitor/{id}/run`, which may have the fields that clients add to every body.
///
/// # Errors
/// [`Invalid`], as for [`decode_create_monitor`].
pub fn decode_run_monitor(body: Value) -> Result<Attribution, Invalid> {
    read::body(body, |fields| Some(Attribution::read(fields)))
}

fn name(field: Field<'_>) -> Option<String> {
    if field.value.as_str().is_some_and(|text| !text.is_empty() && text.trim().is_empty()) {
        return field.refuse("must not be blank");
    }
    field.name(1..=MAX_MONITOR_NAME_CHARS)
}

/// Reads a goal. A blank one is none.
#[expect(clippy::option_option, reason = "a refused goal and no goal")]
fn goal(field: Field<'_>) -> Option<Option<String>> {
    let text = field.text(0..=MAX_GOAL_CHARS)?;
    Some((!text.trim().is_empty()).then_some(text))
}

fn schedule(field: Field<'_>) -> Option<MonitorSchedule> {
    field
        .record(|fields| {
            let mut text = |key| {
                fields.take(key).and_then(|field| field.text(1..=MAX_SCHEDULE_CHARS)).map(|text| single_blanks(&text))
            };
            let (cron, phrase) = (text("cron"), text("text"));
            let timezone = fields.take("timezone").and_then(|field| field.name(1..=MAX_ZONE_CHARS));
            let when = match (cron, phrase) {
                (Some(cron), None) => When::Cron(cron),
                (None, Some(text)) => When::Text(text),
                (Some(_), Some(_)) => {
                    fields.refuse("text", "cannot be combined with `cron`");
                    return None;
                }
                (None, None) => {
                    fields.refuse("cron", "or `text` is required");
                    return None;
                }
            };
            Some(MonitorSchedule { when, timezone })
        })
        .flatten()
}

/// Replaces each run of blanks, tabs and line ends included, by one space, and removes them at both ends.
fn single_blanks(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn targets(field: Field<'_>) -> Option<Vec<MonitorTarget>> {
    // Two entries with one id would share a history.
    let mut seen = Vec::new();
    field.list(1..=MAX_TARGETS, |item| MonitorTarget::read_new(item, &mut seen))
}

fn webhook(field: Field<'_>) -> Option<WebhookConfig> {
    WebhookConfig::read(&MONITOR, field)
}

fn retention_days(field: Field<'_>) -> Option<u32> {
    field.whole32(1..=MAX_RETENTION_DAYS)
}

fn notification(field: Field<'_>) -> Option<MonitorNotification> {
    let email = |fields: &mut Fields<'_>| EmailNotification {
        enabled: fields.flag("enabled", true),
        recipients: fields.take("recipients").and_then(email_addresses),
        include_diffs: fields.flag("includeDiffs", false),
    };
    field.record(|fields| MonitorNotification { email: fields.take("email").and_then(|field| field.record(email)) })
}
