//! Opening of the page of a scrape: the original page while the browser holds it, otherwise a new visit with the same
//! options as the scrape.

use std::sync::Arc;

use ::browser::{BrowserError, Session, State, Visit};
use fetch::{Given, own_headers};
use kernel::auth::Caller;
use kernel::credentials;
use tokio::time::Instant;
use uuid::Uuid;
use wire::ScrapeRequest;

use crate::browser::needed;
use crate::{Sessions, SessionsError};

/// Parameters of opening a page.
pub(super) struct Opening<'a> {
    pub(super) scrape: Uuid,
    pub(super) request: &'a ScrapeRequest,
    /// Initial cookies and storage.
    pub(super) state: Option<&'a State>,
    pub(super) deadline: Instant,
    /// Time at which the session ends at the latest.
    pub(super) end: Instant,
}

/// Opens the page with everything that its scrape did to it. The scrape must belong to the caller's team.
///
/// # Errors
/// Errors of a visit.
pub(super) async fn open(sessions: &Sessions, caller: &Caller, opening: Opening<'_>) -> Result<Session, SessionsError> {
    let browser = needed(sessions)?;
    let Opening { scrape, request, state, deadline, end } = opening;
    if let Some(session) = browser.resume(&scrape.to_string(), end) {
        return Ok(session);
    }
    let options = &request.options;
    let (url, basic_auth) = credentials::split(request.url.clone());
    let headers = own_headers(Given::new(&url, &options.headers, basic_auth.as_ref()), &url);
    let proxies = &sessions.scraper().tools().proxies;
    // Differs from the visit of the scrape: one attempt, with the first proxy only; no captures, so the window has its
    // default size; and the session saves its state itself when it ends.
    let visit = Visit {
        proxy: proxies.next(proxies.first(options.proxy)),
        screenshot: None,
        styles: false,
        state,
        owner: caller.owner(&scrape.to_string()),
        ..Visit::for_scrape(&url, options, basic_auth.is_some(), deadline)
    };
    match browser.session(&visit, Arc::clone(&headers), end).await {
        // The browser was just launched, so this page must have crashed it.
        Err(BrowserError::Crashed) => {
            Err(BrowserError::Site { reason: "the page crashes the browser".to_owned() }.into())
        }
        session => Ok(session?),
    }
}
