//! Searches of monitors: several queries, and what each of them finds now. The caller charges them, at
//! [`billing::search`] of the number of results of a check.

use std::time::Duration;

use kernel::auth::Caller;
use tokio::time::Instant;
use wire::{Published, SearchRequest, TimeFilter, WebResult};

use crate::gather::Gathering;
use crate::{SearchError, Searches};

/// Queries of a monitor.
#[derive(Debug, Clone, PartialEq)]
pub struct WatchRequest {
    /// Queries, each as in `POST /v2/search`.
    pub queries: Vec<String>,
    /// Time of publication that results must have.
    pub window: Option<Published>,
    /// Maximum number of results of each query.
    pub max_results: u32,
    /// Host names that results must belong to; empty: all.
    pub include_domains: Vec<String>,
    /// Host names that results must not belong to.
    pub exclude_domains: Vec<String>,
    /// Time that all queries may take together.
    pub timeout: Duration,
}

/// Results of one query.
#[derive(Debug, Clone, PartialEq)]
pub struct WatchResults {
    /// The query.
    pub query: String,
    /// Results, best first. Descriptions are those of the engines.
    pub results: Vec<WebResult>,
}

/// Searches the web for each query, one after another. Nothing is charged, and no row is written.
///
/// # Errors
/// [`SearchError::Timeout`] and [`SearchError::Unavailable`] for the first query that no engine could answer.
#[crate::boxed]
pub async fn run(searches: &Searches, caller: &Caller, watch: WatchRequest) -> Result<Vec<WatchResults>, SearchError> {
    let deadline = Instant::now() + watch.timeout;
    let mut all = Vec::new();
    for query in &watch.queries {
        let request = SearchRequest {
            limit: watch.max_results,
            include_domains: watch.include_domains.clone(),
            exclude_domains: watch.exclude_domains.clone(),
            tbs: TimeFilter { published: watch.window, newest_first: false },
            ..SearchRequest::new(query.clone())
        };
        let gathering = Gathering { searches, caller, request: &request, deadline };
        let gathered = gathering.all().await.checked(deadline)?;
        let found = gathered.web.into_iter().flatten();
        let results = found.zip(1..).map(|(found, position)| found.into_web(position)).collect();
        all.push(WatchResults { query: query.clone(), results });
    }
    Ok(all)
}
