//! What mails and chat messages tell of a check: whether it is worth one, and its pages.

use serde_json::{Map, Value};
use store::monitors::{self as rows, Check, Page, Weight};
use store::{Conn, StoreError};

use crate::progress;

/// Returns why a check tells nothing; `None` if it does.
pub(crate) async fn silent(conn: &mut Conn, check: &Check) -> Result<Option<&'static str>, StoreError> {
    let pages = progress::summary(check);
    if pages.total_pages == 0 {
        return Ok(Some("no page was read"));
    }
    if pages.changed + pages.new + pages.removed + pages.error == 0 {
        return Ok(Some("nothing has changed"));
    }
    for weight in [Weight::Unjudged, Weight::Meaningful] {
        if !rows::told(conn, &check.id, weight, 1).await?.is_empty() {
            return Ok(None);
        }
    }
    Ok(Some("all changes were judged as noise"))
}

/// Returns up to `limit` pages of a check that are not the same as before: those that matter first, noise last.
///
/// # Errors
/// Those of the database.
pub(crate) async fn changes(conn: &mut Conn, check: &Check, limit: i64) -> Result<Vec<Page>, StoreError> {
    let mut found = Vec::new();
    for weight in [Weight::Meaningful, Weight::Unjudged, Weight::Noise] {
        let left = limit - i64::try_from(found.len()).unwrap_or(limit);
        if left > 0 {
            found.extend(rows::told(conn, &check.id, weight, left).await?);
        }
    }
    Ok(found)
}

/// Page as a mail or a chat message tells of it.
pub(crate) struct Told {
    pub(crate) url: String,
    pub(crate) title: Option<String>,
    pub(crate) status: String,
    /// Verdict of the judge; `None` for a page that was not judged.
    pub(crate) is_meaningful: Option<bool>,
    pub(crate) note: Option<String>,
    pub(crate) diff: Option<String>,
}

/// Returns what is told of a page.
pub(crate) fn told(page: &Page, content: Option<&Map<String, Value>>) -> Told {
    let parsed = |text: &Option<String>| text.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let metadata = parsed(&page.metadata).unwrap_or_default();
    let text = |value: &Value| value.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned);
    let judgment = parsed(&page.judgment);
    let is_meaningful = judgment.as_ref().and_then(|judgment| judgment["meaningful"].as_bool());
    let judgment = judgment.map(|judgment| {
        let reason = text(&judgment["reason"]).unwrap_or_default();
        if is_meaningful == Some(false) { format!("judged as noise: {reason}") } else { reason }
    });
    let notes: Vec<String> = [page.error.clone(), judgment, text(&metadata["warning"])].into_iter().flatten().collect();
    Told {
        url: page.url.clone(),
        title: text(&metadata["title"]),
        status: page.status.clone(),
        is_meaningful,
        note: (!notes.is_empty()).then(|| notes.join("; ")),
        diff: content.and_then(|content| content.get("diff")).and_then(diff),
    }
}

/// Returns a diff as text: that of the text, or the changed fields, one per line.
fn diff(diff: &Value) -> Option<String> {
    if let Some(text) = diff["text"].as_str() {
        return Some(text.to_owned()).filter(|text| !text.is_empty());
    }
    let fields = diff["json"].as_object()?.iter().filter(|(_, change)| change.get("current").is_some());
    let lines: String =
        fields.map(|(path, change)| format!("{path}: {} → {}\n", change["previous"], change["current"])).collect();
    Some(lines).filter(|lines| !lines.is_empty())
}
