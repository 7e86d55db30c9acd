//! One chunk of a page: asked, asked in halves when the answer is cut, and once more when it is wrong.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use base::Stop;
use serde_json::Value;

use super::{ExtractError, Job, parts_of};
use crate::ask::{Answer, Ask, Content, Correction, Role, Source, Want};
use crate::error::AskError;
use crate::json_text;
use crate::model::Model;
use crate::pages::{self, Chunk, Part};
use crate::prompt::{EXTRACT, Prompt};
use crate::schema::{self, Fault, Schema};

/// Chunks below this size are not halved: an answer that is still cut is closed after its last whole item.
const SMALLEST_TOKENS: u64 = 40;
/// Bytes of a wrong answer that the model is shown again.
const SHOWN_ANSWER: usize = 4 << 10;
const CUT: &str = "The answer of the model was cut, so that its end may be missing.";

/// Asks the questions of one job.
pub(super) struct Asker<'a> {
    model: &'a Model,
    job: &'a Job<'a>,
    texts: Texts<'a>,
    calls: AtomicU32,
}

/// What the questions of one job have in common.
pub(super) struct Texts<'a> {
    pub(super) instruction: &'a str,
    pub(super) beside: &'a [Source<'a>],
    /// Schema for a chunk of several.
    pub(super) part: Option<&'a Arc<Schema>>,
}

/// An accepted answer.
pub(super) struct Said {
    pub(super) value: Value,
    pub(super) warnings: Vec<String>,
}

/// A question.
pub(super) struct Question<'a> {
    pub(super) prompt: &'static Prompt,
    pub(super) sources: &'a [Source<'a>],
    pub(super) schema: Option<&'a Arc<Schema>>,
    pub(super) correction: Option<Correction<'a>>,
}

/// What is wrong with an answer.
struct Wrong {
    answer: String,
    faults: Vec<Fault>,
    error: Option<AskError>,
}

type Asking<'a> = Pin<Box<dyn Future<Output = Result<Said, ExtractError>> + Send + 'a>>;

impl<'a> Asker<'a> {
    pub(super) fn new(model: &'a Model, job: &'a Job<'a>, texts: Texts<'a>) -> Self {
        Self { model, job, texts, calls: AtomicU32::new(0) }
    }

    pub(super) fn part(&self) -> Option<&'a Arc<Schema>> {
        self.texts.part
    }

    pub(super) fn calls(&self) -> u32 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Runs work where CPU-bound work runs.
    pub(super) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Stop) -> Result<T, ExtractError> + Send + 'static,
    ) -> Result<T, ExtractError> {
        self.job.work(work).await
    }

    /// Asks for the data of a chunk.
    pub(super) fn ask<'b>(&'b self, chunk: &'b Arc<Chunk>, schema: Option<&'b Arc<Schema>>) -> Asking<'b> {
        Box::pin(async move {
            let sources = self.sources(chunk);
            let question = Question { prompt: &EXTRACT, sources: &sources, schema, correction: None };
            let wrong = match self.answer(&question).await {
                Ok(answer) if answer.cut => return self.halves(chunk, &question, answer).await,
                Ok(answer) => match self.accepted(answer.content, schema).await? {
                    Ok(value) => return Ok(Said { value, warnings: Vec::new() }),
                    Err(wrong) => wrong,
                },
                Err(AskError::TooLong) if chunk.tokens > SMALLEST_TOKENS => return self.split(chunk).await,
                Err(error @ (AskError::Refused | AskError::Empty)) => Wrong::of(error),
                Err(error) => return Err(error.into()),
            };
            self.again(&question, wrong).await
        })
    }

    /// Asks once more, with what was wrong.
    async fn again(&self, question: &Question<'_>, wrong: Wrong) -> Result<Said, ExtractError> {
        let errors = schema::list(&wrong.faults);
        let answer = &wrong.answer[..wrong.answer.floor_char_boundary(SHOWN_ANSWER)];
        let correction = wrong.error.is_none().then_some(Correction { answer, errors: &errors });
        let Question { prompt, sources, schema, .. } = *question;
        let answer = self.answer(&Question { prompt, sources, schema, correction }).await;
        let faults = match answer {
            Ok(answer) => match self.accepted(answer.content, question.schema).await? {
                Ok(value) if !answer.cut => return Ok(Said { value, warnings: Vec::new() }),
                Ok(_) => vec![fault("the answer was cut")],
                Err(wrong) => wrong.faults,
            },
            Err(error @ (AskError::Refused | AskError::Empty)) => Wrong::of(error).faults,
            Err(error) => return Err(error.into()),
        };
        Err(ExtractError::Invalid(faults))
    }

    /// Asks for a chunk in halves, because its answer was cut.
    async fn halves(&self, chunk: &Arc<Chunk>, question: &Question<'_>, answer: Answer) -> Result<Said, ExtractError> {
        let mut split = None;
        if chunk.tokens > SMALLEST_TOKENS {
            match self.split(chunk).await {
                Ok(said) => split = Some(said),
                Err(ExtractError::Invalid(_)) => {}
                Err(error) => return Err(error),
            }
        }
        let schema = question.schema.cloned();
        match self.work(move |_| Ok(joined(split, answer.content, schema.as_deref()))).await? {
            Ok(said) => Ok(said),
            Err(wrong) => self.again(question, wrong).await,
        }
    }

    async fn split(&self, chunk: &Arc<Chunk>) -> Result<Said, ExtractError> {
        let whole = Arc::clone(chunk);
        let smaller = self.work(move |_| Ok(pages::cut(&whole.text, whole.tokens * 5 / 8))).await?;
        let (mut answered, mut warnings) = (Vec::new(), Vec::new());
        for half in smaller.into_iter().map(Arc::new) {
            let said = self.ask(&half, self.texts.part).await?;
            warnings.extend(said.warnings);
            answered.push((said.value, half));
        }
        let value = self.work(move |_| Ok(pages::merge(&parts_of(&answered)).value)).await?;
        Ok(Said { value, warnings })
    }

    /// Repairs and validates an answer on a thread.
    async fn accepted(
        &self,
        content: Content,
        schema: Option<&Arc<Schema>>,
    ) -> Result<Result<Value, Wrong>, ExtractError> {
        let schema = schema.cloned();
        self.work(move |_| Ok(accepted(content, schema.as_deref()))).await
    }

    fn sources<'b>(&'b self, chunk: &'b Chunk) -> Vec<Source<'b>> {
        let page = Source { label: "page text", text: &chunk.text };
        std::iter::once(page).chain(self.texts.beside.iter().copied()).collect()
    }

    /// Asks one question.
    pub(super) async fn answer(&self, question: &Question<'_>) -> Result<Answer, AskError> {
        let answer = self
            .model
            .ask(&Ask {
                role: Role::Extract,
                prompt: question.prompt,
                instruction: self.texts.instruction,
                sources: question.sources,
                want: question.schema.map_or(Want::AnyJson, |schema| Want::Json(schema)),
                correction: question.correction,
                owner: self.job.owner,
                budget: self.job.budget,
                deadline: self.job.deadline,
            })
            .await;
        self.calls.fetch_add(u32::from(answer.is_ok()), Ordering::Relaxed);
        answer
    }
}

impl Wrong {
    fn of(error: AskError) -> Self {
        Self { answer: String::new(), faults: vec![fault(&error.to_string())], error: Some(error) }
    }
}

fn fault(reason: &str) -> Fault {
    Fault { path: String::new(), reason: reason.to_owned() }
}

/// Returns what the halves of a chunk give. Where that is not valid, the cut answer counts too, up to its last whole item:
/// models that repeat themselves without end are cut on any page.
fn joined(split: Option<Said>, cut: Content, schema: Option<&Schema>) -> Result<Said, Wrong> {
    let split = match split {
        Some(said) if is_valid(&said.value, schema) => return Ok(said),
        split => split,
    };
    let (values, warnings) = match (closed(cut, schema), split) {
        (Err(wrong), None) => return Err(wrong),
        (Err(_), Some(said)) => (vec![said.value], said.warnings),
        (Ok(value), None) => (vec![value], vec![CUT.to_owned()]),
        (Ok(value), Some(said)) => (vec![said.value, value], [said.warnings, vec![CUT.to_owned()]].concat()),
    };
    let parts: Vec<Part<'_>> = values.iter().map(|answer| Part { answer, text: "" }).collect();
    let value = accepted(Content::Json(filled(pages::merge(&parts).value, schema)), schema)?;
    Ok(Said { value, warnings })
}

/// Returns the data of a cut answer up to its last whole item.
fn closed(content: Content, schema: Option<&Schema>) -> Result<Value, Wrong> {
    let text = match content {
        Content::Text(text) => text,
        Content::Json(value) => value.to_string(),
    };
    let wanted = schema.map_or(json_text::Kind::Object, Schema::kind);
    let found = json_text::find(&text, wanted).map(|found| found.value);
    // A list that was not begun is as incomplete as one that was not ended.
    accepted(found.map_or(Content::Text(text), |value| Content::Json(filled(value, schema))), schema)
}

fn filled(value: Value, schema: Option<&Schema>) -> Value {
    if let Some(schema) = schema { schema.with_empty_lists(value) } else { value }
}

fn is_valid(value: &Value, schema: Option<&Schema>) -> bool {
    schema.is_none_or(|schema| schema.accept(value.clone()).is_ok())
}

fn accepted(content: Content, schema: Option<&Schema>) -> Result<Value, Wrong> {
    match (content, schema) {
        (Content::Json(value), None) => Ok(value),
        (Content::Json(value), Some(schema)) => {
            let answer = value.to_string();
            schema.accept(value).map(|accepted| accepted.value).map_err(|faults| Wrong { answer, faults, error: None })
        }
        (Content::Text(answer), _) => Err(Wrong { answer, faults: vec![fault("not JSON")], error: None }),
    }
}
