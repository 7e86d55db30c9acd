//! The parts of the service for webhooks, without the rest: store, queue, guarded client.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use app::webhooks::{Deliver, Hook, Source, emit_all};
use base::{Clock, new_id};
use net::{Allow, Client, Config, Egress, Limits};
use queue::{Settings, Worker};
use store::teams::{self, Team};
use store::webhooks::{self as rows, Logged};
use store::{Conn, Options, Store, StoreError};
use testkit::Site;
use tokio_util::sync::{CancellationToken, DropGuard};
use url::Url;
use webhooks::{Event, SigningSecret};
use wire::WebhookConfig;

use super::Database;
use crate::db::Cluster;

/// Environment of a simulation. Dropping it ends everything.
pub(super) struct Stage {
    store: Store,
    clock: Arc<dyn Clock>,
    client: Client,
    working: Option<DropGuard>,
    _folder: Option<tempfile::TempDir>,
    _cluster: Option<Cluster>,
}

impl Stage {
    /// Starts the environment with a worker that delivers.
    pub(super) async fn start(database: Database, clock: Arc<dyn Clock>, sites: &[&Site]) -> Result<Self> {
        let mut stage = Self::idle(database, clock, sites).await?;
        stage.work();
        Ok(stage)
    }

    /// Starts the environment without a worker. Only these sites may be reached.
    pub(super) async fn idle(database: Database, clock: Arc<dyn Clock>, sites: &[&Site]) -> Result<Self> {
        let (folder, cluster, url) = match database {
            Database::Sqlite => {
                let folder = tempfile::tempdir()?;
                let url = format!("sqlite://{}/sim.db", folder.path().display());
                (Some(folder), None, url)
            }
            Database::Postgres => {
                let cluster = Cluster::start()?;
                let url = cluster.url();
                (None, Some(cluster), url)
            }
        };
        let store = Store::open(&url, Options::default()).await?;
        store.migrate().await?;
        let allow = sites.iter().map(|site| Allow::Address(site.addr())).collect();
        let egress = Egress { allow, ..Egress::default() };
        let client = Client::new(Config { egress, limits: Limits::default() })?;
        Ok(Self { store, clock, client, working: None, _folder: folder, _cluster: cluster })
    }

    /// Starts a worker.
    pub(super) fn work(&mut self) {
        let settings = Settings { poll: Duration::from_millis(5), ..Settings::default() };
        let deliver = Deliver::new(self.store.clone(), Arc::clone(&self.clock), self.client.clone());
        let stop = CancellationToken::new();
        let worker = Worker::new(self.store.clone(), Arc::clone(&self.clock), settings).with(deliver);
        tokio::spawn(worker.run(stop.clone()));
        self.working = Some(stop.drop_guard());
    }

    /// Creates a team.
    pub(super) async fn team(&self) -> Result<String> {
        let id = new_id().to_string();
        teams::create(&mut self.store.conn().await?, &Team::new(id.clone(), "sim", self.clock.now())).await?;
        Ok(id)
    }

    /// Emits events of a job to a receiver, in one transaction.
    pub(super) async fn emit(&self, team: &str, job: &str, receiver: &Url, events: &[Event<'_>]) -> Result<()> {
        let config = WebhookConfig::new(&wire::event::CRAWL, receiver.clone());
        let hook = Hook::check(Some(&config), false)?.context("a hook was asked for")?;
        let now = self.clock.now();
        let mut conn = self.store.conn().await?;
        let write = async |conn: &mut Conn| -> Result<(), StoreError> {
            emit_all(conn, &hook, Source { team, job }, events, now).await
        };
        Ok(conn.tx(write).await?)
    }

    /// Returns the newest deliveries of a team.
    pub(super) async fn log(&self, team: &str) -> Result<Vec<Logged>> {
        Ok(rows::list(&mut self.store.conn().await?, team, None, None, 100).await?)
    }

    /// Returns the signing secret of a team.
    pub(super) async fn secret(&self, team: &str) -> Result<SigningSecret> {
        let secrets = rows::secrets(&mut self.store.conn().await?, team, self.clock.now()).await?;
        let secrets = secrets.context("nothing was ever signed")?;
        Ok(SigningSecret::parse(secrets.current.expose())?)
    }
}
