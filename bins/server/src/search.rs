//! Handler of `POST /v2/search`.

use std::sync::Arc;

use app::auth::Caller;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use wire::{SearchAnswer, SearchRequest};

use crate::error::Failure;
use crate::request::{RequestContext, reader};
use crate::{Service, extract, keyless};

/// Search the web, and the pages that this server has read.
#[utoipa::path(
    post,
    path = "/v2/search",
    tag = "search",
    request_body(content = SearchRequest, example = json!({"query": "granite fire", "limit": 3, "sources": ["web", "news"]})),
    responses((status = 200, description = "OK", body = SearchAnswer))
)]
pub(crate) async fn search(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    Extension(context): Extension<RequestContext>,
    extract::Json(body): extract::Json,
) -> Result<Response, Failure> {
    let request = wire::decode_search(body)?;
    let answer = app::search::search(&service.operations.searches, &caller, request).await;
    let (answer, rooms) = answer.map_err(|error| match caller.is_keyless {
        true => keyless::failure(error),
        false => error.into(),
    })?;
    let response = service.outbox.json(&reader(Some(&caller), Some(&context)), &answer);
    // From here on the outbox bounds the memory of the documents.
    drop(rooms);
    Ok(response)
}
