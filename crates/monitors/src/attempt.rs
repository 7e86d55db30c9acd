//! Attempts to tell of a check, by mail or in a chat channel: what follows them.

use base::Timestamp;
use chrono::TimeDelta;
use webhooks::{AttemptVerdict, ReceiverAnswer, verdict};

/// Outcome of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The server has taken it.
    Sent,
    /// Its recipient wants none any more, or what it tells of is gone.
    Skipped,
    /// Given up. `is_refused`: the server refuses it for good.
    Failed {
        /// Reason.
        error: String,
        /// Whether the server refuses it for good.
        is_refused: bool,
    },
    /// Another attempt follows.
    Later {
        /// Reason.
        error: String,
        /// Time of the next attempt.
        at: Timestamp,
    },
}

impl Outcome {
    /// Decides by the timetable of webhooks what follows attempt number `attempt`, from 1. `error` says why it failed, if
    /// it did.
    pub(crate) fn of(attempt: u32, answer: &ReceiverAnswer, error: String, now: Timestamp) -> Self {
        match verdict(attempt, answer) {
            AttemptVerdict::Delivered => Self::Sent,
            AttemptVerdict::Failed => Self::Failed { error, is_refused: false },
            AttemptVerdict::Retry(pause) => {
                Self::Later { error, at: now + TimeDelta::from_std(pause).unwrap_or_default() }
            }
        }
    }

    /// Word for metrics and logs.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Skipped => "skipped",
            Self::Failed { .. } => "failed",
            Self::Later { .. } => "retried",
        }
    }
}
