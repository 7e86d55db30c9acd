//! What a program and its host say to each other, over one socket: JSON in lines.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// Longest line that a program may send, in bytes.
pub(crate) const MAX_LINE: usize = 4 << 20;

/// Most words of a command.
pub(crate) const MAX_WORDS: usize = 10_000;

/// Longest answer to a call, in bytes.
pub(crate) const MAX_ANSWER: usize = 16 << 20;

/// The first line to the process: what it is to become.
#[derive(Serialize, Deserialize)]
pub(crate) struct Order {
    /// What it may do then.
    pub(crate) fence: fence::Fence,
    /// What it becomes; none means the interpreter of JavaScript.
    pub(crate) program: Option<Program>,
    /// The number of the process that has started it, and that it ends with.
    pub(crate) parent: u32,
}

/// A program of the machine.
#[derive(Serialize, Deserialize)]
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    pub(crate) args: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
}

/// What a program says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Said {
    /// The fence stands, and the program begins; or the reason why it does not.
    Fenced(Result<(), String>),
    /// A verb for the page, whose answer bears the same number. Its arguments are not read yet.
    Call {
        id: u64,
        verb: String,
        #[serde(default)]
        args: Box<RawValue>,
    },
    /// A command as in a shell. The answer is not JSON: its number, status and length in a line, then the text. Its words, a
    /// list of texts, are not read yet.
    Command { id: u64, words: Box<RawValue> },
    /// Something printed.
    Print { error: bool, text: String },
    /// The code is through.
    Done(Done),
}

/// How code ended.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Done {
    /// Value of the last expression, as text.
    pub(crate) result: String,
    /// The error that ended it, in one line, with the line that it came from.
    pub(crate) error: Option<String>,
    /// The same with its stack.
    pub(crate) stack: Option<String>,
    /// Its time was over.
    pub(crate) killed: bool,
    /// Why the interpreter has lost its variables, if it has.
    pub(crate) lost: Option<String>,
}

/// What the host says.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Told {
    /// To the interpreter: code, its time in milliseconds, and where the page is.
    Run { code: String, ms: u64, url: String },
    /// To any program: the answer to a call.
    Answer(Answer),
}

/// The answer to a call.
#[derive(Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) id: u64,
    /// Where the page is now.
    pub(crate) url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ok: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<Wrong>,
}

/// Why a call failed.
#[derive(Serialize, Deserialize)]
pub(crate) struct Wrong {
    pub(crate) name: String,
    pub(crate) message: String,
}

/// A message as a line.
pub(crate) fn line(message: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    line
}
