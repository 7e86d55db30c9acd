//! The addresses of a session: whoever has one may go in, without a key.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use ::browser::{Client, RelayEnd, Viewer};
use aws_lc_rs::constant_time::verify_slices_are_equal;
use base::Secret;
use store::browser as rows;
use tokio::time::Instant;
use uuid::Uuid;

use super::elsewhere;
use super::live::Live;
use crate::{App, AppError, auth};

/// What an address opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// The DevTools protocol.
    Cdp,
    /// The sight of the page.
    View,
    /// The sight of the page, with mouse and keys.
    Control,
}

/// A session that somebody has come into.
pub struct Entrance {
    live: Arc<Live>,
    door: Door,
}

impl Door {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Cdp, Self::View, Self::Control];

    /// Its word in an address.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cdp => "cdp",
            Self::View => "view",
            Self::Control => "control",
        }
    }
}

/// Opens a door of a session that runs in this process, to a client that comes from the address `from`. None for every other
/// session and token. The rules of the team are known for a second, so that this asks the database at most that often.
///
/// # Errors
/// [`AppError::AddressNotAllowed`] when the team may not be called for from there.
#[crate::boxed]
pub async fn enter_here(
    app: &App,
    id: Uuid,
    door: Door,
    token: &str,
    from: IpAddr,
) -> Result<Option<Entrance>, AppError> {
    let live = app.sessions().find(id).filter(|live| opens(&live.row(), door, token) && !live.stop.is_cancelled());
    let Some(live) = live else { return Ok(None) };
    auth::rules_of_team(app, live.team()).await?.check_address(from)?;
    Ok(Some(Entrance { live, door }))
}

/// Opens a door of a session with its token, to a client that comes from the address `from`. What does not run here is
/// looked for in the database.
///
/// # Errors
/// [`AppError::SessionNotFound`] for a wrong token and for one of another door, which look like an unknown session;
/// [`AppError::AddressNotAllowed`] when the team may not be called for from there; [`AppError::SessionElsewhere`] on another
/// server.
#[crate::boxed]
pub async fn enter(app: &App, id: Uuid, door: Door, token: &str, from: IpAddr) -> Result<Entrance, AppError> {
    if app.sessions().find(id).is_some() {
        return enter_here(app, id, door, token, from).await?.ok_or(AppError::SessionNotFound);
    }
    let row = rows::find(&mut app.conn().await?, &id.to_string()).await?;
    // Tokens end with their session, so nobody learns by a token whether there was one.
    match row.filter(|row| opens(row, door, token)) {
        Some(row) => Err(elsewhere(app, Some(&row))),
        None => Err(AppError::SessionNotFound),
    }
}

fn opens(row: &rows::Session, door: Door, token: &str) -> bool {
    let known: &Secret = match door {
        Door::Cdp => &row.tokens.cdp,
        Door::View | Door::Control if !row.is_watchable => return false,
        Door::View => &row.tokens.view,
        Door::Control => &row.tokens.hand,
    };
    // Takes the same time wherever they differ. An empty one opens nothing.
    !known.is_empty() && verify_slices_are_equal(known.expose().as_bytes(), token.as_bytes()).is_ok()
}

impl Entrance {
    /// Which door it was.
    #[must_use]
    pub fn door(&self) -> Door {
        self.door
    }

    /// How long the session can live yet, if something is done in it.
    #[must_use]
    pub fn time_left(&self) -> Duration {
        self.live.ends.saturating_duration_since(Instant::now())
    }

    /// Notes that somebody does something, so that the session does not count as resting.
    pub fn touch(&self) {
        self.live.touch();
    }

    /// Lets a client speak the DevTools protocol.
    ///
    /// # Errors
    /// [`AppError::SessionEnded`], [`AppError::SessionsLimited`].
    pub async fn relay(&self, client: Client) -> Result<RelayEnd, AppError> {
        self.live.relay(client).await
    }

    /// Shows the page to a viewer; it steers when the door allows that.
    ///
    /// # Errors
    /// As [`Entrance::relay`].
    pub async fn show(&self, viewer: Viewer) -> Result<(), AppError> {
        let may_steer = viewer.may_steer && self.door == Door::Control;
        self.live.show(Viewer { may_steer, ..viewer }).await
    }
}
