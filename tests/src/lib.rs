//! The whole service in one process, with a site on loopback to scrape, for the tests in `it/`.

mod client;
mod ending;
pub mod openapi;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::thread;

use boot::config::{AuthMode, Config};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::{Dns, ModelServer, Site};
use tokio::runtime::{Builder, Runtime};

pub use client::{Answer, Client};

use ending::{Allowed, Errors};

/// The operator's token of every test service.
pub const ADMIN_TOKEN: &str = "operator-token-of-the-tests";

/// A running service with its own database, blobs, site and resolver. Everything ends when it is dropped.
///
/// A test fails at its end when its service has a job that nobody cancelled, credits that are still reserved, or an
/// error in its log. A test that leaves such things on purpose says so: [`TestApp::leaves_jobs`],
/// [`TestApp::logs_errors`].
pub struct TestApp {
    /// Site that the egress guard admits, as `http://site.test:<port>`.
    pub site: Site,
    /// DNS server that answers `site.test` with the site's address, and nothing else.
    pub dns: Dns,
    running: Option<quarry_server::Running>,
    address: SocketAddr,
    data: TempDir,
    /// Runtime of service, site and resolver, which keep running while the test's own thread waits for their end.
    runtime: Option<Runtime>,
    /// Whether the database is not shared.
    own_database: bool,
    allowed: Allowed,
    errors: Errors,
}

impl TestApp {
    /// Starts a service in `open` mode.
    pub async fn start() -> Self {
        Self::with(|_| ()).await
    }

    /// A service whose settings are changed before it starts.
    ///
    /// # Panics
    /// When the service does not start.
    #[expect(clippy::expect_used, reason = "a test that cannot start its service has failed")]
    pub async fn with(change: impl FnOnce(&mut Config)) -> Self {
        let errors = Errors::default();
        let listening = errors.clone();
        let mut runtime = Builder::new_multi_thread();
        runtime.worker_threads(2).enable_all().on_thread_start(move || listening.listen());
        let runtime = runtime.build().expect("a runtime");
        let site = runtime.spawn(Site::start()).await.expect("a site");
        let dns = runtime.spawn(Dns::start()).await.expect("a resolver");
        dns.set("site.test", site.addr().ip().into());
        let data = tempfile::tempdir().expect("a temporary folder");
        let mut config = Config::default();
        config.server.listen = "127.0.0.1:0".parse().expect("an address");
        config.data.dir = data.path().to_path_buf();
        config.egress.allow = vec![site.addr().to_string().parse().expect("an address and port")];
        config.egress.resolvers = vec![dns.addr()];
        // The test program cannot be started again for callers' code.
        config.sessions.code_processes = false;
        config.admin.token = base::Secret::new(ADMIN_TOKEN);
        // Most tests expect a server without a browser; the others enable it.
        config.browser.enabled = false;
        config.documents.enabled = false;
        config.documents.reader = reader();
        change(&mut config);
        let own_database = config.store.url.expose().is_empty() && config.data.dir == data.path();
        let running = runtime.spawn(quarry_server::start(config)).await.expect("no panic").expect("the service starts");
        let address = running.address;
        let (running, runtime) = (Some(running), Some(runtime));
        Self { site, dns, running, address, data, runtime, own_database, allowed: Allowed::default(), errors }
    }

    /// Starts a service in mode `keys`.
    pub async fn with_keys() -> Self {
        Self::with(|config| config.auth.mode = AuthMode::Keys).await
    }

    /// A service in `open` mode with this model, which is called once per question. Further settings are changed before
    /// it starts.
    ///
    /// # Panics
    /// When the service does not start.
    pub async fn with_model(model: &ModelServer, change: impl FnOnce(&mut Config)) -> Self {
        let url = model.url("/v1");
        Self::with(|config| {
            (config.llm.url, config.llm.model, config.llm.attempts) = (Some(url), "small".to_owned(), 1);
            change(config);
        })
        .await
    }

    /// Starts a service in `open` mode with a browser.
    pub async fn with_browser() -> Self {
        Self::with(|config| config.browser.enabled = true).await
    }

    /// Starts a service in mode `keys` that reads documents, with the reader built with the tests.
    pub async fn with_documents() -> Self {
        Self::with(|config| {
            config.auth.mode = AuthMode::Keys;
            config.documents.enabled = true;
        })
        .await
    }

    /// Returns a caller without a key.
    pub fn anonymous(&self) -> Client {
        Client::new(self.address, None)
    }

    /// Returns a caller with this bearer token.
    pub fn bearer(&self, token: &str) -> Client {
        Client::new(self.address, Some(token.to_owned()))
    }

    /// Returns the operator.
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

    /// Returns the URL of a page of the site, with its name.
    pub fn page(&self, path: &str) -> String {
        format!("http://site.test:{}{path}", self.site.addr().port())
    }

    /// Returns the listening address of the service.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The operations behind the routes, for what no route does.
    ///
    /// # Panics
    /// When the service was stopped.
    #[expect(clippy::expect_used, reason = "a test without its service has failed")]
    pub fn operations(&self) -> &app::Operations {
        self.running.as_ref().expect("a running service").operations()
    }

    /// Returns the data folder.
    pub fn data(&self) -> &Path {
        self.data.path()
    }

    /// Stops the service, and waits until it has ended.
    pub async fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop().await;
        }
    }

    /// Allows unfinished jobs and their reservations at the end of the test.
    pub fn leaves_jobs(&self) {
        self.allowed.jobs.store(true, Ordering::Relaxed);
        self.allowed.reservations.store(true, Ordering::Relaxed);
    }

    /// Allows logged errors in this test.
    pub fn logs_errors(&self) {
        self.allowed.errors.store(true, Ordering::Relaxed);
    }
}

impl Drop for TestApp {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        let data = self.own_database.then(|| self.data.path());
        let faults = || runtime.block_on(ending::faults(data, &self.allowed, &self.errors));
        // A test that has already failed has reported why. The check runs in a new thread, because the dropping thread
        // may belong to a runtime, where blocking is not allowed.
        let faults = match thread::panicking() {
            true => String::new(),
            false => thread::scope(|scope| {
                scope.spawn(faults).join().unwrap_or_else(|_| "nobody could look at what it left".to_owned())
            }),
        };
        runtime.shutdown_background();
        assert!(faults.is_empty(), "the service of this test is not done:\n{faults}");
    }
}

/// Returns the path of the document reader of tests, one of our examples; `None` if only tests were built.
fn reader() -> Option<std::path::PathBuf> {
    let tests = std::env::current_exe().ok()?;
    Some(tests.ancestors().nth(2)?.join("examples/read_documents")).filter(|path| path.is_file())
}
