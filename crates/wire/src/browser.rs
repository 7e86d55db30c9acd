//! Browser sessions under `/v2/browser` (docs/CONTRACT.md, "Browser sessions").

use base::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use crate::attribution::Attribution;
use crate::error::Invalid;
use crate::option::{Location, Profile};
use crate::query::{self, QueryParams};
use crate::read::{self, Field};
use crate::stamp;
use crate::words::words;

/// Minimum of `ttl`, in seconds.
pub const MIN_SESSION_TTL_S: u32 = 30;
/// Maximum of `ttl` and `activityTtl`, in seconds.
pub const MAX_SESSION_TTL_S: u32 = 3600;
/// Default of `ttl`, in seconds.
pub const DEFAULT_SESSION_TTL_S: u32 = 300;
/// Minimum of `activityTtl`, in seconds.
pub const MIN_ACTIVITY_TTL_S: u32 = 10;
/// Default of `activityTtl`, in seconds.
pub const DEFAULT_ACTIVITY_TTL_S: u32 = 120;

words! {
    /// Status of a browser session.
    pub enum SessionStatus {
        /// The session is running.
        Active = "active",
        /// The session has ended.
        Destroyed = "destroyed",
    }
}

/// Settings of a new browser session. All fields are optional.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrowserRequest {
    /// Maximum lifetime, in seconds.
    #[schema(required = false, default = 300, minimum = 30, maximum = 3600)]
    pub ttl: u32,
    /// Idle timeout, in seconds.
    #[schema(required = false, default = 120, minimum = 10, maximum = 3600)]
    pub activity_ttl: u32,
    /// Whether the browser can be watched in a live view.
    #[schema(required = false, default = true)]
    pub stream_web_view: bool,
    /// Whether advertisements and cookie banners are blocked.
    #[schema(required = false, default = true)]
    pub block_ads: bool,
    /// Whether invalid TLS certificates are accepted. Default: true, but false with `profile`, because its logins could
    /// be sent to an impostor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip_tls_verification: Option<bool>,
    /// Profile to load at the start and to save when the session ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// Location and languages that sites see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// Client that makes the call.
    #[serde(flatten)]
    pub attribution: Attribution,
}

/// Response of `POST /v2/browser`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrowserStarted {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// Session id.
    #[schema(format = "uuid")]
    pub id: String,
    /// URLs of the session.
    #[serde(flatten)]
    pub urls: SessionUrls,
    /// Time at which the session ends at the latest, RFC 3339.
    #[serde(with = "stamp")]
    #[schema(value_type = String, format = "date-time")]
    pub expires_at: Timestamp,
}

/// URLs of a session. Each URL gives access without a key for as long as the session lives.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionUrls {
    /// WebSocket URL for the Chrome DevTools Protocol (CDP).
    pub cdp_url: String,
    /// URL of a web page that shows the browser, view only.
    pub live_view_url: String,
    /// URL of a web page that shows the browser and accepts mouse and keyboard input.
    pub interactive_live_view_url: String,
}

/// Response of `GET /v2/browser`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BrowserSessions {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// Sessions of the team, newest first.
    pub sessions: Vec<BrowserSession>,
}

/// One session in the list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrowserSession {
    /// Session id.
    #[schema(format = "uuid")]
    pub id: String,
    /// Status of the session.
    pub status: SessionStatus,
    /// URLs of the session; empty strings after it has ended.
    #[serde(flatten)]
    pub urls: SessionUrls,
    /// Whether the browser can be watched in a live view.
    pub stream_web_view: bool,
    /// Start time, RFC 3339.
    #[serde(with = "stamp")]
    #[schema(value_type = String, format = "date-time")]
    pub created_at: Timestamp,
    /// Time of last use, RFC 3339, accurate to a few seconds.
    #[serde(with = "stamp")]
    #[schema(value_type = String, format = "date-time")]
    pub last_activity: Timestamp,
    /// Time at which the session ends at the latest, RFC 3339.
    #[serde(with = "stamp")]
    #[schema(value_type = String, format = "date-time")]
    pub expires_at: Timestamp,
}

/// Response to ending a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionEnded {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// Always `destroyed`.
    pub status: SessionStatus,
    /// Duration of the session, in milliseconds.
    pub session_duration_ms: i64,
    /// Credits charged for the session.
    pub credits_billed: i64,
}

impl Default for BrowserRequest {
    fn default() -> Self {
        Self {
            ttl: DEFAULT_SESSION_TTL_S,
            activity_ttl: DEFAULT_ACTIVITY_TTL_S,
            stream_web_view: true,
            block_ads: true,
            skip_tls_verification: None,
            profile: None,
            location: None,
            attribution: Attribution::default(),
        }
    }
}

impl BrowserRequest {
    /// Whether invalid TLS certificates are accepted: the caller's choice, or by default only without a profile.
    #[must_use]
    pub fn skips_tls_verification(&self) -> bool {
        self.skip_tls_verification.unwrap_or(self.profile.is_none())
    }
}

/// Query parameters of `GET /v2/browser` and its alias `GET /v2/interact`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct SessionsQuery {
    /// Only sessions of this status
    pub status: Option<SessionStatus>,
}

impl QueryParams for SessionsQuery {
    fn decode(query: &str) -> Result<Self, Invalid> {
        query::decode(query, |fields| {
            Some(Self { status: fields.take("status").and_then(Field::filled).and_then(Field::word) })
        })
    }
}

/// Decodes the body of `POST /v2/browser`.
///
/// # Errors
/// [`Invalid`] with every fault (up to 20), each with the path of its field.
///
/// ```
/// let invalid = wire::decode_browser(serde_json::json!({ "ttl": 5 })).unwrap_err();
/// assert_eq!(invalid.message, "`ttl` must be a whole number from 30 to 3600, got 5");
/// ```
pub fn decode_browser(body: Value) -> Result<BrowserRequest, Invalid> {
    read::body(body, |fields| {
        let default = BrowserRequest::default();
        let ttl = fields.take("ttl").and_then(|field| field.whole32(MIN_SESSION_TTL_S..=MAX_SESSION_TTL_S));
        let activity_ttl =
            fields.take("activityTtl").and_then(|field| field.whole32(MIN_ACTIVITY_TTL_S..=MAX_SESSION_TTL_S));
        Some(BrowserRequest {
            ttl: ttl.unwrap_or(default.ttl),
            activity_ttl: activity_ttl.unwrap_or(default.activity_ttl),
            stream_web_view: fields.flag("streamWebView", default.stream_web_view),
            block_ads: fields.flag("blockAds", default.block_ads),
            skip_tls_verification: fields.take("skipTlsVerification").and_then(Field::flag),
            profile: fields.take("profile").and_then(|field| field.record(Profile::read).flatten()),
            location: fields.take("location").and_then(|field| field.record(Location::read)),
            attribution: Attribution::read(fields),
        })
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_clients_send_is_read() {
        assert_eq!(decode_browser(json!({})), Ok(BrowserRequest::default()));
        let mut body = json!({
            "ttl": 60, "activityTtl": 30, "streamWebView": false, "blockAds": false, "integration": "n8n",
            "profile": { "name": "shop" }, "location": { "country": "DE" }, "origin": "python-sdk@4.53.2",
        });
        let request = decode_browser(body.clone()).unwrap();
        assert!(!request.skips_tls_verification() && BrowserRequest::default().skips_tls_verification());
        body["skipTlsVerification"] = true.into();
        assert!(decode_browser(body).unwrap().skips_tls_verification());
        assert_eq!(
            (request.ttl, request.activity_ttl, request.stream_web_view, request.block_ads),
            (60, 30, false, false)
        );
        assert_eq!(request.profile, Some(Profile { name: "shop".to_owned(), save_changes: true }));
        assert_eq!(request.location.map(|location| location.country), Some("DE".to_owned()));
    }

    #[test]
    fn bounds_are_checked() {
        for (body, path) in [
            (json!({ "ttl": 29 }), "ttl"),
            (json!({ "ttl": 3601 }), "ttl"),
            (json!({ "activityTtl": 9 }), "activityTtl"),
            (json!({ "profile": { "name": "" } }), "profile.name"),
            (json!({ "profile": { "name": "x".repeat(129) } }), "profile.name"),
            (json!({ "streamWebView": "yes" }), "streamWebView"),
            (json!({ "headless": true }), "headless"),
        ] {
            let invalid = decode_browser(body).unwrap_err();
            assert_eq!(invalid.fields.iter().map(|field| field.path.as_str()).collect::<Vec<_>>(), [path]);
        }
    }
}
