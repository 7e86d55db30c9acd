//! Phase 5: compares the page with the previous version of its series (format `changeTracking`).
//!
//! The previous version is made into markdown again, with the options and the code of today, so that neither another
//! option nor a better conversion counts as a change.

use std::sync::Arc;
use std::time::Duration;

use base::Stop;
use fetch::Fetched;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::time::{Instant, timeout_at};
use wire::{ChangeStatus, ChangeTracking, ChangeTrackingFormat, Document, Format, ScrapeOptions, Visibility};

use crate::derive::{self, Draft};
use crate::detect::{self, Route};
use crate::target::bytes_of;
use crate::tracked::Tracked;
use crate::{
    CpuError, Extraction, NextVersion, Ports, Previous, PreviousVersion, Question, Reviewed, ScrapeError, Target,
    Tools, Values, Versions,
};

/// Maximum time that is reserved after the comparison, for completing the document.
const MAX_TIME_AFTER: Duration = Duration::from_secs(2);
/// Maximum size of a diff, in bytes. It shows both versions where they have nothing in common.
const MAX_DIFF_BYTES: usize = 64 << 20;

/// Whether the request has the format.
pub(crate) fn is_wanted(target: &Target) -> bool {
    wanted(&target.options).is_some()
}

fn wanted(options: &ScrapeOptions) -> Option<&ChangeTrackingFormat> {
    options.formats.iter().find_map(|format| match format {
        Format::ChangeTracking(tracking) => Some(tracking),
        _ => None,
    })
}

/// Looks up what a page is compared with; `None` if it is not compared.
///
/// # Errors
/// Errors of [`Versions::previous`].
pub(crate) async fn look_up(
    ports: Ports<'_>,
    target: &Target,
    page: &Fetched,
) -> Result<Option<Box<Tracked>>, ScrapeError> {
    let Some(versions) = ports.versions.filter(|_| is_wanted(target)) else { return Ok(None) };
    if !page.is_loaded() && !is_gone(page) {
        return Ok(None);
    }
    // Half of the time is reserved for the page itself.
    let now = Instant::now();
    let patience = now + target.deadline.saturating_duration_since(now) / 2;
    let previous = versions.previous(page, patience).await?;
    Ok(Some(Box::new(Tracked { page: page.clone(), previous, text: None })))
}

/// Whether the answer says that the page was removed.
fn is_gone(page: &Fetched) -> bool {
    matches!(page.status, 404 | 410)
}

/// Returns the time until which a comparison may go on.
fn time_for(target: &Target) -> Instant {
    let left = target.deadline.saturating_duration_since(Instant::now());
    target.deadline - (left / 10).min(MAX_TIME_AFTER)
}

/// Compares the page of a draft with its previous version, and prepares the next version. A page that cannot be
/// compared gets a warning.
///
/// # Errors
/// Errors of [`Versions`], and [`ScrapeError::Panicked`].
pub(crate) async fn compare(
    tools: &Tools,
    ports: Ports<'_>,
    target: &Target,
    mut draft: Box<Draft>,
) -> Result<Box<Draft>, ScrapeError> {
    let Some(format) = wanted(&target.options) else { return Ok(draft) };
    draft.document.change_tracking = Some(None);
    let (Some(versions), Some(tracked)) = (ports.versions, draft.page.tracked.take()) else {
        let status = draft.page.fetched.status;
        draft.warnings.push(match ports.versions {
            None => UNKNOWN.to_owned(),
            Some(_) => format!("the page was not compared: it answered {status}, which says nothing about its content"),
        });
        return Ok(draft);
    };
    // The tree of the page was dropped, so its share of the memory budget is returned. A previous version of the same
    // size needs that share, and would otherwise wait for it until the deadline.
    let links = draft.links.iter().map(String::len).sum::<usize>();
    let kept = tracked.page.dom().unwrap_or(&tracked.page.body).len() + links;
    tracked.page.room.shrink((kept + bytes_of(&draft.document)) as u64);
    let comparison = Comparison { tools, target, format, versions, tracked: *tracked, until: time_for(target) };
    let found = comparison.run(&mut draft).await?;
    draft.warnings.extend(found.warnings);
    draft.document.change_tracking = Some(found.tracking);
    draft.values = found.values;
    draft.is_tracked = found.is_tracked;
    Ok(draft)
}

const UNKNOWN: &str = "the page was not compared: this request keeps nothing that it could be compared with";
const BUSY: &str =
    "the page was not compared: another scrape of it with the same tag goes on; try again when it has ended";
const UNCHANGED_FIRST: &str =
    "the page was not compared: it answered 304, not modified, and there is no earlier version of it";
const LATE: &str = "the page was not compared: comparing its versions took too long; a longer `timeout` may help. \
    This version is the new baseline";
const LOST: &str =
    "the page was not compared: its previous version cannot be read any more. This version is the new baseline";
const OTHER_QUESTION: &str = "the fields were not compared: the previous version was extracted with another `schema` or \
    `prompt`, or without one. This version is the new baseline";
const NOT_KEPT: &str = "this version of the page could not be kept: the next scrape is compared with an earlier one";

/// Comparison of one page.
struct Comparison<'a> {
    tools: &'a Tools,
    target: &'a Target,
    format: &'a ChangeTrackingFormat,
    versions: &'a dyn Versions,
    tracked: Tracked,
    /// Time until which it may go on.
    until: Instant,
}

/// Result of a comparison.
#[derive(Default)]
struct Found {
    tracking: Option<ChangeTracking>,
    warnings: Vec<String>,
    values: Option<Values>,
    is_tracked: bool,
}

/// Texts compared: the status, and the diff if it is shown.
struct Texts {
    status: ChangeStatus,
    diff: Option<String>,
}

impl Comparison<'_> {
    async fn run(&self, draft: &mut Draft) -> Result<Found, ScrapeError> {
        let mut found = Found::default();
        let texts = match self.texts(&mut draft.document).await? {
            Ok(texts) => Some(texts),
            Err(why) => {
                found.warnings.push(why.to_string());
                if !why.is_baseline() {
                    return Ok(found);
                }
                None
            }
        };
        found.is_tracked = true;
        let status = texts.as_ref().map(|texts| texts.status);
        let extraction = match self.extraction(status, draft).await {
            Ok(extraction) => extraction,
            Err(why) => {
                found.warnings.push(format!("the fields were not compared: {why}"));
                None
            }
        };
        found.values = self.format.extracts().then(|| self.values(extraction.as_ref()));
        if let Some(Texts { status, diff }) = texts {
            let json = self.json(status, extraction.as_ref(), &mut found.warnings).await?;
            found.tracking = Some(ChangeTracking {
                previous_scrape_at: self.previous().map(|previous| wire::format_time(previous.scraped_at)),
                change_status: status,
                visibility: Visibility::Visible,
                diff: diff.map(|diff| self.shown(diff)),
                json,
            });
        }
        if !self.versions.keep(self.next(status), extraction).await? {
            found.warnings.push(NOT_KEPT.to_owned());
        }
        Ok(found)
    }

    /// Returns the values of both versions.
    fn values(&self, current: Option<&Extraction>) -> Values {
        let is_same = |before: &&Extraction| current.is_none_or(|current| current.key == before.key);
        let previous = self.previous().filter(|previous| !previous.is_removed);
        let previous = previous.and_then(|previous| previous.extraction.as_ref()).filter(is_same);
        let value = |extraction: &Extraction| extraction.value.clone();
        Values { previous: previous.map(value), current: current.map(value) }
    }

    fn previous(&self) -> Option<&PreviousVersion> {
        match &self.tracked.previous {
            Previous::Version(version) => Some(version),
            Previous::None | Previous::Busy => None,
        }
    }

    /// Returns the version to be kept.
    fn next(&self, status: Option<ChangeStatus>) -> NextVersion<'_> {
        let page = &self.tracked.page;
        match status {
            Some(ChangeStatus::Removed) => NextVersion::Removed { page },
            _ if page.status == 304 => NextVersion::Unchanged,
            _ => NextVersion::Page { page, text: self.tracked.text.clone() },
        }
    }

    /// Compares the texts of the versions.
    async fn texts(&self, document: &mut Document) -> Result<Result<Texts, Uncompared>, ScrapeError> {
        let is = |status| Ok(Ok(Texts { status, diff: None }));
        let page = &self.tracked.page;
        let previous = match &self.tracked.previous {
            Previous::Busy => return Ok(Err(Uncompared::Busy)),
            _ if is_gone(page) => return is(ChangeStatus::Removed),
            Previous::Version(previous) if !previous.is_removed => previous,
            _ if page.status == 304 => return Ok(Err(Uncompared::UnchangedFirst)),
            _ => return is(ChangeStatus::New),
        };
        // The same file has the same text, whatever was read of it.
        let is_file = previous.text.is_some() || self.tracked.text.is_some();
        if page.status == 304 || (previous.has_same_bytes && (previous.has_same_terms || is_file)) {
            return is(ChangeStatus::Same);
        }
        let version = match &previous.text {
            Some(text) => derive::Version::Text(text.clone()),
            // A large version waits for its share of the memory budget.
            None => match timeout_at(self.until, self.versions.page()).await {
                Ok(page) => match page? {
                    Some(page) => derive::Version::Page(Box::new(page)),
                    None => return Ok(Err(Uncompared::Lost)),
                },
                Err(_) => return Ok(Err(Uncompared::Late)),
            },
        };
        self.against(version, document).await
    }

    /// Compares the markdown with that of the previous version, in a thread. It is lent to the thread and comes back.
    async fn against(
        &self,
        previous: derive::Version,
        document: &mut Document,
    ) -> Result<Result<Texts, Uncompared>, ScrapeError> {
        let route = match &previous {
            derive::Version::Text(_) => Route::Text,
            derive::Version::Page(page) => match detect::route(self.tools, self.target, page) {
                // Its text was not kept, and it is not read again only to be compared.
                Ok(Route::Document(_)) | Err(_) => return Ok(Err(Uncompared::Lost)),
                Ok(route) => route,
            },
        };
        let options = ScrapeOptions { formats: vec![Format::Markdown], ..(*self.target.options).clone() };
        let options = Arc::new(options);
        let current = Arc::new(document.markdown.take().unwrap_or_default());
        let (lent, shows_diff) = (Arc::clone(&current), self.format.shows_diff());
        let reviewer = self.target.reviewer.clone();
        let work = move |stop: &Stop| -> Result<Texts, Uncompared> {
            let previous = derive::markdown(previous, route, &options, stop).map_err(|_| Uncompared::Lost)?;
            match reviewer.and_then(|reviewer| reviewer.review(&previous, &lent, stop)) {
                Some(Reviewed { previous, current }) => compared(&previous, &current, shows_diff, stop),
                None => compared(&previous, &lent, shows_diff, stop),
            }
        };
        let result = self.tools.cpu.run(&self.target.owner, self.until, work).await;
        document.markdown = Some(Arc::try_unwrap(current).unwrap_or_else(|current| (*current).clone()));
        match result {
            Ok(texts) => Ok(texts),
            Err(CpuError::Timeout) => Ok(Err(Uncompared::Late)),
            Err(CpuError::Panicked) => Err(ScrapeError::Panicked),
        }
    }

    /// Returns the diff as it is sent.
    fn shown(&self, diff: String) -> Value {
        match self.tools.diff_object {
            true => json!({ "text": diff, "json": change_diff::tree(&diff) }),
            false => Value::String(diff),
        }
    }

    /// Returns the values of this version, if it has any: those of the previous version if that was the same.
    async fn extraction(&self, status: Option<ChangeStatus>, draft: &Draft) -> Result<Option<Extraction>, String> {
        let kept = || self.previous().and_then(|previous| previous.extraction.clone());
        let kept = if status == Some(ChangeStatus::Same) { kept() } else { None };
        if !self.format.extracts() || status == Some(ChangeStatus::Removed) {
            return Ok(kept);
        }
        let key = question_key(self.format);
        if kept.as_ref().is_some_and(|kept| kept.key == key) {
            return Ok(kept);
        }
        if let Some(value) = self.same_as_format(draft) {
            return Ok(Some(Extraction { key, value }));
        }
        let none = Arc::default();
        let extract = self.tools.extract.as_ref().ok_or("this server has no language model")?;
        let question = Question {
            url: &self.tracked.page.url,
            page: draft.asked.as_ref().unwrap_or(&none),
            schema: self.format.schema.as_ref(),
            prompt: self.format.prompt.as_deref(),
            owner: &self.target.owner,
            deadline: self.until,
            cpu: &self.tools.cpu,
            limit: self.target.model_limit,
        };
        let answer = timeout_at(question.deadline, extract.extract(&question)).await;
        let value = answer.unwrap_or_else(|_| Err("their extraction took too long".to_owned()))?;
        Ok(Some(Extraction { key, value }))
    }

    /// Returns the values of the format `json`, if it asks the same.
    fn same_as_format(&self, draft: &Draft) -> Option<Value> {
        let asks_same = |format: &Format| match format {
            Format::Json(json) => json.schema == self.format.schema && json.prompt == self.format.prompt,
            _ => false,
        };
        self.target.options.formats.iter().find(|format| asks_same(format))?;
        draft.document.json.clone()
    }

    /// Compares the values of the versions by their keys. Only a page that has changed shows them.
    async fn json(
        &self,
        status: ChangeStatus,
        current: Option<&Extraction>,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Value>, ScrapeError> {
        let Some(current) = current.filter(|_| self.format.extracts()) else { return Ok(None) };
        let Some(previous) = self.previous().filter(|previous| !previous.is_removed) else { return Ok(None) };
        let Some(before) = previous.extraction.clone().filter(|before| before.key == current.key) else {
            warnings.push(OTHER_QUESTION.to_owned());
            return Ok(None);
        };
        if status != ChangeStatus::Changed {
            return Ok(None);
        }
        let after = current.value.clone();
        let work = move |stop: &Stop| {
            let fields = change_diff::top_level(&before.value, &after, stop).ok()?;
            serde_json::to_value(&fields).ok()
        };
        let result = self.tools.cpu.run(&self.target.owner, self.until, work).await;
        match result {
            Ok(Some(fields)) => Ok(Some(fields)),
            Ok(None) | Err(CpuError::Timeout) => {
                warnings.push("the fields were not compared: they are too large".to_owned());
                Ok(None)
            }
            Err(CpuError::Panicked) => Err(ScrapeError::Panicked),
        }
    }
}

/// Compares two versions of a text.
fn compared(previous: &str, current: &str, shows_diff: bool, stop: &Stop) -> Result<Texts, Uncompared> {
    // Work that was told to stop has not read all of a version.
    let checked = |texts| if stop.is_set() { Err(Uncompared::Late) } else { Ok(texts) };
    if change_diff::compare(previous, current) == change_diff::Status::Same {
        return checked(Texts { status: ChangeStatus::Same, diff: None });
    }
    let diff = match shows_diff {
        true => Some(change_diff::unified(previous, current, stop).map_err(|why| match why {
            change_diff::GaveUp::Stopped => Uncompared::Late,
            change_diff::GaveUp::TooLarge => Uncompared::TooLarge,
        })?),
        false => None,
    };
    if diff.as_ref().is_some_and(|diff| diff.len() > MAX_DIFF_BYTES) {
        return Err(Uncompared::TooLarge);
    }
    checked(Texts { status: ChangeStatus::Changed, diff })
}

/// Reason why a page was not compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum Uncompared {
    #[error("{BUSY}")]
    Busy,
    #[error("{UNCHANGED_FIRST}")]
    UnchangedFirst,
    #[error("{LATE}")]
    Late,
    #[error("{LOST}")]
    Lost,
    #[error(
        "the page was not compared: its versions differ in too many places. This version is the new baseline; without \
        the mode `git-diff`, larger versions are compared"
    )]
    TooLarge,
}

impl Uncompared {
    /// Whether the current version replaces the previous one. Otherwise a version that can never be compared would stay
    /// for ever.
    fn is_baseline(self) -> bool {
        !matches!(self, Self::Busy | Self::UnchangedFirst)
    }
}

/// Returns the digest of a schema and a prompt. The order of keys in the schema does not matter.
fn question_key(format: &ChangeTrackingFormat) -> String {
    let mut text = String::new();
    write_sorted(&json!([format.schema, format.prompt]), &mut text);
    hex::encode(Sha256::digest(text.as_bytes()))
}

fn write_sorted(value: &Value, text: &mut String) {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(key, _)| *key);
            text.push('{');
            for (key, value) in members {
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                write_sorted(value, text);
                text.push(',');
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for item in items {
                write_sorted(item, text);
                text.push(',');
            }
            text.push(']');
        }
        other => text.push_str(&other.to_string()),
    }
}
