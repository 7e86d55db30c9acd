//! Browser sessions of this process, and what they run with: the browser, the runner of code, the settings.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Weak};

use ::browser::Browser;
use ::interact::Interact;
use kernel::{Active, App, AppError, Slot};
use parking_lot::Mutex;
use scraping::Scraper;
use tokio::sync::Mutex as AsyncMutex;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::browser::Live;
use crate::{SessionSettings, SessionsError};

/// Browser sessions of this process. Cheap to clone; all clones are the same sessions.
#[derive(Clone)]
pub struct Sessions(Arc<State>);

/// Parts of [`Sessions`].
pub struct Parts {
    /// Browser of this process, if it has one.
    pub browser: Option<Arc<Browser>>,
    /// Runner of code and prompts in sessions.
    pub interact: Arc<Interact>,
    /// Settings of the operator.
    pub settings: SessionSettings,
}

struct State {
    scraper: Scraper,
    parts: Parts,
    live: Mutex<HashMap<Uuid, Arc<Live>>>,
    /// Locks of scrapes whose page is being opened, and of idempotency keys in use.
    opening: Mutex<HashMap<Uuid, Weak<AsyncMutex<()>>>>,
    places: Active,
    closing: CancellationToken,
}

impl Sessions {
    /// Assembles the sessions. None is open.
    #[must_use]
    pub fn new(scraper: Scraper, parts: Parts) -> Self {
        Self(Arc::new(State {
            scraper,
            parts,
            live: Mutex::default(),
            opening: Mutex::default(),
            places: Active::default(),
            closing: CancellationToken::new(),
        }))
    }

    /// Returns the number of open sessions.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.0.places.total()
    }

    /// Returns the browser of this process, if it has one.
    #[must_use]
    pub fn browser(&self) -> Option<&Browser> {
        self.0.parts.browser.as_deref()
    }

    /// Ends all sessions and refuses new ones, before shutdown.
    pub fn close(&self) {
        self.0.closing.cancel();
    }

    /// Closes the browser of this process. Call it last: pages still open in it fail.
    #[crate::boxed]
    pub async fn close_browser(&self) {
        if let Some(browser) = self.browser() {
            browser.close().await;
        }
    }

    pub(crate) fn app(&self) -> &App {
        self.0.scraper.app()
    }

    pub(crate) fn scraper(&self) -> &Scraper {
        &self.0.scraper
    }

    pub(crate) fn interact(&self) -> &Interact {
        &self.0.parts.interact
    }

    pub(crate) fn settings(&self) -> &SessionSettings {
        &self.0.parts.settings
    }

    /// Takes a slot for a new session of a team.
    pub(crate) fn place(&self, team: &str) -> Result<Slot, SessionsError> {
        let State { parts, places, closing, .. } = &*self.0;
        if closing.is_cancelled() {
            return Err(AppError::ShuttingDown.into());
        }
        let (of_team, of_server) = (parts.settings.max_of_team, parts.settings.max);
        let limited = |what: &'static str, limit| SessionsError::SessionsLimited { what, limit };
        let place = places.enter(team, of_team).ok_or_else(|| limited("team", of_team))?;
        // The total includes the slot just taken.
        if places.total() > of_server { Err(limited("server", of_server)) } else { Ok(place) }
    }

    pub(crate) fn find(&self, id: Uuid) -> Option<Arc<Live>> {
        self.0.live.lock().get(&id).cloned()
    }

    /// Finds the session that shows the page of a scrape.
    pub(crate) fn of_scrape(&self, team: &str, scrape: Uuid) -> Option<Arc<Live>> {
        let scrape = scrape.to_string();
        let is_it = |live: &&Arc<Live>| live.shows(&scrape) && live.team() == team;
        self.0.live.lock().values().find(is_it).cloned()
    }

    /// Returns the lock for opening the page of a scrape: one call opens it at a time.
    pub(crate) fn opening(&self, scrape: Uuid) -> Arc<AsyncMutex<()>> {
        let mut opening = self.0.opening.lock();
        if let Some(known) = opening.get(&scrape).and_then(Weak::upgrade) {
            return known;
        }
        // Drop unused locks, so that there are never more than calls.
        opening.retain(|_, turn| turn.strong_count() > 0);
        let turn = Arc::default();
        opening.insert(scrape, Arc::downgrade(&turn));
        turn
    }

    pub(crate) fn insert(&self, live: &Arc<Live>) {
        self.0.live.lock().insert(live.id(), Arc::clone(live));
    }

    pub(crate) fn remove(&self, id: Uuid) {
        self.0.live.lock().remove(&id);
    }

    pub(crate) fn closing(&self) -> &CancellationToken {
        &self.0.closing
    }
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions").field("settings", self.settings()).finish_non_exhaustive()
    }
}
