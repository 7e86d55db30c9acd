//! Handlers of `/v2/search/developer` and `/v2/search/gov`.

use std::sync::Arc;

use app::auth::Caller;
use app::search::vertical;
use axum::extract::State;
use axum::{Extension, Json};
use wire::{DeveloperAnswer, DeveloperQuery, DeveloperRequest, GovAnswer, GovRequest};

use crate::Service;
use crate::error::Failure;
use crate::extract;

/// Search documentation, issues, pull requests and READMEs.
#[utoipa::path(
    post,
    path = "/v2/search/developer",
    tag = "search",
    request_body(content = DeveloperRequest, example = json!({"query": "spawn a blocking task", "k": 3})),
    responses((status = 200, description = "OK", body = DeveloperAnswer))
)]
pub(crate) async fn developer(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    extract::Json(body): extract::Json,
) -> Result<Json<DeveloperAnswer>, Failure> {
    let request = wire::decode_developer(body)?;
    Ok(Json(vertical::developer(&service.operations.searches, &caller, request).await?))
}

/// Search documentation, issues, pull requests and READMEs, with query parameters.
#[utoipa::path(
    get,
    path = "/v2/search/developer",
    tag = "search",
    params(DeveloperQuery),
    responses((status = 200, description = "OK", body = DeveloperAnswer))
)]
pub(crate) async fn read_developer(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    extract::Query(query): extract::Query<DeveloperQuery>,
) -> Result<Json<DeveloperAnswer>, Failure> {
    Ok(Json(vertical::developer(&service.operations.searches, &caller, query.into()).await?))
}

/// Search the web sites of governments and courts.
#[utoipa::path(
    post,
    path = "/v2/search/gov",
    tag = "search",
    request_body(content = GovRequest, example = json!({"query": "labor law", "k": 3})),
    responses((status = 200, description = "OK", body = GovAnswer))
)]
pub(crate) async fn gov(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    extract::Json(body): extract::Json,
) -> Result<Json<GovAnswer>, Failure> {
    let request = wire::decode_gov(body)?;
    Ok(Json(vertical::gov(&service.operations.searches, &caller, request).await?))
}
