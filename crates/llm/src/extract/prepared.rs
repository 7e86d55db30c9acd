//! A page made ready for its questions: the schema of its parts, the texts beside them, and the chunks.

use std::sync::Arc;

use super::{ExtractError, Job, Page, go_on};
use crate::ask::Role;
use crate::error::AskError;
use crate::model::{Model, Window};
use crate::pages::{self, Chunk};
use crate::prompt::EXTRACT;
use crate::schema::Schema;
use crate::tokens;

/// Tokens of a question besides the chunk, the schema and the texts of the caller.
const FRAME_TOKENS: u64 = 400;
/// Tokens that a chunk needs at least: with fewer a page would take hundreds of calls.
const SMALLEST_ROOM: u64 = 500;

/// A page made ready for its questions.
pub(super) struct Prepared {
    /// Schema for a chunk of several.
    pub(super) part: Option<Arc<Schema>>,
    /// Beginning of the facts.
    pub(super) facts: String,
    /// Beginning of the structured data.
    pub(super) structured: String,
    /// At least one.
    pub(super) chunks: Vec<Arc<Chunk>>,
}

/// Prepares the page of a job on a thread.
pub(super) async fn prepare(model: &Model, job: &Job<'_>, instruction: &str) -> Result<Prepared, ExtractError> {
    let (page, schema, window) = (Arc::clone(&job.page), job.schema.cloned(), model.window(Role::Extract));
    let instruction = tokens::estimate(instruction);
    job.work(move |stop| {
        let schema = schema.as_deref();
        let part = schema.map(Schema::of_part).transpose()?.map(Arc::new);
        go_on(stop)?;
        let Page { markdown, facts, structured, .. } = page.page();
        let (facts, structured) = (clipped(facts, window.context / 16), clipped(structured, window.context / 8));
        let beside = instruction + tokens::estimate(facts) + tokens::estimate(structured);
        let room = room(window, schema, beside).ok_or(AskError::TooLong)?;
        let mut chunks: Vec<Arc<Chunk>> = pages::cut(markdown, room).into_iter().map(Arc::new).collect();
        if chunks.is_empty() {
            chunks.push(Arc::new(Chunk { text: String::new(), tokens: 0 }));
        }
        Ok(Prepared { part, facts: facts.to_owned(), structured: structured.to_owned(), chunks })
    })
    .await
}

/// Returns the tokens that a chunk may have, with this number of them for instruction and texts beside it; `None` when
/// nearly nothing is left.
fn room(window: Window, schema: Option<&Schema>, beside: u64) -> Option<u64> {
    let schema_tokens = schema.map_or(0, |schema| {
        // Once for the endpoint, and once for the model.
        tokens::estimate(schema.shown()) + tokens::estimate(&schema.wire().schema.to_string())
    });
    let used = window.output + schema_tokens + beside + tokens::estimate(EXTRACT.text) + FRAME_TOKENS;
    let room = window.context.checked_sub(used).filter(|room| *room >= SMALLEST_ROOM)?;
    Some(if has_lists(schema) { room.min(window.output / 2) } else { room })
}

/// Returns whether answers have lists, which grow with the page.
fn has_lists(schema: Option<&Schema>) -> bool {
    schema.is_none_or(|schema| schema.shown().contains("\"array\"") || schema.shown().contains("\"items\""))
}

/// Returns the beginning of a text that has about this many tokens at most.
fn clipped(text: &str, max_tokens: u64) -> &str {
    let mut used = 0;
    let end = text.char_indices().find(|(_, character)| {
        used += tokens::weight(*character);
        used > max_tokens * 1000
    });
    &text[..end.map_or(text.len(), |(end, _)| end)]
}
