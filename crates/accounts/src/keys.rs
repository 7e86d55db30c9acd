//! API keys of a team. A key is shown once, when it is created; only its hash is stored.

use std::collections::HashMap;

use base::{Secret, new_id};
use kernel::{App, AppError, auth, rules, uuid};
use store::keys::{self as rows, ApiKey, KeyChange};
use store::{Conn, List, StoreError, teams};
use uuid::Uuid;
use wire::{CreateKey, EndpointGroup, FormatKind, KeyCreated, KeyView, Listing, UpdateKey};

/// Creates a key for a team.
///
/// # Errors
/// [`AppError::NotFound`] when there is no such team.
#[crate::boxed]
pub async fn create(app: &App, team: Uuid, request: CreateKey) -> Result<KeyCreated, AppError> {
    let mut conn = app.conn().await?;
    let team = team.to_string();
    if teams::find(&mut conn, &team).await?.is_none() {
        return Err(AppError::NotFound("team"));
    }
    let (key, token) = fresh(app, &team, &request.name);
    let key = ApiKey { endpoints: endpoints(&request.endpoints), formats: formats(&request.formats), ..key };
    rows::create(&mut conn, &key).await?;
    Ok(KeyCreated { success: true, api_key: token.expose().to_owned(), key_id: uuid(&key.id)? })
}

/// Lists up to `limit` (1 to 1000) keys of a team, including revoked ones, by id after `after`.
///
/// # Errors
/// [`AppError::NotFound`] when there is no such team.
#[crate::boxed]
pub async fn list(app: &App, team: Uuid, after: Option<Uuid>, limit: u32) -> Result<Listing<KeyView>, AppError> {
    let mut conn = app.conn().await?;
    let team = team.to_string();
    if teams::find(&mut conn, &team).await?.is_none() {
        return Err(AppError::NotFound("team"));
    }
    let limit = limit.clamp(1, 1000);
    let after = after.map(|id| id.to_string());
    let found = rows::list(&mut conn, &team, after.as_deref(), i64::from(limit)).await?;
    let data = found.into_iter().map(view).collect::<Result<Vec<_>, _>>()?;
    let next = data.last().filter(|_| data.len() == limit as usize).map(|key| key.id);
    Ok(Listing { success: true, data, next })
}

/// Changes the name or the limits of a key, from the next call on. Work that it has started continues.
///
/// # Errors
/// [`AppError::NotFound`].
#[crate::boxed]
pub async fn update(app: &App, key: Uuid, request: UpdateKey) -> Result<KeyView, AppError> {
    let change = KeyChange {
        name: request.name,
        endpoints: request.endpoints.as_deref().map(endpoints),
        formats: request.formats.as_deref().map(formats),
    };
    let changed = rows::update(&mut app.conn().await?, &key.to_string(), &change).await?;
    app.forget_callers();
    view(changed.ok_or(AppError::NotFound("API key"))?)
}

fn endpoints(groups: &[EndpointGroup]) -> Option<List> {
    rules::list(groups, |group| group.as_str().to_owned())
}

fn formats(kinds: &[FormatKind]) -> Option<List> {
    rules::list(kinds, |kind| kind.as_str().to_owned())
}

/// Revokes a key, from the next call on, and ends its sessions and watchers: at once in this process, within about a
/// second in others.
///
/// # Errors
/// [`AppError::NotFound`] for an unknown key and for one that is already revoked.
#[crate::boxed]
pub async fn revoke(app: &App, key: Uuid) -> Result<(), AppError> {
    let revoked = rows::revoke(&mut app.conn().await?, &key.to_string(), app.now()).await?;
    app.forget_callers();
    app.end_key(&key.to_string());
    if revoked { Ok(()) } else { Err(AppError::NotFound("working API key")) }
}

/// Generates a key and its row, which is not written yet.
pub(crate) fn fresh(app: &App, team: &str, name: &str) -> (ApiKey, Secret) {
    let token = auth::token();
    let key = ApiKey {
        id: new_id().to_string(),
        team_id: team.to_owned(),
        name: name.to_owned(),
        hash: auth::hash(token.expose()),
        hint: auth::hint(token.expose()),
        created_at: app.now(),
        revoked_at: None,
        last_used_at: None,
        endpoints: None,
        formats: None,
    };
    (key, token)
}

/// Number of rows per query.
const BATCH: i64 = 500;

/// Returns the names of a team's keys by id.
pub(crate) async fn names(conn: &mut Conn, team: &str) -> Result<HashMap<String, String>, StoreError> {
    let mut names = HashMap::new();
    let mut after: Option<String> = None;
    loop {
        let keys = rows::list(conn, team, after.as_deref(), BATCH).await?;
        let complete = i64::try_from(keys.len()).unwrap_or(BATCH) < BATCH;
        after = keys.last().map(|key| key.id.clone());
        names.extend(keys.into_iter().map(|key| (key.id, key.name)));
        if complete {
            return Ok(names);
        }
    }
}

fn view(key: ApiKey) -> Result<KeyView, AppError> {
    Ok(KeyView {
        id: uuid(&key.id)?,
        name: key.name,
        hint: key.hint,
        endpoints: rules::words(key.endpoints.as_ref())?.unwrap_or_default(),
        formats: rules::words(key.formats.as_ref())?.unwrap_or_default(),
        created_at: key.created_at,
        last_used_at: key.last_used_at,
        revoked_at: key.revoked_at,
    })
}
