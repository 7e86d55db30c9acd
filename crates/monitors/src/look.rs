//! Look at a page of a check: how it compares with its version before, in the thread that parsed it. What the check does
//! not keep is removed from the document.

use std::sync::Arc;

use ::runs::{Layers, Look, Looked};
use ::scrape::{Scraped, Values};
use base::Stop;
use kernel::AppError;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};
use url::Url;
use wire::{ChangeStatus, ChangeTrackingFormat, Document, Visibility};

use crate::quiet::{Memory, Noticed, Watch};

/// Maximum size of a diff that is kept and sent, in bytes; a longer one ends with a whole line.
pub(crate) const MAX_DIFF_BYTES: usize = 256 << 10;
/// Maximum size of the values that are kept and sent, in bytes as JSON.
const MAX_VALUE_BYTES: usize = 1 << 20;
/// Zstandard level 1: fast, and most of the gain.
const LEVEL: i32 = 1;

/// Look at a page, after that of the kind that the run stands on.
pub(crate) struct CheckLook {
    /// Look of that kind.
    pub(crate) lower: Box<dyn Look>,
    /// URL of the page as it is asked for, without user name and password.
    pub(crate) url: Url,
    /// Format that tracks the changes.
    pub(crate) format: ChangeTrackingFormat,
    /// Watch over the comparison, if the target leaves something out or chooses parts of the page.
    pub(crate) watch: Option<Arc<Watch>>,
}

/// Observation of a page by a check.
pub(crate) struct Seen {
    /// URL as it was asked for.
    pub(crate) url: String,
    /// Key of its series.
    pub(crate) key: String,
    /// HTTP status.
    pub(crate) status_code: u16,
    /// Comparison with the version before.
    pub(crate) compared: Compared,
    /// Whether no link leads to the page any more.
    pub(crate) is_hidden: bool,
    /// Metadata.
    pub(crate) metadata: Map<String, Value>,
    /// Changes and values as JSON.
    pub(crate) content: Option<Box<Content>>,
    /// Memory of the page from now on; `None` if it stays as it was.
    pub(crate) memory: Option<Memory>,
}

/// Comparison of a page with its version before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Compared {
    /// Nothing has changed.
    Same,
    /// Something has changed.
    Changed,
    /// There was no version before, or the page was gone.
    New,
    /// The page answers that it is gone.
    Gone,
    /// The page says nothing about its content.
    Unreadable(String),
}

/// Changes and values of a page.
pub(crate) struct Content {
    /// JSON object with `diff` and `snapshot`, compressed.
    pub(crate) packed: Vec<u8>,
    /// Size before the compression, in bytes.
    pub(crate) bytes: i64,
    /// `diff` as events have it.
    pub(crate) diff: Option<Box<RawValue>>,
}

/// Content as it is stored.
#[derive(Serialize)]
struct Written<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot: Option<Value>,
}

impl Look for CheckLook {
    fn look(self: Box<Self>, page: &mut Scraped, stop: &Stop) -> Result<Looked, AppError> {
        let Self { lower, url, format, watch } = *self;
        let (found, is_kept) = match lower.look(page, stop)? {
            Looked::Keep(found) => (found, true),
            Looked::KeepUncompared(found) => (found, false),
            Looked::End(outcome) => return Ok(Looked::End(outcome)),
        };
        let mut seen = Seen::of(&View { url: &url, format: &format, watch: watch.as_deref() }, page, stop)?;
        // A version without its values would replace the one that the next check has to compare with. Memory goes with it.
        let is_kept = is_kept && !matches!(seen.compared, Compared::Unreadable(_));
        seen.memory = seen.memory.filter(|_| is_kept);
        strip(&mut page.document);
        let found = Some(Box::new(Layers { upper: Box::new(seen), lower: found }) as ::runs::Found);
        Ok(if is_kept { Looked::Keep(found) } else { Looked::KeepUncompared(found) })
    }
}

/// Removes the content from a document: a check keeps what has changed, and versions are kept elsewhere.
fn strip(document: &mut Document) {
    let metadata = std::mem::take(&mut document.metadata);
    *document = Document { metadata, ..Document::default() };
}

/// How a page is looked at.
struct View<'a> {
    url: &'a Url,
    format: &'a ChangeTrackingFormat,
    watch: Option<&'a Watch>,
}

impl Seen {
    fn of(view: &View<'_>, page: &mut Scraped, stop: &Stop) -> Result<Self, AppError> {
        let View { url, format, watch } = *view;
        let document = &mut page.document;
        let tracking = document.change_tracking.take().flatten();
        let status_code = document.metadata.status_code;
        let mut warnings: Vec<String> = document.warning.take().into_iter().collect();
        let is_hidden = tracking.as_ref().is_some_and(|tracking| tracking.visibility == Visibility::Hidden);
        let mut changes = Changes::of(format, watch, page.values.take().unwrap_or_default(), stop);
        let text = tracking.as_ref().map(|tracking| tracking.change_status);
        changes.take_text(tracking.and_then(|tracking| tracking.diff));
        changes.is_tracked = page.is_tracked;
        let noticed = watch.map(|watch| watch.end(text, changes.fields.as_mut())).unwrap_or_default();
        let Noticed { memory, mut metadata, warnings: unmet } = noticed;
        let compared = compared(format, status_code, text, &changes, warnings.first().map(String::as_str));
        if has_loaded(status_code) && status_code != 304 {
            warnings.extend(unmet);
            warnings.extend(empty(document.markdown.as_deref(), &changes).map(str::to_owned));
        }
        if let Some(title) = document.metadata.page.get("title") {
            metadata.insert("title".to_owned(), title.clone());
        }
        metadata.insert("creditsUsed".to_owned(), document.metadata.credits_used.into());
        let visibility = is_hidden.then(|| Visibility::Hidden.as_str().into());
        let is_cut = changes.is_cut.then(|| true.into());
        let warning = (!warnings.is_empty()).then(|| warnings.join("; ").into());
        let members = [("visibility", visibility), ("diffTruncated", is_cut), ("warning", warning)];
        metadata.extend(members.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
        let content = changes.content(compared == Compared::Changed)?.map(Box::new);
        let (url, key) = (url.to_string(), cache::page_key(url));
        Ok(Self { url, key, status_code, compared, is_hidden, metadata, content, memory })
    }
}

/// Returns the warning of a page whose content is empty, or whose fields are.
fn empty(markdown: Option<&str>, changes: &Changes) -> Option<&'static str> {
    if markdown.is_some_and(|markdown| change_diff::canonical(markdown).is_empty()) {
        return Some("the content of the page is empty: nothing is left to compare");
    }
    let is_empty = changes.values.current.as_ref().is_some_and(has_nothing);
    is_empty.then_some("the extracted fields are empty")
}

/// Whether a value has no text, number or truth value in it.
fn has_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.iter().all(has_nothing),
        Value::Object(members) => members.values().all(has_nothing),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Whether a page counts as loaded (docs/CONTRACT.md, "Answers").
fn has_loaded(status: u16) -> bool {
    matches!(status, 200..=299 | 304)
}

/// Decides how a page compares. In the mode `json` alone only the values count; with both modes either of them does.
fn compared(
    format: &ChangeTrackingFormat,
    status: u16,
    text: Option<ChangeStatus>,
    changes: &Changes,
    warning: Option<&str>,
) -> Compared {
    if matches!(status, 404 | 410) {
        return Compared::Gone;
    }
    if !has_loaded(status) {
        return Compared::Unreadable(format!("the page answered {status}"));
    }
    if format.extracts() && changes.values.current.is_none() {
        let why = warning.unwrap_or("the server has no language model");
        return Compared::Unreadable(format!("the fields could not be extracted: {why}"));
    }
    if !changes.is_tracked {
        return Compared::Unreadable(warning.unwrap_or("the page was not compared").to_owned());
    }
    let text = match text {
        Some(ChangeStatus::New) => return Compared::New,
        Some(ChangeStatus::Removed) => return Compared::Gone,
        Some(ChangeStatus::Same) => Compared::Same,
        // A version that cannot be read any more, or whose comparison took too long: this one is the new baseline.
        Some(ChangeStatus::Changed) | None => Compared::Changed,
    };
    if !format.extracts() {
        return text;
    }
    match (&changes.fields, format.shows_diff()) {
        (Some(fields), false) if fields.is_empty() => Compared::Same,
        (Some(fields), true) if fields.is_empty() => text,
        (Some(_), _) => Compared::Changed,
        // Nothing to compare the values with: asked for the first time, or asked something else.
        (None, _) => text,
    }
}

/// Changes of a page while they are collected.
struct Changes {
    /// Text of the diff.
    text: Option<String>,
    is_cut: bool,
    /// Changed fields by path; `None` if they could not be compared.
    fields: Option<Map<String, Value>>,
    values: Values,
    /// Whether the version was compared, or is the one to compare with.
    is_tracked: bool,
}

impl Changes {
    fn of(format: &ChangeTrackingFormat, watch: Option<&Watch>, values: Values, stop: &Stop) -> Self {
        let fields = match watch.filter(|_| format.extracts()) {
            Some(watch) => fields(format, &watch.values(&values, stop), stop),
            None => fields(format, &values, stop),
        };
        Self { text: None, is_cut: false, fields, values, is_tracked: true }
    }

    /// Takes the diff of the texts, which is a string, or an object with that string.
    fn take_text(&mut self, diff: Option<Value>) {
        let text = match diff {
            Some(Value::String(text)) => Some(text),
            Some(Value::Object(mut members)) => match members.remove("text") {
                Some(Value::String(text)) => Some(text),
                _ => None,
            },
            _ => None,
        };
        self.text = text.map(|text| {
            let cut = whole_lines(&text, MAX_DIFF_BYTES);
            self.is_cut = cut.len() < text.len();
            cut.to_owned()
        });
    }

    /// Writes what is kept: the diff of a page that has changed, and its values.
    fn content(self, has_changed: bool) -> Result<Option<Content>, AppError> {
        let Self { text, fields, values, .. } = self;
        let fields = fields.filter(|fields| !fields.is_empty());
        let diff = (has_changed && (text.is_some() || fields.is_some())).then(|| {
            let tree = || text.as_deref().and_then(|text| serde_json::to_value(change_diff::tree(text)).ok());
            // The fields come first where both are tracked: the text has the other half.
            let json = fields.map(Value::Object).or_else(tree);
            let members = [("text", text.as_deref().map(Value::from)), ("json", json.filter(fits))];
            let members = members.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
            Value::Object(members.collect())
        });
        let diff = diff.map(|diff| to_raw_value(&diff)).transpose().map_err(AppError::internal)?;
        let snapshot = values.current.filter(fits).map(|values| json!({ "json": values }));
        if diff.is_none() && snapshot.is_none() {
            return Ok(None);
        }
        let written = serde_json::to_vec(&Written { diff: diff.as_deref(), snapshot }).map_err(AppError::internal)?;
        let bytes = i64::try_from(written.len()).unwrap_or(i64::MAX);
        let packed = blobs::compress(&written, LEVEL).map_err(AppError::internal)?;
        Ok(Some(Content { packed, bytes, diff }))
    }
}

/// Compares the fields of two versions; `None` if they cannot be compared.
fn fields(format: &ChangeTrackingFormat, values: &Values, stop: &Stop) -> Option<Map<String, Value>> {
    let (Some(previous), Some(current)) = (&values.previous, &values.current) else { return None };
    let fields = change_diff::fields(previous, current, stop).ok().filter(|_| format.extracts())?;
    match serde_json::to_value(&fields) {
        Ok(Value::Object(fields)) => Some(fields),
        _ => None,
    }
}

/// Whether a value is small enough to be kept.
fn fits(value: &Value) -> bool {
    value.to_string().len() <= MAX_VALUE_BYTES
}

/// Returns the first lines of a text that have at most this many bytes.
fn whole_lines(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let end = text.floor_char_boundary(most);
    text[..end].rfind('\n').map_or("", |line| &text[..=line])
}

#[cfg(test)]
mod tests {
    use wire::ChangeMode;

    use super::*;

    fn format(modes: &[ChangeMode]) -> ChangeTrackingFormat {
        ChangeTrackingFormat { modes: modes.to_vec(), schema: None, prompt: Some("?".to_owned()), tag: None }
    }

    fn changes(modes: &[ChangeMode], previous: Option<Value>, current: Option<Value>) -> Changes {
        Changes::of(&format(modes), None, Values { previous, current }, &Stop::default())
    }

    #[test]
    fn values_decide_alone_and_beside_the_text() {
        use ChangeStatus::{Changed, New, Same};
        let (json, both) = (&[ChangeMode::Json][..], &[ChangeMode::Json, ChangeMode::GitDiff][..]);
        let (one, two) = (Some(json!({ "price": 1 })), Some(json!({ "price": 2 })));
        let check = |modes: &[ChangeMode], text, previous: &Option<Value>, current: &Option<Value>, want: &Compared| {
            let changes = changes(modes, previous.clone(), current.clone());
            assert_eq!(compared(&format(modes), 200, Some(text), &changes, None), *want, "{modes:?} {text:?}");
        };
        check(json, Changed, &one, &one, &Compared::Same);
        check(json, Changed, &one, &two, &Compared::Changed);
        check(json, Same, &one, &two, &Compared::Changed);
        check(both, Changed, &one, &one, &Compared::Changed);
        check(both, Same, &one, &two, &Compared::Changed);
        check(both, Same, &one, &one, &Compared::Same);
        check(json, New, &None, &two, &Compared::New);
        check(json, Same, &None, &two, &Compared::Same);
        let lost = changes(json, one, None);
        let lost = compared(&format(json), 200, Some(Changed), &lost, Some("no answer"));
        assert_eq!(lost, Compared::Unreadable("the fields could not be extracted: no answer".to_owned()));
    }

    #[test]
    fn empty_content_and_empty_fields_are_told() {
        let fields = |value: Value| changes(&[ChangeMode::Json], None, Some(value));
        let none = || changes(&[], None, None);
        assert_eq!(empty(Some("# Tea"), &none()), None);
        assert_eq!(empty(Some(" \n\n"), &none()), Some("the content of the page is empty: nothing is left to compare"));
        assert_eq!(empty(None, &none()), None);
        assert_eq!(empty(Some("# Tea"), &fields(json!({ "price": 0 }))), None);
        for value in [json!({}), json!({ "price": null, "plans": [{ "name": " " }] }), json!([])] {
            assert_eq!(empty(Some("# Tea"), &fields(value)), Some("the extracted fields are empty"));
        }
    }

    #[test]
    fn answers_that_say_nothing_are_no_changes() {
        let none = || changes(&[], None, None);
        let of = |status, text| compared(&format(&[ChangeMode::GitDiff]), status, text, &none(), None);
        assert_eq!(of(410, Some(ChangeStatus::Removed)), Compared::Gone);
        assert_eq!(of(404, None), Compared::Gone);
        assert_eq!(of(503, None), Compared::Unreadable("the page answered 503".to_owned()));
        assert_eq!(of(200, None), Compared::Changed);
        let busy = Changes { is_tracked: false, ..none() };
        let busy = compared(&format(&[ChangeMode::GitDiff]), 200, None, &busy, Some("another scrape goes on"));
        assert_eq!(busy, Compared::Unreadable("another scrape goes on".to_owned()));
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut long = changes(&[], None, None);
        let text = format!("--- previous.md\n+++ current.md\n@@ -1,1 +1,9 @@\n{}", "+line\n".repeat(100_000));
        long.take_text(Some(json!({ "text": text, "json": {} })));
        assert!(long.is_cut && long.text.as_ref().unwrap().ends_with("+line\n"));
        let content = long.content(true).unwrap().unwrap();
        assert!(content.packed.len() < 64 << 10, "{}", content.packed.len());
        let mut same = changes(&[], None, None);
        same.take_text(Some("diff".into()));
        assert!(same.content(false).unwrap().is_none());
        let fields = changes(&[ChangeMode::Json], Some(json!({ "a": [1] })), Some(json!({ "a": [2] })));
        let content = fields.content(true).unwrap().unwrap();
        let diff: Value = serde_json::from_str(content.diff.unwrap().get()).unwrap();
        assert_eq!(diff["json"]["a[0]"], json!({ "previous": 1, "current": 2 }));
        assert_eq!(whole_lines("ab\ncd\n", 4), "ab\n");
    }
}
