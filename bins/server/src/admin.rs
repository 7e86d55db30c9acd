//! Handlers of `/admin/…`: the operator manages teams and keys. [`crate::auth::guard`] has checked the token before.

use std::sync::Arc;

use app::{keys, teams};
use axum::Json;
use axum::extract::State;
use axum::http::Uri;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;
use wire::{
    Answer, CreateKey, CreateTeam, Invalid, KeyCreated, KeyView, Listing, TeamCreated, TeamView, UpdateKey, UpdateTeam,
};

use crate::Service;
use crate::error::Failure;
use crate::extract::{self, Id, query};

/// Default page size of lists.
const PAGE: u32 = 100;

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
    params(
        ("after" = Option<String>, Query, format = "uuid", description = "`next` of the previous page"),
        ("limit" = Option<u32>, Query, description = "1 to 1000 entries, 100 by default")
    ),
    responses((status = 200, description = "OK", body = Listing<TeamView>))
)]
pub(crate) async fn list_teams(
    State(service): State<Arc<Service>>,
    uri: Uri,
) -> Result<Json<Listing<TeamView>>, Failure> {
    let (after, limit) = page(&uri)?;
    Ok(Json(teams::list(&service.operations.app, after, limit).await?))
}

/// Get a team.
#[utoipa::path(
    get,
    path = "/admin/teams/{team}",
    tag = "admin",
    params(("team" = String, Path, format = "uuid")),
    responses((status = 200, description = "OK", body = Answer<TeamView>))
)]
pub(crate) async fn read_team(
    State(service): State<Arc<Service>>,
    Id(team): Id,
) -> Result<Json<Answer<TeamView>>, Failure> {
    Ok(Json(Answer::new(teams::read(&service.operations.app, team).await?)))
}

/// Change a team or add credits.
#[utoipa::path(
    patch,
    path = "/admin/teams/{team}",
    tag = "admin",
    params(("team" = String, Path, format = "uuid")),
    request_body(content = UpdateTeam, example = json!({"addCredits": 5000})),
    responses((status = 200, description = "OK", body = Answer<TeamView>))
)]
pub(crate) async fn update_team(
    State(service): State<Arc<Service>>,
    Id(team): Id,
    extract::Json(body): extract::Json,
) -> Result<Json<Answer<TeamView>>, Failure> {
    let change = wire::decode_update_team(body)?;
    Ok(Json(Answer::new(teams::update(&service.operations.app, team, change).await?)))
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
    params(
        ("team" = String, Path, format = "uuid"),
        ("after" = Option<String>, Query, format = "uuid", description = "`next` of the previous page"),
        ("limit" = Option<u32>, Query, description = "1 to 1000 entries, 100 by default")
    ),
    responses((status = 200, description = "OK", body = Listing<KeyView>))
)]
pub(crate) async fn list_keys(
    State(service): State<Arc<Service>>,
    Id(team): Id,
    uri: Uri,
) -> Result<Json<Listing<KeyView>>, Failure> {
    let (after, limit) = page(&uri)?;
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
    responses((status = 200, description = "OK", body = Answer<KeyView>))
)]
pub(crate) async fn update_key(
    State(service): State<Arc<Service>>,
    Id(key): Id,
    extract::Json(body): extract::Json,
) -> Result<Json<Answer<KeyView>>, Failure> {
    let change = wire::decode_update_key(body)?;
    Ok(Json(Answer::new(keys::update(&service.operations.app, key, change).await?)))
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

pub(crate) fn page(uri: &Uri) -> Result<(Option<Uuid>, u32), Invalid> {
    let after = match query(uri, "after") {
        Some(text) => Some(text.parse().map_err(|_| Invalid::at("after", "must be an id"))?),
        None => None,
    };
    let limit = match query(uri, "limit") {
        Some(text) => text.parse().ok().filter(|limit| (1..=1000).contains(limit)),
        None => Some(PAGE),
    };
    Ok((after, limit.ok_or_else(|| Invalid::at("limit", "must be a whole number from 1 to 1000"))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages() {
        let check = |text: &str, expect: Result<(bool, u32), &str>| {
            let found = page(&format!("/admin/teams{text}").parse().unwrap());
            let found = found.map(|(after, limit)| (after.is_some(), limit)).map_err(|invalid| invalid.message);
            assert_eq!(found, expect.map_err(str::to_owned), "{text}");
        };
        check("", Ok((false, 100)));
        check("?limit=5&after=00000000-0000-7000-8000-000000000000", Ok((true, 5)));
        check("?limit=0", Err("`limit` must be a whole number from 1 to 1000"));
        check("?limit=x", Err("`limit` must be a whole number from 1 to 1000"));
        check("?after=x", Err("`after` must be an id"));
    }
}
