//! Idempotent start of a session: the same idempotency key returns the same session.

use kernel::auth::Caller;
use kernel::{AppError, fingerprint};
use sha2::{Digest as _, Sha256};
use store::browser::{self as rows, Call};
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;
use wire::{BrowserRequest, BrowserStarted};

use super::{START, Seen, new_session};
use crate::{Sessions, SessionsError};

/// Returns the session that was started with this key, or starts one.
///
/// # Errors
/// [`SessionsError::SessionBusy`] when another call with the key is still starting its session after 30 s,
/// [`AppError::DuplicateRequest`] when the key was used for another request; and the errors of a start without a key.
pub(super) async fn start(
    sessions: &Sessions,
    caller: &Caller,
    request: BrowserRequest,
    key: &str,
    address: &str,
) -> Result<BrowserStarted, SessionsError> {
    let fingerprint = fingerprint(&serde_json::to_string(&request).map_err(AppError::internal)?);
    let call = Call { key: key.to_owned(), fingerprint };
    // One call starts the session; concurrent calls to this server wait for it.
    let turn = sessions.opening(name(&caller.team.id, key));
    let _turn = timeout_at(Instant::now() + START, turn.lock()).await.map_err(|_| SessionsError::SessionBusy)?;
    if let Some(known) = known(sessions, caller, &call, address).await? {
        return Ok(known);
    }
    match new_session(sessions, caller, request, Some(call.clone())).await {
        Ok(live) => Ok(Seen::of(sessions, live.row(), address).started()),
        // A call to another server may have been faster.
        Err(error) => known(sessions, caller, &call, address).await?.ok_or(error),
    }
}

async fn known(
    sessions: &Sessions,
    caller: &Caller,
    call: &Call,
    address: &str,
) -> Result<Option<BrowserStarted>, SessionsError> {
    let Some(row) = rows::find_by_key(&mut sessions.app().conn().await?, &caller.team.id, &call.key).await? else {
        return Ok(None);
    };
    if row.call.as_ref().is_none_or(|first| first.fingerprint != call.fingerprint) {
        return Err(AppError::DuplicateRequest.into());
    }
    Ok(Some(Seen::of(sessions, row, address).started()))
}

/// Returns the id of the lock for a team's idempotency key.
fn name(team: &str, key: &str) -> Uuid {
    let digest = Sha256::digest(format!("{team} {key}"));
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    Uuid::from_bytes(bytes)
}
