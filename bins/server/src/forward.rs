//! Calls for a session that another server of the same database runs: passed on as they came, with the caller's own key. The
//! other server checks everything anew, so it need not trust us, and whoever calls it directly gains nothing.

use std::convert::Infallible;
use std::net::IpAddr;
use std::time::Duration;

use app::AppError;
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

/// Says that a call was passed on, so that two servers cannot pass one back and forth.
const PASSED_ON: HeaderName = HeaderName::from_static("x-quarry-passed-on");
/// How much longer than its own time a call may take. Opening a page is part of that time, what runs is ended with it.
const GRACE: Duration = Duration::from_secs(10);
/// How long the end of a session may take: its profile is read and saved, its browser ended.
const END: Duration = Duration::from_secs(30);

/// What is passed on.
pub(crate) enum Call<'a> {
    /// Its body, and how many seconds it may take.
    Work(&'a Value, u32),
    /// The end of the session.
    End,
}

/// The request as far as it has to be repeated.
#[derive(Debug)]
pub(crate) struct Asked {
    path: String,
    key: Option<Secret>,
    /// Where the client is.
    address: Option<IpAddr>,
    passed_on: bool,
}

impl<S: Send + Sync> FromRequestParts<S> for Asked {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let authorization = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let key = authorization.and_then(|value| value.split_once(' ')).map(|(_, key)| Secret::new(key.trim()));
        let passed_on = parts.headers.contains_key(PASSED_ON);
        let address = parts.extensions.get::<RequestContext>().map(RequestContext::address);
        Ok(Self { path: parts.uri.path().to_owned(), key, address, passed_on })
    }
}

/// The answer, or that of the server which runs the session.
pub(crate) async fn forwarded(
    done: Result<Response, AppError>,
    asked: &Asked,
    call: Call<'_>,
) -> Result<Response, Failure> {
    match done {
        Err(AppError::SessionElsewhere { owner }) if !asked.passed_on => pass_on(&owner, asked, call).await,
        done => Ok(done?),
    }
}

async fn pass_on(owner: &str, asked: &Asked, call: Call<'_>) -> Result<Response, Failure> {
    let unreachable = |error: &dyn std::fmt::Display| {
        tracing::warn!(%error, owner, "the server that runs a session cannot be reached");
        let why = "the session runs on another server of this service, which cannot be reached now";
        Failure::new(Code::BrowserUnavailable, why).retry_after(5)
    };
    let key = asked.key.as_ref().map(Secret::expose);
    let client = Client::new(owner.trim_end_matches('/'), key).map_err(|error| unreachable(&error))?;
    let request = |method| {
        let request = client.request(method, &asked.path).header(PASSED_ON, "1");
        // It counts where the other server takes us for a proxy of its own.
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
