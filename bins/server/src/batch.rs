//! `/v2/batch/scrape`.

use std::sync::Arc;

use app::auth::Caller;
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use axum::{Extension, Json};
use wire::{BatchRequest, BatchStarted, Cancelled, Given, JobErrors, JobProgress};

use crate::Service;
use crate::address::PublicAddress;
use crate::error::Failure;
use crate::extract;
use crate::job::{Asked, Kind, Reading, idempotency_key};

/// Scrape many pages in one job.
#[utoipa::path(
    post,
    path = "/v2/batch/scrape",
    tag = "batch",
    request_body = BatchRequest,
    params(("x-idempotency-key" = Option<String>, Header, description = "The same key starts one batch, or adds the pages of one call, only once")),
    responses((status = 200, description = "OK", body = BatchStarted))
)]
pub(crate) async fn start(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    address: PublicAddress,
    headers: HeaderMap,
    extract::Json(body): extract::Json,
) -> Result<Json<BatchStarted>, Failure> {
    let given = Given::of(&body);
    let (request, key) = (wire::decode_batch(body)?, idempotency_key(&headers)?);
    let app::batch::Started { id, invalid_urls } =
        app::batch::start(&service.app, &caller, request, &given, key.as_deref()).await?;
    Ok(Json(BatchStarted { success: true, id, url: Kind::Batch.url(&address, id), invalid_urls }))
}

/// How a batch stands, and its documents; over a WebSocket as they come.
#[utoipa::path(
    get,
    path = "/v2/batch/scrape/{id}",
    tag = "batch",
    params(
        ("id" = String, Path, description = "Id of the batch"),
        ("skip" = Option<u64>, Query, description = "Documents before the first one"),
        ("limit" = Option<u32>, Query, description = "Most documents"),
    ),
    responses((status = 200, description = "OK", body = JobProgress))
)]
pub(crate) async fn status(reading: Reading) -> Result<Response, Failure> {
    reading.answer(Kind::Batch).await
}

/// Stop a batch.
#[utoipa::path(
    delete,
    path = "/v2/batch/scrape/{id}",
    tag = "batch",
    params(("id" = String, Path, description = "Id of the batch")),
    responses((status = 200, description = "OK", body = Cancelled))
)]
pub(crate) async fn cancel(asked: Asked) -> Result<Json<Cancelled>, Failure> {
    Kind::Batch.cancel(&asked).await
}

/// Which pages of a batch were given up.
#[utoipa::path(
    get,
    path = "/v2/batch/scrape/{id}/errors",
    tag = "batch",
    params(
        ("id" = String, Path, description = "Id of the batch"),
        ("after" = Option<String>, Query, format = "uuid", description = "From `next` of the answer before"),
    ),
    responses((status = 200, description = "OK", body = JobErrors))
)]
pub(crate) async fn errors(asked: Asked, address: PublicAddress, uri: Uri) -> Result<Response, Failure> {
    Kind::Batch.errors(&asked, &address, &uri).await
}
