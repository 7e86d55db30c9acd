//! A scraper without an engine, for tests.

use std::sync::Arc;

use ::scrape::{Cpu, Tools};
use base::{Secret, SystemClock};
use cache::CacheSettings;
use kernel::App;
use kernel::auth::{Caller, authenticate};
use store::Store;
use tempfile::TempDir;
use tokio_util::task::TaskTracker;
use wire::Capabilities;

use crate::{Parts, Scraper};

/// Creates a scraper with a database of its own, and a caller without a credit limit.
pub(crate) async fn scraper() -> (Scraper, Caller, TempDir) {
    let (app, caller, folder) = app().await;
    let parts = Parts {
        tools: Tools::new(Vec::new(), Cpu::new(2)),
        capabilities: Capabilities::default(),
        cache: CacheSettings::default(),
        profile_key: Secret::default(),
        remembers: false,
    };
    (Scraper::new(app, parts), caller, folder)
}

/// Creates an app with a database of its own, and a caller without a credit limit.
async fn app() -> (App, Caller, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}/quarry.db", folder.path().display());
    let store = Store::open(&url, store::Options::default()).await.unwrap();
    let client = net::Client::new(net::Config::default()).unwrap();
    let clock = Arc::new(SystemClock);
    let app = App::new(kernel::Parts {
        site: site::Site::new(client.clone(), Vec::new(), store.clone(), clock.clone(), Cpu::new(2)),
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
