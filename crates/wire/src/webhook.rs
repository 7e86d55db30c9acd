//! The operator's API of webhooks: the log of deliveries and the signing secrets.

use std::fmt;

use base::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::error::Invalid;
use crate::read;
use crate::stamp;
use crate::words::{Word, words};

/// Longest time that two secrets may be valid side by side, in seconds: 30 days.
pub const MAX_OVERLAP_SECONDS: u32 = 30 * 24 * 60 * 60;
/// How long two secrets are valid side by side when nobody says: a day.
pub const OVERLAP_SECONDS: u32 = 24 * 60 * 60;

words! {
    /// What came of a delivery so far.
    pub enum DeliveryState {
        /// An attempt is to come, or under way.
        Pending = "pending",
        /// The receiver has it.
        Delivered = "delivered",
        /// Nothing more is tried.
        Failed = "failed",
    }
}

/// A delivery as the operator sees it: never its body or its headers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryView {
    /// Its id: `webhookId` and the header `webhook-id` of every attempt.
    #[schema(value_type = String, format = "uuid")]
    pub id: Uuid,
    /// Whose it is.
    #[schema(value_type = String, format = "uuid")]
    pub team_id: Uuid,
    /// The crawl or batch that it tells of.
    pub job_id: String,
    /// The event, as `crawl.page`.
    pub event: String,
    /// The receiver, without user name and password.
    pub url: String,
    /// What came of it so far.
    pub state: DeliveryState,
    /// How many attempts were made.
    pub attempts: u32,
    /// The status of the last answer; null when none came.
    pub status: Option<u16>,
    /// Why the last attempt was no success.
    pub error: Option<String>,
    /// How long the last attempt took, in milliseconds.
    pub duration_ms: Option<u64>,
    /// When the event happened, RFC 3339.
    #[serde(with = "stamp")]
    #[schema(value_type = String, format = "date-time")]
    pub created_at: Timestamp,
    /// When the receiver took it, RFC 3339.
    #[serde(with = "stamp::optional")]
    #[schema(value_type = Option<String>, format = "date-time")]
    pub delivered_at: Option<Timestamp>,
    /// When the next attempt is due, RFC 3339; null when none is.
    #[serde(with = "stamp::optional")]
    #[schema(value_type = Option<String>, format = "date-time")]
    pub next_at: Option<Timestamp>,
    /// The size of its body. The body itself goes when it was delivered, and with its job.
    pub body_bytes: u64,
    /// SHA-256 of its body in hexadecimal digits; null when it was made by an older version.
    pub body_digest: Option<String>,
}

/// What a team's webhooks are signed with.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookSecretView {
    /// The secret of `X-Service-Signature`, and of the first of `webhook-signature`.
    pub secret: String,
    /// When it came, RFC 3339.
    #[serde(with = "stamp")]
    #[schema(value_type = String, format = "date-time")]
    pub created_at: Timestamp,
    /// The secret before, while it is still valid: that of the second signature of `webhook-signature`.
    pub previous_secret: Option<String>,
    /// Until when that is, RFC 3339.
    #[serde(with = "stamp::optional")]
    #[schema(value_type = Option<String>, format = "date-time")]
    pub previous_until: Option<Timestamp>,
}

/// Body of `POST /admin/teams/{team}/webhook-secret`.
#[derive(Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RotateSecret {
    /// How long the old secret stays valid beside the new one, in seconds; a day when absent.
    #[schema(required = false, default = 86400, maximum = 2592000)]
    pub overlap_seconds: u32,
    /// The new secret: `whsec_` and the base64 of 24 to 64 bytes. A fresh one is made when absent. Whoever gives one can
    /// tell receivers before it is used.
    #[schema(max_length = 200)]
    pub secret: Option<String>,
}

/// Decodes the body of `POST /admin/teams/{team}/webhook-secret`.
///
/// # Errors
/// [`Invalid`] as [`decode_scrape`](crate::decode_scrape).
pub fn decode_rotate_secret(body: Value) -> Result<RotateSecret, Invalid> {
    read::body(body, |fields| {
        let overlap = fields.take("overlapSeconds").and_then(|field| field.whole32(0..=MAX_OVERLAP_SECONDS));
        let secret = fields.take("secret").and_then(|field| field.text(1..=200));
        Some(RotateSecret { overlap_seconds: overlap.unwrap_or(OVERLAP_SECONDS), secret })
    })
}

/// Reads a state from a query.
///
/// # Errors
/// [`Invalid`] that names the states.
pub fn decode_delivery_state(text: &str) -> Result<DeliveryState, Invalid> {
    let known = || Invalid::at("state", format!("must be {}", DeliveryState::choices()));
    DeliveryState::parse(text).ok_or_else(known)
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
        assert_eq!(decode_delivery_state("failed"), Ok(DeliveryState::Failed));
        let refused = decode_delivery_state("dead").unwrap_err();
        assert_eq!(refused.message, "`state` must be `pending`, `delivered` or `failed`");
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
