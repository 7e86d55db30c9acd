//! All operations of the service in one value, for the programs that offer them.

use std::path::PathBuf;
use std::sync::Arc;

use ::runs::{RunKind, Runs};
use crawls::{batch, crawl};
use indexing::{Indexing, IndexingSettings};
use kernel::App;
use monitors::{MailParts, MonitorSettings, Monitors};
use reader::Pool;
use scraping::Scraper;
use searches::Searches;
use sessions::Sessions;
use wire::Capabilities;

use crate::UpkeepSettings;
use crate::monitor_search::SearchesOfMonitors;

/// Operations of the service. Cheap to clone; all clones are one service.
#[derive(Debug, Clone)]
pub struct Operations {
    /// Shared state of the operations.
    pub app: App,
    /// Scraping of pages.
    pub scraper: Scraper,
    /// Index of the pages that this instance has read.
    pub indexing: Indexing,
    /// Searches, and feedback on calls.
    pub searches: Searches,
    /// Crawls, batches and other runs.
    pub runs: Runs,
    /// Monitors.
    pub monitors: Monitors,
    /// Browser sessions.
    pub sessions: Sessions,
    pub(crate) upkeep: UpkeepSettings,
}

/// Parts of [`Operations`].
pub struct Parts {
    /// State that all operations share.
    pub core: kernel::Parts,
    /// Parts of scraping.
    pub scraping: scraping::Parts,
    /// Parts of the index of pages.
    pub index: IndexParts,
    /// Parts of searches.
    pub searches: searches::Parts,
    /// Settings of monitors.
    pub monitors: MonitorSettings,
    /// Mail server; `None` where none is set.
    pub mail: Option<MailParts>,
    /// Parts of browser sessions.
    pub sessions: sessions::Parts,
    /// Settings of upkeep.
    pub upkeep: UpkeepSettings,
}

/// Parts of the index of pages.
pub struct IndexParts {
    /// Readers of the texts of PDF and office files.
    pub documents: Option<Arc<Pool>>,
    /// Folder that it has for itself.
    pub folder: PathBuf,
    /// Settings of the operator.
    pub settings: IndexingSettings,
}

impl Operations {
    /// Assembles the service. Nothing is read or written yet.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let Parts { core, scraping, index, searches, monitors, mail, sessions, upkeep } = parts;
        let app = App::new(core);
        let scraper = Scraper::new(app.clone(), scraping);
        let indexing = Indexing::new(indexing::Parts {
            cache: scraper.cache().clone(),
            cpu: scraper.tools().cpu.clone(),
            clock: Arc::clone(app.clock()),
            documents: index.documents,
            folder: index.folder,
            settings: index.settings,
        });
        let searches = Searches::new(scraper.clone(), indexing.clone(), searches);
        let runs = Runs::new(scraper.clone(), kinds(&scraper));
        let search = Some(Arc::new(SearchesOfMonitors(searches.clone())) as Arc<dyn monitors::WebSearch>);
        let monitors = Monitors::new(monitors::Parts { runs: runs.clone(), search, mail, settings: monitors });
        let sessions = Sessions::new(scraper.clone(), sessions);
        Self { app, scraper, indexing, searches, runs, monitors, sessions, upkeep }
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
pub(crate) fn kinds(scraper: &Scraper) -> Vec<RunKind> {
    let has_model = scraper.tools().answers.as_ref().is_some_and(|answers| answers.model().is_some());
    let of_calls =
        [RunKind::of_pages(&crawl::KIND, crawl::Pages::default()), RunKind::of_pages(&batch::KIND, batch::PlainPages)];
    of_calls.into_iter().chain(monitors::kinds(has_model)).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use base::{Secret, SystemClock};
    use interact::Interact;
    use store::Store;
    use tempfile::TempDir;
    use tokio_util::task::TaskTracker;

    use super::*;

    /// Assembles all operations on a database of their own, without a browser.
    pub(crate) async fn operations() -> (Operations, TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/quarry.db", folder.path().display());
        let store = Store::open(&url, store::Options::default()).await.unwrap();
        let client = net::Client::new(net::Config::default()).unwrap();
        let (clock, cpu) = (Arc::new(SystemClock), cpu::Cpu::new(2));
        let core = kernel::Parts {
            site: site::Site::new(client.clone(), Vec::new(), store.clone(), clock.clone(), cpu.clone()),
            store,
            client,
            blobs: blobs::Blobs::open(&format!("file://{}/blobs", folder.path().display())).unwrap(),
            clock,
            settings: kernel::Settings::default(),
            active: kernel::Active::default(),
            waker: kernel::Waker::default(),
            tracker: TaskTracker::new(),
        };
        let scraping = scraping::Parts {
            tools: scrape::Tools::new(Vec::new(), cpu),
            capabilities: Capabilities::default(),
            cache: cache::CacheSettings::default(),
            profile_key: Secret::default(),
            remembers: false,
        };
        let code = interact::Settings { program: None, user: None, places: 1 };
        let (interact, settings) = (Arc::new(Interact::new(code)), sessions::SessionSettings::default());
        let sessions = sessions::Parts { browser: None, interact, settings };
        let settings = indexing::IndexingSettings::default();
        let index = IndexParts { documents: None, folder: folder.path().join("index"), settings };
        let (searches, upkeep) = (searches::Parts::default(), UpkeepSettings::default());
        let operations = Operations::new(Parts {
            core,
            scraping,
            index,
            searches,
            monitors: MonitorSettings::default(),
            mail: None,
            sessions,
            upkeep,
        });
        operations.app.bootstrap().await.unwrap();
        (operations, folder)
    }
}
