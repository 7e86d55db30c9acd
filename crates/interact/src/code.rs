//! What is asked for, and what it brought.

use tokio::time::Duration;

/// What code is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// JavaScript, with a `page` like Playwright's.
    Node,
    /// Python, with the same `page`.
    Python,
    /// A shell, with the command `agent-browser`.
    Bash,
}

/// Code to be run. Has no `Debug`: it may hold what is typed into pages.
#[derive(Clone, Copy)]
pub struct Code<'a> {
    /// What it is written in.
    pub language: Language,
    /// The code.
    pub text: &'a str,
    /// How long it may take.
    pub timeout: Duration,
}

/// What code has brought. Has no `Debug`: pages are private.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Ran {
    /// What it printed.
    pub stdout: String,
    /// What it printed about errors, and the error that ended it.
    pub stderr: String,
    /// The value of its last expression, as text; JSON for objects.
    pub result: String,
    /// 0 when all went well; 124 when its time was over.
    pub exit_code: i32,
    /// Whether it was stopped at the end of its time.
    pub killed: bool,
    /// Whether one of the texts was cut.
    pub truncated: bool,
    /// The error that ended it, in one line.
    pub error: Option<String>,
}

/// Why code was not run.
#[derive(Debug, thiserror::Error)]
pub enum InteractError {
    /// This server does not run this language.
    #[error("{language} cannot be run here: {reason}; `node` always can")]
    Refused {
        /// Name of the language.
        language: &'static str,
        /// Why, and what the operator can do.
        reason: String,
    },
    /// Too much code is being run already.
    #[error("too much code is being run at the moment; try again later")]
    Busy,
    /// The page, or its browser, is gone.
    #[error("the page is gone")]
    Gone,
    /// The process for it could not be started.
    #[error("code cannot be run: {0}")]
    Start(#[from] std::io::Error),
}

impl Language {
    /// Its name on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Python => "python",
            Self::Bash => "bash",
        }
    }
}
