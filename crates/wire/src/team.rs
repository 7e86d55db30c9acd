//! What a team sees of its own use (docs/CONTRACT.md, "Usage"). Counts are whole numbers, never null.

use base::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::stamp;

/// `{success: true, data}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Answer<T> {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// What was asked for.
    pub data: T,
}

impl<T> Answer<T> {
    /// The answer that carries `data`.
    pub fn new(data: T) -> Self {
        Self { success: true, data }
    }
}

/// `{success: true, periods}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Periods<T> {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// The periods, oldest first.
    pub periods: Vec<T>,
}

impl<T> Periods<T> {
    /// The answer that carries `periods`.
    pub fn new(periods: Vec<T>) -> Self {
        Self { success: true, periods }
    }
}

/// The time that credits were granted for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BillingPeriod {
    /// When the period began, RFC 3339; null without periods.
    #[serde(with = "stamp::optional")]
    #[schema(value_type = Option<String>, format = "date-time")]
    pub billing_period_start: Option<Timestamp>,
    /// When it ends, RFC 3339; null without periods.
    #[serde(with = "stamp::optional")]
    #[schema(value_type = Option<String>, format = "date-time")]
    pub billing_period_end: Option<Timestamp>,
}

/// `GET /v2/team/credit-usage`, under `data`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreditUsage {
    /// Credits that can still be spent.
    pub remaining_credits: i64,
    /// Credits that were granted for the period.
    pub plan_credits: i64,
    /// For which time; siblings of the counts on the wire.
    #[serde(flatten)]
    pub period: BillingPeriod,
}

/// `GET /v2/team/token-usage`, under `data`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenUsage {
    /// Model tokens that can still be spent.
    pub remaining_tokens: i64,
    /// Model tokens that were granted for the period.
    pub plan_tokens: i64,
    /// For which time; siblings of the counts on the wire.
    #[serde(flatten)]
    pub period: BillingPeriod,
}

/// A month of use, of the whole team or of one of its keys.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageSpan {
    /// When it began, RFC 3339.
    #[serde(with = "stamp::optional")]
    #[schema(value_type = Option<String>, format = "date-time")]
    pub start_date: Option<Timestamp>,
    /// When it ended, RFC 3339; null while it runs.
    #[serde(with = "stamp::optional")]
    #[schema(value_type = Option<String>, format = "date-time")]
    pub end_date: Option<Timestamp>,
    /// The name of the API key, with `byApiKey=true`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key: Option<String>,
}

/// One period of `GET /v2/team/credit-usage/historical`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreditPeriod {
    /// When, and by which key; siblings of the count on the wire.
    #[serde(flatten)]
    pub span: UsageSpan,
    /// Credits spent in it.
    pub credits_used: i64,
}

/// One period of `GET /v2/team/token-usage/historical`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenPeriod {
    /// When, and by which key; siblings of the count on the wire.
    #[serde(flatten)]
    pub span: UsageSpan,
    /// Model tokens spent in it.
    pub tokens_used: i64,
}

/// `GET /v2/team/queue-status`. At top level: two clients do not look under `data`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueStatus {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// Active and waiting jobs.
    pub jobs_in_queue: u64,
    /// Jobs that run now.
    pub active_jobs_in_queue: u64,
    /// Jobs that wait.
    pub waiting_jobs_in_queue: u64,
    /// Jobs that may run at the same moment.
    pub max_concurrency: u32,
    /// When a scrape last succeeded, RFC 3339.
    #[serde(with = "stamp::optional")]
    #[schema(value_type = Option<String>, format = "date-time")]
    pub most_recent_success: Option<Timestamp>,
}

/// `GET /v2/concurrency-check`, at top level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Concurrency {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// Requests that run now.
    pub concurrency: u32,
    /// Requests that may run at the same moment.
    pub max_concurrency: u32,
}

#[cfg(test)]
mod tests {
    use chrono::{TimeZone, Utc};
    use serde_json::{Value, json};

    use super::*;

    fn check(answer: impl Serialize, want: &Value) {
        assert_eq!(&serde_json::to_value(answer).unwrap(), want);
    }

    #[test]
    fn answers_on_the_wire() {
        let start = Utc.with_ymd_and_hms(2026, 1, 2, 3, 4, 5).single();
        let period = BillingPeriod { billing_period_start: start, billing_period_end: None };
        let usage = CreditUsage { remaining_credits: 9, plan_credits: 10, period };
        let want = json!({ "success": true, "data": { "remainingCredits": 9, "planCredits": 10,
            "billingPeriodStart": "2026-01-02T03:04:05.000Z", "billingPeriodEnd": null } });
        check(Answer::new(usage), &want);
        let usage = TokenUsage { remaining_tokens: 9, plan_tokens: 10, period: BillingPeriod::default() };
        let want =
            json!({ "remainingTokens": 9, "planTokens": 10, "billingPeriodStart": null, "billingPeriodEnd": null });
        check(usage, &want);
        let span = UsageSpan { start_date: start, end_date: None, api_key: Some("Default".into()) };
        let period = CreditPeriod { span, credits_used: 3 };
        let want = json!({ "success": true, "periods": [
            { "startDate": "2026-01-02T03:04:05.000Z", "endDate": null, "apiKey": "Default", "creditsUsed": 3 }] });
        check(Periods::new(vec![period]), &want);
        let period = TokenPeriod { span: UsageSpan::default(), tokens_used: 0 };
        check(period, &json!({ "startDate": null, "endDate": null, "tokensUsed": 0 }));
        let status = QueueStatus {
            success: true,
            jobs_in_queue: 3,
            active_jobs_in_queue: 1,
            waiting_jobs_in_queue: 2,
            max_concurrency: 5,
            most_recent_success: None,
        };
        let want = json!({ "success": true, "jobsInQueue": 3, "activeJobsInQueue": 1, "waitingJobsInQueue": 2,
            "maxConcurrency": 5, "mostRecentSuccess": null });
        check(status, &want);
        let concurrency = Concurrency { success: true, concurrency: 1, max_concurrency: 5 };
        check(concurrency, &json!({ "success": true, "concurrency": 1, "maxConcurrency": 5 }));
    }
}
