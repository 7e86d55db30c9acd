//! Handlers of `/v2/batch/scrape`.

use std::sync::Arc;

use app::auth::Caller;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::{Extension, Json};
use wire::{BatchRequest, BatchStarted, GivenFields};

use crate::Service;
use crate::address::PublicAddress;
use crate::error::Failure;
use crate::extract;
use crate::job::{Runs, idempotency_key, run_routes};

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
        app::batch::start(&service.operations.runs, &caller, request, &given, key.as_deref()).await?;
    Ok(Json(BatchStarted { success: true, id, url: RUNS.url(&address, id), invalid_urls }))
}

run_routes! {
    path = "/v2/batch/scrape", tag = "batch", id = "Id of the batch";
    /// Get the status and the documents of a batch scrape, or watch it over a WebSocket.
    status;
    /// Cancel a batch scrape.
    cancel;
    /// List the pages of a batch scrape that failed.
    errors;
}
