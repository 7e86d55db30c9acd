//! Crawls that read nothing, for tests.

use std::sync::Arc;

use ::runs::{RunKind, Runs};
use base::{Secret, SystemClock};
use kernel::App;
use kernel::auth::{Caller, authenticate};
use scraping::Scraper;
use store::Store;
use tempfile::TempDir;
use tokio_util::task::TaskTracker;
use wire::Capabilities;

use crate::crawl::{KIND, Pages};

/// Returns crawls on a database of their own, and a caller without a credit limit.
pub(crate) async fn crawls() -> (Runs, Caller, TempDir) {
    let (app, caller, folder) = app().await;
    let parts = scraping::Parts {
        tools: scrape::Tools::new(Vec::new(), scrape::Cpu::new(2)),
        capabilities: Capabilities::default(),
        cache: cache::CacheSettings::default(),
        profile_key: Secret::default(),
        remembers: false,
    };
    let kinds = vec![RunKind::of_pages(&KIND, Pages::default())];
    (Runs::new(Scraper::new(app, parts), kinds), caller, folder)
}

/// Creates an app with a database of its own, and a caller without a credit limit.
async fn app() -> (App, Caller, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}/quarry.db", folder.path().display());
    let store = Store::open(&url, store::Options::default()).await.unwrap();
    let client = net::Client::new(net::Config::default()).unwrap();
    let clock = Arc::new(SystemClock);
    let app = App::new(kernel::Parts {
        site: site::Site::new(client.clone(), Vec::new(), store.clone(), clock.clone(), scrape::Cpu::new(2)),
        store,
        client,
        blobs: blobs::Blobs::open(&format!("file://{}/blobs", folder.path().display())).unwrap(),
        clock,
        settings: kernel::Settings::default(),
        active: kernel::Active::default(),
        waker: kernel::Waker::default(),
        tracker: TaskTracker::new(),
    });
    app.bootstrap().await.unwrap();
    let caller = authenticate(&app, None).await.unwrap();
    (app, caller, folder)
}
