//! Why a schedule is refused.

use thiserror::Error;

/// Why a schedule is refused, in words for the user who wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Invalid {
    /// The cron expression cannot be read.
    #[error("{0}")]
    Cron(String),
    /// The cron expression can be read, but no day matches it.
    #[error("no day ever matches {0}")]
    Never(String),
    /// Two runs are too close.
    #[error("runs at {first} and {second} are {minutes} minutes apart, and 5 minutes is the smallest distance")]
    TooClose {
        /// Wall-clock time of the first run, such as `23:58`.
        first: String,
        /// Wall-clock time of the run after it, such as `00:02`.
        second: String,
        /// Minutes between the two.
        minutes: u32,
    },
    /// The text is none of the known forms.
    #[error("{0}")]
    Text(String),
    /// The time zone is unknown.
    #[error("unknown time zone, use a name of the IANA database such as Europe/Berlin")]
    Zone,
}

impl Invalid {
    /// Returns the member of the request's `schedule` that is at fault: `cron`, `text` or `timezone`.
    ///
    /// Runs of a text schedule are never too close, and it always fires.
    #[must_use]
    pub fn member(&self) -> &'static str {
        match self {
            Self::Cron(_) | Self::Never(_) | Self::TooClose { .. } => "cron",
            Self::Text(_) => "text",
            Self::Zone => "timezone",
        }
    }
}
