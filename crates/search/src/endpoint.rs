//! Calls of an engine's API.

use std::time::Duration;

use base::{Timestamp, json};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::Value;
use tokio::time::Instant;
use url::Url;

use crate::error::EngineError;

/// Byte limit of an answer. The longest real ones, 100 images with all their addresses, have some 300 KB.
const ANSWER_BYTES: usize = 4 << 20;
/// Byte limit of all answers that are read at the same time.
const IN_FLIGHT: u64 = 64 << 20;

/// The API of one engine, with a client that reaches nothing else.
pub(crate) struct Endpoint {
    client: net::Client,
    timeout: Duration,
}

/// Answer of an API.
pub(crate) struct Answered {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    /// The JSON of the answer; `None` if it is not JSON.
    pub(crate) body: Option<Value>,
}

impl Endpoint {
    /// Creates the endpoint at the server of this URL.
    pub(crate) fn new(url: &Url, timeout: Duration) -> Result<Self, net::ConfigError> {
        let bytes = ANSWER_BYTES as u64;
        let limits =
            net::Limits { body_raw: bytes, body_decoded: bytes, in_flight: IN_FLIGHT, ..net::Limits::default() };
        Ok(Self { client: net::Client::of_one_server(url, limits)?, timeout })
    }

    pub(crate) async fn get(&self, url: Url, headers: HeaderMap, deadline: Instant) -> Result<Answered, EngineError> {
        let deadline = self.deadline(deadline);
        let request = net::Request { headers, deadline, redirects: 0, ..net::Request::get(url) };
        let response = self.client.send(request).await.map_err(|error| failure(&error))?;
        Ok(Answered { status: response.status, body: read(&response.body), headers: response.headers })
    }

    pub(crate) async fn post(
        &self,
        url: Url,
        mut headers: HeaderMap,
        body: &Value,
        deadline: Instant,
    ) -> Result<Answered, EngineError> {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let post = net::Post {
            url,
            headers,
            body: Bytes::from(body.to_string()),
            // A query is charged each time it arrives.
            repeatable: false,
            deadline: self.deadline(deadline),
            answer_bytes: ANSWER_BYTES,
        };
        let deadline = post.deadline;
        let posted = self.client.post(post).await.map_err(|error| failure(&error))?;
        if !is_whole(&posted) {
            let is_late = Instant::now() >= deadline;
            let lost = || EngineError::Invalid("it was lost on the way".to_owned());
            return Err(if is_late { EngineError::Timeout } else { lost() });
        }
        let body = read(&posted.body);
        if body.is_none() && Instant::now() >= deadline {
            return Err(EngineError::Timeout);
        }
        Ok(Answered { status: posted.status, headers: posted.headers, body })
    }

    fn deadline(&self, deadline: Instant) -> Instant {
        deadline.min(Instant::now() + self.timeout)
    }
}

/// Whether the whole body has arrived, as far as its length was announced.
fn is_whole(posted: &net::Posted) -> bool {
    let length =
        posted.headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    length.is_none_or(|length| posted.body.len() >= length)
}

fn read(body: &[u8]) -> Option<Value> {
    json::read(body, json::MAX_VALUES).ok()
}

fn failure(error: &net::Error) -> EngineError {
    match error {
        net::Error::Timeout => EngineError::Timeout,
        net::Error::TooManyRedirects { .. } | net::Error::BadRedirect { .. } => EngineError::Redirected,
        net::Error::TooLarge { .. } | net::Error::Protocol { .. } => EngineError::Invalid(error.to_string()),
        other => EngineError::Unreachable(other.to_string()),
    }
}

impl Answered {
    /// Returns the JSON of a success, or the error of the status. `setting` is the key in the settings.
    pub(crate) fn json(self, setting: &'static str, now: Timestamp) -> Result<Value, EngineError> {
        let status = self.status.as_u16();
        Err(match self.status {
            ok if ok.is_success() => {
                return self.body.ok_or_else(|| EngineError::Invalid("it is not JSON, or cut off".to_owned()));
            }
            other if other.is_redirection() => EngineError::Redirected,
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => EngineError::Unauthorized { status, setting },
            StatusCode::PAYMENT_REQUIRED => EngineError::Quota,
            StatusCode::TOO_MANY_REQUESTS => EngineError::RateLimited { retry_after: self.retry_after(now) },
            StatusCode::REQUEST_TIMEOUT | StatusCode::GATEWAY_TIMEOUT => EngineError::Timeout,
            other if other.is_client_error() => EngineError::Rejected { status },
            _ => EngineError::Upstream { status },
        })
    }

    pub(crate) fn retry_after(&self, now: Timestamp) -> Option<Duration> {
        let value = self.headers.get(header::RETRY_AFTER)?.to_str().ok()?;
        politeness::retry_after(value, now)
    }
}

/// Returns a header value that is not logged; `None` if the text cannot be one.
pub(crate) fn secret_header(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Returns a text member of an object; empty if it is missing or no text.
pub(crate) fn text(object: &Value, key: &str) -> String {
    object[key].as_str().unwrap_or_default().to_owned()
}

/// Returns a text member of an object, unless it is missing, empty or no text.
pub(crate) fn some_text(object: &Value, key: &str) -> Option<String> {
    object[key].as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Returns a size in pixels, as a number or digits.
pub(crate) fn pixels(value: &Value) -> Option<u32> {
    let number = value.as_u64().or_else(|| value.as_str()?.trim().parse().ok())?;
    u32::try_from(number).ok().filter(|pixels| *pixels > 0)
}

/// Returns the list at a JSON pointer; an error if something else is there, and an empty list if nothing is.
pub(crate) fn list<'a>(body: &'a Value, pointer: &str) -> Result<&'a [Value], EngineError> {
    match body.pointer(pointer) {
        None | Some(Value::Null) if body.is_object() => Ok(&[]),
        Some(Value::Array(items)) => Ok(items),
        _ => Err(EngineError::Invalid(format!("it has no list of results at {pointer}"))),
    }
}
