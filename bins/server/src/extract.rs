//! Extractors with the error body of the API for every failure: the JSON body, bounded in size, time and number of values,
//! the id in the path, and the query parameters.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use base::json::{JsonError, MAX_VALUES};
use serde_json::Value;
use tokio::time::Instant;
use uuid::Uuid;
use uuid::fmt::Hyphenated;
use wire::{Code, QueryParams};

use crate::Service;
use crate::body::{BodyLimits, discard};
use crate::error::Failure;
use crate::malformed;
use crate::missing::not_found;
use crate::request::reader;

/// A request body as JSON. The content type must be JSON too: a web page may send bodies of the CORS-safelisted types to
/// any address without a preflight request (WHATWG Fetch, "CORS-safelisted request-header").
#[derive(Debug)]
pub(crate) struct Json(pub(crate) Value);

/// A request body as JSON, or none: an empty body needs no content type.
#[derive(Debug)]
pub(crate) struct JsonOrNone(pub(crate) Option<Value>);

/// Query parameters, decoded and validated.
#[derive(Debug)]
pub(crate) struct Query<T>(pub(crate) T);

/// The id in the path; anything else in its place is answered with 404.
#[derive(Debug)]
pub(crate) struct Id(pub(crate) Uuid);

/// The two ids in the path; anything else in their places is answered with 404.
#[derive(Debug)]
pub(crate) struct Ids(pub(crate) Uuid, pub(crate) Uuid);

/// The id of a job or scrape in the path: a UUID in the hyphenated form (RFC 9562 section 4).
#[derive(Debug)]
pub(crate) struct JobId(pub(crate) Uuid);

impl FromRequest<Arc<Service>> for Json {
    type Rejection = Failure;

    async fn from_request(request: Request, service: &Arc<Service>) -> Result<Self, Failure> {
        let (head, mut body) = request.into_parts();
        let owner = reader(head.extensions.get(), head.extensions.get());
        let limits = limits(service, &owner);
        encoding(&head.headers)?;
        if !is_json(&head.headers) {
            return Err(not_json(&limits, &head.headers, &mut body).await);
        }
        let bytes = limits.read(&head.headers, body).await?;
        parse(&bytes).map(Self)
    }
}

impl FromRequest<Arc<Service>> for JsonOrNone {
    type Rejection = Failure;

    async fn from_request(request: Request, service: &Arc<Service>) -> Result<Self, Failure> {
        let (head, body) = request.into_parts();
        let owner = reader(head.extensions.get(), head.extensions.get());
        encoding(&head.headers)?;
        let bytes = limits(service, &owner).read(&head.headers, body).await?;
        if bytes.trim_ascii().is_empty() {
            return Ok(Self(None));
        }
        if !is_json(&head.headers) {
            return Err(unsupported());
        }
        parse(&bytes).map(|body| Self(Some(body)))
    }
}

/// Returns the limits of a body that this owner sends.
fn limits<'a>(service: &'a Service, owner: &'a str) -> BodyLimits<'a> {
    BodyLimits {
        bytes: service.config.server.max_body,
        until: Instant::now() + service.config.server.body_timeout,
        large: &service.large_bodies,
        owner,
        pace: None,
    }
}

impl<S: Send + Sync> FromRequestParts<S> for JobId {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        // The other forms that the `uuid` crate parses differ in length.
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

impl<S: Send + Sync> FromRequestParts<S> for Ids {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        match Path::<(Uuid, Uuid)>::from_request_parts(parts, state).await {
            Ok(Path((first, second))) => Ok(Self(first, second)),
            Err(_) => Err(not_found()),
        }
    }
}

impl<S: Send + Sync, T: QueryParams> FromRequestParts<S> for Query<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        Ok(Self(T::decode(parts.uri.query().unwrap_or_default())?))
    }
}

/// Returns the error for a content type other than JSON, or for an empty body.
async fn not_json(limits: &BodyLimits<'_>, headers: &HeaderMap, body: &mut Body) -> Failure {
    match limits.chunk(body).await {
        Ok(None) => return empty(),
        Ok(Some(_)) => {}
        Err(failure) => return failure,
    }
    if !headers.contains_key(header::EXPECT) {
        discard(std::mem::take(body)).await;
    }
    unsupported()
}

fn unsupported() -> Failure {
    Failure::new(Code::UnsupportedMediaType, "the body must be sent with Content-Type: application/json")
}

pub(crate) fn encoding(headers: &HeaderMap) -> Result<(), Failure> {
    match headers.get(header::CONTENT_ENCODING) {
        Some(value) if !value.as_bytes().eq_ignore_ascii_case(b"identity") => {
            Err(Failure::new(Code::UnsupportedMediaType, "compressed request bodies are not accepted"))
        }
        _ => Ok(()),
    }
}

/// Returns whether there is exactly one `Content-Type`, and it is `application/json` or `application/…+json` (RFC 6839
/// section 3.1), with any parameters.
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
    refused("the request body is empty, expected a JSON object")
}

pub(crate) fn parse(bytes: &[u8]) -> Result<Value, Failure> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.trim_ascii().is_empty() {
        return Err(empty());
    }
    base::json::read(bytes, MAX_VALUES).map_err(|error| match error {
        JsonError::Values(most) => refused(format!("the request body has more than {most} JSON values")),
        JsonError::Depth => refused("Bad request, malformed JSON: too many levels"),
        // Bytes that are not UTF-8 are malformed too.
        JsonError::Malformed(error) => refused(malformed::sentence(bytes, &error)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::response::IntoResponse;

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
        check(b"", "BAD_REQUEST_INVALID_JSON: the request body is empty");
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
}
