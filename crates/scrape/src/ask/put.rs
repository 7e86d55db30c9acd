//! Answers in the document.

use answers::{Answered, Refusal};
use serde_json::Value;
use wire::{Document, Format, ScrapeOptions};

use crate::derive::Draft;
use crate::target::is_asked_of_text;

/// Answer to one format, or why there is none.
pub(super) type Outcome = Result<Answered<Content>, Refusal>;

/// Content of an answer.
#[derive(Debug)]
pub(super) enum Content {
    Json(Value),
    Text(String),
}

impl Content {
    pub(super) fn json(answered: Answered<Value>) -> Answered<Self> {
        Answered { value: Self::Json(answered.value), warnings: answered.warnings }
    }

    pub(super) fn text(answered: Answered<String>) -> Answered<Self> {
        Answered { value: Self::Text(answered.value), warnings: answered.warnings }
    }
}

/// Puts an answer into the document, and its warnings into the draft. Returns why there is none.
pub(super) fn put(draft: &mut Draft, format: &Format, result: Outcome) -> Option<Refusal> {
    let answered = match result {
        Ok(answered) => answered,
        Err(why) => {
            draft.warnings.push(format!("`{}` is missing: {why}", field(format)));
            return Some(why);
        }
    };
    for warning in answered.warnings {
        if !draft.warnings.contains(&warning) {
            draft.warnings.push(warning);
        }
    }
    let document = &mut draft.document;
    match (format, answered.value) {
        (Format::Json(_), Content::Json(value)) => document.json = Some(value),
        (Format::Summary, Content::Text(text)) => document.summary = Some(text),
        (Format::Highlights(_), Content::Text(text)) => document.highlights = Some(text),
        // Both have one field; the newer format wins.
        (Format::Question(_), Content::Text(text)) => document.answer = Some(text),
        (Format::Query(_), Content::Text(text)) => {
            document.answer.get_or_insert(text);
        }
        _ => {}
    }
    None
}

/// Returns the number of requested formats that were answered.
pub(super) fn count(document: &Document, options: &ScrapeOptions) -> usize {
    let is_there = |format: &&Format| match format {
        Format::Json(_) => document.json.is_some(),
        Format::Summary => document.summary.is_some(),
        Format::Highlights(_) => document.highlights.is_some(),
        _ => document.answer.is_some(),
    };
    options.formats.iter().filter(|format| is_asked_of_text(format)).filter(is_there).count()
}

/// Returns the reason that the caller can do more about.
pub(super) fn weightier(one: Refusal, other: Refusal) -> Refusal {
    if matches!(one, Refusal::Invalid(_) | Refusal::Schema(_)) { one } else { other }
}

fn field(format: &Format) -> &'static str {
    match format {
        Format::Json(_) => "json",
        Format::Summary => "summary",
        Format::Highlights(_) => "highlights",
        _ => "answer",
    }
}
