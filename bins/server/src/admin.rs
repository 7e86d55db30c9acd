//! Handlers of `/admin/…`: the operator manages teams and keys. [`crate::auth::guard`] has checked the token before.

use std::sync::Arc;

use app::{keys, teams};
use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use wire::{
    CreateKey, CreateTeam, DataResponse, KeyCreated, KeyView, Listing, PageQuery, TeamCreated, TeamView, UpdateKey,
    UpdateTeam,
};

use crate::Service;
use crate::error::Failure;
use crate::extract::{self, Id, Query};

/// Create a team with its first API key, which is shown only once.
#[utoipa::path(
    post,
    path = "/admin/teams",
    tag = "admin",
    request_body(content = CreateTeam, example = json!({"name": "research", "credits": 10000, "concurrency": 20})),
    responses((status = 200, description = "OK", body = TeamCreated))
)]
pub(crate) async fn create_team(
    State(service): State<Arc<Service>>,
    extract::Json(body): extract::Json,
) -> Result<Json<TeamCreated>, Failure> {
    Ok(Json(teams::create(&service.operations.app, wire::decode_create_team(body)?).await?))
}

/// List teams in the order of their ids.
#[utoipa::path(
    get,
    path = "/admin/teams",
    tag = "admin",
    params(PageQuery),
    responses((status = 200, description = "OK", body = Listing<TeamView>))
)]
pub(crate) async fn list_teams(
    State(service): State<Arc<Service>>,
    Query(page): Query<PageQuery>,
) -> Result<Json<Listing<TeamView>>, Failure> {
    let PageQuery { after, limit } = page;
    Ok(Json(teams::list(&service.operations.app, after, limit).await?))
}

/// Get a team.
#[utoipa::path(
    get,
    path = "/admin/teams/{team}",
    tag = "admin",
    params(("team" = String, Path, format = "uuid")),
    responses((status = 200, description = "OK", body = DataResponse<TeamView>))
)]
pub(crate) async fn read_team(
    State(service): State<Arc<Service>>,
    Id(team): Id,
) -> Result<Json<DataResponse<TeamView>>, Failure> {
    Ok(Json(DataResponse::new(teams::read(&service.operations.app, team).await?)))
}

/// Change a team or add credits.
#[utoipa::path(
    patch,
    path = "/admin/teams/{team}",
    tag = "admin",
    params(("team" = String, Path, format = "uuid")),
    request_body(content = UpdateTeam, example = json!({"addCredits": 5000})),
    responses((status = 200, description = "OK", body = DataResponse<TeamView>))
)]
pub(crate) async fn update_team(
    State(service): State<Arc<Service>>,
    Id(team): Id,
    extract::Json(body): extract::Json,
) -> Result<Json<DataResponse<TeamView>>, Failure> {
    let change = wire::decode_update_team(body)?;
    Ok(Json(DataResponse::new(teams::update(&service.operations.app, team, change).await?)))
}

/// Create another API key for a team, which is shown only once.
#[utoipa::path(
    post,
    path = "/admin/teams/{team}/keys",
    tag = "admin",
    params(("team" = String, Path, format = "uuid")),
    request_body(content = CreateKey, example = json!({"name": "laptop"})),
    responses((status = 200, description = "OK", body = KeyCreated))
)]
pub(crate) async fn create_key(
    State(service): State<Arc<Service>>,
    Id(team): Id,
    extract::Json(body): extract::Json,
) -> Result<Json<KeyCreated>, Failure> {
    Ok(Json(keys::create(&service.operations.app, team, wire::decode_create_key(body)?).await?))
}

/// List the API keys of a team, including revoked ones.
#[utoipa::path(
    get,
    path = "/admin/teams/{team}/keys",
    tag = "admin",
    params(("team" = String, Path, format = "uuid"), PageQuery),
    responses((status = 200, description = "OK", body = Listing<KeyView>))
)]
pub(crate) async fn list_keys(
    State(service): State<Arc<Service>>,
    Id(team): Id,
    Query(page): Query<PageQuery>,
) -> Result<Json<Listing<KeyView>>, Failure> {
    let PageQuery { after, limit } = page;
    Ok(Json(keys::list(&service.operations.app, team, after, limit).await?))
}

/// Rename an API key or change its restrictions.
#[utoipa::path(
    patch,
    path = "/admin/keys/{key}",
    tag = "admin",
    params(("key" = String, Path, format = "uuid")),
    request_body(
        content = UpdateKey,
        example = json!({"endpoints": ["scrape", "map"], "formats": ["markdown", "links"]})
    ),
    responses((status = 200, description = "OK", body = DataResponse<KeyView>))
)]
pub(crate) async fn update_key(
    State(service): State<Arc<Service>>,
    Id(key): Id,
    extract::Json(body): extract::Json,
) -> Result<Json<DataResponse<KeyView>>, Failure> {
    let change = wire::decode_update_key(body)?;
    Ok(Json(DataResponse::new(keys::update(&service.operations.app, key, change).await?)))
}

/// Confirmation that an API key is revoked.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KeyRevoked {
    /// Always true.
    success: bool,
}

/// Revoke an API key, and end its sessions and watchers.
#[utoipa::path(
    delete,
    path = "/admin/keys/{key}",
    tag = "admin",
    params(("key" = String, Path, format = "uuid")),
    responses((status = 200, description = "OK", body = KeyRevoked))
)]
pub(crate) async fn revoke_key(State(service): State<Arc<Service>>, Id(key): Id) -> Result<Json<KeyRevoked>, Failure> {
    keys::revoke(&service.operations.app, key).await?;
    Ok(Json(KeyRevoked { success: true }))
}
