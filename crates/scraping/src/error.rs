//! Errors of scraping, parsing and files.

use std::error::Error as StdError;
use std::time::Duration;

use answers::{Fault, Refusal as Unanswered};
use blobs::BlobError;
use cache::CacheError;
use fetch::{ActionFailure, FetchError};
use files::FilesError;
use kernel::{AppError, Refusal, Report, through_app};
use scrape::{DocumentError, ScrapeError};
use serde_json::{Value, json};
use store::StoreError;
use wire::{Code, Invalid};

/// Reason why a page, a file or a profile was refused or failed.
#[derive(Debug, thiserror::Error)]
pub enum ScrapingError {
    /// Error that any operation may have.
    #[error(transparent)]
    App(#[from] AppError),
    /// Cache miss with `minAge`.
    #[error("no cached copy matches minAge and maxAge; omit minAge to fetch the page")]
    NoCachedData,
    /// Cache miss with `lockdown`.
    #[error("lockdown is set and the cache has no copy of this page; nothing was fetched")]
    LockdownMiss,
    /// Page that could not be turned into a document.
    #[error(transparent)]
    Scrape(ScrapeError),
    /// Uploaded file of an unsupported type, with its apparent type.
    #[error("unsupported file type: the file looks like {0}; GET /v2/parse/formats lists the supported types")]
    UnsupportedFile(String),
    /// File that has expired or was removed.
    #[error("the file has expired or was deleted")]
    FileGone,
    /// Too many unread uploads of the team.
    #[error("{why}")]
    UploadLimit {
        /// Description of the exceeded limit, with its setting.
        why: String,
        /// Time until the oldest unread upload expires.
        wait: Duration,
    },
    /// Profile that another scrape or session may save now.
    #[error(
        "the profile is locked by another scrape or session that saves it; wait until it ends, or set saveChanges: false"
    )]
    ProfileInUse,
}

impl ScrapingError {
    /// Whether a language model has not answered, and may do so later.
    #[must_use]
    pub fn waits_for_model(&self) -> bool {
        matches!(self, Self::Scrape(ScrapeError::Unanswered(why)) if why.may_pass())
    }
}

through_app!(ScrapingError: Invalid, StoreError, BlobError);

impl Refusal for ScrapingError {
    fn code(&self) -> Code {
        match self {
            Self::App(error) => error.code(),
            Self::NoCachedData => Code::ScrapeNoCachedData,
            Self::LockdownMiss => Code::ScrapeLockdownCacheMiss,
            Self::Scrape(error) => scrape_code(error),
            Self::UnsupportedFile(_) => Code::UnsupportedFileType,
            Self::FileGone => Code::FileGone,
            Self::UploadLimit { .. } => Code::UploadLimit,
            Self::ProfileInUse => Code::ProfileInUse,
        }
    }

    fn passed_on(&self) -> Option<&dyn Refusal> {
        match self {
            Self::App(error) => Some(error),
            Self::NoCachedData
            | Self::LockdownMiss
            | Self::Scrape(_)
            | Self::UnsupportedFile(_)
            | Self::FileGone
            | Self::UploadLimit { .. }
            | Self::ProfileInUse => None,
        }
    }

    fn message(&self) -> String {
        match self {
            Self::App(error) => error.message(),
            // The message of any other scrape was made for the caller: it names no address that the caller did not give.
            Self::Scrape(error) if scrape_code(error) == Code::UnknownError => "unexpected error".to_owned(),
            _ => self.to_string(),
        }
    }

    fn details(&self) -> Option<Value> {
        match self {
            Self::Scrape(ScrapeError::Fetch(FetchError::Action(ActionFailure { index, kind, selector, reason }))) => {
                Some(json!({ "index": index, "type": kind, "selector": selector, "reason": reason }))
            }
            Self::Scrape(ScrapeError::Unanswered(Unanswered::Invalid(faults))) => {
                let fault = |fault: &Fault| json!({ "path": fault.path, "reason": fault.reason });
                Some(faults.iter().map(fault).collect())
            }
            _ => self.passed_on().and_then(Refusal::details),
        }
    }

    fn retry_after(&self) -> Option<u64> {
        match self {
            Self::Scrape(
                ScrapeError::Fetch(FetchError::Unavailable { .. })
                | ScrapeError::Document(DocumentError::Unavailable(_)),
            ) => Some(5),
            Self::Scrape(error) if scrape_code(error) == Code::ModelUnavailable => Some(30),
            Self::UploadLimit { wait, .. } => Some(wait.as_secs() + 1),
            _ => self.passed_on().and_then(Refusal::retry_after),
        }
    }

    fn report(&self) -> Report<'_> {
        match self {
            Self::Scrape(error) if scrape_code(error) == Code::UnknownError => Report::Broken(error),
            _ => self.passed_on().map_or(Report::Nothing, Refusal::report),
        }
    }
}

fn scrape_code(error: &ScrapeError) -> Code {
    match error {
        ScrapeError::Fetch(error) => match error {
            FetchError::Blocked { .. } => Code::ScrapeTargetBlocked,
            FetchError::Dns { .. } => Code::ScrapeDnsResolutionError,
            FetchError::Tls { .. } | FetchError::Certificate { .. } => Code::ScrapeSslError,
            FetchError::Site { .. } | FetchError::Crashed => Code::ScrapeSiteError,
            FetchError::Timeout => Code::ScrapeTimeout,
            FetchError::TooLarge { .. } => Code::ScrapeTooLarge,
            FetchError::TooManyRedirects => Code::ScrapeTooManyRedirects,
            FetchError::Proxy { .. } => Code::ScrapeProxyError,
            FetchError::Action(_) => Code::ScrapeActionError,
            FetchError::Unavailable { .. } => Code::BrowserUnavailable,
        },
        ScrapeError::NoCopy => Code::ScrapeNoCachedData,
        ScrapeError::UnsupportedFile { .. } => Code::ScrapeUnsupportedFileError,
        ScrapeError::Document(error) => match error {
            DocumentError::Encrypted => Code::ScrapeDocumentEncrypted,
            DocumentError::Broken(_) => Code::ScrapeDocumentBroken,
            DocumentError::Limit(_) => Code::ScrapeDocumentLimit,
            DocumentError::OcrRequired => Code::ScrapePdfOcrRequired,
            DocumentError::OcrMissing(_) => Code::ScrapeOcrNotSupported,
            DocumentError::Unavailable(_) => Code::ReaderUnavailable,
        },
        ScrapeError::Selectors | ScrapeError::Unanswered(Unanswered::Schema(_)) => Code::BadRequest,
        ScrapeError::Unanswered(why) => match why {
            Unanswered::Invalid(_) => Code::ScrapeJsonInvalid,
            Unanswered::Panicked => Code::UnknownError,
            _ => Code::ModelUnavailable,
        },
        ScrapeError::Timeout => Code::ScrapeTimeout,
        ScrapeError::Panicked | ScrapeError::Port(_) => Code::UnknownError,
    }
}

impl From<ScrapeError> for ScrapingError {
    /// Unwraps errors of the ports, which belong to this service.
    fn from(error: ScrapeError) -> Self {
        match error {
            ScrapeError::NoCopy => Self::NoCachedData,
            ScrapeError::Timeout => AppError::Timeout.into(),
            ScrapeError::Port(cause) => of_port(cause),
            other => Self::Scrape(other),
        }
    }
}

fn of_port(cause: Box<dyn StdError + Send + Sync>) -> ScrapingError {
    match cause.downcast::<ScrapingError>() {
        Ok(ours) => *ours,
        Err(cause) => cause.downcast::<AppError>().map_or_else(AppError::internal, |ours| *ours).into(),
    }
}

impl From<FetchError> for ScrapingError {
    fn from(error: FetchError) -> Self {
        ScrapeError::from(error).into()
    }
}

impl From<FilesError> for ScrapingError {
    fn from(error: FilesError) -> Self {
        match error {
            FilesError::TooLarge { limit } => FetchError::TooLarge { what: "file", limit }.into(),
            FilesError::Unread { why, wait } => Self::UploadLimit { why, wait },
            FilesError::Store(_) | FilesError::Blob(_) => AppError::internal(error).into(),
        }
    }
}

impl From<CacheError> for ScrapingError {
    fn from(error: CacheError) -> Self {
        AppError::internal(error).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outages_are_found_among_the_causes() {
        let check = |error: ScrapingError, expect: Code| assert_eq!(error.code(), expect, "{error:?}");
        check(FilesError::Store(StoreError::Connect("refused".to_owned())).into(), Code::DatabaseUnavailable);
        check(FilesError::Blob(BlobError::Full("0 bytes".to_owned())).into(), Code::StorageFull);
        check(CacheError::Blob(BlobError::Full("0 bytes".to_owned())).into(), Code::StorageFull);
        check(ScrapeError::port(BlobError::Away("refused".to_owned())).into(), Code::StorageUnavailable);
        let away = CacheError::Store(StoreError::Pool("refused".to_owned()));
        check(ScrapeError::port(away).into(), Code::DatabaseUnavailable);
    }

    #[test]
    fn errors_of_the_ports_come_back_as_they_were() {
        let short = AppError::InsufficientCredits { needed: 2, available: 1 };
        let back = ScrapingError::from(ScrapeError::port(short));
        assert!(matches!(back, ScrapingError::App(AppError::InsufficientCredits { .. })), "{back:?}");
        let back = ScrapingError::from(ScrapeError::port(ScrapingError::FileGone));
        assert!(matches!(back, ScrapingError::FileGone), "{back:?}");
    }

    #[test]
    fn a_scrape_says_the_same_of_its_deadline_as_all_others() {
        let (ours, other) = (ScrapingError::from(ScrapeError::Timeout), ScrapingError::Scrape(ScrapeError::Timeout));
        assert!(matches!(ours, ScrapingError::App(AppError::Timeout)));
        assert_eq!((ours.code(), ours.to_string()), (other.code(), other.to_string()));
    }
}
