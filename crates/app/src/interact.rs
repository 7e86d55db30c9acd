//! Code and orders for the page of a scrape. The first call opens a session that shows the page, later ones find it as they
//! left it.

mod page;
mod recent;

use std::sync::Arc;
use std::time::Duration;

use base::new_id;
use billing::prompt_extra;
use chrono::TimeDelta;
use store::browser as rows;
use store::scrapes::{self, Scrape};
use tokio::time::{Instant, timeout_at};
use url::Url;
use uuid::Uuid;
use wire::{Executed, InteractRequest, ScrapeOptions, ScrapeRequest, SessionEnded};

use crate::admit::check_open;
use crate::auth::Caller;
use crate::browser::{self, Beginning, Live, Order, Seen, check_order};
use crate::profiles::{self, Holder};
use crate::reservation::Funds;
use crate::scrape::{READABLE_FOR, noted};
use crate::{App, AppError, AuthMode};

use page::Opening;
pub(crate) use recent::Recent;

/// How long a session of a scrape lives at most.
const LIFE: Duration = Duration::from_secs(600);
/// After how long a rest it ends.
const REST: Duration = Duration::from_secs(300);

/// Runs code and then an order in words on the page of a scrape of the caller's team; the order only when the code has not
/// failed. `address` is where the client has reached us.
///
/// # Errors
/// [`AppError::OrderRefused`] before anything is done, [`AppError::InsufficientCredits`] before the code runs;
/// [`AppError::NotFound`] for a scrape that is unknown, private, of another team or older than a day, whatever it is;
/// [`AppError::SessionElsewhere`]; those of the start of a session and of a scrape when the page has to be opened.
#[crate::boxed]
pub async fn run(
    app: &App,
    caller: &Caller,
    scrape: Uuid,
    request: InteractRequest,
    address: &str,
) -> Result<Executed, AppError> {
    check_open(app)?;
    // What cannot be done or paid is refused before the code runs: its results would be lost with the refusal.
    if let Some(prompt) = &request.prompt {
        check_order(prompt)?;
    }
    let deadline = Instant::now() + Duration::from_secs(request.timeout.into());
    let live = session(app, caller, scrape, deadline).await?;
    let order = match &request.prompt {
        Some(prompt) => Some((prompt, pay_for_order(app, caller, &live).await?)),
        None => None,
    };
    let mut executed = Executed { success: true, ..Executed::default() };
    if let Some(code) = &request.code {
        executed = live.run(request.language, code, deadline).await?;
    }
    if let Some((prompt, _paid)) = order.filter(|_| executed.exit_code == 0) {
        let (output, error) = live.obey(prompt, deadline).await?;
        executed.exit_code = i32::from(error.is_some());
        (executed.output, executed.error) = (Some(output), error);
    }
    executed.urls = Some(Seen::of(app, live.row(), address).urls());
    Ok(executed)
}

/// Ends the session of a scrape of the caller's team.
///
/// # Errors
/// [`AppError::SessionNotFound`] when it has none and had none, [`AppError::SessionEnded`] when it had one,
/// [`AppError::SessionElsewhere`].
#[crate::boxed]
pub async fn end(app: &App, caller: &Caller, scrape: Uuid) -> Result<SessionEnded, AppError> {
    if let Some(live) = app.sessions().of_scrape(&caller.team.id, scrape) {
        return live.end().await;
    }
    let row = rows::last_of_scrape(&mut app.conn().await?, &caller.team.id, &scrape.to_string()).await?;
    Err(browser::elsewhere(app, row.as_ref()))
}

/// The session that shows the page: the one that there is, or a new one.
async fn session(app: &App, caller: &Caller, scrape: Uuid, deadline: Instant) -> Result<Arc<Live>, AppError> {
    if let Some(live) = open_here(app, caller, scrape) {
        return Ok(live);
    }
    // One call opens it, those that come meanwhile wait for it.
    let turn = app.sessions().opening(scrape);
    let _turn = timeout_at(deadline, turn.lock()).await.map_err(|_| AppError::SessionBusy)?;
    if let Some(live) = open_here(app, caller, scrape) {
        return Ok(live);
    }
    let row = rows::of_scrape(&mut app.conn().await?, &caller.team.id, &scrape.to_string()).await?;
    match row {
        Some(row) if row.is_active(app.now()) => match browser::elsewhere(app, Some(&row)) {
            // What a process of before has left behind is in nobody's way.
            AppError::SessionLost => drop(rows::end(&mut app.conn().await?, &row.id, app.now(), 0).await?),
            elsewhere => return Err(elsewhere),
        },
        Some(row) => drop(rows::end(&mut app.conn().await?, &row.id, app.now(), 0).await?),
        None => {}
    }
    open(app, caller, scrape, deadline).await
}

fn open_here(app: &App, caller: &Caller, scrape: Uuid) -> Option<Arc<Live>> {
    app.sessions().of_scrape(&caller.team.id, scrape).filter(|live| !live.is_over())
}

/// Opens the page as the scrape has left it.
async fn open(app: &App, caller: &Caller, scrape: Uuid, deadline: Instant) -> Result<Arc<Live>, AppError> {
    let request = wanted(app, caller, scrape).await?;
    let place = app.sessions().place(app, &caller.team.id)?;
    let (id, began) = (new_id(), Instant::now());
    let expires_at = app.now() + TimeDelta::from_std(LIFE).unwrap_or(TimeDelta::MAX);
    let until = expires_at + TimeDelta::seconds(60);
    let profile = match &request.options.profile {
        Some(profile) => Some(profiles::open(app, caller, profile, Holder::One(&id.to_string(), until), false).await?),
        None => None,
    };
    let funds = browser::reserve(app, caller, id, LIFE).await?;
    let state = profile.as_ref().map(|profile| &profile.state);
    let opening = Opening { scrape, request: &request, state, deadline, end: began + LIFE };
    let session = page::open(app, caller, opening).await?;
    // The right to save, the credits set aside and the way out hold no longer than that, however long the page took.
    let life = LIFE.saturating_sub(began.elapsed());
    let (rest, scrape, is_watchable) = (REST, Some(scrape), true);
    let beginning = Beginning { id, scrape, life, rest, is_watchable, place, funds, profile, session, call: None };
    browser::begin(app, caller, beginning, expires_at).await
}

/// What the scrape asked for: what this process remembers of it, or else what its row tells.
async fn wanted(app: &App, caller: &Caller, scrape: Uuid) -> Result<ScrapeRequest, AppError> {
    let team = &caller.team.id;
    if let Some(request) = app.recent().get(team, scrape).await {
        return Ok((*request).clone());
    }
    let not_found = || AppError::NotFound("scrape");
    let row = scrapes::find(&mut app.conn().await?, team, &scrape.to_string()).await?;
    // One of a caller without a key is nobody's, where all others have one.
    let is_ours = |row: &Scrape| row.api_key_id.is_some() || app.settings.auth == AuthMode::Open;
    let row = row.filter(|row| is_ours(row) && row.created_at + READABLE_FOR > app.now()).ok_or_else(not_found)?;
    if let Some(request) = noted(&row) {
        return Ok(request);
    }
    let url = row.url.as_deref().and_then(|url| Url::parse(url).ok()).ok_or_else(not_found)?;
    Ok(ScrapeRequest { options: ScrapeOptions::default(), ..ScrapeRequest::new(url) })
}

/// Sets aside what orders in words cost on top, before the first of them.
async fn pay_for_order<'a>(app: &App, caller: &Caller, live: &'a Live) -> Result<Order<'a>, AppError> {
    // What was given back may be set aside once more, for the next order.
    let key = format!("browser:{}/prompt:{}", live.id(), new_id());
    let until = browser::reserved_until(app, LIFE);
    live.pay(Funds::reserve(app, caller, key, prompt_extra(LIFE), until)).await
}
