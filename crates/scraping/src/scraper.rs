//! Tools of all operations that read pages, and what they share: the page cache, the key of profiles, recent requests.

use std::fmt;
use std::sync::Arc;

use base::Secret;
use cache::{Cache, CacheSettings};
use kernel::App;
use scrape::Tools;
use wire::{Capabilities, Capability};

use crate::profiles::Sealer;
use crate::recent::Recent;

/// Shared state of scraping. Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct Scraper(Arc<State>);

/// Parts of a [`Scraper`].
#[derive(Clone)]
pub struct Parts {
    /// Tools that fetch pages and turn them into documents.
    pub tools: Tools,
    /// Optional capabilities of this server.
    pub capabilities: Capabilities,
    /// Settings of the page cache.
    pub cache: CacheSettings,
    /// Encryption key of profiles, as 64 hexadecimal digits. When empty, a random key.
    pub profile_key: Secret,
    /// Whether requests are remembered, so that their pages can be opened again in a browser.
    pub remembers: bool,
}

struct State {
    app: App,
    tools: Tools,
    capabilities: Capabilities,
    cache: Cache,
    sealer: Sealer,
    recent: Option<Recent>,
}

impl Scraper {
    /// Assembles the scraper. Its page cache stores nothing while the disks have no room.
    #[must_use]
    pub fn new(app: App, parts: Parts) -> Self {
        let Parts { tools, capabilities, cache, profile_key, remembers } = parts;
        let inside = app.clone();
        let cache = Cache::new(cache::Parts {
            store: app.store().clone(),
            blobs: app.blobs().clone(),
            client: app.client().clone(),
            clock: Arc::clone(app.clock()),
            settings: cache,
            has_room: Box::new(move || inside.has_room()),
        });
        let (sealer, recent) = (Sealer::new(&profile_key), remembers.then(Recent::default));
        Self(Arc::new(State { app, tools, capabilities, cache, sealer, recent }))
    }

    /// Returns the core of the service.
    #[must_use]
    pub fn app(&self) -> &App {
        &self.0.app
    }

    /// Returns the page cache.
    #[must_use]
    pub fn cache(&self) -> &Cache {
        &self.0.cache
    }

    /// Returns the tools that fetch pages and turn them into documents.
    #[must_use]
    pub fn tools(&self) -> &Tools {
        &self.0.tools
    }

    /// Returns the optional capabilities of this server. Whether OCR is available is known some time after the start.
    #[must_use]
    pub fn capabilities(&self) -> Capabilities {
        let recognises = self.tools().documents.as_ref().is_some_and(|pool| pool.can_ocr());
        self.0.capabilities.iter().chain(recognises.then_some(Capability::Ocr)).collect()
    }

    /// Returns the capabilities for a request. A private one, which leaves no trace, has a model only if that stores
    /// nothing.
    #[must_use]
    pub fn capabilities_for(&self, private: bool) -> Capabilities {
        let answers = self.tools().answers.as_ref();
        let is_for_it = |capability: &Capability| match capability {
            Capability::Model => answers.is_none_or(|answers| answers.has_model(private)),
            Capability::Answers => answers.is_none_or(|answers| answers.can_answer(private)),
            _ => true,
        };
        self.capabilities().iter().filter(is_for_it).collect()
    }

    pub(crate) fn sealer(&self) -> &Sealer {
        &self.0.sealer
    }

    /// Returns the recent requests, if any are remembered.
    pub(crate) fn recent(&self) -> Option<&Recent> {
        self.0.recent.as_ref()
    }
}

impl fmt::Debug for Scraper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scraper")
            .field("app", &self.0.app)
            .field("capabilities", &self.0.capabilities)
            .finish_non_exhaustive()
    }
}
