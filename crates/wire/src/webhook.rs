//! Webhooks in the operator's API: delivery log and signing secrets.

use std::fmt;

use base::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::admin::PageQuery;
use crate::error::Invalid;
use crate::query::{self, QueryParams};
use crate::read::{self, Field};
use crate::stamp;
use crate::words::words;

/// Maximum time for which the old and the new secret are both valid, in seconds: 30 days.
pub const MAX_OVERLAP_SECONDS: u32 = 30 * 24 * 60 * 60;
/// Default time for which the old and the new secret are both valid, in seconds: one day.
pub const OVERLAP_SECONDS: u32 = 24 * 60 * 60;

words! {
    /// Delivery state.
    pub enum DeliveryState {
        /// An attempt is due or in progress.
        Pending = "pending",
        /// The receiver answered with 2xx.
        Delivered = "delivered",
        /// Given up: no further attempts.
        Failed = "failed",
    }
}

/// Webhook delivery as the operator sees it, without body and headers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryView {
    /// Delivery id: `webhookId` in the body and the header `webhook-id`, the same in every attempt.
    #[schema(value_type = String, format = "uuid")]
    pub id: Uuid,
    /// Id of the team.
    #[schema(value_type = String, format = "uuid")]
    pub team_id: Uuid,
    /// Id of the crawl or batch.
    pub job_id: String,
    /// Event type, such as `crawl.page`.
    pub event: String,
    /// URL of the receiver, without user name and password.
    pub url: String,
    /// Delivery state.
    pub state: DeliveryState,
    /// Number of attempts made.
    pub attempts: u32,
    /// HTTP status of the last attempt; null if the receiver did not answer.
    pub status: Option<u16>,
    /// Error of the last attempt, if it failed.
    pub error: Option<String>,
    /// Duration of the last attempt, in milliseconds.
    pub duration_ms: Option<u64>,
    /// Time of the event, RFC 3339.
    #[serde(with = "stamp")]
    #[schema(value_type = String, format = "date-time")]
    pub created_at: Timestamp,
    /// Time of delivery, RFC 3339; null if not delivered.
    #[serde(with = "stamp::optional")]
    #[schema(value_type = Option<String>, format = "date-time")]
    pub delivered_at: Option<Timestamp>,
    /// Time of the next attempt, RFC 3339; null if none is scheduled.
    #[serde(with = "stamp::optional")]
    #[schema(value_type = Option<String>, format = "date-time")]
    pub next_at: Option<Timestamp>,
    /// Size of the body, in bytes. The body itself is deleted after delivery, or when its job expires.
    pub body_bytes: u64,
    /// SHA-256 of the body in hexadecimal; null for deliveries created by an older version.
    pub body_digest: Option<String>,
}

/// Signing secrets of a team's webhooks.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookSecretView {
    /// Current secret: signs `X-Service-Signature` and the first signature of `webhook-signature`.
    pub secret: String,
    /// Creation time of the current secret, RFC 3339.
    #[serde(with = "stamp")]
    #[schema(value_type = String, format = "date-time")]
    pub created_at: Timestamp,
    /// Previous secret, while it is still valid: signs the second signature of `webhook-signature`.
    pub previous_secret: Option<String>,
    /// Time until which the previous secret is valid, RFC 3339.
    #[serde(with = "stamp::optional")]
    #[schema(value_type = Option<String>, format = "date-time")]
    pub previous_until: Option<Timestamp>,
}

/// Body of `POST /admin/teams/{team}/webhook-secret`: rotation of the signing secret.
#[derive(Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RotateSecret {
    /// Time for which the old secret stays valid, in seconds; one day if absent.
    #[schema(required = false, default = 86400, maximum = 2592000)]
    pub overlap_seconds: u32,
    /// New secret: `whsec_` and the base64 of 24 to 64 bytes. If absent, one is generated. Choosing it yourself lets
    /// you configure the receivers before the rotation.
    #[schema(max_length = 200)]
    pub secret: Option<String>,
}

/// Decodes the body of `POST /admin/teams/{team}/webhook-secret`.
///
/// # Errors
/// [`Invalid`] with every fault; see [`decode_scrape`](crate::decode_scrape).
pub fn decode_rotate_secret(body: Value) -> Result<RotateSecret, Invalid> {
    read::body(body, |fields| {
        let overlap = fields.take("overlapSeconds").and_then(|field| field.whole32(0..=MAX_OVERLAP_SECONDS));
        let secret = fields.take("secret").and_then(|field| field.text(1..=200));
        Some(RotateSecret { overlap_seconds: overlap.unwrap_or(OVERLAP_SECONDS), secret })
    })
}

/// Query parameters of `GET /admin/teams/{team}/webhooks/deliveries`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DeliveriesQuery {
    /// Only deliveries in this state
    pub state: Option<DeliveryState>,
    /// `next` of the previous page
    #[param(value_type = Option<String>, format = "uuid")]
    pub after: Option<Uuid>,
    /// 1 to 1000 entries, 100 by default
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    pub limit: u32,
}

impl QueryParams for DeliveriesQuery {
    fn decode(query: &str) -> Result<Self, Invalid> {
        query::decode(query, |fields| {
            let state = fields.take("state").and_then(Field::word);
            let PageQuery { after, limit } = PageQuery::read(fields);
            Some(Self { state, after, limit })
        })
    }
}

impl fmt::Debug for WebhookSecretView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookSecretView").field("created_at", &self.created_at).finish_non_exhaustive()
    }
}

impl fmt::Debug for RotateSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RotateSecret").field("overlap_seconds", &self.overlap_seconds).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rotations() {
        let check = |body: Value, want: Result<(u32, Option<&str>), &str>| {
            let got = decode_rotate_secret(body);
            let got = got.as_ref().map(|rotate| (rotate.overlap_seconds, rotate.secret.as_deref()));
            assert_eq!(got.map_err(|invalid| invalid.message.as_str()), want);
        };
        check(json!({}), Ok((86_400, None)));
        check(json!({ "overlapSeconds": 0, "secret": "whsec_x" }), Ok((0, Some("whsec_x"))));
        let overlap = "`overlapSeconds` must be a whole number from 0 to 2592000, got -1";
        check(json!({ "overlapSeconds": -1 }), Err(overlap));
        check(json!({ "overlap": 1 }), Err("Unrecognized key in body: `overlap`"));
    }

    #[test]
    fn states() {
        let check = |query: &str, want: Result<(Option<DeliveryState>, u32), &str>| {
            let got = DeliveriesQuery::decode(query).map(|query| (query.state, query.limit));
            assert_eq!(got.map_err(|invalid| invalid.message), want.map_err(str::to_owned), "{query}");
        };
        check("", Ok((None, 100)));
        check("state=failed&limit=7", Ok((Some(DeliveryState::Failed), 7)));
        check("state=dead", Err("`state` must be `pending`, `delivered` or `failed`"));
        check("state=", Err("`state` must be `pending`, `delivered` or `failed`"));
    }

    #[test]
    fn secrets_do_not_print() {
        let rotate = RotateSecret { overlap_seconds: 1, secret: Some("hush".into()) };
        let view = WebhookSecretView {
            secret: "hush".into(),
            created_at: Timestamp::UNIX_EPOCH,
            previous_secret: Some("hush".into()),
            previous_until: None,
        };
        assert!(!format!("{rotate:?}{view:?}").contains("hush"));
        assert_eq!(serde_json::to_value(view).unwrap()["previousSecret"], "hush");
    }
}
