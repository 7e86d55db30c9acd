//! All operations of the service in one value, for the programs that offer them.

use wire::Capabilities;

use crate::runs::{RunKind, Runs};
use crate::{App, CoreParts, Scraper, ScrapingParts, SessionParts, Sessions, UpkeepSettings, batch, crawl};

/// Operations of the service. Cheap to clone; all clones are one service.
#[derive(Debug, Clone)]
pub struct Operations {
    /// Shared state of the operations.
    pub app: App,
    /// Scraping of pages.
    pub scraper: Scraper,
    /// Crawls, batches and other runs.
    pub runs: Runs,
    /// Browser sessions.
    pub sessions: Sessions,
    pub(crate) upkeep: UpkeepSettings,
}

/// Parts of [`Operations`].
pub struct Parts {
    /// State that all operations share.
    pub core: CoreParts,
    /// Parts of scraping.
    pub scraping: ScrapingParts,
    /// Parts of browser sessions.
    pub sessions: SessionParts,
    /// Settings of upkeep.
    pub upkeep: UpkeepSettings,
}

impl Operations {
    /// Assembles the service. Nothing is read or written yet.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let Parts { core, scraping, sessions, upkeep } = parts;
        let app = App::new(core);
        let scraper = Scraper::new(app.clone(), scraping);
        let (runs, sessions) = (Runs::new(scraper.clone(), kinds()), Sessions::new(scraper.clone(), sessions));
        Self { app, scraper, runs, sessions, upkeep }
    }

    /// Returns the optional capabilities of this server. Whether OCR is available is known some time after the start.
    #[must_use]
    pub fn capabilities(&self) -> Capabilities {
        self.scraper.capabilities()
    }

    /// Closes the browser of this process. Call it last: pages still open in it fail.
    #[crate::boxed]
    pub async fn close(&self) {
        self.sessions.close_browser().await;
    }
}

/// All kinds of run.
pub(crate) fn kinds() -> Vec<RunKind> {
    vec![RunKind::of_pages(&crawl::KIND, crawl::Pages::default()), RunKind::of_pages(&batch::KIND, batch::PlainPages)]
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Arc;

    use tempfile::TempDir;

    use super::*;
    use crate::scraper::tests::scraper;

    /// Assembles all operations on a database of their own, without a browser.
    pub(crate) async fn operations() -> (Operations, TempDir) {
        let (scraper, _caller, folder) = scraper().await;
        let app = scraper.app().clone();
        let code = interact::Settings { program: None, user: None, places: 1 };
        let (interact, settings) = (Arc::new(interact::Interact::new(code)), crate::SessionSettings::default());
        let sessions = Sessions::new(scraper.clone(), SessionParts { browser: None, interact, settings });
        (
            Operations {
                runs: Runs::new(scraper.clone(), kinds()),
                app,
                scraper,
                sessions,
                upkeep: UpkeepSettings::default(),
            },
            folder,
        )
    }
}
