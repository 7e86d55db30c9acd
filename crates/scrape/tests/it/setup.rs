//! Helpers for the tests.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use base::Owner;
use base64::Engine as _;
use fetch::{Engine, Feature, FetchError, FetchRequest, Fetched, HttpEngine};
use scrape::{Cpu, Ports, ScrapeError, Scraped, Target, Tools};
use testkit::Site;
use tokio::sync::RwLock;
use tokio::time::Instant;
use url::Url;
use wire::{Document, Format, ScrapeOptions};

/// Lock around global fail points: the test that panics waits until no other derives, and keeps the others out.
pub(crate) static QUIET: RwLock<()> = RwLock::const_new(());

/// Returns tools that may reach these sites on loopback.
pub(crate) fn tools(sites: &[&Site]) -> Tools {
    let allow = sites.iter().map(|site| site.addr().to_string().parse().unwrap()).collect();
    let config = net::Config { egress: net::Egress { allow, ..net::Egress::default() }, ..net::Config::default() };
    let engine = HttpEngine::new(net::Client::new(config).unwrap());
    Tools::new(vec![Arc::new(engine)], Cpu::new(2))
}

/// Engine that returns a fixed page.
struct AtHand(Fetched);

#[async_trait]
impl Engine for AtHand {
    fn name(&self) -> &'static str {
        "at hand"
    }

    fn offers(&self, feature: Feature) -> bool {
        feature != Feature::Scripts
    }

    fn rank(&self) -> u32 {
        0
    }

    async fn fetch(&self, _: &FetchRequest<'_>) -> Result<Fetched, FetchError> {
        Ok(self.0.clone())
    }
}

/// Returns the tools with an engine for this fixed page.
pub(crate) fn with_page(tools: Tools, page: Fetched) -> Tools {
    Tools { engines: vec![Arc::new(AtHand(page))], ..tools }
}

pub(crate) fn options(formats: Vec<Format>) -> ScrapeOptions {
    ScrapeOptions { formats, ..ScrapeOptions::default() }
}

pub(crate) fn target(url: Url, options: ScrapeOptions) -> Target {
    let deadline = Instant::now() + Duration::from_secs(10);
    Target { owner: Owner::of_team("team"), ..Target::new(url, Arc::new(options), deadline) }
}

pub(crate) async fn run(site: &Site, path: &str, options: ScrapeOptions) -> Result<Scraped, ScrapeError> {
    run_with(&tools(&[site]), target(site.url(path), options)).await
}

pub(crate) async fn run_with(tools: &Tools, target: Target) -> Result<Scraped, ScrapeError> {
    let _quiet = QUIET.read().await;
    scrape_alone(tools, target).await
}

/// Scrapes without the lock, for the test that holds [`QUIET`] already.
pub(crate) async fn scrape_alone(tools: &Tools, target: Target) -> Result<Scraped, ScrapeError> {
    scrape::run(tools, Ports::default(), &target, |scraped, _| scraped).await
}

/// Returns the document of a fixed body, from `http://a.test/`.
pub(crate) async fn document(
    status: u16,
    content_type: &str,
    body: &[u8],
    options: ScrapeOptions,
) -> Result<Document, ScrapeError> {
    let target = target("http://a.test/".parse().unwrap(), options);
    let content_type = (!content_type.is_empty()).then(|| content_type.to_owned());
    let fetched = Fetched::new(target.url.clone(), status, content_type, bytes::Bytes::copy_from_slice(body));
    Ok(run_with(&with_page(tools(&[]), fetched), target).await?.document)
}

pub(crate) async fn page(content_type: &str, body: &str, options: ScrapeOptions) -> Result<Document, ScrapeError> {
    document(200, content_type, body.as_bytes(), options).await
}

pub(crate) fn decoded(base64: &str) -> Vec<u8> {
    base64::engine::general_purpose::STANDARD.decode(base64).unwrap()
}
