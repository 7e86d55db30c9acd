//! Usage and limits of the calling team (docs/CONTRACT.md, "Usage"). Counts are whole numbers, never null.

use base::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::error::Invalid;
use crate::query::{self, QueryParams};
use crate::stamp;

/// Response with its payload in `data`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DataResponse<T> {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// Payload of the response.
    pub data: T,
}

impl<T> DataResponse<T> {
    /// Returns a successful response with `data`.
    pub fn new(data: T) -> Self {
        Self { success: true, data }
    }
}

/// Response with a list of periods.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Periods<T> {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// Periods, oldest first.
    pub periods: Vec<T>,
}

impl<T> Periods<T> {
    /// Returns a successful response with `periods`.
    pub fn new(periods: Vec<T>) -> Self {
        Self { success: true, periods }
    }
}

/// Query parameters of `GET /v2/team/credit-usage/historical` and `GET /v2/team/token-usage/historical`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct HistoryQuery {
    /// Whether each month is also split by API key.
    #[param(value_type = Option<bool>)]
    pub by_api_key: bool,
}

impl QueryParams for HistoryQuery {
    /// Decodes the parameters without failing: values other than `true` and `1` count as false.
    fn decode(query: &str) -> Result<Self, Invalid> {
        query::decode(query, |fields| {
            let value = fields.take("byApiKey");
            Some(Self { by_api_key: value.is_some_and(|field| matches!(field.value.as_str(), Some("true" | "1"))) })
        })
    }
}

/// Billing period of the granted credits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BillingPeriod {
    /// Start of the billing period, RFC 3339; null if there are no periods.
    #[serde(with = "stamp::optional")]
    #[schema(value_type = Option<String>, format = "date-time")]
    pub billing_period_start: Option<Timestamp>,
    /// End of the billing period, RFC 3339; null if there are no periods.
    #[serde(with = "stamp::optional")]
    #[schema(value_type = Option<String>, format = "date-time")]
    pub billing_period_end: Option<Timestamp>,
}

/// Credit usage, under `data` in `GET /v2/team/credit-usage`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreditUsage {
    /// Credits left to spend.
    pub remaining_credits: i64,
    /// Credits granted for the period.
    pub plan_credits: i64,
    /// Billing period, flattened into this object.
    #[serde(flatten)]
    pub period: BillingPeriod,
}

/// Model-token usage, under `data` in `GET /v2/team/token-usage`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenUsage {
    /// Model tokens left to spend.
    pub remaining_tokens: i64,
    /// Model tokens granted for the period.
    pub plan_tokens: i64,
    /// Billing period, flattened into this object.
    #[serde(flatten)]
    pub period: BillingPeriod,
}

/// One month of usage, of the whole team or of one API key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageSpan {
    /// Start of the period, RFC 3339.
    #[serde(with = "stamp::optional")]
    #[schema(value_type = Option<String>, format = "date-time")]
    pub start_date: Option<Timestamp>,
    /// End of the period, RFC 3339; null for the current period.
    #[serde(with = "stamp::optional")]
    #[schema(value_type = Option<String>, format = "date-time")]
    pub end_date: Option<Timestamp>,
    /// Name of the API key, with `byApiKey=true`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key: Option<String>,
}

/// Period of `GET /v2/team/credit-usage/historical`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreditPeriod {
    /// Period and API key, flattened into this object.
    #[serde(flatten)]
    pub span: UsageSpan,
    /// Credits spent in the period.
    pub credits_used: i64,
}

/// Period of `GET /v2/team/token-usage/historical`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenPeriod {
    /// Period and API key, flattened into this object.
    #[serde(flatten)]
    pub span: UsageSpan,
    /// Model tokens spent in the period.
    pub tokens_used: i64,
}

/// Response of `GET /v2/team/queue-status`, not wrapped in `data`.
// Two clients read the top level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueStatus {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// Number of running scrapes, and of running and waiting pages of crawls and batches.
    pub jobs_in_queue: u64,
    /// Number of running scrapes and pages.
    pub active_jobs_in_queue: u64,
    /// Number of waiting pages.
    pub waiting_jobs_in_queue: u64,
    /// Maximum number of concurrent requests.
    pub max_concurrency: u32,
    /// Time of the last successful scrape, RFC 3339.
    #[serde(with = "stamp::optional")]
    #[schema(value_type = Option<String>, format = "date-time")]
    pub most_recent_success: Option<Timestamp>,
}

/// Response of `GET /v2/concurrency-check`, not wrapped in `data`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Concurrency {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// Number of running requests.
    pub concurrency: u32,
    /// Maximum number of concurrent requests.
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
    fn months_by_api_key() {
        let check = |query: &str, want: bool| {
            assert_eq!(HistoryQuery::decode(query), Ok(HistoryQuery { by_api_key: want }), "{query}");
        };
        check("byApiKey=true", true);
        check("byApiKey=1", true);
        for no in ["", "byApiKey=", "byApiKey=yes", "byApiKey=false&byApiKey=true", "byapikey=true"] {
            check(no, false);
        }
    }

    #[test]
    fn answers_on_the_wire() {
        let start = Utc.with_ymd_and_hms(2026, 1, 2, 3, 4, 5).single();
        let period = BillingPeriod { billing_period_start: start, billing_period_end: None };
        let usage = CreditUsage { remaining_credits: 9, plan_credits: 10, period };
        let want = json!({ "success": true, "data": { "remainingCredits": 9, "planCredits": 10,
            "billingPeriodStart": "2026-01-02T03:04:05.000Z", "billingPeriodEnd": null } });
        check(DataResponse::new(usage), &want);
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
