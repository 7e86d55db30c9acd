//! Browser sessions of a team: start, list, execute, end.
//!
//! A session runs in the process that started it, as a `Live`, with a task that ends it. Its row says who owns it and
//! which server runs it. Each session URL holds a token that grants access as long as the session lives.

mod begin;
mod door;
mod keeper;
mod live;
mod once;
mod orders;

use std::sync::Arc;
use std::time::Duration;

use ::browser::{Browser, OwnHeaders, Session, State, Visit};
use base::{Owner, new_id};
use billing::SessionKind;
use chrono::TimeDelta;
use kernel::AppError;
use kernel::admit::check_open;
use kernel::auth::Caller;
use kernel::reservation::Funds;
use scraping::profiles::{self, Holder};
use store::browser::{self as rows, Call, Session as Row};
use tokio::time::Instant;
use url::Url;
use uuid::Uuid;
use wire::{
    BrowserRequest, BrowserSession, BrowserStarted, ExecuteRequest, Executed, ProxyUsed, SessionEnded, SessionStatus,
    SessionUrls,
};

use crate::{Sessions, SessionsError};

pub(crate) use begin::{Beginning, begin};
pub use door::{Door, Entrance, enter, enter_here};
pub(crate) use live::Live;
pub(crate) use orders::{Order, check_order};

/// Maximum number of sessions in a list.
const MAX_LISTED: i64 = 100;
/// Timeout for starting a browser.
const START: Duration = Duration::from_secs(30);

/// Session as clients see it.
pub struct Seen {
    row: Row,
    /// Base URL at which clients reach the session.
    address: String,
}

/// Starts a browser for the caller's team. `address` is the base URL that the client used, as `https://host:port`. The
/// same `idempotency_key` with the same request returns the same session, even if it has ended.
///
/// # Errors
/// [`AppError::ShuttingDown`], [`SessionsError::SessionBusy`] when another call with the key is still starting its session,
/// [`AppError::DuplicateRequest`], [`SessionsError::NoBrowser`], [`SessionsError::SessionsLimited`], [`ScrapingError::ProfileInUse`](scraping::ScrapingError::ProfileInUse),
/// [`AppError::InsufficientCredits`] and [`SessionsError::BrowserUnavailable`], in this order.
#[crate::boxed]
pub async fn start(
    sessions: &Sessions,
    caller: &Caller,
    request: BrowserRequest,
    idempotency_key: Option<&str>,
    address: &str,
) -> Result<BrowserStarted, SessionsError> {
    check_open(sessions.app())?;
    if let Some(key) = idempotency_key {
        return once::start(sessions, caller, request, key, address).await;
    }
    let live = new_session(sessions, caller, request, None).await?;
    Ok(Seen::of(sessions, live.row(), address).started())
}

/// Starts a browser; `call` is stored with its row.
async fn new_session(
    sessions: &Sessions,
    caller: &Caller,
    request: BrowserRequest,
    call: Option<Call>,
) -> Result<Arc<Live>, SessionsError> {
    let app = sessions.app();
    let browser = needed(sessions)?;
    let place = sessions.place(&caller.team.id)?;
    let (id, life) = (new_id(), Duration::from_secs(request.ttl.into()));
    let expires_at = app.now() + TimeDelta::seconds(request.ttl.into());
    let until = expires_at + TimeDelta::seconds(60);
    let profile = match &request.profile {
        Some(profile) => {
            Some(profiles::open(sessions.scraper(), caller, profile, Holder::One(&id.to_string(), until), false).await?)
        }
        None => None,
    };
    let funds = reserve(sessions, caller, id, life).await?;
    let state = profile.as_ref().map(|profile| &profile.state);
    let session = launch(sessions, browser, caller, &request, state).await?;
    let rest = Duration::from_secs(request.activity_ttl.into());
    let is_watchable = request.stream_web_view;
    let scrape = None;
    let beginning = Beginning { id, scrape, life, rest, is_watchable, place, funds, profile, session, call };
    begin(sessions, caller, beginning, expires_at).await
}

/// Launches a browser with a blank page.
async fn launch(
    sessions: &Sessions,
    browser: &Browser,
    caller: &Caller,
    request: &BrowserRequest,
    state: Option<&State>,
) -> Result<Session, SessionsError> {
    let nowhere = Url::parse("about:blank").map_err(AppError::internal)?;
    let nothing: OwnHeaders = Arc::new(|_| Vec::new());
    let visit = Visit {
        block_ads: request.block_ads,
        skip_tls_verification: request.skips_tls_verification(),
        location: request.location.as_ref(),
        proxy: sessions.scraper().tools().proxies.next(ProxyUsed::Basic),
        state,
        owner: Owner::of_team(&caller.team.id),
        ..Visit::new(&nowhere, Instant::now() + START)
    };
    let end = Instant::now() + START + Duration::from_secs(request.ttl.into());
    Ok(browser.session(&visit, Arc::clone(&nothing), end).await?)
}

/// Lists the last 100 sessions of the caller's team, or the last 100 with one status, newest first.
///
/// # Errors
/// [`AppError::Internal`].
#[crate::boxed]
pub async fn list(
    sessions: &Sessions,
    caller: &Caller,
    status: Option<SessionStatus>,
    address: &str,
) -> Result<Vec<BrowserSession>, SessionsError> {
    let is_active = status.map(|status| status == SessionStatus::Active);
    let rows =
        rows::list(&mut sessions.app().conn().await?, &caller.team.id, is_active, sessions.app().now(), MAX_LISTED)
            .await?;
    Ok(rows.into_iter().map(|row| Seen::of(sessions, row, address).listed(sessions)).collect())
}

/// Runs code in a session of the caller's team.
///
/// # Errors
/// [`SessionsError::SessionNotFound`], [`SessionsError::SessionEnded`], [`SessionsError::SessionElsewhere`], [`SessionsError::SessionBusy`]
/// when code of another call runs until `timeout` expires. Errors of the code itself are in the answer.
#[crate::boxed]
pub async fn execute(
    sessions: &Sessions,
    caller: &Caller,
    id: Uuid,
    request: ExecuteRequest,
    address: &str,
) -> Result<Executed, SessionsError> {
    check_open(sessions.app())?;
    let live = of_team(sessions, caller, id).await?;
    let deadline = Instant::now() + Duration::from_secs(request.timeout.into());
    let mut executed = live.run(request.language, &request.code, deadline).await?;
    executed.urls = Some(Seen::of(sessions, live.row(), address).urls());
    Ok(executed)
}

/// Ends a session of the caller's team.
///
/// # Errors
/// Errors of [`execute`].
#[crate::boxed]
pub async fn end(sessions: &Sessions, caller: &Caller, id: Uuid) -> Result<SessionEnded, SessionsError> {
    of_team(sessions, caller, id).await?.end().await
}

/// Returns the browser, for a request that requires one.
///
/// # Errors
/// [`SessionsError::NoBrowser`].
pub(crate) fn needed(sessions: &Sessions) -> Result<&Browser, SessionsError> {
    sessions.browser().ok_or(SessionsError::NoBrowser)
}

/// Reserves the cost of a session of maximum length, without prompts.
pub(crate) async fn reserve(sessions: &Sessions, caller: &Caller, id: Uuid, life: Duration) -> Result<Funds, AppError> {
    let price = billing::session(life, SessionKind::Plain);
    Funds::reserve(sessions.app(), caller, format!("browser:{id}"), price, reserved_until(sessions, life)).await
}

/// Returns the time until which a session's credits stay reserved.
pub(crate) fn reserved_until(sessions: &Sessions, life: Duration) -> base::Timestamp {
    let life = TimeDelta::from_std(life + sessions.app().settings().reservation_grace).unwrap_or(TimeDelta::MAX);
    sessions.app().now().checked_add_signed(life).unwrap_or(base::Timestamp::MAX_UTC)
}

/// Finds a live session of the team.
async fn of_team(sessions: &Sessions, caller: &Caller, id: Uuid) -> Result<Arc<Live>, SessionsError> {
    // Sessions of a scrape are reached through the scrape.
    let is_own = |row: &Row| row.team_id == caller.team.id && row.scrape_id.is_none();
    if let Some(live) = sessions.find(id).filter(|live| is_own(&live.row())) {
        return Ok(live);
    }
    let row = rows::find(&mut sessions.app().conn().await?, &id.to_string()).await?.filter(is_own);
    Err(elsewhere(sessions, row.as_ref()))
}

/// Returns why a session is not available in this process.
pub(crate) fn elsewhere(sessions: &Sessions, row: Option<&Row>) -> SessionsError {
    let own = sessions.settings().public_url.as_deref().unwrap_or_default();
    match row {
        None => SessionsError::SessionNotFound,
        Some(row) if !row.is_active(sessions.app().now()) => SessionsError::SessionEnded,
        // The session ran in an earlier process of this server, or on a server without a public URL.
        Some(row) if row.owner == own => SessionsError::SessionLost,
        Some(row) => SessionsError::SessionElsewhere { owner: row.owner.clone() },
    }
}

impl Seen {
    pub(crate) fn of(sessions: &Sessions, row: Row, address: &str) -> Self {
        // A session has to be reached at the server that runs it, whichever server answers.
        let owner = Some(row.owner.as_str()).filter(|owner| !owner.is_empty());
        let address = owner.or(sessions.settings().public_url.as_deref()).unwrap_or(address);
        Self { address: address.trim_end_matches('/').to_owned(), row }
    }

    pub(crate) fn urls(&self) -> SessionUrls {
        if self.row.ended_at.is_some() {
            return SessionUrls::default();
        }
        let Row { id, tokens, is_watchable, .. } = &self.row;
        let url = |address: &str, door: Door, token: &base::Secret| {
            format!("{address}/sessions/{id}/{}/{}", door.as_str(), token.expose())
        };
        // `http` becomes `ws`, and `https` `wss`.
        let socket = self.address.replacen("http", "ws", 1);
        let view = |door, token| if *is_watchable { url(&self.address, door, token) } else { String::new() };
        SessionUrls {
            cdp_url: url(&socket, Door::Cdp, &tokens.cdp),
            live_view_url: view(Door::View, &tokens.view),
            interactive_live_view_url: view(Door::Control, &tokens.hand),
        }
    }

    fn started(self) -> BrowserStarted {
        let (urls, expires_at) = (self.urls(), self.row.expires_at);
        BrowserStarted { success: true, id: self.row.id, urls, expires_at }
    }

    fn listed(self, sessions: &Sessions) -> BrowserSession {
        let active = self.row.is_active(sessions.app().now());
        BrowserSession {
            status: if active { SessionStatus::Active } else { SessionStatus::Destroyed },
            urls: if active { self.urls() } else { SessionUrls::default() },
            id: self.row.id,
            stream_web_view: self.row.is_watchable,
            created_at: self.row.created_at,
            last_activity: self.row.last_used_at,
            expires_at: self.row.expires_at,
        }
    }
}
