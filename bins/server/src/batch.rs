//! Handlers of `/v2/batch/scrape`.

use std::sync::Arc;

use app::auth::Caller;
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use axum::{Extension, Json};
use wire::{BatchRequest, BatchStarted, Cancelled, GivenFields, JobErrors, JobProgress};

use crate::Service;
use crate::address::PublicAddress;
use crate::error::Failure;
use crate::extract;
use crate::job::{RunRequest, Runs, idempotency_key};
use crate::status::StatusRequest;

pub(crate) const RUNS: Runs = Runs { kind: &app::batch::KIND, path: "/v2/batch/scrape" };

/// Start a batch scrape.
#[utoipa::path(
    post,
    path = "/v2/batch/scrape",
    tag = "batch",
    request_body(content = BatchRequest, example = json!({"urls": ["http://127.0.0.1:3003/", "http://127.0.0.1:3003/?page=2"], "formats": ["markdown"]})),
    params(("x-idempotency-key" = Option<String>, Header, description = "Repeated calls with the same key start a batch, or append pages to it, only once")),
    responses((status = 200, description = "OK", body = BatchStarted))
)]
pub(crate) async fn start(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    address: PublicAddress,
    headers: HeaderMap,
    extract::Json(body): extract::Json,
) -> Result<Json<BatchStarted>, Failure> {
    let given = GivenFields::of(&body);
    let (request, key) = (wire::decode_batch(body)?, idempotency_key(&headers)?);
    let app::batch::StartedBatch { id, invalid_urls } =
        app::batch::start(&service.operations.app, &caller, request, &given, key.as_deref()).await?;
    Ok(Json(BatchStarted { success: true, id, url: RUNS.url(&address, id), invalid_urls }))
}

/// Get the status and the documents of a batch scrape, or watch it over a WebSocket.
#[utoipa::path(
    get,
    path = "/v2/batch/scrape/{id}",
    tag = "batch",
    params(
        ("id" = String, Path, description = "Id of the batch"),
        ("skip" = Option<u64>, Query, description = "Number of documents to skip"),
        ("limit" = Option<u32>, Query, description = "Maximum number of documents"),
    ),
    responses((status = 200, description = "OK", body = JobProgress))
)]
pub(crate) async fn status(request: StatusRequest) -> Result<Response, Failure> {
    request.answer(RUNS).await
}

/// Cancel a batch scrape.
#[utoipa::path(
    delete,
    path = "/v2/batch/scrape/{id}",
    tag = "batch",
    params(("id" = String, Path, description = "Id of the batch")),
    responses((status = 200, description = "OK", body = Cancelled))
)]
pub(crate) async fn cancel(request: RunRequest) -> Result<Json<Cancelled>, Failure> {
    RUNS.cancel(&request).await
}

/// List the pages of a batch scrape that failed.
#[utoipa::path(
    get,
    path = "/v2/batch/scrape/{id}/errors",
    tag = "batch",
    params(
        ("id" = String, Path, description = "Id of the batch"),
        ("after" = Option<String>, Query, format = "uuid", description = "Taken from `next` of the previous answer"),
    ),
    responses((status = 200, description = "OK", body = JobErrors))
)]
pub(crate) async fn errors(request: RunRequest, address: PublicAddress, uri: Uri) -> Result<Response, Failure> {
    RUNS.errors(&request, &address, &uri).await
}
