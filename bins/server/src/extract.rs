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
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;
use uuid::fmt::Hyphenated;
use wire::Code;

use crate::Service;
use crate::error::Failure;
use crate::malformed;
use crate::missing::not_found;
use crate::request::reader;
use crate::shares::Shares;

/// Bodies up to this size are read without a permit.
const SMALL: usize = 64 * 1024;
/// Larger bodies that are read at the same time: bounds the memory that all bodies together take.
const LARGE_AT_ONCE: usize = 16;
/// How many of these one caller may have, so that a slow sender keeps nobody else from sending.
const LARGE_OF_ONE: usize = 4;
/// Values in one body, with room for the largest batch ([`wire::MAX_BATCH_URLS`]). A megabyte of `[[],[],…` would otherwise
/// become a hundred megabytes in memory.
const MAX_VALUES: usize = 120_000;
/// How long a body that is too large is read on, so that the client gets to see the answer.
const DISCARD_FOR: Duration = Duration::from_secs(5);
/// See [`DISCARD_FOR`].
const DISCARD_BYTES: usize = 128 * 1024 * 1024;

/// Files that are taken at the same time, and how many of them one caller may send.
const UPLOADS_AT_ONCE: usize = 4;
const UPLOADS_OF_ONE: usize = 2;

/// Bounds how many files are taken at the same time.
pub(crate) fn uploads() -> Shares {
    Shares::new(UPLOADS_AT_ONCE, UPLOADS_OF_ONE)
}

/// Bounds how many large bodies are read at the same time.
pub(crate) fn large_bodies() -> Shares {
    Shares::new(LARGE_AT_ONCE, LARGE_OF_ONE)
}

/// A request body as JSON, which its content type must say too: a page in somebody's browser may send any other body to any
/// address without being asked (WHATWG Fetch, "CORS-safelisted request-header").
#[derive(Debug)]
pub(crate) struct Json(pub(crate) Value);

/// The one id in the path. Anything else there answers 404.
#[derive(Debug)]
pub(crate) struct Id(pub(crate) Uuid);

/// The id of a job or a scrape in the path: a UUID in its usual spelling (RFC 9562 section 4).
#[derive(Debug)]
pub(crate) struct JobId(pub(crate) Uuid);

impl FromRequest<Arc<Service>> for Json {
    type Rejection = Failure;

    async fn from_request(request: Request, service: &Arc<Service>) -> Result<Self, Failure> {
        let (head, mut body) = request.into_parts();
        let limits = BodyLimits {
            bytes: service.config.server.max_body,
            until: Instant::now() + service.config.server.body_timeout,
            large: &service.large_bodies,
            owner: &reader(head.extensions.get(), head.extensions.get()),
        };
        encoding(&head.headers)?;
        if !is_json(&head.headers) {
            return Err(limits.not_json(&head.headers, &mut body).await);
        }
        let bytes = limits.read(&head.headers, body).await?;
        parse(&bytes).map(Self)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for JobId {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        // The other spellings that the library reads have another length.
        let id = match Path::<String>::from_request_parts(parts, state).await {
            Ok(Path(text)) if text.len() == Hyphenated::LENGTH => Uuid::try_parse(&text).ok(),
            _ => None,
        };
        let why = "Invalid job ID format. Job ID must be a valid UUID.";
        id.map(Self).ok_or_else(|| Failure::new(Code::BadRequest, why))
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

/// The first value of a name in the query; other names in it are ignored.
pub(crate) fn query<'a>(uri: &'a Uri, name: &str) -> Option<Cow<'a, str>> {
    let query = uri.query().unwrap_or_default();
    url::form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == name).map(|(_, value)| value)
}

/// What a body may take.
pub(crate) struct BodyLimits<'a> {
    pub(crate) bytes: usize,
    /// When it must have arrived.
    pub(crate) until: Instant,
    pub(crate) large: &'a Shares,
    /// Who sends.
    pub(crate) owner: &'a str,
}

impl BodyLimits<'_> {
    /// Reads all of it.
    pub(crate) async fn read(&self, headers: &HeaderMap, mut body: Body) -> Result<Bytes, Failure> {
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
                permit = Some(timeout_at(self.until, self.large.wait(self.owner)).await.map_err(|_| self.too_slow())?);
            }
            read.extend_from_slice(&chunk);
        }
        Ok(read.freeze())
    }

    /// The next piece of it; `None` at its end.
    pub(crate) async fn chunk(&self, body: &mut Body) -> Result<Option<Bytes>, Failure> {
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

    /// The refusal of a body whose type is not JSON. A request without a body is told that it has none.
    async fn not_json(&self, headers: &HeaderMap, body: &mut Body) -> Failure {
        match self.chunk(body).await {
            Ok(None) => return empty(),
            Ok(Some(_)) => {}
            Err(failure) => return failure,
        }
        if !headers.contains_key(header::EXPECT) {
            discard(std::mem::take(body)).await;
        }
        Failure::new(Code::UnsupportedMediaType, "the body must be sent with Content-Type: application/json")
    }

    pub(crate) fn too_large(&self) -> Failure {
        let mib = self.bytes / (1024 * 1024);
        Failure::new(Code::PayloadTooLarge, format!("the body of the request is larger than {mib} MiB"))
    }

    pub(crate) fn too_slow(&self) -> Failure {
        Failure::new(Code::BadRequest, "the body of the request took too long to arrive")
    }
}

/// Reads and forgets. A connection that is closed with unread bytes is reset, and the reset can overtake the answer.
pub(crate) async fn discard(mut body: Body) {
    let until = Instant::now() + DISCARD_FOR;
    let mut left = DISCARD_BYTES;
    while let Ok(Some(Ok(frame))) = timeout_at(until, body.frame()).await {
        let length = frame.data_ref().map_or(0, Bytes::len);
        let Some(rest) = left.checked_sub(length) else { return };
        left = rest;
    }
}

pub(crate) fn encoding(headers: &HeaderMap) -> Result<(), Failure> {
    match headers.get(header::CONTENT_ENCODING) {
        Some(value) if !value.as_bytes().eq_ignore_ascii_case(b"identity") => {
            Err(Failure::new(Code::UnsupportedMediaType, "compressed request bodies are not accepted"))
        }
        _ => Ok(()),
    }
}

/// `application/json` or `application/…+json` (RFC 6839 section 3.1), with any parameters, said once.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let mut lines = headers.get_all(header::CONTENT_TYPE).iter();
    let only = lines.next().filter(|_| lines.next().is_none()).and_then(|value| value.to_str().ok());
    let kind = only.and_then(|value| value.split(';').next()).unwrap_or_default().trim().to_ascii_lowercase();
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte);
    match kind.strip_prefix("application/") {
        Some(kind) => kind.bytes().all(known) && (kind == "json" || kind.ends_with("+json")),
        None => false,
    }
}

fn refused(why: impl Into<String>) -> Failure {
    Failure::new(Code::BadRequestInvalidJson, why)
}

fn empty() -> Failure {
    refused("the body of the request is empty, expected a JSON object")
}

pub(crate) fn parse(bytes: &[u8]) -> Result<Value, Failure> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.trim_ascii().is_empty() {
        return Err(empty());
    }
    if values(bytes) > MAX_VALUES {
        return Err(refused(format!("the body of the request holds more than {MAX_VALUES} JSON values")));
    }
    // serde_json itself refuses more than 128 levels and bytes that are not UTF-8.
    serde_json::from_slice(bytes).map_err(|error| refused(malformed::sentence(bytes, &error)))
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
        for malformed in [&b"{\"a\":"[..], b"{\"url\":\"\xff\xfe\"}", b"{\"a\":1e400}", b"{} x", &[b'['; 1000]] {
            check(malformed, "BAD_REQUEST_INVALID_JSON: Bad request, malformed JSON");
        }
        check("[".repeat(MAX_VALUES).as_bytes(), "more than 120000 JSON values");
        check(format!("[{}1]", "1,".repeat(MAX_VALUES)).as_bytes(), "more than 120000 JSON values");
        check(format!("{}{}", "[".repeat(128), "]".repeat(128)).as_bytes(), "malformed");
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

    #[test]
    fn content_types() {
        let check = |lines: &[&str], expect: bool| {
            let headers = lines.iter().map(|line| (header::CONTENT_TYPE, line.parse().unwrap())).collect();
            assert_eq!(is_json(&headers), expect, "{lines:?}");
        };
        for json in [
            "application/json",
            "Application/JSON",
            "application/json; charset=utf-8",
            "application/json;x",
            " application/json ",
            "application/problem+json",
            "application/vnd.a.b+json;v=1",
        ] {
            check(&[json], true);
        }
        for other in [
            "",
            "text/plain",
            "text/json",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=application/json",
            "text/plain; application/json",
            "text/plain;+json",
            "application/jsonp",
            "application/json, text/plain",
            "json",
            "application/",
            "application/a b+json",
            "application/text/plain+json",
            "*/*",
        ] {
            check(&[other], false);
        }
        check(&[], false);
        check(&["application/json", "text/plain"], false);
        check(&["application/json", "application/json"], false);
    }

    async fn read(limit: usize, chunks: Vec<&'static [u8]>, large: &Shares) -> Result<usize, u16> {
        let limits = BodyLimits { bytes: limit, until: Instant::now() + Duration::from_millis(50), large, owner: "a" };
        let frames = chunks.into_iter().map(Ok::<_, std::io::Error>);
        let body = Body::from_stream(stream::iter(frames));
        let read = limits.read(&HeaderMap::new(), body).await;
        read.map(|bytes| bytes.len()).map_err(|failure| failure.into_response().status().as_u16())
    }

    #[tokio::test]
    async fn bodies_are_bounded() {
        let large = Shares::new(2, 1);
        assert_eq!(read(10, vec![b"12345", b"67890"], &large).await, Ok(10));
        assert_eq!(read(10, vec![b"12345", b"678901"], &large).await, Err(413));
        static CHUNK: [u8; SMALL] = [0; SMALL];
        assert_eq!(read(SMALL * 2, vec![&CHUNK, &CHUNK], &large).await, Ok(SMALL * 2));
        let other = large.wait("b").await;
        assert_eq!(read(SMALL * 2, vec![&CHUNK, &CHUNK], &large).await, Ok(SMALL * 2), "another's slow body");
        drop(other);
        let _taken = large.wait("a").await;
        assert_eq!(read(SMALL * 2, vec![&CHUNK], &large).await, Ok(SMALL));
        assert_eq!(read(SMALL * 2, vec![&CHUNK, &CHUNK], &large).await, Err(400));
    }

    #[tokio::test]
    async fn a_body_that_is_announced_too_large_is_not_kept() {
        let large = Shares::new(1, 1);
        let until = Instant::now() + Duration::from_secs(5);
        let limits = BodyLimits { bytes: 10, until, large: &large, owner: "a" };
        let headers = [(header::CONTENT_LENGTH, "11".parse().unwrap())].into_iter().collect();
        let failure = limits.read(&headers, Body::from("12345678901")).await.unwrap_err();
        assert_eq!(failure.into_response().status(), 413);
    }
}
