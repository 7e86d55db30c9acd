//! The steps of a plan: requests for the page, one engine after the other.

use std::time::Duration;

use fetch::{FetchError, FetchRequest, Fetched, Given, Plan, Step, Verdict, Visit};
use tokio::time::{Instant, timeout_at};
use url::Url;
use wire::ProxyUsed;

use crate::{Outdated, Target, Tools, export, metrics};

/// Extra time for a browser step, which returns an unfinished page when its share of the time is over.
const OVERRUN: Duration = Duration::from_millis(300);

/// Takes steps for as long as the next one helps with the last failure. A refused page is returned if nothing better
/// comes. A stale copy from the same address makes the requests conditional.
///
/// # Errors
/// The error of the last step when none returned a page.
pub(crate) async fn steps(
    tools: &Tools,
    target: &Target,
    plan: &mut Plan,
    outdated: Option<&Outdated>,
) -> Result<Fetched, FetchError> {
    let (mut refused, mut failed) = (None, None);
    let export = export::of(tools, target);
    let url = export.as_ref().unwrap_or(&target.url);
    let outdated = outdated.filter(|copy| copy.is_at(url));
    loop {
        let answer = take(tools, target, url, plan, outdated).await;
        let goes_on = plan.improve(Verdict::of(&answer));
        match answer {
            Ok(page) if goes_on => refused = Some(page),
            Ok(page) => return Ok(page),
            Err(error) if goes_on => failed = Some(error),
            // A missing browser says nothing about the page, so an earlier error is more useful.
            Err(error @ FetchError::Unavailable { .. }) => return refused.ok_or(failed.unwrap_or(error)),
            Err(error) => return refused.ok_or(error),
        }
    }
}

/// Runs one step within its share of the time.
async fn take(
    tools: &Tools,
    target: &Target,
    url: &Url,
    plan: &Plan,
    outdated: Option<&Outdated>,
) -> Result<Fetched, FetchError> {
    let Some(step) = plan.step() else {
        let reason = "no engine on this server supports everything that the request asks for".to_owned();
        return Err(FetchError::Site { reason });
    };
    let deadline = plan.share(target.deadline);
    // Validators belong to the body as sent; the DOM of a browser has none.
    let outdated = outdated.filter(|copy| !plan.runs_scripts() && copy.proxy == step.proxy);
    let validators = outdated.map(|copy| &copy.validators);
    let request = FetchRequest { validators, ..request(tools, target, url, step, deadline) };
    let cut = if plan.runs_scripts() { deadline + OVERRUN } else { deadline };
    let answer = timeout_at(cut, step.engine.fetch(&request)).await.unwrap_or(Err(FetchError::Timeout));
    let (engine, reason) = (step.engine.name(), plan.reason());
    metrics::step(engine, reason);
    match answer {
        Ok(mut page) => {
            tracing::debug!(engine, reason, status = page.status, bytes = page.body.len(), "fetched");
            page.proxy = step.proxy;
            page.warnings.extend(step.warnings.iter().map(|&warning| warning.to_owned()));
            Ok(page)
        }
        Err(error) => {
            tracing::debug!(engine, reason, "the engine returned no page");
            Err(error)
        }
    }
}

/// Returns the request for the page.
fn request<'a>(tools: &Tools, target: &'a Target, url: &'a Url, step: &Step, deadline: Instant) -> FetchRequest<'a> {
    let visit = visit(tools, target, url, step.proxy, deadline);
    let visit = Visit { state: target.state.as_deref(), keeps_state: target.keeps_state, ..visit };
    let (markdown, hold) = (target.takes_markdown(), target.hold.as_deref());
    FetchRequest { markdown, hold, ..FetchRequest::new(visit, given(target)) }
}

/// Returns the request for a resource of the page, such as a style sheet.
pub(crate) fn resource<'a>(
    tools: &Tools,
    target: &'a Target,
    url: &'a Url,
    proxy: ProxyUsed,
    deadline: Instant,
) -> FetchRequest<'a> {
    FetchRequest::new(visit(tools, target, url, proxy, deadline).only_loading(), given(target))
}

/// Returns the visit that the options of the target ask for, of this URL and through a proxy of this strength.
fn visit<'a>(tools: &Tools, target: &'a Target, url: &'a Url, proxy: ProxyUsed, deadline: Instant) -> Visit<'a> {
    let visit = Visit::for_scrape(url, &target.options, target.basic_auth.is_some(), deadline);
    Visit { proxy: tools.proxies.next(proxy), owner: target.owner.clone(), ..visit }
}

fn given(target: &Target) -> Given<'_> {
    Given::new(&target.given_for, &target.options.headers, target.basic_auth.as_ref())
}
