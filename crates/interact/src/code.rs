//! Calls and their results.

use tokio::time::Duration;

/// Name of the role of a child process that runs code.
pub(crate) const ROLE: &str = "run-code-of-strangers";

/// Language of the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// JavaScript, with a `page` like Playwright's.
    Node,
    /// Python, with a `page` like Playwright's.
    Python,
    /// Bash, with the command `agent-browser`.
    Bash,
}

/// Code to run. Has no `Debug`, as it may contain secrets that are typed into pages.
#[derive(Clone, Copy)]
pub struct Code<'a> {
    /// Language of the code.
    pub language: Language,
    /// Source text.
    pub text: &'a str,
    /// Timeout of the call.
    pub timeout: Duration,
}

/// Result of a call. Has no `Debug`, as pages are private.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Ran {
    /// Standard output.
    pub stdout: String,
    /// Standard error, and the error that ended the call.
    pub stderr: String,
    /// Value of the last expression, as text; JSON for objects.
    pub result: String,
    /// Exit code: 0 on success, 124 after a timeout.
    pub exit_code: i32,
    /// Whether it was stopped by the timeout.
    pub killed: bool,
    /// Whether one of the texts was truncated.
    pub truncated: bool,
    /// Error that ended the call, in one line.
    pub error: Option<String>,
}

/// Reason why code was not run.
#[derive(Debug, thiserror::Error)]
pub enum InteractError {
    /// Language that this server does not run.
    #[error("{language} cannot be run here: {reason}; `node` always can")]
    Refused {
        /// Name of the language.
        language: &'static str,
        /// Reason, and advice to the operator.
        reason: String,
    },
    /// No free slot in time.
    #[error("too many code calls are running; try again later")]
    Busy,
    /// The page or its browser is closed.
    #[error("the page is closed")]
    Gone,
    /// The process could not be started.
    #[error("the process that runs code could not be started: {0}")]
    Start(#[from] std::io::Error),
}

impl Language {
    /// Returns the name on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Python => "python",
            Self::Bash => "bash",
        }
    }
}
