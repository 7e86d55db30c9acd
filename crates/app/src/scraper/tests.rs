//! A scraper without an engine, for tests.

use base::SystemClock;
use fetch::Engine;
use store::Store;
use tempfile::TempDir;

use super::*;
use crate::auth::{Caller, authenticate};

/// Creates a scraper with a database of its own, and a caller without a credit limit.
pub(crate) async fn scraper() -> (Scraper, Caller, TempDir) {
    let (app, caller, folder) = app().await;
    (scraper_of(&app), caller, folder)
}

/// Creates a scraper that reads nothing.
pub(crate) fn scraper_of(app: &App) -> Scraper {
    scraper_with(app, Vec::new())
}

/// Creates a scraper with these engines.
pub(crate) fn scraper_with(app: &App, engines: Vec<Arc<dyn Engine>>) -> Scraper {
    let tools = Tools { engines, proxies: Arc::default(), cpu: scrape::Cpu::new(2), documents: None };
    let parts = ScrapingParts {
        tools,
        capabilities: Capabilities::default(),
        cache: CacheSettings::default(),
        profile_key: Secret::default(),
        remembers: false,
    };
    Scraper::new(app.clone(), parts)
}

/// Creates an app with a database of its own, and a caller without a credit limit.
pub(crate) async fn app() -> (App, Caller, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}/quarry.db", folder.path().display());
    let store = Store::open(&url, store::Options::default()).await.unwrap();
    let client = net::Client::new(net::Config::default()).unwrap();
    let clock = Arc::new(SystemClock);
    let app = App::new(kernel::Parts {
        site: site::Site::new(client.clone(), Vec::new(), store.clone(), clock.clone(), cpu::Cpu::new(2)),
        store,
        client,
        blobs: blobs::Blobs::open(&format!("file://{}/blobs", folder.path().display())).unwrap(),
        clock,
        settings: crate::Settings::default(),
        active: crate::Active::default(),
        waker: crate::Waker::default(),
        tracker: tokio_util::task::TaskTracker::new(),
    });
    app.bootstrap().await.unwrap();
    let caller = authenticate(&app, None).await.unwrap();
    (app, caller, folder)
}
