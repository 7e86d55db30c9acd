//! The pipeline of one page, from start to end.

use ::fetch::{Fetched, Plan, Step};
use tokio::join;
use tokio::time::timeout_at;

use crate::derive::{Derived, Draft, Incoming, Last, More, derive};
use crate::fetch::Page;
use crate::{
    Ports, ScrapeError, Scraped, Target, Tools, ask, captures, clean, compare, fetch, finish, product, sheets,
};

/// Turns a page into a document, and returns the result of `last` on it.
///
/// `last` runs once, on the thread that parsed the page, so that CPU-bound work such as compressing the document needs
/// no second slot. Once its [`base::Stop`] is set, its result is discarded.
///
/// Dropping the future cancels everything that the scrape has begun: connections are closed, and threads told to stop.
///
/// # Errors
/// See [`ScrapeError`]. [`ScrapeError::Timeout`] at the deadline of the target, in any phase.
pub async fn run<T, F>(tools: &Tools, ports: Ports<'_>, target: &Target, last: F) -> Result<T, ScrapeError>
where
    T: Send + 'static,
    F: FnOnce(Scraped, &base::Stop) -> T + Send + 'static,
{
    let phases = phases(tools, ports, target, Last::new(last));
    timeout_at(target.deadline, phases).await.unwrap_or(Err(ScrapeError::Timeout))
}

/// Processes a page or file that is already available, like [`run`]: nothing is fetched, and nothing is cached.
///
/// # Errors
/// Like [`run`].
pub async fn read<T, F>(
    tools: &Tools,
    ports: Ports<'_>,
    target: &Target,
    fetched: Fetched,
    last: F,
) -> Result<T, ScrapeError>
where
    T: Send + 'static,
    F: FnOnce(Scraped, &base::Stop) -> T + Send + 'static,
{
    let last = Last::new(last);
    let more = More { phases: target.needs_markdown(), asks: target.asks(), ..More::default() };
    let incoming = Incoming { page: Page::new(fetched, None), more };
    let phases = async {
        match derive(tools, ports, target, incoming, &last).await? {
            Derived::Done(done) => Ok(done),
            Derived::Draft(draft) => complete(tools, ports, target, draft, last).await,
        }
    };
    timeout_at(target.deadline, phases).await.unwrap_or(Err(ScrapeError::Timeout))
}

async fn phases<T, F>(tools: &Tools, ports: Ports<'_>, target: &Target, last: Last<F>) -> Result<T, ScrapeError>
where
    T: Send + 'static,
    F: FnOnce(Scraped, &base::Stop) -> T + Send + 'static,
{
    let mut plan = Plan::new(&tools.engines, &tools.proxies, &target.options);
    let mut found = fetch::find(ports, target, &mut plan).await?;
    let mut before: Option<Box<Draft>> = None;
    let mut follows_embedded = fetch::follows_embedded(tools, ports, target);
    let draft = loop {
        let made = async {
            let page = fetch::fetch(tools, ports, target, &mut plan, &mut found).await?;
            if before.is_some() {
                fetch::check_not_refused(&page)?;
            }
            let mut page = with_parts(tools, ports, target, plan.step(), page).await?;
            page.tracked = compare::look_up(ports, target, &page.fetched).await?;
            let keep = fetch::keep(ports, target, fetch::copy_to_keep(ports, &page));
            let steps = plan.can_run_scripts();
            let more = More { steps, embedded: follows_embedded, phases: target.needs_markdown(), asks: target.asks() };
            join!(derive(tools, ports, target, Incoming { page, more }, &last), keep).0
        };
        let mut draft = match (made.await, before.take()) {
            (Ok(Derived::Done(done)), _) => return Ok(done),
            (Ok(Derived::Draft(draft)), _) => draft,
            // If a later step fails, the earlier draft is used.
            (Err(error), Some(mut draft)) => {
                draft.warnings.push(format!("the scripts of the page could not be run: {error}"));
                break draft;
            }
            (Err(error), None) => return Err(error),
        };
        if let Some(url) = draft.embedded.take() {
            follows_embedded = false;
            let proxy = draft.page.fetched.proxy;
            if fetch::embedded(tools, target, url, proxy, &mut found).await {
                continue;
            }
        }
        if !plan.improve(draft.verdict) {
            break draft;
        }
        before = Some(draft);
    };
    complete(tools, ports, target, draft, last).await
}

/// Completes a draft that no further step can improve.
async fn complete<T, F>(
    tools: &Tools,
    ports: Ports<'_>,
    target: &Target,
    draft: Box<Draft>,
    last: Last<F>,
) -> Result<T, ScrapeError>
where
    T: Send + 'static,
    F: FnOnce(Scraped, &base::Stop) -> T + Send + 'static,
{
    // Further phases that work on the draft and its markdown are inserted here. `Target::needs_markdown` says which
    // requests have one.
    let draft = ask::ask(tools, ports, target, draft).await?;
    let draft = product::find(tools, target, draft).await;
    let draft = compare::compare(tools, ports, target, draft).await?;
    let draft = clean::clean(tools, target, draft).await?;
    finish::finish(tools, target, draft, last).await
}

/// Adds style sheets and captures to a page that was fetched by a step.
async fn with_parts(
    tools: &Tools,
    ports: Ports<'_>,
    target: &Target,
    step: Option<&Step>,
    mut page: Page,
) -> Result<Page, ScrapeError> {
    page.sheets = sheets::get(tools, target, step, &page).await;
    page.captured = captures::keep(ports, target, &mut page.fetched).await?;
    Ok(page)
}
