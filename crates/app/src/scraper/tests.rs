//! A scraper without an engine, for tests.

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
    let tools = Tools { engines: Vec::new(), proxies: Arc::default(), cpu: scrape::Cpu::new(2), documents: None };
    let parts = ScrapingParts {
        tools,
        capabilities: Capabilities::default(),
        cache: CacheSettings::default(),
        profile_key: Secret::default(),
        remembers: false,
    };
    Scraper::new(app.clone(), parts)
}
