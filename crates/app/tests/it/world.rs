//! One service in a folder of its own, with an origin that it may fetch from and a clock to turn.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use app::auth::{Caller, authenticate};
use app::{Active, App, AppError, Parts, Settings, Web, scrape::scrape, teams};
use billing::Balance;
use blobs::Blobs;
use fetch::{Engine, HttpEngine, Proxies};
use net::{Allow, Client, Config, Egress, Limits};
use store::Store;
use tempfile::TempDir;
use testkit::{ManualClock, Site};
use tokio_util::task::TaskTracker;
use wire::{CreateTeam, Document, ScrapeOptions, ScrapeRequest, TeamFlags};

pub(crate) const DAY: Duration = Duration::from_secs(86_400);

pub(crate) struct World {
    pub(crate) app: App,
    pub(crate) site: Site,
    pub(crate) clock: ManualClock,
    folder: TempDir,
}

impl World {
    pub(crate) async fn start() -> Self {
        Self::with(Settings::default()).await
    }

    pub(crate) async fn with(settings: Settings) -> Self {
        Self::on(Site::start().await, settings).await
    }

    /// With an origin that is there already.
    pub(crate) async fn on(site: Site, settings: Settings) -> Self {
        crate::log::capture();
        let folder = tempfile::tempdir().unwrap();
        let clock = ManualClock::default();
        let app = open(folder.path(), &site, &clock, settings).await;
        Self { app, site, clock, folder }
    }

    /// A second process on the same data.
    pub(crate) async fn another(&self, settings: Settings) -> App {
        open(self.folder.path(), &self.site, &self.clock, settings).await
    }

    /// A new team and its key; `None` credits are without limit.
    pub(crate) async fn team(&self, credits: Option<i64>) -> Caller {
        self.team_with(credits, TeamFlags::default()).await
    }

    pub(crate) async fn team_with(&self, credits: Option<i64>, flags: TeamFlags) -> Caller {
        let request = CreateTeam { name: "team".into(), credits, concurrency: None, rate_limit: None, flags };
        let created = teams::create(&self.app, request).await.unwrap();
        authenticate(&self.app, Some(&created.api_key)).await.unwrap()
    }

    pub(crate) fn request(&self, path: &str) -> ScrapeRequest {
        ScrapeRequest::new(self.site.url(path))
    }

    pub(crate) async fn scrape(&self, caller: &Caller, path: &str) -> Result<Document, AppError> {
        scrape(&self.app, caller, self.request(path)).await
    }

    pub(crate) async fn scrape_with(
        &self,
        caller: &Caller,
        path: &str,
        options: ScrapeOptions,
    ) -> Result<Document, AppError> {
        scrape(&self.app, caller, ScrapeRequest { options, ..self.request(path) }).await
    }

    pub(crate) async fn balance(&self, caller: &Caller) -> Balance {
        store::ledger::balance(&mut self.app.store.conn().await.unwrap(), &caller.team.id).await.unwrap()
    }

    /// How often the origin was asked.
    pub(crate) fn asked(&self) -> usize {
        self.site.requests().len()
    }

    /// Every file of the service and what is in it.
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

    /// Bodies in the blob store.
    pub(crate) fn bodies(&self) -> Vec<PathBuf> {
        let blobs = self.folder.path().join("blobs");
        self.files().into_iter().map(|(path, _)| path).filter(|path| path.starts_with(&blobs)).collect()
    }
}

async fn open(folder: &Path, site: &Site, clock: &ManualClock, settings: Settings) -> App {
    let allow = vec![Allow::Address(site.addr())];
    let egress = Egress { allow, ..Egress::default() };
    let client = Client::new(Config { egress, limits: Limits::default() }).unwrap();
    let engine: Arc<dyn Engine> = Arc::new(HttpEngine::new(client.clone(), Proxies::default()));
    let folder = folder.display();
    let app = App::new(Parts {
        store: Store::open(&format!("sqlite://{folder}/quarry.db"), store::Options::default()).await.unwrap(),
        blobs: Blobs::open(&format!("file://{folder}/blobs")).unwrap(),
        tools: ::scrape::Tools { engines: vec![engine], cpu: ::scrape::Cpu::new(2) },
        clock: Arc::new(clock.clone()),
        settings,
        active: Active::default(),
        changes: app::Changes::default(),
        waker: app::Waker::default(),
        web: Web::new(client, Vec::new()),
        tracker: TaskTracker::new(),
    });
    app.bootstrap().await.unwrap();
    app
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
