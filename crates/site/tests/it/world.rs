//! A reachable site, and a database in a temporary folder.

use std::sync::Arc;
use std::time::Duration;

use cpu::Cpu;
use net::{Allow, Client, Config, Egress, Limits};
use store::Store;
use tempfile::TempDir;
use testkit::{ManualClock, Site};

pub(crate) const DAY: Duration = Duration::from_secs(86_400);

pub(crate) struct World {
    /// Access under test.
    pub(crate) ours: site::Site,
    /// Origin that it asks.
    pub(crate) site: Site,
    pub(crate) clock: ManualClock,
    folder: TempDir,
}

impl World {
    pub(crate) async fn start() -> Self {
        Self::on(Site::start().await).await
    }

    /// Creates a world with an existing origin.
    pub(crate) async fn on(site: Site) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = ManualClock::default();
        let ours = open(&folder, &site, &clock).await;
        Self { ours, site, clock, folder }
    }

    /// Opens a second process on the same data.
    pub(crate) async fn another(&self) -> site::Site {
        open(&self.folder, &self.site, &self.clock).await
    }

    /// Returns how often the origin was asked.
    pub(crate) fn asked(&self) -> usize {
        self.site.requests().len()
    }

    /// Whether a text is in any file of the database.
    pub(crate) fn stored(&self, text: &str) -> bool {
        std::fs::read_dir(self.folder.path()).unwrap().any(|entry| {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            bytes.windows(text.len()).any(|window| window == text.as_bytes())
        })
    }
}

async fn open(folder: &TempDir, site: &Site, clock: &ManualClock) -> site::Site {
    let egress = Egress { allow: vec![Allow::Address(site.addr())], ..Egress::default() };
    let client = Client::new(Config { egress, limits: Limits::default() }).unwrap();
    let url = format!("sqlite://{}/quarry.db", folder.path().display());
    let store = Store::open(&url, store::Options::default()).await.unwrap();
    store.migrate().await.unwrap();
    site::Site::new(client, Vec::new(), store, Arc::new(clock.clone()), Cpu::new(2))
}
