//! A scraper without an engine, for tests.

use fetch::Engine;
use tempfile::TempDir;

use super::*;
use crate::auth::Caller;
use crate::service::tests::app;

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
