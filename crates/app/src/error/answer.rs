//! Answers for the errors of the operations: code, details and `Retry-After`. A new error needs a code here.

use fetch::{ActionFailure, FetchError};
use scrape::{DocumentError, ScrapeError};
use serde_json::{Value, json};
use wire::{Code, Need};

use super::{AppError, covered};
use crate::refusal::{Refusal, Report};

impl Refusal for AppError {
    fn code(&self) -> Code {
        match self {
            Self::Invalid(_) => Code::BadRequest,
            Self::Unsupported(needs) => needs.first().map_or(Code::BadRequest, |need| need.code),
            Self::Unauthorized(_) => Code::Unauthorized,
            Self::InsufficientCredits { .. } | Self::InsufficientForPages { .. } => Code::InsufficientCredits,
            Self::Forbidden(_) => Code::Forbidden,
            Self::KeyNotAllowed { .. } => Code::KeyNotAllowed,
            Self::AddressNotAllowed { .. } => Code::AddressNotAllowed,
            Self::NotFound(_) => Code::NotFound,
            Self::NoCachedData => Code::ScrapeNoCachedData,
            Self::LockdownMiss => Code::ScrapeLockdownCacheMiss,
            Self::Scrape(error) => scrape_code(error),
            Self::UnsupportedFile(_) => Code::ParseUnsupportedFile,
            Self::Timeout => Code::ScrapeTimeout,
            Self::MapTimeout => Code::MapTimeout,
            Self::ConcurrencyLimited { .. } => Code::ConcurrencyLimited,
            Self::JobFinished => Code::JobFinished,
            Self::DeliveryGone => Code::DeliveryGone,
            Self::FileGone => Code::FileGone,
            Self::UploadLimit { .. } => Code::UploadLimit,
            Self::ProfileInUse => Code::ProfileInUse,
            Self::SessionNotFound => Code::SessionNotFound,
            Self::SessionEnded | Self::SessionLost => Code::SessionEnded,
            Self::SessionElsewhere { .. } | Self::BrowserUnavailable { .. } | Self::NoBrowser => {
                Code::BrowserUnavailable
            }
            Self::SessionBusy | Self::SessionsLimited { .. } => Code::ConcurrencyLimited,
            Self::OrderRefused(_) => Code::BadRequest,
            Self::DuplicateRequest => Code::DuplicateRequest,
            Self::ShuttingDown => Code::ShuttingDown,
            Self::StorageFull => Code::StorageFull,
            Self::DatabaseUnavailable(_) => Code::DatabaseUnavailable,
            Self::StorageUnavailable(_) => Code::StorageUnavailable,
            Self::BillingUnavailable(_) => Code::BillingUnavailable,
            Self::Internal(_) => Code::UnknownError,
        }
    }

    fn message(&self) -> String {
        match self {
            Self::Unsupported(needs) => needs.iter().map(Need::message).collect::<Vec<_>>().join("; "),
            // The message of any other scrape was made for the caller: it names no address that the caller did not give.
            Self::Scrape(error) if scrape_code(error) == Code::UnknownError => "unexpected error".to_owned(),
            _ => self.to_string(),
        }
    }

    fn details(&self) -> Option<Value> {
        match self {
            Self::Invalid(invalid) => Some(invalid.details()),
            // One feature answers with its own code; the details list them all.
            Self::Unsupported(needs) => {
                let line = |need: &Need| json!({ "path": need.path, "code": need.code, "message": need.message() });
                Some(needs.iter().map(line).collect())
            }
            Self::Scrape(ScrapeError::Fetch(FetchError::Action(ActionFailure { index, kind, selector, reason }))) => {
                Some(json!({ "index": index, "type": kind, "selector": selector, "reason": reason }))
            }
            Self::InsufficientForPages { field, pages, needed, available } => {
                let most = covered(*pages, *needed, *available);
                Some(json!([{ "path": field, "message": format!("may say at most {most} with these credits") }]))
            }
            _ => None,
        }
    }

    fn retry_after(&self) -> Option<u64> {
        match self {
            Self::ConcurrencyLimited { .. } | Self::SessionBusy | Self::SessionsLimited { .. } => Some(1),
            Self::ShuttingDown
            | Self::DatabaseUnavailable(_)
            | Self::StorageUnavailable(_)
            | Self::BillingUnavailable(_)
            | Self::SessionElsewhere { .. }
            | Self::BrowserUnavailable { .. }
            | Self::Scrape(
                ScrapeError::Fetch(FetchError::Unavailable { .. })
                | ScrapeError::Document(DocumentError::Unavailable(_)),
            ) => Some(5),
            Self::StorageFull => Some(60),
            Self::UploadLimit { wait, .. } => Some(wait.as_secs() + 1),
            // Without a browser, another try would find none either.
            _ => None,
        }
    }

    fn report(&self) -> Report<'_> {
        match self {
            Self::DatabaseUnavailable(cause) | Self::StorageUnavailable(cause) => Report::Outage(&**cause),
            Self::BillingUnavailable(cause) | Self::Internal(cause) => Report::Broken(&**cause),
            Self::Scrape(error) if scrape_code(error) == Code::UnknownError => Report::Broken(error),
            // Exhaustive, so that the cause of a new error cannot be lost.
            Self::Invalid(_)
            | Self::Unsupported(_)
            | Self::Unauthorized(_)
            | Self::InsufficientCredits { .. }
            | Self::InsufficientForPages { .. }
            | Self::Forbidden(_)
            | Self::KeyNotAllowed { .. }
            | Self::AddressNotAllowed { .. }
            | Self::NotFound(_)
            | Self::NoCachedData
            | Self::LockdownMiss
            | Self::Scrape(_)
            | Self::UnsupportedFile(_)
            | Self::Timeout
            | Self::MapTimeout
            | Self::ConcurrencyLimited { .. }
            | Self::JobFinished
            | Self::DeliveryGone
            | Self::FileGone
            | Self::UploadLimit { .. }
            | Self::ProfileInUse
            | Self::SessionNotFound
            | Self::SessionEnded
            | Self::SessionLost
            | Self::SessionElsewhere { .. }
            | Self::SessionBusy
            | Self::SessionsLimited { .. }
            | Self::NoBrowser
            | Self::BrowserUnavailable { .. }
            | Self::OrderRefused(_)
            | Self::DuplicateRequest
            | Self::ShuttingDown
            | Self::StorageFull => Report::Nothing,
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
        ScrapeError::Selectors => Code::BadRequest,
        ScrapeError::Timeout => Code::ScrapeTimeout,
        ScrapeError::Panicked | ScrapeError::Port(_) => Code::UnknownError,
    }
}
