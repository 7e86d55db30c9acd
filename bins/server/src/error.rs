//! Conversion of the errors of the operations into HTTP answers.

use std::error::Error as StdError;
use std::fmt;

use app::{Refusal, Report};
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use boot::logging::Chain;
use wire::{Code, ErrorBody, FeedbackErrorCode, UsedUp};

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

    /// Sets the reason why feedback was not accepted.
    pub(crate) fn feedback(mut self, reason: FeedbackErrorCode) -> Self {
        self.body.feedback_error_code = Some(reason);
        self
    }

    /// Returns the error code.
    pub(crate) fn code(&self) -> Code {
        self.body.code
    }

    /// Returns whether the cause is an outage of the database or storage, after which the call works again.
    pub(crate) fn is_outage(&self) -> bool {
        matches!(self.body.code, Code::DatabaseUnavailable | Code::StorageUnavailable | Code::StorageFull)
    }

    /// Creates a 500 whose cause is logged once and withheld from the client.
    pub(crate) fn internal(cause: &(dyn StdError + 'static)) -> Self {
        log(Code::UnknownError, cause);
        Self::new(Code::UnknownError, "unexpected error")
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

/// The error decides what the answer holds; this conversion only decides how it is logged.
impl<E: Refusal> From<E> for Failure {
    fn from(error: E) -> Self {
        let (code, message) = (error.code(), error.message());
        match error.report() {
            Report::Nothing => {}
            // An outage is logged once for all requests.
            Report::Outage(cause) => {
                tracing::debug!(code = code.as_str(), cause = %Chain(cause), "request failed because of an outage");
            }
            Report::Broken(cause) => log(code, cause),
        }
        let body = ErrorBody { details: error.details(), ..ErrorBody::new(code, message) };
        Self { body: Box::new(body), retry_after: error.retry_after() }
    }
}

/// Logs the cause, which is withheld from the client.
fn log(code: Code, cause: &(dyn StdError + 'static)) {
    tracing::error!(code = code.as_str(), cause = %Chain(cause), "request failed");
}

#[cfg(test)]
mod tests {
    use ::fetch::{ActionFailure, FetchError};
    use ::scrape::{DocumentError, ScrapeError};
    use app::{AppError, MapError, RunsError, ScrapingError, SessionsError};
    use serde_json::{Value, json};

    use super::*;

    fn check(error: impl Refusal, status: u16, code: &str) -> (String, Option<u64>) {
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
        check(wire::Invalid::at("url", "is required"), 400, "BAD_REQUEST");
        check(AppError::from(wire::Invalid::at("url", "is required")), 400, "BAD_REQUEST");
        check(AppError::Unauthorized("no"), 401, "UNAUTHORIZED");
        check(AppError::InsufficientCredits { needed: 2, available: 1 }, 402, "insufficient_credits");
        check(AppError::Forbidden("no"), 403, "FORBIDDEN");
        let key = AppError::KeyNotAllowed { what: "format html".into(), allowed: "links".into(), rule: "formats" };
        check(key, 403, "KEY_NOT_ALLOWED");
        check(AppError::AddressNotAllowed { address: [192, 0, 2, 7].into() }, 403, "ADDRESS_NOT_ALLOWED");
        check(AppError::NotFound("team"), 404, "NOT_FOUND");
        check(ScrapingError::NoCachedData, 404, "SCRAPE_NO_CACHED_DATA");
        check(ScrapingError::LockdownMiss, 404, "SCRAPE_LOCKDOWN_CACHE_MISS");
        check(RunsError::JobFinished, 409, "JOB_FINISHED");
        check(AppError::DuplicateRequest, 409, "duplicate_request");
        check(MapError::MapTimeout, 408, "MAP_TIMEOUT");
        check(AppError::Timeout, 408, "SCRAPE_TIMEOUT");
        let (body, _) = check(ScrapingError::UnsupportedFile("a ZIP archive".into()), 400, "UNSUPPORTED_FILE_TYPE");
        assert!(body.contains("looks like a ZIP archive"), "{body}");
        check(ScrapingError::FileGone, 410, "FILE_GONE");
        assert_eq!(check(AppError::ConcurrencyLimited { limit: 1 }, 429, "CONCURRENCY_LIMITED").1, Some(1));
        assert_eq!(check(AppError::ShuttingDown, 503, "SHUTTING_DOWN").1, Some(5));
        assert_eq!(check(AppError::StorageFull, 503, "STORAGE_FULL").1, Some(60));
        let cause = || "postgres://user:hush@host is away".into();
        let (body, wait) = check(AppError::DatabaseUnavailable(cause()), 503, "DATABASE_UNAVAILABLE");
        assert!(!body.contains("postgres") && wait == Some(5), "{body}");
        assert_eq!(check(AppError::StorageUnavailable(cause()), 503, "STORAGE_UNAVAILABLE").1, Some(5));
        let busy = SessionsError::BrowserUnavailable { reason: "too many visits wait already".into() };
        assert_eq!(check(busy, 503, "BROWSER_UNAVAILABLE").1, Some(5));
        assert_eq!(check(SessionsError::NoBrowser, 503, "BROWSER_UNAVAILABLE").1, None);
    }

    #[test]
    fn scrape_failures_by_kind() {
        let of = |error: ScrapeError, status: u16, code: &str| check(ScrapingError::Scrape(error), status, code).0;
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
        let action = ActionFailure { index: 6, kind: "click", selector, reason: "nothing matches".into() };
        let body = of(FetchError::from(action).into(), 422, "SCRAPE_ACTION_ERROR");
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
        let formats = vec![wire::Format::Audio, wire::Format::Video];
        let options = wire::ScrapeOptions { formats, ..wire::ScrapeOptions::default() };
        let url = "https://example.com/".parse().unwrap();
        let both = wire::ScrapeRequest { options, ..wire::ScrapeRequest::new(url) }.needs();
        let (body, _) = check(AppError::Unsupported(both), 400, "SCRAPE_AUDIO_NOT_SUPPORTED");
        let sentence = "The format `audio` is not available on this server; The format `video`";
        assert!(body.contains(sentence) && body.contains("SCRAPE_VIDEO_NOT_SUPPORTED"), "{body}");
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
