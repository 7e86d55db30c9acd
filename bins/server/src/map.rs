//! Handler of `POST /v2/map`.

use std::sync::Arc;

use app::auth::Caller;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use wire::{MapAnswer, MapRequest};

use crate::Service;
use crate::error::Failure;
use crate::extract;
use crate::request::{RequestContext, reader};

/// List the URLs of a site.
#[utoipa::path(
    post,
    path = "/v2/map",
    tag = "map",
    request_body(content = MapRequest, example = json!({"url": "http://127.0.0.1:3003/", "search": "stone", "limit": 100})),
    responses((status = 200, description = "OK", body = MapAnswer))
)]
pub(crate) async fn map(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    Extension(context): Extension<RequestContext>,
    extract::Json(body): extract::Json,
) -> Result<Response, Failure> {
    let request = wire::decode_map(body)?;
    let answer = app::map::map(&service.operations.scraper, &caller, request).await?;
    Ok(service.outbox.json(&reader(Some(&caller), Some(&context)), &answer))
}
