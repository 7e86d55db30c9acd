//! Questions to a model, and its answers.

use base::Owner;
use serde_json::Value;
use tokio::time::Instant;

use crate::budget::{Budget, Micros};
use crate::prompt::Prompt;
use crate::schema::Schema;

/// Role of a call, which decides the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Structured data and answers from pages.
    Extract,
    /// Judgement of changes.
    Judge,
    /// Boilerplate in markdown.
    Clean,
    /// Plain instructions that become steps or options.
    Agent,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 4] = [Self::Extract, Self::Judge, Self::Clean, Self::Agent];

    /// Returns its name in the settings.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Extract => "extract",
            Self::Judge => "judge",
            Self::Clean => "clean",
            Self::Agent => "agent",
        }
    }

    pub(crate) fn index(self) -> usize {
        match self {
            Self::Extract => 0,
            Self::Judge => 1,
            Self::Clean => 2,
            Self::Agent => 3,
        }
    }
}

/// A question to a model.
pub struct Ask<'a> {
    /// Role, which decides the model.
    pub role: Role,
    /// System text, written by us.
    pub prompt: &'static Prompt,
    /// Instruction of the caller.
    pub instruction: &'a str,
    /// Untrusted text, such as that of a page.
    pub sources: &'a [Source<'a>],
    /// Wanted answer.
    pub want: Want<'a>,
    /// An answer to the same question that was refused, with its errors.
    pub correction: Option<Correction<'a>>,
    /// Owner of the call, for the fair queue.
    pub owner: &'a Owner,
    /// Budget of the request.
    pub budget: &'a Budget,
    /// Time at which the answer is of no more use.
    pub deadline: Instant,
}

/// Untrusted text with its origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source<'a> {
    /// Origin, written by us, such as `page text`.
    pub label: &'static str,
    /// The text. Invisible characters are removed from it.
    pub text: &'a str,
}

/// Wanted answer.
#[derive(Debug, Clone, Copy)]
pub enum Want<'a> {
    /// Plain text.
    Text,
    /// JSON by a schema.
    Json(&'a Schema),
    /// A JSON object of the model's choice.
    AnyJson,
}

/// A refused answer.
#[derive(Debug, Clone, Copy)]
pub struct Correction<'a> {
    /// Beginning of the answer.
    pub answer: &'a str,
    /// What is wrong with it.
    pub errors: &'a str,
}

/// The answer of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// What the model has answered.
    pub content: Content,
    /// Tokens used by the attempt that succeeded.
    pub usage: Usage,
    /// Cost by the prices of the settings.
    pub cost: Micros,
    /// Name of the model.
    pub model: String,
    /// Number of attempts, the successful one included.
    pub attempts: u32,
    /// Whether the limit of tokens has cut the answer.
    pub cut: bool,
}

/// Content of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Text: as wanted, or instead of JSON.
    Text(String),
    /// JSON as the model has written it, neither repaired nor validated; see [`Schema::accept`].
    Json(Value),
}

/// Tokens of a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the input.
    pub input: u64,
    /// Tokens of the output, reasoning included.
    pub output: u64,
    /// Whether we have estimated them, because the endpoint has not counted.
    pub is_estimated: bool,
}
