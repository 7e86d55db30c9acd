//! Handlers of `/v2/scrape/{id}/interact`: code and instructions for the page of a scrape.

use axum::Json;
use axum::response::{IntoResponse as _, Response};
use wire::{ErrorBody, Executed, InteractRequest, SessionEnded};

use crate::address::PublicAddress;
use crate::error::Failure;
use crate::extract;
use crate::forward::{Call, Forwardable, forwarded};
use crate::job::RunRequest;

/// Run code, or an instruction in words, on the page of a scrape.
#[utoipa::path(
    post,
    path = "/v2/scrape/{id}/interact",
    tag = "scrape",
    params(("id" = String, Path, description = "Id of the scrape: `data.metadata.scrapeId`")),
    request_body(content = InteractRequest, example = json!({"code": "await page.title()", "language": "node"})),
    responses(
        (status = 200, description = "OK", body = Executed),
        (status = 410, description = "The session has ended", body = ErrorBody),
    )
)]
pub(crate) async fn run(
    asked: RunRequest,
    address: PublicAddress,
    from: Forwardable,
    extract::Json(body): extract::Json,
) -> Result<Response, Failure> {
    let request = wire::decode_interact(body.clone())?;
    let seconds = request.timeout;
    let done =
        app::interact::run(&asked.service.operations.sessions, &asked.caller, asked.id, request, &address.0).await;
    forwarded(done.map(|answer| Json(answer).into_response()), &from, Call::Work(&body, seconds)).await
}

/// End the browser session of a scrape.
#[utoipa::path(
    delete,
    path = "/v2/scrape/{id}/interact",
    tag = "scrape",
    params(("id" = String, Path, description = "Id of the scrape")),
    responses(
        (status = 200, description = "OK", body = SessionEnded),
        (status = 410, description = "The session has ended", body = ErrorBody),
    )
)]
pub(crate) async fn end(asked: RunRequest, from: Forwardable) -> Result<Response, Failure> {
    let done = app::interact::end(&asked.service.operations.sessions, &asked.caller, asked.id).await;
    forwarded(done.map(|answer| Json(answer).into_response()), &from, Call::End).await
}
