//! Decision about a page of a crawl before it is fetched: robots.txt, and the shortest known path to it.

use std::sync::Arc;
use std::time::Duration;

use ::runs::{Context, Given, Outcome, PagePlan, PlannedPage, Runs, Visit};
use crawl_frontier::Verdict;
use kernel::{App, AppError, Refusal, Refused};
use scraping::ScrapingError;
use site::{AGENT, Approach, SiteRules};
use store::runs::{self as rows, PageState, Way};
use tokio::time::Instant;
use url::Url;

use super::frontier::{CrawlRun, Frontier};
use super::hidden::is_hidden;
use super::look::CrawlLook;

/// Timeout for robots.txt.
const ROBOTS_PATIENCE: Duration = Duration::from_secs(30);

/// Plans a page: whether it may be fetched, and how it is looked at.
///
/// # Errors
/// An outage or an internal error: the page can be neither fetched nor given up.
pub(super) async fn plan(run: &CrawlRun, runs: &Runs, page: PlannedPage<'_>) -> Result<PagePlan, Refused> {
    let Some(frontier) = &run.frontier else { return Ok(PagePlan::Scrape(Box::new(Visit::plain()))) };
    let PlannedPage { context, id, url, way } = page;
    let site = match rules(runs.app(), context, frontier, url).await {
        Ok(site) => site,
        Err(error) if error.is_outage() => return Err(error.into()),
        Err(error) => return Ok(PagePlan::End(Outcome::failed(&error))),
    };
    if let Some(site) = site.as_deref().filter(|site| !site.rules.allows_url(url)) {
        let outcome = match site.failure {
            Some(failure) => Outcome::failed(&ScrapingError::from(failure.error(url))),
            None => blocked(),
        };
        return Ok(PagePlan::End(outcome));
    }
    let way = if run.has_max_depth() { nearest(runs.app(), id, way).await? } else { way };
    let depth = u32::try_from(way.depth).unwrap_or(0);
    if is_hidden(depth)
        && let Verdict::Skip(reason) = frontier.scope.admit_listed(url)
    {
        let (code, message) = (reason.code(), reason.message());
        return Ok(PagePlan::End(Outcome::Left { state: PageState::External, code, message }));
    }
    let look = CrawlLook { context: Arc::clone(context), site, url: url.clone(), depth, parent: way.parent };
    Ok(PagePlan::Scrape(Box::new(Visit {
        given: Some(Given { url: frontier.start.clone(), basic_auth: frontier.basic_auth.clone() }),
        start: Some(frontier.start.clone()),
        // What only a hidden page links to is no part of this crawl.
        collect_links: !is_hidden(depth) && frontier.follows(url, depth),
        reviewer: None,
        look: Box::new(look),
    })))
}

/// Returns the outcome of a page that robots.txt disallows.
pub(super) fn blocked() -> Outcome {
    Outcome::Left { state: PageState::Blocked, code: "ROBOTS_BLOCKED", message: "robots.txt forbids the page" }
}

/// Returns the robots.txt rules, where the crawl obeys them.
async fn rules(
    app: &App,
    context: &Context,
    frontier: &Frontier,
    url: &Url,
) -> Result<Option<Arc<SiteRules>>, AppError> {
    if frontier.ignore_robots {
        return Ok(None);
    }
    let approach = Approach {
        agent: frontier.agent.as_deref().unwrap_or(AGENT),
        deadline: Instant::now() + ROBOTS_PATIENCE,
        verify_tls: !context.options.skips_tls_verification(frontier.basic_auth.is_some()),
        private: context.is_private(),
    };
    // The first page starts the crawl.
    let site = if *url == frontier.start {
        app.site().rules_at_start(url, approach).await
    } else {
        app.site().rules(url, approach).await
    };
    Ok(Some(site?))
}

/// Returns the shortest known path to the page: `way`, or one that was found after it was queued.
async fn nearest(app: &App, id: &str, way: Way) -> Result<Way, AppError> {
    let now = rows::way_to(&mut app.conn().await?, id).await?;
    Ok(now.filter(|now| now.depth < way.depth).unwrap_or(way))
}
