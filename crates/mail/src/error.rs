//! Why a letter was not sent.

use std::fmt;

use thiserror::Error;

/// Longest reason in characters.
const MAX_REASON: usize = 300;

/// Why a letter was not sent. The reason is one line for logs and for the operator.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SendError {
    /// The server refuses this letter or its recipient for good: another attempt would end the same way.
    #[error("the mail server refuses: {0}")]
    Refused(String),
    /// The server is gone, slow, busy or not set up: a later attempt may succeed.
    #[error("the mail server does not take it now: {0}")]
    Later(String),
}

impl SendError {
    /// Whether another attempt may succeed.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        matches!(self, Self::Later(_))
    }

    /// Judges an error before the letter: connection, TLS and login concern every letter, and an operator can mend them.
    pub(crate) fn before_letter(error: &lettre::transport::smtp::Error) -> Self {
        Self::Later(line(error))
    }

    /// Judges an error while the letter is handed over.
    pub(crate) fn of_letter(error: &lettre::transport::smtp::Error) -> Self {
        // Login or encryption is missing (RFC 4954): that of all letters.
        let is_login = error.status().is_some_and(|code| matches!(u16::from(code), 530 | 534 | 535 | 538));
        match error.is_permanent() && !is_login || error.is_client() {
            true => Self::Refused(line(error)),
            false => Self::Later(line(error)),
        }
    }
}

/// Makes one short line, since a part of it is the server's own text.
pub(crate) fn line(text: impl fmt::Display) -> String {
    let text = text.to_string();
    let clean = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    clean.take(MAX_REASON).collect::<String>().trim().to_owned()
}
