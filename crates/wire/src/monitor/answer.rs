//! Answers of monitors.

use base::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    BillingStatus, ChangeType, CheckPageStatus, CheckStatus, CheckTrigger, JudgmentConfidence, MonitorNotification,
    MonitorStatus, SubscriptionSource, SubscriptionStatus, TargetSchema, WebhookSchema,
};
use crate::stamp;

/// Monitor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MonitorView {
    /// Id of the monitor.
    #[schema(value_type = String, format = "uuid")]
    pub id: Uuid,
    /// Name.
    pub name: String,
    /// Status.
    pub status: MonitorStatus,
    /// Schedule of the checks.
    pub schedule: ScheduleView,
    /// Time of the next scheduled check, RFC 3339; null while the monitor is paused.
    #[serde(with = "stamp::optional")]
    #[schema(value_type = Option<String>, format = "date-time")]
    pub next_run_at: Option<Timestamp>,
    /// Time at which a check last started, RFC 3339.
    #[serde(with = "stamp::optional")]
    #[schema(value_type = Option<String>, format = "date-time")]
    pub last_run_at: Option<Timestamp>,
    /// Id of the check that is queued or running.
    #[schema(value_type = Option<String>, format = "uuid")]
    pub current_check_id: Option<Uuid>,
    /// Goal.
    pub goal: Option<String>,
    /// Whether changes are judged by the goal.
    pub judge_enabled: bool,
    /// Targets, each with its id.
    #[schema(value_type = Vec<TargetSchema>)]
    pub targets: Vec<Map<String, Value>>,
    /// Webhook; header values are shown as `***`.
    #[schema(value_type = Option<WebhookSchema>)]
    pub webhook: Option<Map<String, Value>>,
    /// Notification.
    pub notification: Option<MonitorNotification>,
    /// Recipients of mails; absent without mails.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub email_recipient_subscriptions: Vec<RecipientSubscription>,
    /// Days that checks are kept.
    pub retention_days: u32,
    /// Upper bound of the credits of the checks of the next 30 days.
    pub estimated_credits_per_month: Option<i64>,
    /// Counters of the last check that ended.
    pub last_check_summary: Option<CheckSummary>,
    /// Warning; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// Time of creation, RFC 3339.
    #[serde(with = "stamp")]
    #[schema(value_type = String, format = "date-time")]
    pub created_at: Timestamp,
    /// Time of the last change, RFC 3339.
    #[serde(with = "stamp")]
    #[schema(value_type = String, format = "date-time")]
    pub updated_at: Timestamp,
}

/// Schedule of a monitor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ScheduleView {
    /// Cron expression: minute, hour, day of the month, month, weekday, in digits.
    pub cron: String,
    /// IANA name of the time zone.
    pub timezone: String,
}

/// Recipient of the mails of a monitor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecipientSubscription {
    /// Address.
    pub email: String,
    /// Whether it gets mails.
    pub status: SubscriptionStatus,
    /// Origin of the recipient.
    pub source: SubscriptionSource,
    /// Whether a mail that asks for confirmation was sent by this call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmation_email_sent: Option<bool>,
}

/// Counters of a check.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckSummary {
    /// Number of pages.
    pub total_pages: i64,
    /// Pages that are the same.
    pub same: i64,
    /// Pages that have changed.
    pub changed: i64,
    /// New pages.
    pub new: i64,
    /// Pages that are gone.
    pub removed: i64,
    /// Pages that could not be read.
    pub error: i64,
}

/// Check of a monitor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MonitorCheck {
    /// Id of the check.
    #[schema(value_type = String, format = "uuid")]
    pub id: Uuid,
    /// Id of the monitor.
    #[schema(value_type = String, format = "uuid")]
    pub monitor_id: Uuid,
    /// Status.
    pub status: CheckStatus,
    /// Cause of the check.
    pub trigger: CheckTrigger,
    /// Time of the schedule that has made it, RFC 3339; null for a check by hand.
    #[serde(with = "stamp::optional")]
    #[schema(value_type = Option<String>, format = "date-time")]
    pub scheduled_for: Option<Timestamp>,
    /// Start, RFC 3339.
    #[serde(with = "stamp::optional")]
    #[schema(value_type = Option<String>, format = "date-time")]
    pub started_at: Option<Timestamp>,
    /// End, RFC 3339.
    #[serde(with = "stamp::optional")]
    #[schema(value_type = Option<String>, format = "date-time")]
    pub finished_at: Option<Timestamp>,
    /// Upper bound of its cost, in credits.
    pub estimated_credits: Option<i64>,
    /// Credits reserved for it.
    pub reserved_credits: Option<i64>,
    /// Credits charged; final when the check is over.
    pub actual_credits: Option<i64>,
    /// Payment.
    pub billing_status: BillingStatus,
    /// Counters of its pages.
    pub summary: CheckSummary,
    /// Results by target: `{targetId, type, …}`.
    #[schema(value_type = Vec<Object>)]
    pub target_results: Vec<Value>,
    /// State of its mails, `{"email": {"status", "reason", "recipients"}}`; null without mails. `status` is `queued`,
    /// `sent`, `partial`, `failed` or `skipped`; each of `recipients` has `email`, `status` and `error`.
    #[schema(value_type = Option<Object>)]
    pub notification_status: Option<Value>,
    /// Warning; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// Reason of a failed, partial or skipped check.
    pub error: Option<String>,
    /// Time of creation, RFC 3339.
    #[serde(with = "stamp")]
    #[schema(value_type = String, format = "date-time")]
    pub created_at: Timestamp,
    /// Time of the last change, RFC 3339.
    #[serde(with = "stamp")]
    #[schema(value_type = String, format = "date-time")]
    pub updated_at: Timestamp,
}

/// Check with its pages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MonitorCheckDetail {
    /// Check, flattened into this object.
    #[serde(flatten)]
    pub check: MonitorCheck,
    /// Pages, in the order of the targets.
    pub pages: Vec<MonitorPage>,
    /// URL of the next pages; null if there are none.
    pub next: Option<String>,
}

/// Response of `GET /v2/monitor/{id}/checks/{checkId}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MonitorCheckAnswer {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// URL of the next pages, as in `data`; null if there are none.
    pub next: Option<String>,
    /// Check with its pages.
    pub data: MonitorCheckDetail,
}

/// Page of a check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MonitorPage {
    /// Id of the page.
    #[schema(value_type = String, format = "uuid")]
    pub id: Uuid,
    /// Id of its target.
    #[schema(value_type = String, format = "uuid")]
    pub target_id: Uuid,
    /// URL.
    pub url: String,
    /// Status.
    pub status: CheckPageStatus,
    /// Id of the scrape that it was compared with.
    #[schema(value_type = Option<String>, format = "uuid")]
    pub previous_scrape_id: Option<Uuid>,
    /// Id of its scrape.
    #[schema(value_type = Option<String>, format = "uuid")]
    pub current_scrape_id: Option<Uuid>,
    /// HTTP status.
    pub status_code: Option<u16>,
    /// Reason why it could not be read.
    pub error: Option<String>,
    /// Metadata: `title`, `creditsUsed`, `visibility` and others.
    #[schema(value_type = Object)]
    pub metadata: Map<String, Value>,
    /// Judgment by the goal; absent where none was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgment: Option<Judgment>,
    /// Changes; absent without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<PageChanges>,
    /// Fields of the page as they are now; only where fields are compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<PageSnapshot>,
    /// Time at which it was read, RFC 3339.
    #[serde(with = "stamp")]
    #[schema(value_type = String, format = "date-time")]
    pub created_at: Timestamp,
}

/// Changes of a page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PageChanges {
    /// Unified diff of the markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Diff as a tree (`files`), or the changed fields by their paths, each with `previous` and `current`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub json: Option<Value>,
}

/// Fields of a page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PageSnapshot {
    /// Fields as they are now.
    #[schema(value_type = Object)]
    pub json: Value,
}

/// Judgment of a change by the goal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Judgment {
    /// Whether the change matters for the goal.
    pub meaningful: bool,
    /// JudgmentConfidence.
    pub confidence: JudgmentConfidence,
    /// Reason.
    pub reason: String,
    /// Changes that matter.
    pub meaningful_changes: Vec<MeaningfulChange>,
    /// Paths of the fields that matter.
    pub fields: Vec<String>,
}

/// Change that matters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MeaningfulChange {
    /// Type of the change.
    #[serde(rename = "type")]
    pub kind: ChangeType,
    /// Text before; null for what was added.
    pub before: Option<String>,
    /// Text after; null for what was removed.
    pub after: Option<String>,
    /// Reason.
    pub reason: String,
}

/// Response of `DELETE /v2/monitor/{id}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MonitorRemoved {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
}
