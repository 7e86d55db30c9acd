//! `POST /v2/map`.

use std::sync::Arc;

use app::auth::Caller;
use axum::extract::State;
use axum::{Extension, Json};
use wire::{MapAnswer, MapRequest};

use crate::Service;
use crate::error::Failure;
use crate::extract;

/// List the addresses of a site.
#[utoipa::path(
    post,
    path = "/v2/map",
    tag = "map",
    request_body = MapRequest,
    responses((status = 200, description = "OK", body = MapAnswer))
)]
pub(crate) async fn map(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    extract::Json(body): extract::Json,
) -> Result<Json<MapAnswer>, Failure> {
    let request = wire::decode_map(body)?;
    Ok(Json(app::map::map(&service.app, &caller, request).await?))
}
