//! Requests to receivers: one attempt each, under the rules that hold for every receiver that a team or operator names.

use base::Clock;
use bytes::Bytes;
use http::header::RETRY_AFTER;
use http::{HeaderMap, HeaderName, HeaderValue};
use net::{Client, Post, Posted};
use politeness::retry_after;
use tokio::time::Instant;
use url::Url;
use webhooks::{DEADLINE, ReceiverAnswer};

/// Maximum number of bytes of an answer that are read.
const ANSWER_BYTES: usize = 64 << 10;
/// Maximum number of characters of an answer that are shown.
const SHOWN_CHARS: usize = 200;

/// Request to a receiver.
pub struct ReceiverRequest {
    /// URL, without user name and password.
    pub url: Url,
    /// Headers.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: Vec<u8>,
    /// Whether the receiver recognises a repeat, so that the request may be sent again on another connection.
    pub repeatable: bool,
}

/// Result of a request to a receiver.
#[derive(Debug)]
pub struct Answered {
    /// What the next step depends on.
    pub answer: ReceiverAnswer,
    /// Why it failed: the beginning of the answer, or the error of the connection; `None` for a success.
    pub error: Option<String>,
}

impl Answered {
    /// Returns a failure without an answer.
    pub(super) fn none(error: String) -> Self {
        Self { answer: ReceiverAnswer::default(), error: Some(error) }
    }
}

/// Sends a request within [`DEADLINE`]. The rules of the client decide whether the receiver may be reached; redirects are
/// not followed.
pub async fn post(client: &Client, clock: &dyn Clock, request: ReceiverRequest) -> Answered {
    let ReceiverRequest { url, headers, body, repeatable } = request;
    let (headers, body, deadline) = (header_map(headers), Bytes::from(body), Instant::now() + DEADLINE);
    let post = Post { url, headers, body, repeatable, deadline, answer_bytes: ANSWER_BYTES };
    match client.post(post).await {
        Ok(posted) => {
            let asked = posted.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
            let retry_after = asked.and_then(|value| retry_after(value, clock.now()));
            let answer = ReceiverAnswer { status: Some(posted.status.as_u16()), retry_after };
            Answered { answer, error: refusal(&posted) }
        }
        Err(error) => Answered::none(error.to_string()),
    }
}

fn header_map(headers: Vec<(String, String)>) -> HeaderMap {
    let mut map = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers {
        // Headers were validated when the receiver was accepted.
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            map.insert(name, value);
        }
    }
    map
}

/// Returns the text for an answer other than 2xx: its status and the beginning of its body.
fn refusal(answer: &Posted) -> Option<String> {
    if answer.status.is_success() {
        return None;
    }
    let text = String::from_utf8_lossy(&answer.body);
    let shown: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(SHOWN_CHARS).collect();
    let status = answer.status.as_u16();
    Some(match shown.trim() {
        "" => format!("status {status}"),
        shown => format!("status {status}: {shown}"),
    })
}
