//! What handlers take from a request, with our own error body for every way it can fail: the JSON body, bounded in size,
//! time and shape, the id in the path, and the query.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri, header};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;
use wire::Code;

use crate::Service;
use crate::auth::not_found;
use crate::error::Failure;

/// Bodies up to this size are read without asking; so many of the larger ones are read at the same time.
const SMALL: usize = 64 * 1024;
/// See [`SMALL`]: bounds what all bodies together can take.
pub(crate) const LARGE_AT_ONCE: usize = 16;
/// Values in one body, with room for the largest batch ([`wire::MAX_BATCH_URLS`]). A megabyte of `[[],[],…` would otherwise
/// become a hundred megabytes in memory.
const MOST_VALUES: usize = 120_000;
/// A body that is too large is read on for so long, so that the client gets to see the answer.
const DISCARD_FOR: Duration = Duration::from_secs(5);
/// See [`DISCARD_FOR`].
const DISCARD_BYTES: usize = 128 * 1024 * 1024;

/// A request body as JSON, whatever its content type says.
#[derive(Debug)]
pub(crate) struct Json(pub(crate) Value);

/// The one id in the path. What is no id leads nowhere.
#[derive(Debug)]
pub(crate) struct Id(pub(crate) Uuid);

impl FromRequest<Arc<Service>> for Json {
    type Rejection = Failure;

    async fn from_request(request: Request, service: &Arc<Service>) -> Result<Self, Failure> {
        let limits = BodyLimits {
            bytes: service.config.server.max_body,
            until: Instant::now() + service.config.server.body_timeout,
            large: &service.large_bodies,
        };
        let (head, body) = request.into_parts();
        encoding(&head.headers)?;
        let bytes = limits.read(&head.headers, body).await?;
        parse(&bytes).map(Self)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        match Path::<Uuid>::from_request_parts(parts, state).await {
            Ok(Path(id)) => Ok(Self(id)),
            Err(_) => Err(not_found()),
        }
    }
}

/// The first value of a name in the query; names that nobody asks for are no error.
pub(crate) fn query<'a>(uri: &'a Uri, name: &str) -> Option<Cow<'a, str>> {
    let query = uri.query().unwrap_or_default();
    url::form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == name).map(|(_, value)| value)
}

struct BodyLimits<'a> {
    bytes: usize,
    until: Instant,
    large: &'a Semaphore,
}

impl BodyLimits<'_> {
    async fn read(&self, headers: &HeaderMap, mut body: Body) -> Result<Bytes, Failure> {
        let announced = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
        if announced.is_some_and(|length| length > self.bytes as u64) {
            // A client that waits for 100 Continue has sent nothing that would be in the way of the answer.
            if !headers.contains_key(header::EXPECT) {
                discard(body).await;
            }
            return Err(self.too_large());
        }
        let mut read = BytesMut::new();
        let mut permit = None;
        while let Some(chunk) = self.chunk(&mut body).await? {
            if read.len() + chunk.len() > self.bytes {
                read = BytesMut::new();
                drop((chunk, read, permit));
                discard(body).await;
                return Err(self.too_large());
            }
            if read.len() + chunk.len() > SMALL && permit.is_none() {
                permit = timeout_at(self.until, self.large.acquire()).await.map_err(|_| self.too_slow())?.ok();
            }
            read.extend_from_slice(&chunk);
        }
        Ok(read.freeze())
    }

    async fn chunk(&self, body: &mut Body) -> Result<Option<Bytes>, Failure> {
        loop {
            match timeout_at(self.until, body.frame()).await {
                Ok(Some(Ok(frame))) => {
                    if let Ok(data) = frame.into_data() {
                        return Ok(Some(data));
                    }
                }
                Ok(None) => return Ok(None),
                Ok(Some(Err(_))) => return Err(Failure::new(Code::BadRequest, "the body of the request broke off")),
                Err(_) => return Err(self.too_slow()),
            }
        }
    }

    fn too_large(&self) -> Failure {
        let mib = self.bytes / (1024 * 1024);
        Failure::new(Code::PayloadTooLarge, format!("the body of the request is larger than {mib} MiB"))
    }

    fn too_slow(&self) -> Failure {
        Failure::new(Code::BadRequest, "the body of the request took too long to arrive")
    }
}

/// Reads and forgets. A connection that is closed with unread bytes is reset, and the reset can overtake the answer.
async fn discard(mut body: Body) {
    let until = Instant::now() + DISCARD_FOR;
    let mut left = DISCARD_BYTES;
    while let Ok(Some(Ok(frame))) = timeout_at(until, body.frame()).await {
        let length = frame.data_ref().map_or(0, Bytes::len);
        let Some(rest) = left.checked_sub(length) else { return };
        left = rest;
    }
}

fn encoding(headers: &HeaderMap) -> Result<(), Failure> {
    match headers.get(header::CONTENT_ENCODING) {
        Some(value) if !value.as_bytes().eq_ignore_ascii_case(b"identity") => {
            Err(Failure::new(Code::UnsupportedMediaType, "compressed request bodies are not accepted"))
        }
        _ => Ok(()),
    }
}

fn parse(bytes: &[u8]) -> Result<Value, Failure> {
    let refused = |why: String| Failure::new(Code::BadRequestInvalidJson, why);
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.trim_ascii().is_empty() {
        return Err(refused("the body of the request is empty, expected a JSON object".to_owned()));
    }
    if values(bytes) > MOST_VALUES {
        return Err(refused(format!("the body of the request holds more than {MOST_VALUES} JSON values")));
    }
    // serde_json itself refuses more than 128 levels and bytes that are not UTF-8.
    serde_json::from_slice(bytes).map_err(|error| refused(format!("the body of the request is not JSON: {error}")))
}

/// At least as many as there are values in the text: one, and one for each comma and opening bracket outside strings.
fn values(text: &[u8]) -> usize {
    let (mut count, mut in_string, mut escaped) = (1, false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b',' | b'[' | b'{' if !in_string => count += 1,
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::response::IntoResponse;
    use futures_util::stream;

    fn check(body: &[u8], expect: &str) {
        match parse(body) {
            Ok(value) => assert_eq!(value.to_string(), expect),
            Err(failure) => assert!(failure.to_string().contains(expect), "{failure}: {expect}"),
        }
    }

    #[test]
    fn json_or_a_reason() {
        check(b"{\"a\":1}", "{\"a\":1}");
        check(b"\xef\xbb\xbf{}", "{}");
        check(b"", "BAD_REQUEST_INVALID_JSON: the body of the request is empty");
        check(b" \n", "is empty");
        check(b"{\"a\":", "BAD_REQUEST_INVALID_JSON: the body of the request is not JSON: EOF");
        check(b"{\"url\":\"\xff\xfe\"}", "not JSON");
        check(b"{\"a\":1e400}", "number out of range");
        check(b"{} x", "trailing characters");
        check("[".repeat(1000).as_bytes(), "recursion limit");
        check("[".repeat(MOST_VALUES).as_bytes(), "more than 120000 JSON values");
        check(format!("[{}1]", "1,".repeat(MOST_VALUES)).as_bytes(), "more than 120000 JSON values");
        check(format!("{}{}", "[".repeat(128), "]".repeat(128)).as_bytes(), "recursion limit");
        let deepest = format!("{}{}", "[".repeat(127), "]".repeat(127));
        check(deepest.as_bytes(), &deepest);
    }

    #[test]
    fn brackets_in_strings_are_not_values() {
        for (text, expect) in
            [("1", 1), ("[1,2]", 3), (r#"{"a":{"b":1},"c":"[,{"}"#, 4), (r#""\",[""#, 1), (r#""\\",1"#, 2)]
        {
            assert_eq!(values(text.as_bytes()), expect, "{text}");
        }
    }

    #[test]
    fn compressed_bodies_are_refused() {
        let mut headers = HeaderMap::new();
        assert!(encoding(&headers).is_ok());
        headers.insert(header::CONTENT_ENCODING, "identity".parse().unwrap());
        assert!(encoding(&headers).is_ok());
        headers.insert(header::CONTENT_ENCODING, "gzip".parse().unwrap());
        assert_eq!(encoding(&headers).unwrap_err().into_response().status(), 415);
    }

    async fn read(limit: usize, chunks: Vec<&'static [u8]>, large: &Semaphore) -> Result<usize, u16> {
        let limits = BodyLimits { bytes: limit, until: Instant::now() + Duration::from_millis(50), large };
        let frames = chunks.into_iter().map(Ok::<_, std::io::Error>);
        let body = Body::from_stream(stream::iter(frames));
        let read = limits.read(&HeaderMap::new(), body).await;
        read.map(|bytes| bytes.len()).map_err(|failure| failure.into_response().status().as_u16())
    }

    #[tokio::test]
    async fn bodies_are_bounded() {
        let large = Semaphore::new(1);
        assert_eq!(read(10, vec![b"12345", b"67890"], &large).await, Ok(10));
        assert_eq!(read(10, vec![b"12345", b"678901"], &large).await, Err(413));
        static CHUNK: [u8; SMALL] = [0; SMALL];
        assert_eq!(read(SMALL * 2, vec![&CHUNK, &CHUNK], &large).await, Ok(SMALL * 2));
        let _taken = large.acquire().await.unwrap();
        assert_eq!(read(SMALL * 2, vec![&CHUNK], &large).await, Ok(SMALL));
        assert_eq!(read(SMALL * 2, vec![&CHUNK, &CHUNK], &large).await, Err(400));
    }

    #[tokio::test]
    async fn a_body_that_is_announced_too_large_is_not_kept() {
        let large = Semaphore::new(1);
        let limits = BodyLimits { bytes: 10, until: Instant::now() + Duration::from_secs(5), large: &large };
        let headers = [(header::CONTENT_LENGTH, "11".parse().unwrap())].into_iter().collect();
        let failure = limits.read(&headers, Body::from("12345678901")).await.unwrap_err();
        assert_eq!(failure.into_response().status(), 413);
    }
}
