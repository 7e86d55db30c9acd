//! Structured data from a page of any length: one question for each chunk, one answer.

mod chunk;
mod settle;

use base::Owner;
use futures_util::StreamExt;
use serde_json::Value;
use tokio::time::Instant;

use crate::ask::{Role, Source};
use crate::budget::Budget;
use crate::error::AskError;
use crate::model::Model;
use crate::pages::{self, Evidence, Links, Part};
use crate::prompt::EXTRACT;
use crate::schema::{Fault, Schema, SchemaError};
use crate::tokens;
use chunk::{Asker, Said};

/// Number of chunks of one page that are asked at the same time, if the endpoint has slots for them.
const PARALLEL: usize = 8;
/// Tokens of a question besides the chunk, the schema and the texts of the caller.
const FRAME_TOKENS: u64 = 400;
/// Tokens that a chunk needs at least: with fewer a page would take hundreds of calls.
const SMALLEST_ROOM: u64 = 500;
/// Instruction for callers who give neither schema nor prompt.
const MAIN_FACTS: &str = "Extract the main facts of the page, in a structure that fits them.";

/// What to extract, and from what.
pub struct Job<'a> {
    /// Schema of the answer; `None` for a structure of the model's choice.
    pub schema: Option<&'a Schema>,
    /// Instruction of the caller; may be empty.
    pub instruction: &'a str,
    /// The page.
    pub page: Page<'a>,
    /// Owner of the calls, for the fair queue.
    pub owner: &'a Owner,
    /// Budget of the request.
    pub budget: &'a Budget,
    /// Time at which the answer is of no more use.
    pub deadline: Instant,
}

/// A page as a model sees it. All of it is untrusted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Page<'a> {
    /// Full markdown, with its tables.
    pub markdown: &'a str,
    /// Title, URL and metadata, one per line.
    pub facts: &'a str,
    /// Structured data such as JSON-LD.
    pub structured: &'a str,
    /// Links of the page, its images and its own URL, all of them absolute. Other URLs do not come into an answer.
    pub links: &'a [String],
}

/// Data from a page.
#[derive(Debug, Clone, PartialEq)]
pub struct Extracted {
    /// The data, valid by the schema.
    pub value: Value,
    /// Warnings for the caller, one sentence each.
    pub warnings: Vec<String>,
    /// Number of calls that were answered.
    pub calls: u32,
}

/// Reason for having no data.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExtractError {
    /// The model could not be asked.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// The model gives no answer that is valid by the schema.
    #[error("the model gives no answer that is valid by the schema")]
    Invalid(Vec<Fault>),
    /// The schema has no form for parts of a page.
    #[error(transparent)]
    Schema(#[from] SchemaError),
}

/// Extracts data from a page.
///
/// A page that does not fit into one question is cut, the chunks are asked in parallel, and their answers are merged.
///
/// # Errors
/// [`ExtractError`]; see its variants. A chunk that fails among others is no error, but a warning.
pub async fn extract(model: &Model, job: &Job<'_>) -> Result<Extracted, ExtractError> {
    let part = job.schema.map(Schema::of_part).transpose()?;
    let instruction = match (job.schema, job.instruction.trim()) {
        (None, "") => MAIN_FACTS,
        (_, instruction) => instruction,
    };
    let window = model.window(Role::Extract);
    let structured = clipped(job.page.structured, window.context / 8);
    let facts = clipped(job.page.facts, window.context / 16);
    let beside = [
        Source { label: "title, URL and metadata of the page", text: facts },
        Source { label: "structured data of the page, a second source", text: structured },
    ];
    let beside: Vec<Source<'_>> = beside.into_iter().filter(|source| !source.text.trim().is_empty()).collect();
    let asker = Asker::new(model, job, chunk::Texts { instruction, beside: &beside, part: part.as_ref() });
    let room = window.context.saturating_sub(window.output + overhead(job, instruction, &beside));
    if room < SMALLEST_ROOM {
        return Err(AskError::TooLong.into());
    }
    let mut chunks =
        pages::cut(job.page.markdown, if has_lists(job.schema) { room.min(window.output / 2) } else { room });
    if chunks.is_empty() {
        chunks.push(pages::Chunk { text: String::new(), tokens: 0 });
    }
    let said = match chunks.as_slice() {
        [one] => asker.ask(one, job.schema).await?,
        _ => parts(&asker, job.schema, &chunks).await?,
    };
    finish(&asker, job, said).await
}

/// Asks for each chunk, and merges the answers.
async fn parts(asker: &Asker<'_>, schema: Option<&Schema>, chunks: &[pages::Chunk]) -> Result<Said, ExtractError> {
    let numbered = chunks.iter().enumerate();
    let questions: Vec<_> =
        numbered.map(|(index, chunk)| async move { (index, asker.ask(chunk, asker.part()).await) }).collect();
    // As they come: one that is repeated after a pause holds up no other.
    let mut answers: Vec<_> = futures_util::stream::iter(questions).buffer_unordered(PARALLEL).collect().await;
    answers.sort_by_key(|(index, _)| *index);
    let answers: Vec<Result<Said, ExtractError>> = answers.into_iter().map(|(_, answer)| answer).collect();
    if answers.iter().all(Result::is_err) {
        // The first error is as good as any other.
        return answers.into_iter().next().unwrap_or(Err(AskError::Empty.into()));
    }
    let count = answers.len();
    let (mut answered, mut warnings) = (Vec::new(), Vec::new());
    for (index, answer) in answers.into_iter().enumerate() {
        match answer {
            Ok(said) => {
                warnings.extend(said.warnings);
                answered.push((index, said.value));
            }
            Err(error) => warnings.push(format!("Part {} of {count} of the page is missing: {error}.", index + 1)),
        }
    }
    let parts: Vec<Part<'_>> =
        answered.iter().map(|(index, answer)| Part { answer, text: &chunks[*index].text }).collect();
    let merged = pages::merge(&parts);
    let value = settle::settle(asker, merged, &parts, &mut warnings).await;
    let value = if let Some(schema) = schema { schema.with_empty_lists(value) } else { value };
    Ok(Said { value, warnings })
}

/// Checks the answer against schema and page.
async fn finish(asker: &Asker<'_>, job: &Job<'_>, said: Said) -> Result<Extracted, ExtractError> {
    let Said { mut value, mut warnings } = said;
    let page = [job.page.markdown, job.page.facts, job.page.structured];
    let links = Links::of(job.page.links.iter().map(String::as_str));
    let dropped = pages::drop_unknown_urls(&mut value, &links, job.schema);
    if dropped > 0 {
        warnings.push(format!("Removed {dropped} URLs that are no links of the page."));
    }
    if let Some(schema) = job.schema {
        value = schema.accept(value).map_err(ExtractError::Invalid)?.value;
    }
    // Duplicates within one answer, as between the answers of chunks.
    let value = pages::merge(&[Part { answer: &value, text: "" }]).value;
    let missing = Evidence::of(&page).missing(&value, job.schema);
    if !missing.is_empty() {
        warnings.push(format!("Values that are not on the page: {}.", missing.join(", ")));
    }
    Ok(Extracted { value, warnings, calls: asker.calls() })
}

/// Estimates the tokens of a question besides the chunk.
fn overhead(job: &Job<'_>, instruction: &str, beside: &[Source<'_>]) -> u64 {
    let schema = job.schema.map_or(0, |schema| {
        // Once for the endpoint, and once for the model.
        tokens::estimate(schema.shown()) + tokens::estimate(&schema.wire().schema.to_string())
    });
    let beside: u64 = beside.iter().map(|source| tokens::estimate(source.text)).sum();
    schema + beside + tokens::estimate(instruction) + tokens::estimate(EXTRACT.text) + FRAME_TOKENS
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
