//! Searches of monitors, made by the searches of the service.

use std::time::Duration;

use async_trait::async_trait;
use kernel::Refusal as _;
use kernel::auth::Caller;
use monitors::{FoundResult, WebSearch};
use searches::Searches;
use searches::watch::{self, WatchRequest};
use wire::{AgeUnit, Published, SearchTarget, SearchWindow};

/// Time that all queries of a target may take together.
const PATIENCE: Duration = Duration::from_secs(300);

/// Searches of the service, for monitors.
pub(crate) struct SearchesOfMonitors(pub(crate) Searches);

#[async_trait]
impl WebSearch for SearchesOfMonitors {
    async fn search(&self, caller: &Caller, target: &SearchTarget) -> Result<Vec<FoundResult>, String> {
        let request = WatchRequest {
            queries: target.queries.clone(),
            window: Some(window(target.search_window)),
            max_results: target.max_results,
            include_domains: target.include_domains.clone(),
            exclude_domains: target.exclude_domains.clone(),
            timeout: PATIENCE,
        };
        let found = watch::run(&self.0, caller, request).await.map_err(|error| error.message())?;
        let results = found.into_iter().flat_map(|of| {
            let query = of.query;
            of.results.into_iter().map(move |result| FoundResult {
                query: query.clone(),
                url: result.url,
                title: result.title,
                description: result.description,
            })
        });
        Ok(results.collect())
    }
}

/// Returns the time of publication for a window. Engines know nothing shorter than an hour; what was found before is the
/// same anyway.
fn window(window: SearchWindow) -> Published {
    let (count, unit) = match window {
        SearchWindow::FiveMinutes | SearchWindow::QuarterHour | SearchWindow::Hour => (1, AgeUnit::Hour),
        SearchWindow::SixHours => (6, AgeUnit::Hour),
        SearchWindow::Day => (1, AgeUnit::Day),
        SearchWindow::Week => (1, AgeUnit::Week),
    };
    Published::Within { count, unit }
}
