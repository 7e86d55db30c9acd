//! Authentication: by an API key, or in open mode without one.

use std::sync::Arc;

use base::Secret;
use chrono::TimeDelta;
use sha2::{Digest, Sha256};
use store::keys::{self, ApiKey};
use store::teams;

pub use crate::caller::Caller;
use crate::rules::Rules;
use crate::settings::AuthMode;
use crate::{App, AppError, DEFAULT_TEAM};

/// Authenticates a bearer token, given without the word `Bearer`.
///
/// In open mode a missing, empty, `undefined` or unknown token runs as the default team (docs/CONTRACT.md,
/// "Transport").
///
/// Results are cached for a second; changes made by this process take effect at once.
///
/// # Errors
/// [`AppError::Unauthorized`] for a revoked key in both modes, and for anything but a known key in [`AuthMode::Keys`].
#[crate::boxed]
pub async fn authenticate(app: &App, token: Option<&str>) -> Result<Caller, AppError> {
    let token = shown(token);
    // No key has an empty hash, so it can identify the caller without a key.
    let hash = token.map(hash).unwrap_or_default();
    if let Some(caller) = app.callers().get(&hash, app.now()).await {
        return Ok(caller);
    }
    let lookup = app.callers().begin(app.now());
    let caller = find(app, token.map(|_| hash.as_str())).await?;
    app.callers().insert(lookup, hash, &caller).await;
    Ok(caller)
}

/// Returns the token of a caller. Clients without a key send placeholders, which count as missing.
#[must_use]
pub fn shown(token: Option<&str>) -> Option<&str> {
    token.map(str::trim).filter(|token| !matches!(*token, "" | "undefined" | "null"))
}

async fn find(app: &App, hash: Option<&str>) -> Result<Caller, AppError> {
    let found = match hash {
        Some(hash) => keys::find_by_hash(&mut app.conn().await?, hash).await?,
        None => None,
    };
    if let Some((key, _)) = found.as_ref().filter(|(key, _)| key.revoked_at.is_none()) {
        note_use(app, key);
    }
    match (found, app.settings().auth) {
        (Some((key, _)), _) if key.revoked_at.is_some() => Err(AppError::Unauthorized("this API key was revoked")),
        (Some((key, team)), _) => {
            let rules = Arc::new(Rules::of(Some(&key), &team)?);
            Ok(Caller { rules, ..Caller::of(team, Some(key.id), None) })
        }
        (None, AuthMode::Open) => anybody(app).await,
        (None, AuthMode::Keys) if hash.is_some() => Err(AppError::Unauthorized("this API key is not known")),
        (None, AuthMode::Keys) => Err(AppError::Unauthorized("an API key is needed: Authorization: Bearer <key>")),
    }
}

/// Precision of the time of last use; the row is not written more often.
const USE_NOTED_EVERY: TimeDelta = TimeDelta::minutes(1);

/// Records the time of last use in the background: the caller does not wait for it, and it may fail.
fn note_use(app: &App, key: &ApiKey) {
    let now = app.now();
    if key.last_used_at.is_some_and(|last| now - last < USE_NOTED_EVERY) {
        return;
    }
    let (app, id) = (app.clone(), key.id.clone());
    app.tracker().clone().spawn(async move {
        let noted = async { keys::touch(&mut app.store().conn().await?, &id, now).await };
        if let Err(error) = noted.await {
            tracing::debug!(%error, "could not record the time of last use of an API key");
        }
    });
}

async fn anybody(app: &App) -> Result<Caller, AppError> {
    let team = teams::find(&mut app.conn().await?, DEFAULT_TEAM).await?;
    let team = team.ok_or_else(|| AppError::internal("the default team is missing: bootstrap has not run"))?;
    let rules = Arc::new(Rules::of(None, &team)?);
    Ok(Caller { rules, ..Caller::of(team, None, None) })
}

/// Cache key of the keyless caller. No API key has this hash.
const KEYLESS: &str = "keyless";

/// Returns the caller of a call without a key that `auth.keyless` admits: it runs as the team `auth.keyless_team`.
///
/// # Errors
/// [`AppError::Internal`] when the team no longer exists.
#[crate::boxed]
pub async fn keyless(app: &App) -> Result<Caller, AppError> {
    if let Some(caller) = app.callers().get(KEYLESS, app.now()).await {
        return Ok(caller);
    }
    let lookup = app.callers().begin(app.now());
    let team = match &app.settings().keyless_team {
        Some(team) => teams::find(&mut app.conn().await?, &team.to_string()).await?,
        None => None,
    };
    let team = team.ok_or_else(|| AppError::internal("the team of calls without a key is missing"))?;
    let rules = Arc::new(Rules::of(None, &team)?);
    let caller = Caller { rules, is_keyless: true, ..Caller::of(team, None, None) };
    app.callers().insert(lookup, KEYLESS.to_owned(), &caller).await;
    Ok(caller)
}

/// Returns the rules of a team, for clients without a key that hold something of the team's, such as a session URL.
///
/// Results are cached for a second; changes made by this process take effect at once.
///
/// # Errors
/// [`AppError::Internal`] when the team no longer exists.
#[crate::boxed]
pub async fn rules_of_team(app: &App, id: &str) -> Result<Arc<Rules>, AppError> {
    // No hash of an API key has this form.
    let name = format!("team {id}");
    if let Some(caller) = app.callers().get(&name, app.now()).await {
        return Ok(caller.rules);
    }
    let lookup = app.callers().begin(app.now());
    let team = teams::find(&mut app.conn().await?, id).await?;
    let team = team.ok_or_else(|| AppError::internal("the team of a session is missing"))?;
    let rules = Arc::new(Rules::of(None, &team)?);
    let caller = Caller { rules: Arc::clone(&rules), ..Caller::of(team, None, None) };
    app.callers().insert(lookup, name, &caller).await;
    Ok(rules)
}

/// Generates an API key: `fc-` and 64 hexadecimal digits, 256 bits from the operating system's generator.
#[must_use]
pub fn token() -> Secret {
    Secret::new(format!("fc-{}", hex::encode(rand::random::<[u8; 32]>())))
}

/// Returns the stored form of an API key: SHA-256 in hex. A key has 256 random bits, so it needs neither a salt nor a
/// slow hash, and a lookup by hash leaks nothing through timing.
#[must_use]
pub fn hash(token: &str) -> String {
    hex::encode(Sha256::digest(token.as_bytes()))
}

/// Returns the last characters of a key, enough for its owner to recognise it.
#[must_use]
pub fn hint(token: &str) -> String {
    let start = token.char_indices().rev().nth(3).map_or(0, |(index, _)| index);
    token[start..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens() {
        let (one, two) = (token(), token());
        assert_ne!(one.expose(), two.expose());
        assert!(one.expose().starts_with("fc-") && one.expose().len() == 67, "{}", one.expose().len());
        assert_eq!(hash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(hint("fc-123456"), "3456");
        assert_eq!(hint("ab"), "ab");
    }
}
