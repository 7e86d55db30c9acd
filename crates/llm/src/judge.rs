//! Judgement of a change: does it matter to somebody who watches the page?

use base::Owner;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::ask::{Ask, Content, Correction, Role, Source, Want};
use crate::budget::Budget;
use crate::error::AskError;
use crate::model::Model;
use crate::prompt::JUDGE;
use crate::schema::{Fault, Schema};
use crate::tokens;

/// Tokens of the question besides the change.
const OVERHEAD_TOKENS: u64 = 1200;
/// Maximum length of a refused answer that is shown to the model again, in characters.
const MAX_SHOWN_CHARS: usize = 2000;

/// A change to be judged. All of it but the goal is untrusted.
pub struct Change<'a> {
    /// What the watcher wants to know.
    pub goal: &'a str,
    /// Instruction by which values were extracted from the page; empty if there is none.
    pub extraction: &'a str,
    /// Unified diff of the text.
    pub diff: &'a str,
    /// Changed values, one per line; empty if there are none.
    pub fields: &'a str,
    /// Owner of the calls, for the fair queue.
    pub owner: &'a Owner,
    /// Budget of the request.
    pub budget: &'a Budget,
    /// Time at which the judgment is of no more use.
    pub deadline: Instant,
}

/// Judgment of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Judgment {
    /// Whether the change matters.
    pub meaningful: bool,
    /// Confidence of the model.
    pub confidence: Confidence,
    /// Reason in one sentence.
    pub reason: String,
    /// Changes that matter; empty if none does.
    pub meaningful_changes: Vec<MeaningfulChange>,
}

/// Confidence of a judgment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Certain.
    High,
    /// Likely.
    Medium,
    /// A guess.
    Low,
}

/// A single change that matters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeaningfulChange {
    /// Type of the change.
    #[serde(rename = "type")]
    pub kind: ChangeKind,
    /// Text before; `None` for an addition.
    pub before: Option<String>,
    /// Text after; `None` for a removal.
    pub after: Option<String>,
    /// Why it matters.
    pub reason: String,
}

/// Type of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// Text that was not there before.
    Added,
    /// Text that is not there any more.
    Removed,
    /// Text that says something else.
    Changed,
}

/// Reason for having no judgment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JudgeError {
    /// The model could not be asked.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// The model gives no judgment in the right form.
    #[error("the model gives no judgment in the right form")]
    Invalid(Vec<Fault>),
}

impl Judgment {
    /// Returns the judgment of a change that no model has judged: it counts as meaningful, so that no change is lost.
    ///
    /// ```
    /// use llm::judge::{Confidence, Judgment};
    ///
    /// let judgment = Judgment::unjudged("the model did not answer in time");
    /// assert!(judgment.meaningful && judgment.confidence == Confidence::Low);
    /// ```
    #[must_use]
    pub fn unjudged(why: &str) -> Self {
        let reason = format!("The change was not judged: {why}.");
        Self { meaningful: true, confidence: Confidence::Low, reason, meaningful_changes: Vec::new() }
    }

    /// Makes the members agree: no listed changes without meaning, and no text on the missing side of one.
    fn consistent(mut self) -> Self {
        if !self.meaningful {
            self.meaningful_changes.clear();
        }
        for change in &mut self.meaningful_changes {
            match change.kind {
                ChangeKind::Added => change.before = None,
                ChangeKind::Removed => change.after = None,
                ChangeKind::Changed => {}
            }
        }
        self
    }
}

/// Judges a change. An answer in the wrong form is asked for once more, with its errors.
///
/// A change that does not fit into one question is cut at a line.
///
/// # Errors
/// [`JudgeError`]; see its variants, and [`Judgment::unjudged`] for what to do then.
pub async fn judge(model: &Model, change: &Change<'_>) -> Result<Judgment, JudgeError> {
    let schema = schema()?;
    let window = model.window(Role::Judge);
    let fixed = OVERHEAD_TOKENS + tokens::estimate(change.goal) + tokens::estimate(change.extraction);
    let room = window.context.saturating_sub(window.output + fixed);
    let fields = whole_lines(change.fields, room / 2);
    let diff = whole_lines(change.diff, room.saturating_sub(tokens::estimate(fields)));
    let sources = [
        Source { label: "difference of the page", text: diff },
        Source { label: "changed values of the page", text: fields },
        Source { label: "instruction of the extraction", text: change.extraction },
    ];
    let sources: Vec<Source<'_>> = sources.into_iter().filter(|source| !source.text.trim().is_empty()).collect();
    let question = Question { change, sources: &sources, schema: &schema };
    let wrong = match question.ask(model, None).await? {
        Ok(judgment) => return Ok(judgment),
        Err(wrong) => wrong,
    };
    let correction = Correction { answer: &wrong.answer, errors: &wrong.errors() };
    question.ask(model, Some(correction)).await?.map_err(|wrong| JudgeError::Invalid(wrong.faults))
}

struct Question<'a> {
    change: &'a Change<'a>,
    sources: &'a [Source<'a>],
    schema: &'a Schema,
}

/// An answer in the wrong form.
struct Wrong {
    answer: String,
    faults: Vec<Fault>,
}

impl Wrong {
    fn errors(&self) -> String {
        self.faults.iter().map(|fault| format!("{}: {}\n", fault.path, fault.reason)).collect()
    }
}

impl Question<'_> {
    async fn ask(
        &self,
        model: &Model,
        correction: Option<Correction<'_>>,
    ) -> Result<Result<Judgment, Wrong>, AskError> {
        let Self { change, sources, schema } = *self;
        let ask = Ask {
            role: Role::Judge,
            prompt: &JUDGE,
            instruction: change.goal,
            sources,
            want: Want::Json(schema),
            correction,
            owner: change.owner,
            budget: change.budget,
            deadline: change.deadline,
        };
        Ok(read(model.ask(&ask).await?.content, schema))
    }
}

fn read(content: Content, schema: &Schema) -> Result<Judgment, Wrong> {
    let shown = |text: String| text.chars().take(MAX_SHOWN_CHARS).collect();
    let fault = |reason: &str| Fault { path: String::new(), reason: reason.to_owned() };
    let value = match content {
        Content::Json(value) => value,
        Content::Text(text) => return Err(Wrong { answer: shown(text), faults: vec![fault("not JSON")] }),
    };
    let answer = shown(value.to_string());
    let accepted = match schema.accept(value) {
        Ok(accepted) => accepted.value,
        Err(faults) => return Err(Wrong { answer, faults }),
    };
    match serde_json::from_value::<Judgment>(accepted) {
        Ok(judgment) => Ok(judgment.consistent()),
        Err(error) => Err(Wrong { answer, faults: vec![fault(&error.to_string())] }),
    }
}

fn schema() -> Result<Schema, JudgeError> {
    let invalid =
        |error: crate::schema::SchemaError| JudgeError::Invalid(vec![Fault { path: error.path, reason: error.reason }]);
    Schema::read(form()).map_err(invalid)
}

/// Returns the form of a judgment.
fn form() -> Value {
    json!({
        "type": "object",
        "properties": {
            "meaningful": { "type": "boolean" },
            "confidence": { "type": "string", "enum": ["high", "medium", "low"] },
            "reason": { "type": "string" },
            "meaningfulChanges": { "type": "array", "items": {
                "type": "object",
                "properties": {
                    "type": { "type": "string", "enum": ["added", "removed", "changed"] },
                    "before": { "type": ["string", "null"] },
                    "after": { "type": ["string", "null"] },
                    "reason": { "type": "string" },
                },
                "required": ["type", "before", "after", "reason"],
                "additionalProperties": false,
            } },
        },
        "required": ["meaningful", "confidence", "reason", "meaningfulChanges"],
        "additionalProperties": false,
    })
}

/// Returns the first lines of a text that have about this many tokens at most.
fn whole_lines(text: &str, max_tokens: u64) -> &str {
    let (mut used, mut end) = (0, 0);
    for line in text.split_inclusive('\n') {
        used += tokens::estimate(line);
        if used > max_tokens {
            break;
        }
        end += line.len();
    }
    &text[..end]
}
