//! Conversion of the errors of the operations into HTTP answers. The matches are exhaustive, so that a new error cannot be
//! forgotten here.

use std::error::Error as StdError;
use std::fmt;

use ::fetch::FetchError;
use ::scrape::{DocumentError, ScrapeError};
use app::{AppError, covered};
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use boot::browser::Foreign;
use boot::logging::Chain;
use boot::operator::Repeated;
use serde_json::{Value, json};
use wire::{Code, ErrorBody, ParseRefusal, UsedUp};

/// A refused or failed request, ready to be sent.
#[derive(Debug)]
pub(crate) struct Failure {
    body: Box<ErrorBody>,
    /// Value of `Retry-After`, in seconds.
    retry_after: Option<u64>,
}

impl Failure {
    /// Creates a failure. The message reaches the client, so it must not contain internals or secrets.
    pub(crate) fn new(code: Code, error: impl Into<String>) -> Self {
        Self { body: Box::new(ErrorBody::new(code, error)), retry_after: None }
    }

    /// Sets `Retry-After`.
    pub(crate) fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// Sets the allowance that a caller without a key has used up, and `Retry-After`.
    pub(crate) fn used_up(mut self, reason: UsedUp, seconds: u64) -> Self {
        self.body.reason = Some(reason);
        self.body.retry_after_seconds = Some(seconds);
        self.retry_after(seconds)
    }

    /// Returns the error code.
    pub(crate) fn code(&self) -> Code {
        self.body.code
    }

    /// Returns whether the cause is an outage of the database or storage, after which the call works again.
    pub(crate) fn is_outage(&self) -> bool {
        matches!(self.body.code, Code::DatabaseUnavailable | Code::StorageUnavailable | Code::StorageFull)
    }

    fn details(mut self, details: Value) -> Self {
        self.body.details = Some(details);
        self
    }

    /// Creates a 500 whose cause is logged once and withheld from the client.
    pub(crate) fn internal(cause: &(dyn StdError + 'static)) -> Self {
        Self::unexpected(Code::UnknownError, "unexpected error", cause)
    }

    fn unexpected(code: Code, error: &str, cause: &(dyn StdError + 'static)) -> Self {
        tracing::error!(code = code.as_str(), cause = %Chain(cause), "request failed");
        Self::new(code, error)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.body.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let code = self.body.code;
        let mut response = (status, Json(*self.body)).into_response();
        // Read by the log line of the request.
        response.extensions_mut().insert(code);
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.body.code, self.body.error)
    }
}

impl From<Foreign> for Failure {
    fn from(why: Foreign) -> Self {
        Self::new(Code::Forbidden, why.to_string())
    }
}

impl From<Repeated> for Failure {
    fn from(why: Repeated) -> Self {
        Self::new(Code::BadRequest, why.to_string())
    }
}

impl From<wire::Invalid> for Failure {
    fn from(invalid: wire::Invalid) -> Self {
        Self { body: Box::new(ErrorBody::from(&invalid)), retry_after: None }
    }
}

impl From<ParseRefusal> for Failure {
    fn from(refusal: ParseRefusal) -> Self {
        match refusal {
            ParseRefusal::Invalid(invalid) => invalid.into(),
            ParseRefusal::Unsupported(invalid) => {
                Self::new(Code::ParseUnsupportedOptions, invalid.message.clone()).details(invalid.details())
            }
        }
    }
}

impl From<AppError> for Failure {
    /// Adds `details` and `Retry-After`; the code is the error's own.
    fn from(error: AppError) -> Self {
        let (code, text) = (error.code(), error.to_string());
        match error {
            AppError::Invalid(invalid) => invalid.into(),
            AppError::Unsupported(needs) => unsupported(&needs),
            AppError::Scrape(error) if code == Code::UnknownError => Self::internal(&error),
            AppError::Scrape(ScrapeError::Fetch(FetchError::Action { index, kind, selector, reason })) => {
                let details = json!({ "index": index, "type": kind, "selector": selector, "reason": reason });
                Self::new(code, text).details(details)
            }
            AppError::Scrape(
                ScrapeError::Fetch(FetchError::Unavailable { .. })
                | ScrapeError::Document(DocumentError::Unavailable(_)),
            ) => Self::new(code, text).retry_after(5),
            // Written for the caller: these messages name only addresses that the caller gave.
            AppError::Scrape(error) => Self::new(code, error.to_string()),
            AppError::UploadLimit { wait, .. } => Self::new(code, text).retry_after(wait.as_secs() + 1),
            AppError::InsufficientForPages { field, pages, needed, available } => {
                let message = format!("may say at most {} with these credits", covered(pages, needed, available));
                Self::new(code, text).details(json!([{ "path": field, "message": message }]))
            }
            AppError::ConcurrencyLimited { .. } => Self::new(code, text).retry_after(1),
            AppError::ShuttingDown => Self::new(code, text).retry_after(5),
            AppError::StorageFull => Self::new(code, text).retry_after(60),
            // An outage is logged once for all requests.
            AppError::DatabaseUnavailable(cause) | AppError::StorageUnavailable(cause) => {
                tracing::debug!(code = code.as_str(), cause = %Chain(&*cause), "request failed because of an outage");
                Self::new(code, text).retry_after(5)
            }
            AppError::BillingUnavailable(cause) => Self::unexpected(code, &text, &*cause).retry_after(5),
            AppError::Internal(cause) => Self::internal(&*cause),
            AppError::SessionBusy | AppError::SessionsLimited { .. } => Self::new(code, text).retry_after(1),
            AppError::SessionElsewhere { .. } | AppError::BrowserUnavailable { .. } => {
                Self::new(code, text).retry_after(5)
            }
            // No `Retry-After`: a retry would find no browser either.
            AppError::NoBrowser => Self::new(code, text),
            AppError::ProfileInUse => Self::new(code, text),
            AppError::SessionNotFound | AppError::SessionEnded | AppError::SessionLost => Self::new(code, text),
            AppError::OrderRefused(_) => Self::new(code, text),
            AppError::Unauthorized(_)
            | AppError::InsufficientCredits { .. }
            | AppError::Forbidden(_)
            | AppError::KeyNotAllowed { .. }
            | AppError::AddressNotAllowed { .. }
            | AppError::NotFound(_)
            | AppError::NoCachedData
            | AppError::LockdownMiss
            | AppError::UnsupportedFile(_)
            | AppError::JobFinished
            | AppError::DuplicateRequest
            | AppError::MapTimeout
            | AppError::DeliveryGone
            | AppError::FileGone => Self::new(code, text),
        }
    }
}

/// Returns the failure for unsupported features: the code of the first one, and all of them in `details`.
fn unsupported(needs: &[wire::Need]) -> Failure {
    let code = needs.first().map_or(Code::BadRequest, |need| need.code);
    let messages: Vec<&str> = needs.iter().map(wire::Need::message).collect();
    let details = needs.iter().map(|need| json!({ "path": need.path, "code": need.code, "message": need.message() }));
    Failure::new(code, messages.join("; ")).details(details.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(error: AppError, status: u16, code: &str) -> (String, Option<u64>) {
        let failure = Failure::from(error);
        let (body, wait) = (failure.body.clone(), failure.retry_after);
        assert_eq!(body.code.as_str(), code, "{}", body.error);
        assert!(!body.success && !body.error.is_empty());
        let response = failure.into_response();
        assert_eq!(response.status().as_u16(), status, "{code}");
        assert_eq!(response.headers().contains_key(header::RETRY_AFTER), wait.is_some());
        (serde_json::to_string(&body).unwrap(), wait)
    }

    #[test]
    fn refusals_by_kind() {
        check(wire::Invalid::at("url", "is required").into(), 400, "BAD_REQUEST");
        check(AppError::Unauthorized("no"), 401, "UNAUTHORIZED");
        check(AppError::InsufficientCredits { needed: 2, available: 1 }, 402, "insufficient_credits");
        check(AppError::Forbidden("no"), 403, "FORBIDDEN");
        let key = AppError::KeyNotAllowed { what: "format html".into(), allowed: "links".into(), rule: "formats" };
        check(key, 403, "KEY_NOT_ALLOWED");
        check(AppError::AddressNotAllowed { address: [192, 0, 2, 7].into() }, 403, "ADDRESS_NOT_ALLOWED");
        check(AppError::NotFound("team"), 404, "NOT_FOUND");
        check(AppError::NoCachedData, 404, "SCRAPE_NO_CACHED_DATA");
        check(AppError::LockdownMiss, 404, "SCRAPE_LOCKDOWN_CACHE_MISS");
        check(AppError::JobFinished, 409, "JOB_FINISHED");
        check(AppError::DuplicateRequest, 409, "duplicate_request");
        check(AppError::MapTimeout, 408, "MAP_TIMEOUT");
        let (body, _) = check(AppError::UnsupportedFile("a ZIP archive".into()), 400, "PARSE_UNSUPPORTED_FILE");
        assert!(body.contains("looks like a ZIP archive"), "{body}");
        check(AppError::FileGone, 410, "FILE_GONE");
        assert_eq!(check(AppError::ConcurrencyLimited { limit: 1 }, 429, "CONCURRENCY_LIMITED").1, Some(1));
        assert_eq!(check(AppError::ShuttingDown, 503, "SHUTTING_DOWN").1, Some(5));
        assert_eq!(check(AppError::StorageFull, 503, "STORAGE_FULL").1, Some(60));
        let cause = || "postgres://user:hush@host is away".into();
        let (body, wait) = check(AppError::DatabaseUnavailable(cause()), 503, "DATABASE_UNAVAILABLE");
        assert!(!body.contains("postgres") && wait == Some(5), "{body}");
        assert_eq!(check(AppError::StorageUnavailable(cause()), 503, "STORAGE_UNAVAILABLE").1, Some(5));
        let busy = AppError::BrowserUnavailable { reason: "too many visits wait already".into() };
        assert_eq!(check(busy, 503, "BROWSER_UNAVAILABLE").1, Some(5));
        assert_eq!(check(AppError::NoBrowser, 503, "BROWSER_UNAVAILABLE").1, None);
    }

    #[test]
    fn scrape_failures_by_kind() {
        let of = |error: ScrapeError, status: u16, code: &str| check(AppError::Scrape(error), status, code).0;
        let reason = String::new;
        of(FetchError::Blocked { host: "h".into(), reason: "r" }.into(), 403, "SCRAPE_TARGET_BLOCKED");
        of(FetchError::Dns { host: "h".into() }.into(), 400, "SCRAPE_DNS_RESOLUTION_ERROR");
        of(FetchError::Tls { reason: reason() }.into(), 422, "SCRAPE_SSL_ERROR");
        of(FetchError::Site { reason: reason() }.into(), 422, "SCRAPE_SITE_ERROR");
        of(FetchError::Timeout.into(), 408, "SCRAPE_TIMEOUT");
        of(FetchError::TooLarge { what: "body", limit: 1 }.into(), 422, "SCRAPE_TOO_LARGE");
        of(FetchError::TooManyRedirects.into(), 422, "SCRAPE_TOO_MANY_REDIRECTS");
        of(FetchError::Proxy { reason: reason() }.into(), 422, "SCRAPE_PROXY_ERROR");
        of(ScrapeError::UnsupportedFile { content_type: reason(), advice: "" }, 422, "SCRAPE_UNSUPPORTED_FILE_ERROR");
        of(DocumentError::Encrypted.into(), 422, "SCRAPE_DOCUMENT_ENCRYPTED");
        of(DocumentError::Broken("broken".into()).into(), 422, "SCRAPE_DOCUMENT_BROKEN");
        of(DocumentError::Limit("large".into()).into(), 422, "SCRAPE_DOCUMENT_LIMIT");
        of(DocumentError::OcrRequired.into(), 422, "SCRAPE_PDF_OCR_REQUIRED");
        of(DocumentError::OcrMissing("install it".into()).into(), 400, "SCRAPE_OCR_NOT_SUPPORTED");
        of(DocumentError::Unavailable("busy".into()).into(), 503, "READER_UNAVAILABLE");
        of(FetchError::Unavailable { reason: reason() }.into(), 503, "BROWSER_UNAVAILABLE");
        let selector = Some("#go".to_owned());
        let action = FetchError::Action { index: 6, kind: "click", selector, reason: "nothing matches".into() };
        let body = of(action.into(), 422, "SCRAPE_ACTION_ERROR");
        let body: Value = serde_json::from_str(&body).unwrap();
        let details = json!({ "index": 6, "type": "click", "selector": "#go", "reason": "nothing matches" });
        assert_eq!(
            (&body["details"], &body["error"]),
            (&details, &json!("action 6 (click `#go`) failed: nothing matches"))
        );
        // Without `details.state` the official clients do not wait for it to go on (docs/CONTRACT.md, "Errors").
        assert!(!of(ScrapeError::Timeout, 408, "SCRAPE_TIMEOUT").contains("details"));
        of(ScrapeError::Panicked, 500, "UNKNOWN_ERROR");
    }

    #[test]
    fn one_feature_answers_and_all_are_listed() {
        let formats = vec![wire::Format::Product, wire::Format::Menu];
        let options = wire::ScrapeOptions { formats, ..wire::ScrapeOptions::default() };
        let url = "https://example.com/".parse().unwrap();
        let both = wire::ScrapeRequest { options, ..wire::ScrapeRequest::new(url) }.needs();
        let (body, _) = check(AppError::Unsupported(both), 400, "SCRAPE_PRODUCT_NOT_SUPPORTED");
        let sentence = "The format `product` is not available on this server; The format `menu`";
        assert!(body.contains(sentence) && body.contains("SCRAPE_MENU_NOT_SUPPORTED"), "{body}");
    }

    #[test]
    fn internals_stay_inside() {
        let cause = || "postgres://user:hush@host broke in src/x.rs".into();
        let (body, _) = check(AppError::Internal(cause()), 500, "UNKNOWN_ERROR");
        assert!(!body.contains("postgres") && !body.contains("src/"), "{body}");
        let (body, wait) = check(AppError::BillingUnavailable(cause()), 503, "billing_unavailable");
        assert!(!body.contains("postgres") && wait.is_some(), "{body}");
    }

    #[test]
    fn a_chain_is_one_line() {
        let error = AppError::Internal(Box::new(std::io::Error::other("disk")));
        assert_eq!(Chain(&error).to_string(), "unexpected error: disk");
    }
}
