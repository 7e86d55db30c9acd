//! Structured data from a page of any length: one question for each chunk, one answer.

mod checked;
mod chunk;
mod prepared;
mod settle;

use std::sync::Arc;

use base::{Owner, Stop};
use cpu::{Cpu, CpuError};
use futures_util::StreamExt;
use serde_json::Value;
use tokio::time::Instant;

use crate::ask::Source;
use crate::budget::Budget;
use crate::error::AskError;
use crate::model::Model;
use crate::pages::{self, Chunk, Part};
use crate::schema::{Fault, Schema, SchemaError};
use chunk::{Asker, Said};
use prepared::Prepared;

/// Number of chunks of one page that are asked at the same time, if the endpoint has slots for them.
const PARALLEL: usize = 8;
/// Instruction for callers who give neither schema nor prompt.
const MAIN_FACTS: &str = "Extract the main facts of the page, in a structure that fits them.";

/// What to extract, and from what.
pub struct Job<'a> {
    /// Schema of the answer; `None` for a structure of the model's choice.
    pub schema: Option<&'a Arc<Schema>>,
    /// Instruction of the caller; may be empty.
    pub instruction: &'a str,
    /// The page.
    pub page: Arc<dyn Readable>,
    /// Owner of the calls, for the fair queue.
    pub owner: &'a Owner,
    /// Budget of the request.
    pub budget: &'a Budget,
    /// Time at which the answer is of no more use.
    pub deadline: Instant,
    /// Slots for CPU-bound work. None is held while the model is waited for.
    pub cpu: &'a Cpu,
}

/// Text of a page, shared with the threads that read it.
pub trait Readable: Send + Sync + 'static {
    /// Returns the page.
    fn page(&self) -> Page<'_>;
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
    /// The model could not be asked, or the deadline has passed.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// The model gives no answer that is valid by the schema.
    #[error("the model gives no answer that is valid by the schema")]
    Invalid(Vec<Fault>),
    /// The schema has no form for parts of a page.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// The work on the page or on an answer panicked.
    #[error("the page could not be processed")]
    Panicked,
}

impl Job<'_> {
    /// Runs work where CPU-bound work runs, within the deadline.
    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Stop) -> Result<T, ExtractError> + Send + 'static,
    ) -> Result<T, ExtractError> {
        self.cpu.run(self.owner, self.deadline, work).await.map_err(|error| match error {
            CpuError::Timeout => AskError::Timeout.into(),
            CpuError::Panicked => ExtractError::Panicked,
        })?
    }
}

/// Extracts data from a page.
///
/// A page that does not fit into one question is cut, the chunks are asked in parallel, and their answers are merged.
///
/// # Errors
/// [`ExtractError`]; see its variants. A chunk that fails among others is no error, but a warning.
pub async fn extract(model: &Model, job: &Job<'_>) -> Result<Extracted, ExtractError> {
    let instruction = match (job.schema, job.instruction.trim()) {
        (None, "") => MAIN_FACTS,
        (_, instruction) => instruction,
    };
    let Prepared { part, facts, structured, chunks } = prepared::prepare(model, job, instruction).await?;
    let beside = [
        Source { label: "title, URL and metadata of the page", text: &facts },
        Source { label: "structured data of the page, a second source", text: &structured },
    ];
    let beside: Vec<Source<'_>> = beside.into_iter().filter(|source| !source.text.trim().is_empty()).collect();
    let asker = Asker::new(model, job, chunk::Texts { instruction, beside: &beside, part: part.as_ref() });
    let said = match chunks.as_slice() {
        [one] => asker.ask(one, job.schema).await?,
        _ => parts(&asker, &chunks, job.schema).await?,
    };
    let (page, schema) = (Arc::clone(&job.page), job.schema.cloned());
    let work = move |stop: &Stop| checked::checked(page.page(), schema.as_deref(), said, stop);
    let Said { value, warnings } = job.work(work).await?;
    Ok(Extracted { value, warnings, calls: asker.calls() })
}

/// Asks for each chunk, and merges the answers.
async fn parts(asker: &Asker<'_>, chunks: &[Arc<Chunk>], schema: Option<&Arc<Schema>>) -> Result<Said, ExtractError> {
    let answers = answers(asker, chunks).await;
    if answers.iter().all(Result::is_err) {
        // The first error is as good as any other.
        return answers.into_iter().next().unwrap_or(Err(AskError::Empty.into()));
    }
    let count = answers.len();
    let (mut answered, mut warnings) = (Vec::new(), Vec::new());
    for (index, (answer, chunk)) in answers.into_iter().zip(chunks).enumerate() {
        match answer {
            Ok(said) => {
                warnings.extend(said.warnings);
                answered.push((said.value, Arc::clone(chunk)));
            }
            Err(error) => warnings.push(format!("Part {} of {count} of the page is missing: {error}.", index + 1)),
        }
    }
    let schema = schema.cloned();
    let merge = move |_: &Stop| {
        let parts = parts_of(&answered);
        let mut merged = pages::merge(&parts);
        if let Some(schema) = schema {
            merged.value = schema.with_empty_lists(merged.value);
        }
        let question = settle::question(&merged.conflicts, &parts);
        Ok((merged, question))
    };
    let (merged, question) = asker.work(merge).await?;
    let value = settle::settle(asker, merged, &question, &mut warnings).await;
    Ok(Said { value, warnings })
}

/// Asks for each chunk, several at the same time, and returns the answers in page order.
async fn answers(asker: &Asker<'_>, chunks: &[Arc<Chunk>]) -> Vec<Result<Said, ExtractError>> {
    let numbered = chunks.iter().enumerate();
    let questions: Vec<_> =
        numbered.map(|(index, chunk)| async move { (index, asker.ask(chunk, asker.part()).await) }).collect();
    // As they come: one that is repeated after a pause holds up no other.
    let mut answers: Vec<_> = futures_util::stream::iter(questions).buffer_unordered(PARALLEL).collect().await;
    answers.sort_by_key(|(index, _)| *index);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

/// Returns answers with their chunks as parts of a page.
fn parts_of(answered: &[(Value, Arc<Chunk>)]) -> Vec<Part<'_>> {
    answered.iter().map(|(answer, chunk)| Part { answer, text: &chunk.text }).collect()
}

/// Returns an error once the caller waits no more.
fn go_on(stop: &Stop) -> Result<(), ExtractError> {
    if stop.is_set() { Err(AskError::Timeout.into()) } else { Ok(()) }
}
