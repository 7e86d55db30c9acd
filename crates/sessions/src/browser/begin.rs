//! Begin of sessions: the row, the live session, and the task that ends it.

use std::sync::Arc;
use std::time::Duration;

use ::browser::Session;
use base::{Secret, Timestamp};
use kernel::Slot;
use kernel::auth::Caller;
use kernel::reservation::Funds;
use parking_lot::Mutex;
use scraping::profiles::Opened;
use store::browser::{self as rows, Call, Session as Row, Tokens};
use tokio::sync::{Mutex as AsyncMutex, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::keeper;
use super::live::{ALIVE, Live, Uses};
use super::orders::Orders;
use crate::{Sessions, SessionsError};

/// Parts of a new session.
pub(crate) struct Beginning {
    pub(crate) id: Uuid,
    /// Scrape whose page it shows.
    pub(crate) scrape: Option<Uuid>,
    pub(crate) life: Duration,
    /// Idle timeout.
    pub(crate) rest: Duration,
    pub(crate) is_watchable: bool,
    pub(crate) place: Slot,
    pub(crate) funds: Funds,
    pub(crate) profile: Option<Opened>,
    pub(crate) session: Session,
    /// Idempotency key of the call that starts it.
    pub(crate) call: Option<Call>,
}

/// Inserts the row of a session and starts the task that ends it.
pub(crate) async fn begin(
    sessions: &Sessions,
    caller: &Caller,
    beginning: Beginning,
    expires_at: Timestamp,
) -> Result<Arc<Live>, SessionsError> {
    let Beginning { id, scrape, life, rest, is_watchable, place, funds, profile, session, call } = beginning;
    let app = sessions.app();
    let now = app.now();
    let row = Row {
        id: id.to_string(),
        team_id: caller.team.id.clone(),
        scrape_id: scrape.map(|scrape| scrape.to_string()),
        owner: sessions.settings().public_url.clone().unwrap_or_default(),
        tokens: Tokens { cdp: token(), view: token(), hand: token() },
        is_watchable,
        created_at: now,
        last_used_at: now,
        expires_at,
        alive_until: now + ALIVE,
        ended_at: None,
        credits: 0,
        call,
    };
    rows::insert(&mut app.conn().await?, &row).await?;
    let began = Instant::now();
    let live = Arc::new(Live {
        sessions: sessions.clone(),
        id,
        began,
        ends: began + life,
        rest,
        row,
        orders: Orders::default(),
        uses: Mutex::new(Uses { last: began, last_at: now, running: 0, guests: 0 }),
        browser: session,
        work: AsyncMutex::default(),
        stop: CancellationToken::new(),
        key: app.hold_key(caller.key.as_deref()),
        ended: watch::Sender::new(None),
    });
    sessions.insert(&live);
    let kept = keeper::Kept { place, funds, profile };
    app.tracker().spawn(keeper::keep(Arc::clone(&live), kept));
    Ok(live)
}

/// Generates a token of 128 bits from the operating system's generator.
fn token() -> Secret {
    Secret::new(hex::encode(rand::random::<[u8; 16]>()))
}
