//! Values that chunks disagree about: one last question, whose answer is a number of a candidate, so that no new value
//! comes in.

use std::sync::Arc;

use serde_json::{Value, json};

use super::chunk::{Asker, Question};
use crate::ask::{Content, Source};
use crate::pages::{Conflict, Merged, Part};
use crate::prompt::SETTLE;
use crate::schema::Schema;

/// Characters of the text around a candidate.
const CONTEXT_CHARACTERS: usize = 200;
/// Number of conflicts that are put into the question.
const MAX_CONFLICTS: usize = 40;

/// Returns the merged value with its conflicts settled by the answer to [`question`]; those that cannot be are named in a
/// warning, and have their first candidate.
pub(super) async fn settle(asker: &Asker<'_>, merged: Merged, question: &str, warnings: &mut Vec<String>) -> Value {
    let Merged { mut value, conflicts } = merged;
    if conflicts.is_empty() {
        return value;
    }
    let choices = choices(asker, question).await.unwrap_or_default();
    let mut open = Vec::new();
    for (index, conflict) in conflicts.iter().enumerate() {
        let choice = choices.get(index).copied().and_then(|choice| conflict.candidates.get(choice.checked_sub(1)?));
        match (choice, value.pointer_mut(&conflict.path)) {
            (Some(candidate), Some(place)) => *place = candidate.value.clone(),
            _ => open.push(conflict.path.as_str()),
        }
    }
    if !open.is_empty() {
        warnings.push(format!(
            "Parts of the page give different values, and the first one was taken: {}.",
            open.join(", ")
        ));
    }
    value
}

/// Returns the conflicts as the model is asked about them; empty without any.
pub(super) fn question(conflicts: &[Conflict], parts: &[Part<'_>]) -> String {
    let asked = conflicts.iter().take(MAX_CONFLICTS).enumerate();
    asked.map(|(index, conflict)| described(index + 1, conflict, parts)).collect()
}

/// Asks for the number of a candidate for each conflict, counted from 1.
async fn choices(asker: &Asker<'_>, text: &str) -> Option<Vec<usize>> {
    let schema = Schema::read(json!({
        "type": "object",
        "properties": { "choices": {
            "type": "array", "items": { "type": "integer" },
            "description": "The number of the right candidate of each field, in the order of the fields; 0 if none is right.",
        } },
        "required": ["choices"],
        "additionalProperties": false,
    }));
    let sources = [Source { label: "fields with their candidates", text }];
    let schema = Arc::new(schema.ok()?);
    let question = Question { prompt: &SETTLE, sources: &sources, schema: Some(&schema), correction: None };
    let Content::Json(answer) = asker.answer(&question).await.ok()?.content else { return None };
    let answer = schema.accept(answer).ok()?.value;
    let numbers = answer["choices"].as_array()?.iter();
    Some(numbers.map(|number| number.as_u64().and_then(|number| usize::try_from(number).ok()).unwrap_or(0)).collect())
}

fn described(number: usize, conflict: &Conflict, parts: &[Part<'_>]) -> String {
    let mut text = format!("Field {number}: {}\n", conflict.path);
    for (index, candidate) in conflict.candidates.iter().enumerate() {
        let context = parts.get(candidate.part).map(|part| around(part.text, &candidate.value)).unwrap_or_default();
        text.push_str(&format!("Candidate {}: {}\nText beside it: {context}\n", index + 1, candidate.value));
    }
    text.push('\n');
    text
}

/// Returns the text around the first place where a value stands, on one line.
fn around(text: &str, value: &Value) -> String {
    let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let at = text.find(&shown).unwrap_or(0);
    let start = text[..at].char_indices().rev().nth(CONTEXT_CHARACTERS / 2).map_or(0, |(start, _)| start);
    text[start..]
        .chars()
        .take(CONTEXT_CHARACTERS + shown.len())
        .collect::<String>()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}
