//! Reading a scrape again: for a day, its document is available by its id.
//!
//! No document is stored for that. The row of a scrape notes the cached copy it was made from and the options, and the
//! document is made again from these, at the cost of a few more bytes in a row that is written anyway. Answers to
//! questions are noted themselves: a model is not asked twice. A scrape whose page was not cached, or has left the cache, cannot be read again; private scrapes have no row.

use std::sync::LazyLock;
use std::time::Duration;

use ::scrape::{Ports, ScrapeError, Scraped, Target};
use base::Stop;
use chrono::TimeDelta;
use kernel::admit::{check_open, slot};
use kernel::auth::Caller;
use kernel::{AppError, AuthMode};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::scrapes::{self, Scrape};
use tokio::time::{Instant, timeout_at};
use url::Url;
use uuid::Uuid;
use wire::{CacheState, DEFAULT_TIMEOUT_MS, Document, Format, FormatKind, ScrapeOptions, ScrapeRequest};

use super::copies::KeptCopy;
use super::{Price, Scraping, Stamp, Wanted};
use crate::{Scraper, ScrapingError};

/// Time after its start during which a scrape can be read (docs/CONTRACT.md, "Scrape").
const READABLE_FOR: TimeDelta = TimeDelta::hours(24);
/// Maximum size of a note, in bytes; only hundreds of long selectors exceed it.
const MAX_NOTE_BYTES: usize = 16 * 1024;
/// Options that do not affect how a document is made from the page.
const ELSEWHERE: [&str; 7] =
    ["timeout", "waitFor", "maxAge", "minAge", "storeInCache", "auditMetadata", "threatProtection"];

/// Data from which a document is made again.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Note {
    /// Id of the copy in the cache.
    copy: String,
    /// Options that differ from the defaults.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    options: Map<String, Value>,
    /// URL as requested, if the row has another spelling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source_url: Option<String>,
    /// Warning that the caller got: part of it concerns the fetch, which is not repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
    /// URL of the screenshot, which lives as long as the scrape can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    screenshot: Option<String>,
    /// Answers, if any were requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answers: Option<Answers>,
}

/// Members of a document that are answers to questions about its page.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct Answers {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    json: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    highlights: Option<String>,
}

impl Answers {
    /// Returns the answers of a document, if its options ask for any.
    fn of(document: &Document, options: &ScrapeOptions) -> Option<Self> {
        let Document { json, summary, answer, highlights, .. } = document;
        let is_asked = options.formats.iter().any(is_question);
        is_asked.then(|| Self {
            json: json.clone(),
            summary: summary.clone(),
            answer: answer.clone(),
            highlights: highlights.clone(),
        })
    }

    fn put(self, document: &mut Document) {
        let Self { json, summary, answer, highlights } = self;
        (document.json, document.summary, document.answer, document.highlights) = (json, summary, answer, highlights);
    }
}

fn is_question(format: &Format) -> bool {
    use FormatKind::{Highlights, Json, Query, Question, Summary};
    matches!(format.kind(), Json | Summary | Query | Question | Highlights)
}

/// Returns the note for the row of a scrape; `None` when the scrape cannot be read again because the note is too long,
/// or because no copy holds all that the document was made from, such as computed styles.
pub(super) fn note(target: &Target, document: &Document, copy: String) -> Option<String> {
    if target.options.wants(FormatKind::Branding) {
        return None;
    }
    let source_url = &document.metadata.source_url;
    let note = Note {
        copy,
        options: given(&target.options),
        source_url: (source_url != target.url.as_str()).then(|| source_url.clone()),
        warning: document.warning.clone(),
        screenshot: document.screenshot.clone(),
        answers: Answers::of(document, &target.options),
    };
    serde_json::to_string(&note).ok().filter(|text| text.len() <= MAX_NOTE_BYTES)
}

/// Makes the document of a scrape of the last 24 hours again, and returns it with its share of the memory budget for
/// bodies. Free of charge.
///
/// # Errors
/// [`AppError::NotFound`] for an unknown id, one of another team, a scrape that failed or is older, and one whose page
/// is not in the cache, as with `storeInCache: false`, with headers of the caller and with zero data retention.
/// [`AppError::ConcurrencyLimited`], [`AppError::Timeout`] and [`ScrapingError::Scrape`] as [`scrape`](super::scrape()).
#[crate::boxed]
pub async fn read(scraper: &Scraper, caller: &Caller, id: Uuid) -> Result<(Document, net::Room), ScrapingError> {
    let started = Instant::now();
    check_open(scraper.app())?;
    let _slot = slot(scraper.app(), caller)?;
    let deadline = started + Duration::from_millis(DEFAULT_TIMEOUT_MS.into());
    let made = timeout_at(deadline, again(scraper, caller, id, started)).await;
    made.unwrap_or(Err(AppError::Timeout.into()))
}

async fn again(
    scraper: &Scraper,
    caller: &Caller,
    id: Uuid,
    started: Instant,
) -> Result<(Document, net::Room), ScrapingError> {
    let (app, not_found) = (scraper.app(), || AppError::NotFound("scrape"));
    let found = scrapes::find(&mut app.conn().await?, &caller.team.id, &id.to_string()).await?;
    let row = found.filter(|row| row.created_at + READABLE_FOR > app.now()).ok_or_else(not_found)?;
    let (mut request, note) = request(&row).ok_or_else(not_found)?;
    request.options.formats.retain(|format| !is_question(format));
    let cache = cache_state(&row);
    let stamp = Stamp { id: row.id.clone(), price: Price::Known(row.credits) };
    let scraping = Scraping::new(scraper, caller, Wanted::of(row.id, request), started);
    let copy = KeptCopy { cache: scraper.cache(), id: &note.copy, owner: &scraping.target.owner };
    let (source_url, warning, answers) = (note.source_url, note.warning, note.answers.unwrap_or_default());
    // The reader may reach this server at another address than the original caller.
    let screenshot = note.screenshot.map(|url| match &caller.address {
        Some(address) => app.files().told_at(&url, address),
        None => url,
    });
    let last = move |scraped: Scraped, _: &Stop| {
        let mut scraped = stamp.put(scraped);
        let document = &mut scraped.document;
        document.metadata.cache_state = cache;
        // For the caller the page was fresh when it was scraped, though a copy serves it now.
        document.metadata.cached_at.take_if(|_| cache != Some(CacheState::Hit));
        if let Some(source_url) = source_url {
            document.metadata.source_url = source_url;
        }
        (document.warning, document.screenshot) = (warning, screenshot);
        answers.put(document);
        scraped
    };
    match ::scrape::run(scraper.tools(), Ports { copies: Some(&copy), ..Ports::default() }, &scraping.target, last)
        .await
    {
        Ok(scraped) => Ok((scraped.document, scraped.room)),
        Err(ScrapeError::NoCopy) => Err(not_found().into()),
        Err(error) => Err(error.into()),
    }
}

fn cache_state(row: &Scrape) -> Option<CacheState> {
    match row.cache_state.as_deref() {
        Some(state) if state == CacheState::Hit.as_str() => Some(CacheState::Hit),
        Some(_) => Some(CacheState::Miss),
        None => None,
    }
}

/// Restores the request from the row.
fn request(row: &Scrape) -> Option<(ScrapeRequest, Note)> {
    let mut note: Note = serde_json::from_str(row.kept.as_deref()?).ok()?;
    let url = Url::parse(row.url.as_deref()?).ok()?;
    let options = wire::decode_options(std::mem::take(&mut note.options).into()).ok()?;
    Some((ScrapeRequest { options, ..ScrapeRequest::new(url) }, note))
}

/// Returns the request of a scrape of the caller's team, so that its page can be opened again the same way: from memory,
/// or else as far as its row tells: without secrets, and without the options that have no effect on a kept page.
///
/// # Errors
/// [`AppError::NotFound`] for a scrape that is unknown, private, of another team or older than a day.
#[crate::boxed]
pub async fn request_of(scraper: &Scraper, caller: &Caller, id: Uuid) -> Result<ScrapeRequest, ScrapingError> {
    let (app, team) = (scraper.app(), &caller.team.id);
    if let Some(recent) = scraper.recent()
        && let Some(request) = recent.get(team, id).await
    {
        return Ok((*request).clone());
    }
    let not_found = || AppError::NotFound("scrape");
    let row = scrapes::find(&mut app.conn().await?, team, &id.to_string()).await?;
    // Scrapes of keyless callers have no owner, unless the server is open and keys are optional.
    let is_ours = |row: &Scrape| row.api_key_id.is_some() || app.settings().auth == AuthMode::Open;
    let row = row.filter(|row| is_ours(row) && row.created_at + READABLE_FOR > app.now()).ok_or_else(not_found)?;
    if let Some((request, _)) = request(&row) {
        return Ok(request);
    }
    let url = row.url.as_deref().and_then(|url| Url::parse(url).ok()).ok_or_else(not_found)?;
    Ok(ScrapeRequest { options: ScrapeOptions::default(), ..ScrapeRequest::new(url) })
}

/// Returns the options as JSON, without defaults and without those in [`ELSEWHERE`].
fn given(options: &ScrapeOptions) -> Map<String, Value> {
    static DEFAULTS: LazyLock<Map<String, Value>> = LazyLock::new(|| members(&ScrapeOptions::default()));
    let mut given = members(options);
    // Dropping defaults keeps the rows small. Rows are read for a day only, so a default that changes with a version
    // hardly matters.
    given.retain(|key, value| !ELSEWHERE.contains(&key.as_str()) && DEFAULTS.get(key) != Some(value));
    given
}

fn members(options: &ScrapeOptions) -> Map<String, Value> {
    match serde_json::to_value(options) {
        Ok(Value::Object(members)) => members,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use wire::AuditMetadata;

    use super::*;

    #[test]
    fn options_are_noted_by_what_differs() {
        let plain = ScrapeOptions::default();
        assert_eq!(Value::Object(given(&plain)), json!({}));
        let audit_metadata = Some(AuditMetadata { username: Some("hush".to_owned()) });
        let elsewhere = ScrapeOptions { timeout: 5000, wait_for: 5, max_age: Some(1), audit_metadata, ..plain.clone() };
        assert_eq!(Value::Object(given(&elsewhere)), json!({}));
        let other = ScrapeOptions {
            formats: vec![Format::Html, Format::Links],
            only_main_content: false,
            parsers: Some(vec![]),
            exclude_tags: vec!["p".to_owned()],
            ..plain
        };
        assert_eq!(wire::decode_options(given(&other).into()), Ok(other.clone()));
        assert_eq!(given(&other).len(), 4, "{:?}", given(&other));
    }

    #[test]
    fn rows_of_before_and_spoilt_notes_are_not_found() {
        let check = |kept: Option<&str>, url: Option<&str>, is_found: bool| {
            let row = Scrape { kept: kept.map(str::to_owned), url: url.map(str::to_owned), ..row() };
            assert_eq!(request(&row).is_some(), is_found, "{kept:?} {url:?}");
        };
        let (good, url) = (Some(r#"{"copy":"c","options":{"formats":["html"]}}"#), Some("https://example.com/"));
        check(good, url, true);
        check(Some(r#"{"copy":"c"}"#), url, true);
        check(None, url, false);
        check(good, None, false);
        check(good, Some("nowhere"), false);
        check(Some("{}"), url, false);
        check(Some(r#"{"copy":"c","options":{"formats":["parchment"]}}"#), url, false);
    }

    fn row() -> Scrape {
        Scrape {
            id: "s".to_owned(),
            team_id: "t".to_owned(),
            api_key_id: None,
            url: None,
            status_code: Some(200),
            error_code: None,
            cache_state: None,
            credits: 1,
            duration_ms: 1,
            created_at: base::Timestamp::UNIX_EPOCH,
            kept: None,
        }
    }
}
