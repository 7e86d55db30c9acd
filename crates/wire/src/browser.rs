//! `/v2/browser`: browsers that a client keeps for a while (docs/CONTRACT.md, "Browser sessions").

use base::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::attribution::Attribution;
use crate::error::Invalid;
use crate::option::{Location, Profile};
use crate::read::{self, Field};
use crate::stamp;
use crate::words::words;

/// Shortest life of a session, in seconds.
pub const MIN_SESSION_TTL_S: u32 = 30;
/// Longest life of a session, in seconds.
pub const MAX_SESSION_TTL_S: u32 = 3600;
/// Life of a session when none is given, in seconds.
pub const DEFAULT_SESSION_TTL_S: u32 = 300;
/// Shortest rest after which a session ends, in seconds.
pub const MIN_ACTIVITY_TTL_S: u32 = 10;
/// Rest after which a session ends when none is given, in seconds.
pub const DEFAULT_ACTIVITY_TTL_S: u32 = 120;

words! {
    /// Whether a session can still be used.
    pub enum SessionStatus {
        /// It can.
        Active = "active",
        /// It has ended.
        Destroyed = "destroyed",
    }
}

/// A browser to be kept. Everything is optional.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrowserRequest {
    /// How long it lives at most, in seconds.
    #[schema(required = false, default = 300, minimum = 30, maximum = 3600)]
    pub ttl: u32,
    /// After how long a rest it ends, in seconds.
    #[schema(required = false, default = 120, minimum = 10, maximum = 3600)]
    pub activity_ttl: u32,
    /// Whether it can be watched.
    #[schema(required = false, default = true)]
    pub stream_web_view: bool,
    /// Block advertisements and cookie banners.
    #[schema(required = false, default = true)]
    pub block_ads: bool,
    /// Accept bad TLS certificates. When not given: true, but false beside `profile`, whose logins would be sent to whoever
    /// answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip_tls_verification: Option<bool>,
    /// State to begin with, and where it is saved when the session ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// Where the visitor seems to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// Who calls.
    #[serde(flatten)]
    pub attribution: Attribution,
}

/// The answer to `POST /v2/browser`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrowserStarted {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// The session.
    #[schema(format = "uuid")]
    pub id: String,
    /// Where it is.
    #[serde(flatten)]
    pub urls: SessionUrls,
    /// When it ends at the latest, RFC 3339.
    #[serde(with = "stamp")]
    #[schema(value_type = String, format = "date-time")]
    pub expires_at: Timestamp,
}

/// Addresses of a session. Whoever has one may use it as long as the session lives.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionUrls {
    /// A WebSocket that speaks the Chrome DevTools protocol.
    pub cdp_url: String,
    /// A web page that shows the browser.
    pub live_view_url: String,
    /// A web page that shows the browser and takes mouse and keys.
    pub interactive_live_view_url: String,
}

/// The answer to `GET /v2/browser`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BrowserSessions {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// The sessions of the team, the newest first.
    pub sessions: Vec<BrowserSession>,
}

/// One session of the list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrowserSession {
    /// The session.
    #[schema(format = "uuid")]
    pub id: String,
    /// Whether it can still be used.
    pub status: SessionStatus,
    /// Where it is; empty texts when it has ended.
    #[serde(flatten)]
    pub urls: SessionUrls,
    /// Whether it can be watched.
    pub stream_web_view: bool,
    /// When it began, RFC 3339.
    #[serde(with = "stamp")]
    #[schema(value_type = String, format = "date-time")]
    pub created_at: Timestamp,
    /// When it was last used, RFC 3339, to a few seconds.
    #[serde(with = "stamp")]
    #[schema(value_type = String, format = "date-time")]
    pub last_activity: Timestamp,
    /// When it ends at the latest, RFC 3339.
    #[serde(with = "stamp")]
    #[schema(value_type = String, format = "date-time")]
    pub expires_at: Timestamp,
}

/// The answer to the end of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionEnded {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// Always `destroyed`.
    pub status: SessionStatus,
    /// How long it lived, in milliseconds.
    pub session_duration_ms: i64,
    /// What it cost, in credits.
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
    /// Whether any TLS certificate will do: as the caller says, else when there is no profile.
    #[must_use]
    pub fn skips_tls_verification(&self) -> bool {
        self.skip_tls_verification.unwrap_or(self.profile.is_none())
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
