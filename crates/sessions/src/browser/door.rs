//! Session URLs: their tokens grant access without an API key.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use ::browser::{Client, RelayEnd, Viewer};
use aws_lc_rs::constant_time::verify_slices_are_equal;
use base::Secret;
use kernel::auth;
use store::browser as rows;
use tokio::time::Instant;
use uuid::Uuid;

use super::elsewhere;
use super::live::Live;
use crate::{Sessions, SessionsError};

/// Kind of access that a session URL grants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// The DevTools protocol.
    Cdp,
    /// Live view of the page.
    View,
    /// Live view of the page with mouse and keyboard.
    Control,
}

/// Session that a client has entered with a token.
pub struct Entrance {
    live: Arc<Live>,
    door: Door,
}

impl Door {
    /// All kinds of access.
    pub const ALL: [Self; 3] = [Self::Cdp, Self::View, Self::Control];

    /// Returns its path segment in a session URL.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cdp => "cdp",
            Self::View => "view",
            Self::Control => "control",
        }
    }
}

/// Checks the token for a session that runs in this process, for a client at the address `from`. Returns `None` for
/// other sessions and wrong tokens. The team's rules are cached for a second, so the database is queried at most that
/// often.
///
/// # Errors
/// [`AppError::AddressNotAllowed`](kernel::AppError::AddressNotAllowed) when the team does not allow that address.
#[crate::boxed]
pub async fn enter_here(
    sessions: &Sessions,
    id: Uuid,
    door: Door,
    token: &str,
    from: IpAddr,
) -> Result<Option<Entrance>, SessionsError> {
    let live = sessions.find(id).filter(|live| opens(&live.row(), door, token) && !live.stop.is_cancelled());
    let Some(live) = live else { return Ok(None) };
    auth::rules_of_team(sessions.app(), live.team()).await?.check_address(from)?;
    Ok(Some(Entrance { live, door }))
}

/// Checks the token for a session, for a client at the address `from`. Sessions that do not run in this process are
/// looked up in the database.
///
/// # Errors
/// [`SessionsError::SessionNotFound`] for a wrong token and for one of another kind of access, which look like an unknown
/// session; [`AppError::AddressNotAllowed`](kernel::AppError::AddressNotAllowed) when the team does not allow that address; [`SessionsError::SessionElsewhere`]
/// on another server.
#[crate::boxed]
pub async fn enter(
    sessions: &Sessions,
    id: Uuid,
    door: Door,
    token: &str,
    from: IpAddr,
) -> Result<Entrance, SessionsError> {
    if sessions.find(id).is_some() {
        return enter_here(sessions, id, door, token, from).await?.ok_or(SessionsError::SessionNotFound);
    }
    let row = rows::find(&mut sessions.app().conn().await?, &id.to_string()).await?;
    // Tokens end with their session, so a token does not reveal whether there was one.
    match row.filter(|row| opens(row, door, token)) {
        Some(row) => Err(elsewhere(sessions, Some(&row))),
        None => Err(SessionsError::SessionNotFound),
    }
}

fn opens(row: &rows::Session, door: Door, token: &str) -> bool {
    let known: &Secret = match door {
        Door::Cdp => &row.tokens.cdp,
        Door::View | Door::Control if !row.is_watchable => return false,
        Door::View => &row.tokens.view,
        Door::Control => &row.tokens.hand,
    };
    // Constant-time comparison. An empty token grants nothing.
    !known.is_empty() && verify_slices_are_equal(known.expose().as_bytes(), token.as_bytes()).is_ok()
}

impl Entrance {
    /// Returns the kind of access.
    #[must_use]
    pub fn door(&self) -> Door {
        self.door
    }

    /// Returns the time until the session ends at the latest.
    #[must_use]
    pub fn time_left(&self) -> Duration {
        self.live.ends.saturating_duration_since(Instant::now())
    }

    /// Records activity, which restarts the idle timeout.
    pub fn touch(&self) {
        self.live.touch();
    }

    /// Connects a client to the DevTools protocol.
    ///
    /// # Errors
    /// [`SessionsError::SessionEnded`], [`SessionsError::SessionsLimited`].
    pub async fn relay(&self, client: Client) -> Result<RelayEnd, SessionsError> {
        self.live.relay(client).await
    }

    /// Shows the page to a viewer, which may control it if the kind of access allows that.
    ///
    /// # Errors
    /// Errors of [`Entrance::relay`].
    pub async fn show(&self, viewer: Viewer) -> Result<(), SessionsError> {
        let may_steer = viewer.may_steer && self.door == Door::Control;
        self.live.show(Viewer { may_steer, ..viewer }).await
    }
}
