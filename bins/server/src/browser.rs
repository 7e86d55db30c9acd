//! Handlers of `/v2/browser`: browser sessions.

use std::sync::Arc;

use app::auth::Caller;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use wire::{
    BrowserRequest, BrowserSessions, BrowserStarted, ErrorBody, ExecuteRequest, Executed, SessionEnded, SessionsQuery,
};

use crate::Service;
use crate::address::PublicAddress;
use crate::error::Failure;
use crate::extract::{self, Query};
use crate::forward::{Call, Forwardable, forwarded};
use crate::job::{RunRequest, idempotency_key};

/// Start a browser session.
#[utoipa::path(
    post,
    path = "/v2/browser",
    tag = "browser",
    params(("x-idempotency-key" = Option<String>, Header, description = "Repeated calls with the same key start only one session")),
    request_body(content = BrowserRequest, example = json!({"ttl": 300})),
    responses((status = 200, description = "OK", body = BrowserStarted))
)]
pub(crate) async fn start(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    address: PublicAddress,
    headers: HeaderMap,
    extract::Json(body): extract::Json,
) -> Result<Json<BrowserStarted>, Failure> {
    let (request, key) = (wire::decode_browser(body)?, idempotency_key(&headers)?);
    Ok(Json(app::browser::start(&service.operations.sessions, &caller, request, key.as_deref(), &address.0).await?))
}

/// List the browser sessions of the team.
#[utoipa::path(
    get,
    path = "/v2/browser",
    tag = "browser",
    params(SessionsQuery),
    responses((status = 200, description = "OK", body = BrowserSessions))
)]
pub(crate) async fn list(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    address: PublicAddress,
    Query(SessionsQuery { status }): Query<SessionsQuery>,
) -> Result<Json<BrowserSessions>, Failure> {
    let sessions = app::browser::list(&service.operations.sessions, &caller, status, &address.0).await?;
    Ok(Json(BrowserSessions { success: true, sessions }))
}

/// Run code in a browser session.
#[utoipa::path(
    post,
    path = "/v2/browser/{id}/execute",
    tag = "browser",
    params(("id" = String, Path, description = "Id of the session")),
    request_body(content = ExecuteRequest, example = json!({"code": "await page.goto(\"http://127.0.0.1:3003/\"); await page.title()", "language": "node"})),
    responses(
        (status = 200, description = "OK", body = Executed),
        (status = 410, description = "The session has ended", body = ErrorBody),
    )
)]
pub(crate) async fn execute(
    asked: RunRequest,
    address: PublicAddress,
    from: Forwardable,
    extract::Json(body): extract::Json,
) -> Result<Response, Failure> {
    let request = wire::decode_execute(body.clone())?;
    let seconds = request.timeout;
    let done =
        app::browser::execute(&asked.service.operations.sessions, &asked.caller, asked.id, request, &address.0).await;
    forwarded(done.map(|answer| Json(answer).into_response()), &from, Call::Work(&body, seconds)).await
}

/// End a browser session.
#[utoipa::path(
    delete,
    path = "/v2/browser/{id}",
    tag = "browser",
    params(("id" = String, Path, description = "Id of the session")),
    responses(
        (status = 200, description = "OK", body = SessionEnded),
        (status = 410, description = "The session has ended", body = ErrorBody),
    )
)]
pub(crate) async fn end(asked: RunRequest, from: Forwardable) -> Result<Response, Failure> {
    let done = app::browser::end(&asked.service.operations.sessions, &asked.caller, asked.id).await;
    forwarded(done.map(|answer| Json(answer).into_response()), &from, Call::End).await
}
