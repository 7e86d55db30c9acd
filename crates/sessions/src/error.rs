//! Errors of browser sessions.

use ::browser::BrowserError;
use ::interact::InteractError;
use fetch::FetchError;
use kernel::{AppError, Refusal, through_app};
use scraping::ScrapingError;
use store::StoreError;
use wire::Code;

/// Reason why an operation of browser sessions was refused or failed.
#[derive(Debug, thiserror::Error)]
pub enum SessionsError {
    /// Error that any operation may have.
    #[error(transparent)]
    App(#[from] AppError),
    /// Page or profile that was refused or failed.
    #[error(transparent)]
    Scraping(ScrapingError),
    /// Unknown session, one of another team, or a wrong session URL: all look alike.
    #[error("session not found")]
    SessionNotFound,
    /// Session that has ended.
    #[error("the session has ended")]
    SessionEnded,
    /// Session that is not in this process and has no known server.
    #[error(
        "the session is not on this server: it ended with a restart, or it runs on another server that has no sessions.public_url"
    )]
    SessionLost,
    /// Session that runs on another server.
    #[error("the session runs on another server of this service")]
    SessionElsewhere {
        /// Base URL of that server.
        owner: String,
    },
    /// Earlier call in the session that ran until the timeout of this one.
    #[error("timed out waiting for other calls that are still running; try again shortly")]
    SessionBusy,
    /// Too many concurrent sessions.
    #[error("too many sessions: the limit for this {what} is {limit}; end one of them")]
    SessionsLimited {
        /// Scope of the limit: `team`, `server` or `session`.
        what: &'static str,
        /// The limit.
        limit: u32,
    },
    /// Missing browser: none is available on this server, now or later.
    #[error(
        "this server has no browser; its operator can install Chromium (the package `chromium-headless-shell` or \
         `chromium`) and restart the server"
    )]
    NoBrowser,
    /// Browser that is temporarily unavailable.
    #[error("no browser is available: {reason}")]
    BrowserUnavailable {
        /// Reason.
        reason: String,
    },
    /// Prompt, or code in a language, that is not supported.
    #[error("{0}")]
    OrderRefused(String),
}

impl Refusal for SessionsError {
    fn code(&self) -> Code {
        match self {
            Self::App(error) => error.code(),
            Self::Scraping(error) => error.code(),
            Self::SessionNotFound => Code::SessionNotFound,
            Self::SessionEnded | Self::SessionLost => Code::SessionEnded,
            Self::SessionElsewhere { .. } | Self::BrowserUnavailable { .. } | Self::NoBrowser => {
                Code::BrowserUnavailable
            }
            Self::SessionBusy | Self::SessionsLimited { .. } => Code::ConcurrencyLimited,
            Self::OrderRefused(_) => Code::BadRequest,
        }
    }

    fn passed_on(&self) -> Option<&dyn Refusal> {
        match self {
            Self::App(error) => Some(error),
            Self::Scraping(error) => Some(error),
            // Exhaustive, so that the cause of a new error cannot be lost.
            Self::SessionNotFound
            | Self::SessionEnded
            | Self::SessionLost
            | Self::SessionElsewhere { .. }
            | Self::SessionBusy
            | Self::SessionsLimited { .. }
            | Self::NoBrowser
            | Self::BrowserUnavailable { .. }
            | Self::OrderRefused(_) => None,
        }
    }

    fn retry_after(&self) -> Option<u64> {
        match self {
            Self::SessionBusy | Self::SessionsLimited { .. } => Some(1),
            Self::SessionElsewhere { .. } | Self::BrowserUnavailable { .. } => Some(5),
            // Without a browser, another try would find none either.
            _ => self.passed_on().and_then(Refusal::retry_after),
        }
    }
}

through_app!(SessionsError: StoreError);

impl From<ScrapingError> for SessionsError {
    fn from(error: ScrapingError) -> Self {
        match error {
            ScrapingError::App(error) => Self::App(error),
            error => Self::Scraping(error),
        }
    }
}

impl From<BrowserError> for SessionsError {
    fn from(error: BrowserError) -> Self {
        match error {
            BrowserError::Unavailable { reason } => Self::BrowserUnavailable { reason },
            BrowserError::Crashed => Self::BrowserUnavailable { reason: "it crashed during the call".to_owned() },
            BrowserError::Timeout => AppError::Timeout.into(),
            // Errors of the page or its site are the same as those of a scrape.
            other => ScrapingError::from(FetchError::from(other)).into(),
        }
    }
}

impl From<InteractError> for SessionsError {
    fn from(error: InteractError) -> Self {
        match error {
            InteractError::Refused { .. } => Self::OrderRefused(error.to_string()),
            InteractError::Busy => Self::SessionBusy,
            InteractError::Gone => Self::BrowserUnavailable { reason: "the page was closed; try again".to_owned() },
            InteractError::Start(_) => AppError::internal(error).into(),
        }
    }
}
