//! Conditional requests (RFC 9110 section 13): a stale page is requested with the validators of its cached copy, and is
//! not sent again while it is unchanged.

use fetch::{FetchError, Fetched, Plan};
use tokio::time::{Instant, timeout_at};

use crate::steps::steps;
use crate::{Copies, Ports, Target, Tools};

/// Fetches the page by the steps of the plan; returns the cached copy after a 304.
///
/// # Errors
/// Like [`steps`].
pub(crate) async fn page(
    tools: &Tools,
    ports: Ports<'_>,
    target: &Target,
    plan: &mut Plan,
) -> Result<Fetched, FetchError> {
    let outdated = ports.copies.filter(|_| !plan.runs_scripts()).and_then(Copies::outdated);
    let answer = steps(tools, target, plan, outdated.as_ref()).await?;
    let Some(copies) = ports.copies.filter(|_| answer.not_modified) else { return Ok(answer) };
    // Half of the time is reserved for fetching the page, in case the copy cannot be read.
    let now = Instant::now();
    let until = now + plan.share(target.deadline).saturating_duration_since(now) / 2;
    match timeout_at(until, copies.revalidated()).await.ok().flatten() {
        Some(copy) => Ok(renewed(copy, answer)),
        None => steps(tools, target, plan, None).await,
    }
}

/// Returns the copy with the URL, proxy and warnings of the 304.
fn renewed(copy: Fetched, answer: Fetched) -> Fetched {
    let validators = copy.validators.renewed(answer.validators);
    Fetched { url: answer.url, proxy: answer.proxy, warnings: answer.warnings, validators, ..copy }
}
