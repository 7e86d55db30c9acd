//! Shared state of searches.

use std::fmt;
use std::sync::Arc;

use indexing::Indexing;
use kernel::App;
use kernel::auth::Caller;
use scraping::Scraper;
use search::Engines;

use crate::own::OwnPages;
use crate::settings::{FeedbackSettings, Sites};

/// Shared state of searches. Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct Searches(Arc<State>);

/// Parts of [`Searches`].
pub struct Parts {
    /// Engines of the web, in order.
    pub engines: Engines,
    /// Whether the pages that this instance has read are searched as well.
    pub has_index: bool,
    /// Sites of the categories.
    pub sites: Sites,
    /// Limits of feedback.
    pub feedback: FeedbackSettings,
}

impl Default for Parts {
    /// Returns the index alone.
    fn default() -> Self {
        let (sites, feedback) = (Sites::default(), FeedbackSettings::default());
        Self { engines: Engines::default(), has_index: true, sites, feedback }
    }
}

struct State {
    scraper: Scraper,
    engines: Engines,
    own: Option<Arc<OwnPages>>,
    sites: Sites,
    feedback: FeedbackSettings,
}

impl Searches {
    /// Assembles the searches. Nothing is opened yet.
    #[must_use]
    pub fn new(scraper: Scraper, index: Indexing, parts: Parts) -> Self {
        let Parts { engines, has_index, sites, feedback } = parts;
        let own = (has_index && index.is_enabled()).then(|| OwnPages::new(index));
        let engines = match &own {
            Some(own) => engines.with_index(Arc::<OwnPages>::clone(own)),
            None => engines,
        };
        Self(Arc::new(State { scraper, engines, own, sites, feedback }))
    }

    pub(crate) fn app(&self) -> &App {
        self.0.scraper.app()
    }

    pub(crate) fn scraper(&self) -> &Scraper {
        &self.0.scraper
    }

    /// Returns all engines, the index among them.
    pub(crate) fn engines(&self) -> &Engines {
        &self.0.engines
    }

    /// Returns the index of read pages, if it is searched.
    pub(crate) fn own(&self) -> Option<&OwnPages> {
        self.0.own.as_deref()
    }

    /// Returns the team whose pages a caller may find. Callers without a key see the pages of no team, as they do not
    /// read the cache of one; pages that all teams share they do see.
    pub(crate) fn team_of<'a>(&self, caller: &'a Caller) -> &'a str {
        if caller.is_keyless { "" } else { &caller.team.id }
    }

    pub(crate) fn sites(&self) -> &Sites {
        &self.0.sites
    }

    pub(crate) fn feedback(&self) -> FeedbackSettings {
        self.0.feedback
    }

    /// Whether no engine of the web is asked.
    pub(crate) fn is_own_index_alone(&self) -> bool {
        self.engines().names().all(|name| name == crate::own::NAME)
    }
}

impl fmt::Debug for Searches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Searches").field("sites", &self.0.sites).finish_non_exhaustive()
    }
}
