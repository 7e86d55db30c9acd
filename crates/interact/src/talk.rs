//! Protocol between a program and its host over one socket: JSON lines.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// Maximum length of a line from a program, in bytes.
pub(crate) const MAX_LINE: usize = 4 << 20;

/// Maximum number of words of a command.
pub(crate) const MAX_WORDS: usize = 10_000;

/// Maximum length of an answer, in bytes.
pub(crate) const MAX_ANSWER: usize = 16 << 20;

/// Message from a program.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Said {
    /// The sandbox is active and the program begins, or the reason why not. Sent by [`children::Role::fenced`].
    Fenced(Result<(), String>),
    /// Call of a verb on the page; the answer has the same id. The arguments are parsed later, with a limit.
    Call {
        id: u64,
        verb: String,
        #[serde(default)]
        args: Box<RawValue>,
    },
    /// Shell command. The answer is not JSON: id, status and length in a line, then the text. The words, a list of
    /// strings, are parsed later, with a limit.
    Command { id: u64, words: Box<RawValue> },
    /// Printed text.
    Print { error: bool, text: String },
    /// End of the code.
    Done(Done),
}

/// End of the code.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Done {
    /// Value of the last expression, as text.
    pub(crate) result: String,
    /// Error that ended it, in one line, with its line number.
    pub(crate) error: Option<String>,
    /// Error with its stack trace.
    pub(crate) stack: Option<String>,
    /// Whether it was stopped by the timeout.
    pub(crate) killed: bool,
    /// Reason why the interpreter has lost its variables, if it has.
    pub(crate) lost: Option<String>,
}

/// Message from the host.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Told {
    /// Runs code, for the interpreter: source, timeout in milliseconds, and the URL of the page.
    Run { code: String, ms: u64, url: String },
    /// Answer to a call.
    Answer(Answer),
}

/// Answer to a call.
#[derive(Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) id: u64,
    /// Current URL of the page.
    pub(crate) url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ok: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<Wrong>,
}

/// Error of a call.
#[derive(Serialize, Deserialize)]
pub(crate) struct Wrong {
    pub(crate) name: String,
    pub(crate) message: String,
}

/// Serializes a message as a line.
pub(crate) fn line(message: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    line
}
