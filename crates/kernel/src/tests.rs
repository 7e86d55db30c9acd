//! An app on a database of its own, for tests.

use std::sync::Arc;

use base::SystemClock;
use blobs::Blobs;
use site::Site;
use store::Store;
use tempfile::TempDir;
use tokio_util::task::TaskTracker;

use crate::auth::{Caller, authenticate};
use crate::{Active, App, Parts, Settings, Waker};

/// Creates an app with a database of its own, and a caller without a credit limit.
pub(crate) async fn app() -> (App, Caller, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}/quarry.db", folder.path().display());
    let store = Store::open(&url, store::Options::default()).await.unwrap();
    let client = net::Client::new(net::Config::default()).unwrap();
    let clock = Arc::new(SystemClock);
    let app = App::new(Parts {
        site: Site::new(client.clone(), Vec::new(), store.clone(), clock.clone(), cpu::Cpu::new(2)),
        store,
        client,
        blobs: Blobs::open(&format!("file://{}/blobs", folder.path().display())).unwrap(),
        clock,
        settings: Settings::default(),
        active: Active::default(),
        waker: Waker::default(),
        tracker: TaskTracker::new(),
    });
    app.bootstrap().await.unwrap();
    let caller = authenticate(&app, None).await.unwrap();
    (app, caller, folder)
}
