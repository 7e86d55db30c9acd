//! Texts of chat messages.

use serde_json::{Value, json};
use store::monitors::Check;
use wire::{ChatKind, CheckSummary};

use super::plain::{link, plain};
use crate::progress;
use crate::told::Told;

/// Maximum number of pages that a message lists.
pub(super) const MAX_PAGES: i64 = 20;
/// Maximum length of a text in UTF-16 units. Discord takes 2000 characters, the others more.
pub(super) const MAX_TEXT: usize = 2000;
/// Room for the line that counts the pages that are not listed.
const ROOM_FOR_MORE: usize = 40;
/// Maximum lengths of the parts of a line: three of the longest lines fit.
const MAX_NAME: usize = 100;
const MAX_TITLE: usize = 100;
const MAX_URL: usize = 300;
const MAX_NOTE: usize = 200;
/// Maximum length of titles and notes for programs.
const MAX_FIELD: usize = 1000;

/// Returns the body of a message about a check of the monitor of this name.
pub(super) fn body(kind: ChatKind, monitor: &str, check: &Check, pages: &[Told]) -> Value {
    match kind {
        ChatKind::Slack => json!({ "text": text(monitor, progress::summary(check), pages) }),
        ChatKind::Json => object(monitor, check, pages),
    }
}

/// Writes a text for people: a line with the counters, and a line for each page.
pub(super) fn text(monitor: &str, counts: CheckSummary, pages: &[Told]) -> String {
    let mut text = format!("*{}*: {}", plain(monitor, MAX_NAME), counted(counts));
    let all = counts.changed + counts.new + counts.removed + counts.error;
    let mut left = all;
    for page in pages {
        let line = line(page);
        if units(&text) + units(&line) + ROOM_FOR_MORE > MAX_TEXT {
            break;
        }
        text.push_str(&line);
        left -= 1;
    }
    if left > 0 {
        let pages = if left == 1 { "page" } else { "pages" };
        text.push_str(&format!("\n… and {left} more {pages}"));
    }
    text
}

fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

fn counted(counts: CheckSummary) -> String {
    let words = [
        (counts.changed, "changed"),
        (counts.new, "new"),
        (counts.removed, "removed"),
        (counts.error, "could not be read"),
    ];
    let shown = words.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"));
    shown.collect::<Vec<_>>().join(", ")
}

fn line(page: &Told) -> String {
    let title = page.title.as_deref().map(|title| plain(title, MAX_TITLE)).filter(|title| !title.is_empty());
    let title = title.map(|title| format!("{title} ")).unwrap_or_default();
    let note = page.note.as_deref().map(|note| format!(" – {}", plain(note, MAX_NOTE))).unwrap_or_default();
    format!("\n• {}: {title}{}{note}", page.status, link(&page.url, MAX_URL))
}

/// Returns an object for programs (docs/MONITORS.md, "Chat").
fn object(monitor: &str, check: &Check, pages: &[Told]) -> Value {
    let pages: Vec<Value> = pages.iter().map(object_of_page).collect();
    json!({
        "type": "monitor.check",
        "monitorId": check.monitor_id,
        "monitorName": monitor,
        "checkId": check.id,
        "status": check.status,
        "error": check.error,
        "summary": progress::summary(check),
        "pages": pages,
    })
}

fn object_of_page(page: &Told) -> Value {
    let short = |text: &String| text.chars().take(MAX_FIELD).collect::<String>();
    let mut object = json!({
        "url": page.url,
        "title": page.title.as_ref().map(short),
        "status": page.status,
        "note": page.note.as_ref().map(short),
    });
    // A page that was not judged has no verdict, as in webhooks.
    if let Some(is_meaningful) = page.is_meaningful {
        object["isMeaningful"] = is_meaningful.into();
    }
    object
}
