//! The whole service in one process, with a site on loopback to scrape, for the tests in `it/`.

mod client;
pub mod openapi;

use std::net::SocketAddr;
use std::path::Path;

use quarry_server::config::{AuthMode, Config};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::{Dns, Site};

pub use client::{Answer, Client};

/// The operator's token of every test service.
pub const ADMIN_TOKEN: &str = "operator-token-of-the-tests";

/// A running service with its own database, blobs, site and resolver. Everything ends when it is dropped.
pub struct TestApp {
    /// The site that the egress guard admits, as `http://site.test:<port>`.
    pub site: Site,
    /// Answers `site.test` with the site's address, and nothing else.
    pub dns: Dns,
    running: Option<quarry_server::Running>,
    address: SocketAddr,
    data: TempDir,
}

impl TestApp {
    /// A service in `open` mode.
    pub async fn start() -> Self {
        Self::with(|_| ()).await
    }

    /// A service whose settings are changed before it starts.
    ///
    /// # Panics
    /// When the service does not start.
    #[expect(clippy::expect_used, reason = "a test that cannot start its service has failed")]
    pub async fn with(change: impl FnOnce(&mut Config)) -> Self {
        let site = Site::start().await;
        let dns = Dns::start().await;
        dns.set("site.test", site.addr().ip().into());
        let data = tempfile::tempdir().expect("a temporary folder");
        let mut config = Config::default();
        config.server.listen = "127.0.0.1:0".parse().expect("an address");
        config.data.dir = data.path().to_path_buf();
        config.egress.allow = vec![site.addr().to_string().parse().expect("an address and port")];
        config.egress.resolvers = vec![dns.addr()];
        config.admin.token = base::Secret::new(ADMIN_TOKEN);
        change(&mut config);
        let running = quarry_server::start(config).await.expect("the service starts");
        let address = running.address;
        Self { site, dns, running: Some(running), address, data }
    }

    /// A service that wants keys.
    pub async fn with_keys() -> Self {
        Self::with(|config| config.auth.mode = AuthMode::Keys).await
    }

    /// A caller without a key.
    pub fn anonymous(&self) -> Client {
        Client::new(self.address, None)
    }

    /// A caller with this bearer token.
    pub fn bearer(&self, token: &str) -> Client {
        Client::new(self.address, Some(token.to_owned()))
    }

    /// The operator.
    pub fn operator(&self) -> Client {
        self.bearer(ADMIN_TOKEN)
    }

    /// A new team with `credits` (none: without limit) and a caller with its key.
    ///
    /// # Panics
    /// When the operator API refuses.
    pub async fn team(&self, credits: Option<i64>, flags: Value) -> Client {
        let body = json!({"name": "a team", "credits": credits, "concurrency": 100, "rateLimit": 0, "flags": flags});
        let made = self.operator().post("/admin/teams", &body).await;
        assert_eq!(made.status, 200, "{}", made.body);
        self.bearer(made.body["apiKey"].as_str().unwrap_or_default())
    }

    /// The address of a page of the site, under its name.
    pub fn page(&self, path: &str) -> String {
        format!("http://site.test:{}{path}", self.site.addr().port())
    }

    /// Where the service listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The data folder.
    pub fn data(&self) -> &Path {
        self.data.path()
    }

    /// Stops the service, and waits until it is gone.
    pub async fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop().await;
        }
    }
}
