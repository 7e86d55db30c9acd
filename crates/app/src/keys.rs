//! API keys of a team. The key itself is shown once, when it is made; only its hash is kept.

use std::collections::HashMap;

use base::{Secret, new_id};
use store::keys::{self as rows, ApiKey};
use store::{Conn, StoreError, teams};
use uuid::Uuid;
use wire::{KeyCreated, KeyView, Listing};

use crate::service::uuid;
use crate::{App, AppError, auth};

/// Makes a key for a team.
///
/// # Errors
/// [`AppError::NotFound`] when there is no such team.
#[crate::boxed]
pub async fn create(app: &App, team: Uuid, name: &str) -> Result<KeyCreated, AppError> {
    let mut conn = app.conn().await?;
    let team = team.to_string();
    if teams::find(&mut conn, &team).await?.is_none() {
        return Err(AppError::NotFound("team"));
    }
    let (key, token) = fresh(app, &team, name);
    rows::create(&mut conn, &key).await?;
    Ok(KeyCreated { success: true, api_key: token.expose().to_owned(), key_id: uuid(&key.id)? })
}

/// Up to `limit` (1 to 1000) keys of a team, revoked ones included, in the order of their ids, after `after`.
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

/// Stops a key from working, from the next call on.
///
/// # Errors
/// [`AppError::NotFound`] for an unknown key and for one that was revoked before.
#[crate::boxed]
pub async fn revoke(app: &App, key: Uuid) -> Result<(), AppError> {
    let revoked = rows::revoke(&mut app.conn().await?, &key.to_string(), app.now()).await?;
    app.callers().forget();
    if revoked { Ok(()) } else { Err(AppError::NotFound("working API key")) }
}

/// A new key and its row, which is not written yet.
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
    };
    (key, token)
}

/// Rows read at once.
const BATCH: i64 = 500;

/// The name of every key of a team by its id.
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
        created_at: key.created_at,
        last_used_at: key.last_used_at,
        revoked_at: key.revoked_at,
    })
}
