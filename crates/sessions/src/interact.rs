//! Code and prompts for the page of a scrape. The first call opens a session that shows the page; later calls use the
//! same session.

mod page;

use std::sync::Arc;
use std::time::Duration;

use base::new_id;
use billing::prompt_extra;
use chrono::TimeDelta;
use kernel::AppError;
use kernel::admit::check_open;
use kernel::auth::Caller;
use kernel::reservation::Funds;
use page::Opening;
use scraping::profiles::{self, Holder};
use scraping::scrape::request_of;
use store::browser as rows;
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;
use wire::{Executed, InteractRequest, SessionEnded};

use crate::browser::{self, Beginning, Live, Order, Seen, check_order};
use crate::{Sessions, SessionsError};

/// Maximum lifetime of a session of a scrape.
const LIFE: Duration = Duration::from_secs(600);
/// Idle timeout of a session of a scrape.
const REST: Duration = Duration::from_secs(300);

/// Runs code and then a prompt on the page of a scrape of the caller's team; the prompt only if the code has not
/// failed. `address` is the base URL that the client used.
///
/// # Errors
/// [`SessionsError::OrderRefused`] before anything is done, [`AppError::InsufficientCredits`] before the code runs;
/// [`AppError::NotFound`] for a scrape that is unknown, private, of another team or older than a day;
/// [`SessionsError::SessionElsewhere`]; the errors of starting a session and of a scrape when the page has to be opened.
#[crate::boxed]
pub async fn run(
    sessions: &Sessions,
    caller: &Caller,
    scrape: Uuid,
    request: InteractRequest,
    address: &str,
) -> Result<Executed, SessionsError> {
    check_open(sessions.app())?;
    // Check the prompt and its credits before the code runs: a later refusal would discard the results of the code.
    if let Some(prompt) = &request.prompt {
        check_order(prompt)?;
    }
    let deadline = Instant::now() + Duration::from_secs(request.timeout.into());
    let live = session(sessions, caller, scrape, deadline).await?;
    let order = match &request.prompt {
        Some(prompt) => Some((prompt, pay_for_order(sessions, caller, &live).await?)),
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
    executed.urls = Some(Seen::of(sessions, live.row(), address).urls());
    Ok(executed)
}

/// Ends the session of a scrape of the caller's team.
///
/// # Errors
/// [`SessionsError::SessionNotFound`] when the scrape never had a session, [`SessionsError::SessionEnded`] when its session has
/// ended, [`SessionsError::SessionElsewhere`].
#[crate::boxed]
pub async fn end(sessions: &Sessions, caller: &Caller, scrape: Uuid) -> Result<SessionEnded, SessionsError> {
    if let Some(live) = sessions.of_scrape(&caller.team.id, scrape) {
        return live.end().await;
    }
    let row = rows::last_of_scrape(&mut sessions.app().conn().await?, &caller.team.id, &scrape.to_string()).await?;
    Err(browser::elsewhere(sessions, row.as_ref()))
}

/// Returns the session that shows the page: the existing one, or a new one.
async fn session(
    sessions: &Sessions,
    caller: &Caller,
    scrape: Uuid,
    deadline: Instant,
) -> Result<Arc<Live>, SessionsError> {
    if let Some(live) = open_here(sessions, caller, scrape) {
        return Ok(live);
    }
    // One call opens the session; concurrent calls wait for it.
    let turn = sessions.opening(scrape);
    let _turn = timeout_at(deadline, turn.lock()).await.map_err(|_| SessionsError::SessionBusy)?;
    if let Some(live) = open_here(sessions, caller, scrape) {
        return Ok(live);
    }
    let app = sessions.app();
    let row = rows::of_scrape(&mut app.conn().await?, &caller.team.id, &scrape.to_string()).await?;
    if let Some(row) = row {
        match browser::elsewhere(sessions, Some(&row)) {
            // The row is over, or an earlier process of this server left it open: end it.
            SessionsError::SessionEnded | SessionsError::SessionLost => {}
            elsewhere => return Err(elsewhere),
        }
        rows::end(&mut app.conn().await?, &row.id, app.now(), 0).await?;
    }
    open(sessions, caller, scrape, deadline).await
}

fn open_here(sessions: &Sessions, caller: &Caller, scrape: Uuid) -> Option<Arc<Live>> {
    sessions.of_scrape(&caller.team.id, scrape).filter(|live| !live.is_over())
}

/// Opens the page in the state in which the scrape left it.
async fn open(
    sessions: &Sessions,
    caller: &Caller,
    scrape: Uuid,
    deadline: Instant,
) -> Result<Arc<Live>, SessionsError> {
    let app = sessions.app();
    let request = request_of(sessions.scraper(), caller, scrape).await?;
    let place = sessions.place(&caller.team.id)?;
    let (id, began) = (new_id(), Instant::now());
    let expires_at = app.now() + TimeDelta::from_std(LIFE).unwrap_or(TimeDelta::MAX);
    let until = expires_at + TimeDelta::seconds(60);
    let profile = match &request.options.profile {
        Some(profile) => {
            Some(profiles::open(sessions.scraper(), caller, profile, Holder::One(&id.to_string(), until), false).await?)
        }
        None => None,
    };
    let funds = browser::reserve(sessions, caller, id, LIFE).await?;
    let state = profile.as_ref().map(|profile| &profile.state);
    let opening = Opening { scrape, request: &request, state, deadline, end: began + LIFE };
    let session = page::open(sessions, caller, opening).await?;
    // The profile lock, the reservation and the proxy expire by `LIFE` after `began`, so the time spent opening the
    // page counts.
    let life = LIFE.saturating_sub(began.elapsed());
    let (rest, scrape, is_watchable) = (REST, Some(scrape), true);
    let beginning = Beginning { id, scrape, life, rest, is_watchable, place, funds, profile, session, call: None };
    browser::begin(sessions, caller, beginning, expires_at).await
}

/// Reserves the extra cost of prompts, before the first of them.
async fn pay_for_order<'a>(sessions: &Sessions, caller: &Caller, live: &'a Live) -> Result<Order<'a>, AppError> {
    // A returned reservation may be made again for the next prompt, so its key has to be unique.
    let key = format!("browser:{}/prompt:{}", live.id(), new_id());
    let until = browser::reserved_until(sessions, LIFE);
    live.pay(Funds::reserve(sessions.app(), caller, key, prompt_extra(LIFE), until)).await
}
