//! Forwarding of calls to the server that runs a browser session, unchanged and with the caller's own key. That server
//! authenticates the caller itself, so servers need no trust in each other.

use std::convert::Infallible;
use std::net::IpAddr;
use std::time::Duration;

use app::SessionsError;
use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use base::Secret;
use client::Client;
use serde_json::Value;
use wire::Code;

use crate::error::Failure;
use crate::request::{FORWARDED_FOR, RequestContext};

/// Header of forwarded calls. They are never forwarded again, which prevents loops between servers.
const PASSED_ON: HeaderName = HeaderName::from_static("x-quarry-passed-on");
/// Time added to the call's own timeout. Opening a page counts towards that timeout, and code is ended when it expires.
const GRACE: Duration = Duration::from_secs(10);
/// Timeout for ending a session: its profile is read and saved, then its browser is ended.
const END: Duration = Duration::from_secs(30);

/// The call to forward.
pub(crate) enum Call<'a> {
    /// A POST with its body and its timeout in seconds.
    Work(&'a Value, u32),
    /// A DELETE that ends the session.
    End,
}

/// The parts of a request that are needed to forward it.
#[derive(Debug)]
pub(crate) struct Forwardable {
    path: String,
    key: Option<Secret>,
    /// Address of the client.
    address: Option<IpAddr>,
    passed_on: bool,
}

impl<S: Send + Sync> FromRequestParts<S> for Forwardable {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let authorization = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let key = authorization.and_then(|value| value.split_once(' ')).map(|(_, key)| Secret::new(key.trim()));
        let passed_on = parts.headers.contains_key(PASSED_ON);
        let address = parts.extensions.get::<RequestContext>().map(RequestContext::address);
        Ok(Self { path: parts.uri.path().to_owned(), key, address, passed_on })
    }
}

/// Returns the local answer, or forwards the call when another server runs the session.
pub(crate) async fn forwarded(
    done: Result<Response, SessionsError>,
    asked: &Forwardable,
    call: Call<'_>,
) -> Result<Response, Failure> {
    match done {
        Err(SessionsError::SessionElsewhere { owner }) if !asked.passed_on => pass_on(&owner, asked, call).await,
        done => Ok(done?),
    }
}

async fn pass_on(owner: &str, asked: &Forwardable, call: Call<'_>) -> Result<Response, Failure> {
    let unreachable = |error: &dyn std::fmt::Display| {
        tracing::warn!(%error, owner, "cannot reach the server that runs a session; the call is refused with 503");
        let why = "the session runs on another server of this service, which cannot be reached at the moment";
        Failure::new(Code::BrowserUnavailable, why).retry_after(5)
    };
    let key = asked.key.as_ref().map(Secret::expose);
    let client = Client::new(owner.trim_end_matches('/'), key).map_err(|error| unreachable(&error))?;
    let request = |method| {
        let request = client.request(method, &asked.path).header(PASSED_ON, "1");
        // Honoured when this server is among the `server.trusted_proxies` of the other.
        match asked.address {
            Some(address) => request.header(FORWARDED_FOR, address.to_string()),
            None => request,
        }
    };
    let (request, body, patience) = match call {
        Call::Work(body, seconds) => {
            let request = request(Method::POST).header(header::CONTENT_TYPE, "application/json");
            (request, body.to_string(), Duration::from_secs(seconds.into()) + GRACE)
        }
        Call::End => (request(Method::DELETE), String::new(), END),
    };
    let answer = client.with_timeout(patience).execute(request, body).await.map_err(|error| unreachable(&error))?;
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::BAD_GATEWAY);
    let mut response = (status, Body::from(answer.body)).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}
