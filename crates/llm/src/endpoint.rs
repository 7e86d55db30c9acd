//! One endpoint: its client, what it can do, and one call of it.

use std::time::Duration;

use bytes::Bytes;
use cpu::line::Line;
use http::{StatusCode, header};
use outage::Repeats;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::time::Instant;
use url::Url;

use crate::breaker::Breaker;
use crate::error::AskError;
use crate::features::{Features, Step, is_too_long};
use crate::schema::written;
use crate::settings::{Kind, Settings, Spec};
use crate::wire::{self, Call, Reply};

/// Byte limit of an answer: the longest output of current models, escaped.
const ANSWER_BYTES: usize = 8 << 20;

/// An endpoint with one model.
pub(crate) struct Endpoint {
    pub(crate) spec: Spec,
    pub(crate) line: Line,
    pub(crate) breaker: Breaker,
    /// Pace of the log lines about refusals that only the operator can end.
    pub(crate) refusals: Repeats,
    url: Url,
    client: net::Client,
    features: Mutex<Features>,
}

/// Error of one call.
pub(crate) enum CallError {
    /// The call failed.
    Failed(AskError),
    /// The endpoint refuses a part of the request that can be left out.
    Refused(Step),
}

impl From<AskError> for CallError {
    fn from(error: AskError) -> Self {
        Self::Failed(error)
    }
}

impl Endpoint {
    /// Creates an endpoint with a client that reaches nothing else.
    pub(crate) fn new(spec: Spec, settings: &Settings) -> Result<Self, net::ConfigError> {
        let client = net::Client::of_one_server(&spec.url, net::Limits::default())?;
        let line = Line::new(settings.parallel.into(), settings.waiting.into());
        let url = url_of(&spec);
        let (breaker, refusals) = (Breaker::default(), Repeats::default());
        Ok(Self { spec, line, url, client, breaker, refusals, features: Mutex::default() })
    }

    pub(crate) fn features(&self) -> Features {
        *self.features.lock()
    }

    /// Remembers what the endpoint has refused.
    pub(crate) fn learn(&self, step: Step) {
        self.features.lock().apply(step);
    }

    /// Sends a call and reads its answer.
    pub(crate) async fn send(&self, call: &Call<'_>, deadline: Instant) -> Result<Reply, CallError> {
        let body = Bytes::from(written(&wire::body(call)));
        let post = net::Post {
            url: self.url.clone(),
            headers: wire::headers(&self.spec),
            body,
            // A call that has reached the model costs tokens, so it is not sent again over another connection.
            repeatable: false,
            deadline,
            answer_bytes: ANSWER_BYTES,
        };
        let posted = self.client.post(post).await.map_err(|error| failure(&error))?;
        self.judge(&posted, call, deadline).map_err(|error| match error {
            CallError::Failed(error) => CallError::Failed(error.without(&self.spec.key)),
            refused @ CallError::Refused(_) => refused,
        })
    }

    fn judge(&self, posted: &net::Posted, call: &Call<'_>, deadline: Instant) -> Result<Reply, CallError> {
        if posted.status.is_success() {
            let whole = is_whole(posted);
            return wire::read(self.spec.kind, &posted.body).map_err(|error| {
                CallError::Failed(match error {
                    AskError::Malformed if Instant::now() >= deadline => AskError::Timeout,
                    AskError::Malformed if !whole => AskError::Connection("it was lost during the answer".to_owned()),
                    other => other,
                })
            });
        }
        let status = posted.status.as_u16();
        Err(match posted.status {
            status if status.is_redirection() => AskError::Redirected.into(),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => AskError::Unauthorized { status }.into(),
            StatusCode::TOO_MANY_REQUESTS => AskError::RateLimited { wait: retry_after(posted) }.into(),
            StatusCode::PAYLOAD_TOO_LARGE => AskError::TooLong.into(),
            // 501: some servers refuse what they lack this way.
            _ if posted.status.is_client_error() || status == 501 => self.refusal(posted, call),
            _ => AskError::Upstream { status }.into(),
        })
    }

    /// Reads a refusal: of a feature, of the length, or for good.
    fn refusal(&self, posted: &net::Posted, call: &Call<'_>) -> CallError {
        let status = posted.status.as_u16();
        let body: Value = base::json::read(&posted.body, base::json::MAX_VALUES).unwrap_or_default();
        // The message is read here and goes nowhere else: it may repeat the key or the page.
        let message = message_of(&body).unwrap_or_else(|| String::from_utf8_lossy(&posted.body).into_owned());
        if is_too_long(&message) {
            return AskError::TooLong.into();
        }
        let is_about_request = matches!(status, 400 | 415 | 422 | 501);
        // What this call has sent, since others may have learnt more meanwhile.
        let (token_field, has_temperature) = (call.token_field, call.has_temperature);
        let sent = Features { form: call.form, token_field, has_temperature };
        match sent.after(&message, call.wants_json, self.spec.kind).filter(|_| is_about_request) {
            Some(step) => CallError::Refused(step),
            None => AskError::Rejected { status, code: wire::error_code(&body) }.into(),
        }
    }
}

/// Returns the URL of calls: the base URL with the path of the protocol, and its query.
fn url_of(spec: &Spec) -> Url {
    let mut url = spec.url.clone();
    let mut path = wire::path(spec.kind);
    let base = url.path().trim_end_matches('/').to_owned();
    if spec.kind == Kind::Anthropic && base.ends_with("/v1") {
        path = &path[1..];
    }
    url.set_path(&format!("{base}/{}", path.join("/")));
    url.set_fragment(None);
    url
}

fn message_of(body: &Value) -> Option<String> {
    let error = &body["error"];
    let found = [&error["message"], error, &body["message"], &body["detail"]];
    found.into_iter().find(|message| !message.is_null()).map(|message| match message {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    })
}

/// Returns whether the whole body has arrived, as far as its length was announced.
fn is_whole(posted: &net::Posted) -> bool {
    let length =
        posted.headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    length.is_none_or(|length| posted.body.len() >= length)
}

fn retry_after(posted: &net::Posted) -> Option<Duration> {
    let text = |name| posted.headers.get(name).and_then(|value| value.to_str().ok());
    // A date counts from the time of the endpoint, which its `Date` tells; without one from the epoch, so that a date is
    // as good as the longest wait.
    let now = text(header::DATE).and_then(|date| chrono::DateTime::parse_from_rfc2822(date).ok());
    politeness::retry_after(text(header::RETRY_AFTER)?, now.map(|now| now.to_utc()).unwrap_or_default())
}

fn failure(error: &net::Error) -> CallError {
    CallError::Failed(match error {
        net::Error::Timeout => AskError::Timeout,
        other => AskError::Connection(other.to_string()),
    })
}
