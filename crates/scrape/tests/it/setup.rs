//! Shortcuts of the tests.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use fetch::{Fetched, HttpEngine, Proxies};
use scrape::{Cpu, Derived, ScrapeError, Target, Tools};
use testkit::Site;
use tokio::sync::RwLock;
use tokio::time::Instant;
use url::Url;
use wire::{Document, Format, ScrapeOptions};

/// Fail points are global: the test that panics waits until no other derives, and keeps the others out.
pub(crate) static QUIET: RwLock<()> = RwLock::const_new(());

/// Tools that may reach these sites on loopback.
pub(crate) fn tools(sites: &[&Site]) -> Tools {
    let allow = sites.iter().map(|site| site.addr().to_string().parse().unwrap()).collect();
    let config = net::Config { egress: net::Egress { allow, ..net::Egress::default() }, ..net::Config::default() };
    let engine = HttpEngine::new(net::Client::new(config).unwrap(), Proxies::default());
    Tools { engines: vec![Arc::new(engine)], cpu: Cpu::new(2) }
}

pub(crate) fn options(formats: Vec<Format>) -> ScrapeOptions {
    ScrapeOptions { formats, ..ScrapeOptions::default() }
}

pub(crate) fn target(url: Url, options: ScrapeOptions) -> Target {
    let deadline = Instant::now() + Duration::from_secs(10);
    Target { owner: "team".to_owned(), ..Target::new(url, Arc::new(options), deadline) }
}

pub(crate) async fn run(site: &Site, path: &str, options: ScrapeOptions) -> Result<Derived, ScrapeError> {
    run_with(&tools(&[site]), target(site.url(path), options)).await
}

pub(crate) async fn run_with(tools: &Tools, target: Target) -> Result<Derived, ScrapeError> {
    let _quiet = QUIET.read().await;
    let fetched = scrape::fetch(tools, &target).await?;
    scrape::derive(tools, &target, fetched).await
}

/// The document of a body that is at hand, from `http://a.test/`.
pub(crate) async fn document(
    status: u16,
    content_type: &str,
    body: &[u8],
    options: ScrapeOptions,
) -> Result<Document, ScrapeError> {
    let _quiet = QUIET.read().await;
    let target = target("http://a.test/".parse().unwrap(), options);
    let content_type = (!content_type.is_empty()).then(|| content_type.to_owned());
    let fetched = Fetched::new(target.url.clone(), status, content_type, bytes::Bytes::copy_from_slice(body));
    Ok(scrape::derive(&tools(&[]), &target, fetched).await?.document)
}

pub(crate) async fn page(content_type: &str, body: &str, options: ScrapeOptions) -> Result<Document, ScrapeError> {
    document(200, content_type, body.as_bytes(), options).await
}

pub(crate) fn decoded(base64: &str) -> Vec<u8> {
    base64::engine::general_purpose::STANDARD.decode(base64).unwrap()
}
