//! Test service in a folder of its own, with an origin that it may fetch from and a manual clock.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use app::auth::{Caller, authenticate};
use app::{
    Active, App, CacheSettings, CoreParts, Operations, Runs, Scraper, ScrapingError, Settings, UpkeepSettings,
    scrape::scrape, teams,
};
use billing::Balance;
use blobs::Blobs;
use fetch::{Engine, HttpEngine};
use net::{Allow, Client, Config, Egress, Limits};
use store::Store;
use tempfile::TempDir;
use testkit::{ManualClock, Site};
use tokio::runtime::{Builder, Handle, RuntimeFlavor};
use tokio_util::task::TaskTracker;
use wire::{Capabilities, CreateTeam, Document, ModelLimits, ScrapeOptions, ScrapeRequest, TeamFlags};

pub(crate) const DAY: Duration = Duration::from_secs(86_400);

/// Service under test. On drop, the test fails if a job or a reservation is left, or if an error was logged; a test
/// that expects this declares it.
pub(crate) struct World {
    pub(crate) operations: Operations,
    /// State that the operations share.
    pub(crate) app: App,
    pub(crate) scraper: Scraper,
    pub(crate) runs: Runs,
    /// Parts of the service.
    pub(crate) parts: CoreParts,
    pub(crate) site: Site,
    pub(crate) clock: ManualClock,
    folder: TempDir,
    /// URL of the database; `None` for SQLite in the folder.
    database: Option<String>,
    leaves_jobs: AtomicBool,
}

impl World {
    pub(crate) async fn start() -> Self {
        Self::with(Settings::default()).await
    }

    pub(crate) async fn with(settings: Settings) -> Self {
        Self::with_cache(settings, CacheSettings::default()).await
    }

    /// Starts a service on an empty PostgreSQL database; `None` for SQLite.
    pub(crate) async fn on(database: Option<String>) -> Self {
        Self::given(Given { database, ..Given::default() }).await
    }

    /// Starts a service with these settings of the page cache.
    pub(crate) async fn with_cache(settings: Settings, cache: CacheSettings) -> Self {
        Self::given(Given { settings, cache, ..Given::default() }).await
    }

    async fn given(given: Given) -> Self {
        crate::log::capture();
        let site = Site::start().await;
        let folder = tempfile::tempdir().unwrap();
        let clock = ManualClock::default();
        let database = given.database.clone();
        let (operations, parts) = open(folder.path(), &site, &clock, given).await;
        let Operations { app, scraper, runs, .. } = operations.clone();
        let leaves_jobs = AtomicBool::new(false);
        Self { operations, app, scraper, runs, parts, site, clock, folder, database, leaves_jobs }
    }

    /// Parts of another service on the same data.
    fn same(&self) -> Given {
        Given { database: self.database.clone(), ..Given::default() }
    }

    /// Declares that the test ends with unfinished jobs and their reservations.
    pub(crate) fn leaves_jobs(&self) {
        self.leaves_jobs.store(true, Ordering::Relaxed);
    }

    /// Starts a second service on the same data.
    pub(crate) async fn another(&self, settings: Settings) -> Operations {
        open(self.folder.path(), &self.site, &self.clock, Given { settings, ..self.same() }).await.0
    }

    /// Starts a second service on the same data, with these capabilities.
    pub(crate) async fn able(&self, capabilities: Capabilities) -> Operations {
        open(self.folder.path(), &self.site, &self.clock, Given { capabilities, ..self.same() }).await.0
    }

    /// Starts a second service on the same data, with a language model that extracts values.
    pub(crate) async fn extracting(&self, extract: Arc<dyn ::scrape::Extract>) -> Operations {
        let capabilities = [wire::Capability::Model].into_iter().collect();
        let given = Given { capabilities, extract: Some(extract), ..self.same() };
        open(self.folder.path(), &self.site, &self.clock, given).await.0
    }

    /// Starts a second service on the same data, with a language model that judges.
    pub(crate) async fn judging(&self, answers: Option<Arc<answers::Answers>>) -> Operations {
        open(self.folder.path(), &self.site, &self.clock, Given { answers, ..self.same() }).await.0
    }

    /// Creates a team and its key; without `credits` it has no limit.
    pub(crate) async fn team(&self, credits: Option<i64>) -> Caller {
        self.team_with(credits, TeamFlags::default()).await
    }

    pub(crate) async fn team_with(&self, credits: Option<i64>, flags: TeamFlags) -> Caller {
        let request = CreateTeam {
            name: "team".into(),
            credits,
            concurrency: None,
            rate_limit: None,
            flags,
            addresses: Vec::new(),
            model_limits: ModelLimits::default(),
            max_monitors: None,
            partner_grant: None,
            alert_emails: Vec::new(),
            chat_channels: Vec::new(),
        };
        let created = teams::create(&self.app, request).await.unwrap();
        authenticate(&self.app, Some(&created.api_key)).await.unwrap()
    }

    pub(crate) fn request(&self, path: &str) -> ScrapeRequest {
        ScrapeRequest::new(self.site.url(path))
    }

    pub(crate) async fn scrape(&self, caller: &Caller, path: &str) -> Result<Document, ScrapingError> {
        scrape(&self.scraper, caller, self.request(path)).await
    }

    pub(crate) async fn scrape_with(
        &self,
        caller: &Caller,
        path: &str,
        options: ScrapeOptions,
    ) -> Result<Document, ScrapingError> {
        scrape(&self.scraper, caller, ScrapeRequest { options, ..self.request(path) }).await
    }

    pub(crate) async fn balance(&self, caller: &Caller) -> Balance {
        store::ledger::balance(&mut self.parts.store.conn().await.unwrap(), &caller.team.id).await.unwrap()
    }

    /// Returns the number of requests to the origin.
    pub(crate) fn asked(&self) -> usize {
        self.site.requests().len()
    }

    /// Returns all files of the service with their contents.
    pub(crate) fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        read_folder(self.folder.path(), &mut files);
        files
    }

    /// Whether a text is in any file or file name.
    pub(crate) fn stored(&self, text: &str) -> bool {
        self.files().iter().any(|(path, bytes)| {
            let in_name = path.to_string_lossy().contains(text);
            in_name || bytes.windows(text.len()).any(|window| window == text.as_bytes())
        })
    }

    /// Returns the total size of the bodies in the cache, each counted once.
    pub(crate) async fn cached_bytes(&self) -> i64 {
        store::cache::bytes(&mut self.parts.store.conn().await.unwrap()).await.unwrap()
    }

    /// Returns the bodies in the blob store.
    pub(crate) fn bodies(&self) -> Vec<PathBuf> {
        let blobs = self.folder.path().join("blobs");
        self.files().into_iter().map(|(path, _)| path).filter(|path| path.starts_with(&blobs)).collect()
    }
}

/// Returns a page too large for a database row even when compressed.
pub(crate) fn large(text: &str) -> String {
    let mut state = 1_u64;
    let mut letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 "[(state >> 33) as usize % 63])
    };
    format!("<p>{text}</p><p>{}</p>", (0..120_000).map(|_| letter()).collect::<String>())
}

impl Drop for World {
    fn drop(&mut self) {
        if thread::panicking() {
            return;
        }
        // Work in progress finishes only if other threads run the test's tasks while this one waits.
        let flavour = Handle::try_current().map(|own| own.runtime_flavor());
        let patience = if flavour.is_ok_and(|own| own == RuntimeFlavor::CurrentThread) { 0 } else { 5000 };
        let url = self.database.clone().unwrap_or_else(|| sqlite(self.folder.path()));
        let look = || left_in(&url, Duration::from_millis(patience));
        let mut left = match self.leaves_jobs.load(Ordering::Relaxed) {
            true => String::new(),
            false => thread::scope(|scope| scope.spawn(look).join().unwrap()),
        };
        left += &crate::log::unexpected_errors();
        assert!(left.is_empty(), "the service of this test is not done:\n{left}");
    }
}

/// Returns the jobs and reservations that remain after `patience`, using a runtime of its own.
fn left_in(url: &str, patience: Duration) -> String {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store =
            Store::open(url, store::Options { connections: Some(1), ..store::Options::default() }).await.unwrap();
        let started = Instant::now();
        loop {
            let left = look(&store).await;
            if left.is_empty() || started.elapsed() >= patience {
                return left;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
}

async fn look(store: &Store) -> String {
    let mut conn = store.conn().await.unwrap();
    let jobs = store::jobs::list(&mut conn, store::jobs::Filter::default(), None, 10).await.unwrap();
    let mut left: String =
        jobs.iter().map(|job| format!("a {} is left (World::leaves_jobs allows it)\n", job.kind)).collect();
    for team in store::teams::list(&mut conn, None, 1000).await.unwrap() {
        let reserved = store::ledger::balance(&mut conn, &team.id).await.unwrap().reserved;
        if reserved != 0 {
            left += &format!("{reserved} credits of {} are reserved (World::leaves_jobs allows it)\n", team.name);
        }
    }
    left
}

/// Parts of a service that tests choose.
#[derive(Default)]
struct Given {
    database: Option<String>,
    settings: Settings,
    cache: CacheSettings,
    capabilities: Capabilities,
    extract: Option<Arc<dyn ::scrape::Extract>>,
    answers: Option<Arc<answers::Answers>>,
}

fn sqlite(folder: &Path) -> String {
    format!("sqlite://{}/quarry.db", folder.display())
}

async fn open(folder: &Path, site: &Site, clock: &ManualClock, given: Given) -> (Operations, CoreParts) {
    let Given { database, settings, cache, capabilities, extract, answers } = given;
    let database = database.unwrap_or_else(|| sqlite(folder));
    let allow = vec![Allow::Address(site.addr())];
    let egress = Egress { allow, ..Egress::default() };
    let client = Client::new(Config { egress, limits: Limits::default() }).unwrap();
    let engine: Arc<dyn Engine> = Arc::new(HttpEngine::new(client.clone()));
    let index = folder.join("index");
    let folder = folder.display();
    let store = Store::open(&database, store::Options::default()).await.unwrap();
    let cpu = ::scrape::Cpu::new(2);
    let parts = CoreParts {
        site: site::Site::new(client.clone(), Vec::new(), store.clone(), Arc::new(clock.clone()), cpu.clone()),
        store,
        client,
        blobs: Blobs::open(&format!("file://{folder}/blobs")).unwrap(),
        clock: Arc::new(clock.clone()),
        settings,
        active: Active::default(),
        waker: app::Waker::default(),
        tracker: TaskTracker::new(),
    };
    let scraping = app::ScrapingParts {
        tools: ::scrape::Tools { extract, answers, ..::scrape::Tools::new(vec![engine], cpu) },
        capabilities,
        cache,
        profile_key: base::Secret::default(),
        remembers: false,
    };
    let code = interact::Settings { program: None, user: None, places: 1 };
    let sessions = app::SessionParts {
        browser: None,
        interact: Arc::new(interact::Interact::new(code)),
        settings: app::SessionSettings::default(),
    };
    let upkeep = UpkeepSettings { every: Duration::from_millis(5), ..UpkeepSettings::default() };
    let index = app::IndexParts { documents: None, folder: index, settings: app::IndexingSettings::default() };
    let searches = app::SearchParts::default();
    let operations = Operations::new(app::Parts {
        core: parts.clone(),
        scraping,
        index,
        searches,
        monitors: app::MonitorSettings::default(),
        mail: None,
        sessions,
        upkeep,
    });
    operations.app.bootstrap().await.unwrap();
    (operations, parts)
}

fn read_folder(folder: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_folder(&path, files);
        } else {
            let bytes = std::fs::read(&path).unwrap();
            files.push((path, bytes));
        }
    }
}
