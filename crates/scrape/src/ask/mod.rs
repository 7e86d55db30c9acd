//! Phase 4: formats that need judgement, asked of the page's text: a language model answers, or the page's own
//! sentences do.
//!
//! What cannot be answered is left out with a warning. Where nothing else was requested, that is an error.

mod put;

use std::sync::Arc;
use std::time::Duration;

use answers::{Asking, CacheUse, Context, PageText, Refusal, Sentences};
use base::Stop;
use futures_util::future::join_all;
use tokio::time::Instant;
use wire::{Format, QueryMode, ScrapeOptions};

use crate::derive::{Draft, on_thread};
use crate::target::{bytes_of, is_asked_of_text};
use crate::{Copies, Ports, ScrapeError, Target, Tools};
use put::{Content, Outcome};

/// Maximum time that is reserved after the answers, for comparing and completing the document.
const MAX_TIME_AFTER: Duration = Duration::from_secs(2);

/// Answers the formats that are asked of the page's text.
///
/// # Errors
/// [`ScrapeError::Unanswered`] where nothing else was requested and nothing was answered, and the errors of
/// [`on_thread`].
pub(crate) async fn ask(
    tools: &Tools,
    ports: Ports<'_>,
    target: &Target,
    mut draft: Box<Draft>,
) -> Result<Box<Draft>, ScrapeError> {
    let Some(answers) = tools.answers.as_ref().filter(|_| wanted(&target.options).next().is_some()) else {
        return Ok(draft);
    };
    let started = Instant::now();
    // The values of change tracking are read from it as well.
    let page = draft.asked.clone().unwrap_or_default();
    let (deadline, cache) = (time_for(target), cache_use(ports, target, &draft));
    let (owner, cpu, limit) = (&target.owner, &tools.cpu, target.model_limit);
    let context = Context { owner, private: target.private, deadline, cache, cpu, limit };
    let results = match answers.asking(context) {
        Some(asking) => {
            give_room_back(&draft, &page);
            join_all(wanted(&target.options).map(|format| by_model(&asking, &page, format))).await
        }
        None => from_sentences(tools, target, &page, answers.is_extractive()).await?,
    };
    draft.answering = started.elapsed();
    let failures =
        wanted(&target.options).zip(results).filter_map(|(format, result)| put::put(&mut draft, format, result));
    let failures: Vec<Refusal> = failures.collect();
    let all = target.options.formats.len();
    match failures.into_iter().reduce(put::weightier) {
        Some(why) if put::count(&draft.document, &target.options) == 0 && all == wanted(&target.options).count() => {
            Err(ScrapeError::Unanswered(why))
        }
        _ => Ok(draft),
    }
}

fn wanted(options: &ScrapeOptions) -> impl Iterator<Item = &Format> {
    options.formats.iter().filter(|format| is_asked_of_text(format))
}

/// Returns the time until which answers are awaited.
pub(crate) fn time_for(target: &Target) -> Instant {
    let left = target.deadline.saturating_duration_since(Instant::now());
    target.deadline - (left / 10).min(MAX_TIME_AFTER)
}

/// Returns how the cache of answers is used: as that of pages.
fn cache_use(ports: Ports<'_>, target: &Target, draft: &Draft) -> CacheUse {
    let max_age = target.options.max_age_ms();
    // `cache` is absent where the page cache was not consulted, as with `maxAge: 0`.
    let reads = draft.page.cache.is_some() && max_age > 0;
    let max_age = reads.then(|| Duration::from_millis(max_age));
    CacheUse { max_age, stores: ports.copies.is_some_and(Copies::keeps) }
}

/// Gives back the share of the memory budget that only the body needed, before a model is waited for. A page that is
/// compared later is still held.
fn give_room_back(draft: &Draft, page: &PageText) {
    if draft.page.tracked.is_some() {
        return;
    }
    let PageText { markdown, facts, structured, links, .. } = page;
    let links = links.iter().chain(&draft.links).map(String::len).sum::<usize>();
    let texts = [markdown, facts, structured].into_iter().map(String::len).sum::<usize>();
    let texts = texts + draft.markdown().map_or(0, str::len);
    let body = draft.page.fetched.body.len();
    draft.page.fetched.room.shrink((bytes_of(&draft.document) + texts + links + body) as u64);
}

async fn by_model(asking: &Asking<'_>, page: &Arc<PageText>, format: &Format) -> Outcome {
    match format {
        Format::Json(json) => asking.json(page, json).await.map(Content::json),
        Format::Question(asked) => asking.question(page, &asked.question).await.map(Content::text),
        Format::Query(asked) if asked.mode == QueryMode::DirectQuote => {
            asking.quote(page, &asked.prompt).await.map(Content::text)
        }
        Format::Query(asked) => asking.question(page, &asked.prompt).await.map(Content::text),
        Format::Highlights(asked) => asking.highlights(page, &asked.query).await.map(Content::text),
        Format::Summary => asking.summary(page).await.map(Content::text),
        _ => Err(Refusal::NoModel),
    }
}

/// Answers from the page's own sentences, as far as that is allowed and possible, in a thread.
async fn from_sentences(
    tools: &Tools,
    target: &Target,
    page: &Arc<PageText>,
    is_allowed: bool,
) -> Result<Vec<Outcome>, ScrapeError> {
    let (options, lent) = (Arc::clone(&target.options), Arc::clone(page));
    let work = move |stop: &Stop| {
        let read = is_allowed.then(|| Sentences::read(&lent, stop));
        wanted(&options).map(|format| from_page(read.as_ref(), format)).collect()
    };
    on_thread(tools, target, work).await
}

fn from_page(read: Option<&Result<Sentences<'_>, answers::GaveUp>>, format: &Format) -> Outcome {
    let Some(Ok(sentences)) = read else { return Err(Refusal::NoModel) };
    let answered = match format {
        Format::Question(asked) => sentences.question(&asked.question),
        Format::Query(asked) if asked.mode == QueryMode::DirectQuote => sentences.quote(&asked.prompt),
        Format::Query(asked) => sentences.question(&asked.prompt),
        Format::Highlights(asked) => sentences.highlights(&asked.query),
        Format::Summary => sentences.summary(),
        _ => return Err(Refusal::NoModel),
    };
    Ok(Content::text(answered?))
}
