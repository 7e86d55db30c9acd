//! Table of all error codes: code on the wire, HTTP status, meaning and remedy.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

macro_rules! codes {
    ($($variant:ident $wire:tt $status:literal $meaning:literal)+) => {
        /// Machine-readable error code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
        pub enum Code {
            $(
                #[doc = $meaning]
                #[serde(rename = $wire)]
                $variant,
            )+
        }

        impl Code {
            /// Every code, in table order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Returns the code as it appears on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $wire,)+
                }
            }

            /// Returns the HTTP status of the code. Never 502: the official clients retry on 502, and only then.
            #[must_use]
            pub const fn status(self) -> u16 {
                match self {
                    $(Self::$variant => $status,)+
                }
            }

            /// Returns meaning and remedy, for the documentation and for refusals of missing features.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$variant => $meaning,)+
                }
            }
        }
    };
}

codes! {
    BadRequest "BAD_REQUEST" 400 "The body, a parameter or a header violates the contract. `details` lists each fault with its path."
    BadRequestInvalidJson "BAD_REQUEST_INVALID_JSON" 400 "The body is not valid JSON in UTF-8, or is nested deeper than 128 levels."
    InvalidToken "invalid_token" 400 "The link of a mail is invalid or has expired, or the token was not sent whole."
    Unauthorized "UNAUTHORIZED" 401 "The API key is missing, unknown or revoked. Send `Authorization: Bearer <key>`."
    InsufficientCredits "insufficient_credits" 402 "The team has too few credits for this request; nothing was executed or charged. Add credits or reduce the request."
    Forbidden "FORBIDDEN" 403 "The team may not use this feature: ask the operator to enable it. Or the request has no valid key and may come from a foreign web page: use a host listed in `server.hosts`, or a key."
    KeyNotAllowed "KEY_NOT_ALLOWED" 403 "The API key is restricted to certain endpoints or formats, and this request needs another; the message names the rule (`endpoints` or `formats`). Use another key, or ask the operator to change the rule."
    AddressNotAllowed "ADDRESS_NOT_ALLOWED" 403 "The team may call from certain networks only, and this request comes from another address, named in the message. Call from an allowed network, or ask the operator to change the team's rule `addresses`."
    ProviderDiscoveryDisabled "PROVIDER_DISCOVERY_DISABLED" 403 "This endpoint is not enabled for this team."
    ProviderDiscoveryRetains "PROVIDER_DISCOVERY_RETAINS" 403 "Provider discovery requires access and does not support zero data retention."
    ThirdPartyDataTermsRequired "THIRD_PARTY_DATA_TERMS_REQUIRED" 403 "An administrator must accept the provider's terms first; see `requiresAction`."
    ScrapeTargetBlocked "SCRAPE_TARGET_BLOCKED" 403 "The URL, or a redirect, leads to an address that is not public. Operators can allow addresses with `egress.allow`."
    NotFound "NOT_FOUND" 404 "Not found: the path or the id is unknown, or belongs to another team."
    SubscriptionNotFound "not_found" 404 "The token of a mail is valid, but its recipient is not known any more."
    EndpointNotAvailable "ENDPOINT_NOT_AVAILABLE" 404 "The API defines this endpoint, but this server does not offer it; the message says what it is, or where it is served. Unless the path begins with /v0 or /v1, the base URL is right."
    ScrapeNoCachedData "SCRAPE_NO_CACHED_DATA" 404 "`minAge` was given and no cached copy matches. Omit it to fetch the page."
    ScrapeLockdownCacheMiss "SCRAPE_LOCKDOWN_CACHE_MISS" 404 "`lockdown` was given and the cache has no copy; the site was not contacted."
    SessionNotFound "SESSION_NOT_FOUND" 404 "No browser session has this id, or it belongs to another team."
    UnknownProvider "unknown_provider" 404 "A provider-tool call names an unknown provider or capability; nothing was executed."
    MethodNotAllowed "METHOD_NOT_ALLOWED" 405 "The path exists, but does not support this method; see the `Allow` header."
    ScrapeTimeout "SCRAPE_TIMEOUT" 408 "The scrape did not finish within `timeout`. Increase it, or try again later."
    UploadTooSlow "UPLOAD_TOO_SLOW" 408 "The upload was slower than `server.upload_min_kib_per_s`, or stalled. Use a faster connection, or ask the operator to lower the setting."
    MapTimeout "MAP_TIMEOUT" 408 "The map did not finish within `timeout`. Increase it, or try again later."
    SearchTimeout "SEARCH_TIMEOUT" 408 "The search did not finish within `timeout`. Increase it, or search fewer sources."
    DuplicateRequest "duplicate_request" 409 "This `x-idempotency-key` was used for an earlier request with other parameters. Use a new one."
    RequestInFlight "request_in_flight" 409 "The request with this `x-request-id` is still running. Wait and send it again."
    JobFinished "JOB_FINISHED" 409 "The job has already ended: it can neither be cancelled nor take more pages."
    ProfileInUse "PROFILE_IN_USE" 409 "Another scrape or session holds the write lock of this profile. Wait until it ends, or set `saveChanges: false`."
    DeliveryGone "DELIVERY_GONE" 409 "The body of this webhook delivery is no longer stored: it was delivered, or its job has expired. It cannot be sent again."
    FileGone "FILE_GONE" 410 "The file has expired or was deleted."
    SessionEnded "SESSION_ENDED" 410 "The browser session has ended: it timed out, was stopped, or its browser crashed. Start a new one."
    PayloadTooLarge "PAYLOAD_TOO_LARGE" 413 "The request body exceeds the size limit of the server."
    UnsupportedMediaType "UNSUPPORTED_MEDIA_TYPE" 415 "The body must be sent as `Content-Type: application/json` and uncompressed."
    RangeNotSatisfiable "RANGE_NOT_SATISFIABLE" 416 "The `Range` starts beyond the end of the file; `Content-Range` contains its size."
    ScrapeDnsResolutionError "SCRAPE_DNS_RESOLUTION_ERROR" 400 "The host name of the URL, or of a redirect, does not resolve. Check the spelling."
    ScrapeSslError "SCRAPE_SSL_ERROR" 422 "The TLS handshake with the site failed. `skipTlsVerification: true` accepts an invalid certificate."
    ScrapeSiteError "SCRAPE_SITE_ERROR" 422 "The site refused or closed the connection, or its response is not valid HTTP."
    ScrapeUnsupportedFileError "SCRAPE_UNSUPPORTED_FILE_ERROR" 422 "The URL leads to a file type that cannot be converted to the requested formats. `rawBase64` accepts any file."
    ScrapePdfOcrRequired "SCRAPE_PDF_OCR_REQUIRED" 422 "The PDF has no readable embedded text, and `mode: fast` uses no OCR. Use the mode `auto` or `ocr`."
    ScrapeDocumentEncrypted "SCRAPE_DOCUMENT_ENCRYPTED" 422 "The document is password-protected. Remove the password and try again."
    ScrapeDocumentBroken "SCRAPE_DOCUMENT_BROKEN" 422 "The document is damaged, or its content does not match its type, so it cannot be read. Save it again and retry."
    ScrapeDocumentLimit "SCRAPE_DOCUMENT_LIMIT" 422 "Reading the document exceeds the memory or work limit for one document. Request fewer pages with `maxPages`, or split it."
    ScrapeTooLarge "SCRAPE_TOO_LARGE" 422 "The response of the site exceeds a size limit, before or after decompression, or the page exceeds a limit of the browser: memory, number of requests, length of URLs or headers."
    ScrapeTooManyRedirects "SCRAPE_TOO_MANY_REDIRECTS" 422 "The URL redirects too many times, or in a loop."
    ScrapeProxyError "SCRAPE_PROXY_ERROR" 422 "The configured proxy refused the connection or failed. Try another `proxy` mode."
    ScrapeActionError "SCRAPE_ACTION_ERROR" 422 "An action failed; `details` contains its index (from 0), type, selector and the reason. Nothing was charged."
    ScrapePromptInjectionDetected "SCRAPE_PROMPT_INJECTION_DETECTED" 422 "`checkPromptInjection` was given and the page contains a prompt injection."
    ScrapeJsonInvalid "SCRAPE_JSON_INVALID" 422 "The language model gave no answer that is valid by the schema, even when it was asked again, or refused to answer; `details` lists the errors. Nothing was charged. Simplify the schema, or require less of it."
    RateLimited "RATE_LIMITED" 429 "Too many requests per minute, or too many with an invalid key. Without a key: the daily limit or the credits for such requests are used up (`reason` says which). `Retry-After` says when to try again."
    ConcurrencyLimited "CONCURRENCY_LIMITED" 429 "Too many concurrent requests or browser sessions of this team, or connections from this address. Wait until one ends."
    UploadLimit "UPLOAD_LIMIT" 429 "Too many upload URLs of this team are unused or hold a file that has not been parsed, or these files are too large together. Parse them with `POST /v2/parse`, or wait as long as `Retry-After` says; the operator can raise `files.max_unread_uploads` and `files.max_unread_mib`."
    UnknownError "UNKNOWN_ERROR" 500 "Internal error; the operator finds it in the log by the request id."
    DatabaseUnavailable "DATABASE_UNAVAILABLE" 503 "The server's database is unreachable or cannot be written. Nothing was charged; jobs continue once it is back. `Retry-After` says when to try again."
    StorageUnavailable "STORAGE_UNAVAILABLE" 503 "The server's file storage (directory or bucket) is unreachable. No stored data is lost. `Retry-After` says when to try again."
    BillingUnavailable "billing_unavailable" 503 "Credits cannot be deducted at the moment; nothing was executed. Try again."
    RequestUnresolved "request_unresolved" 503 "The result of the request with this `x-request-id` is not known yet. Send it again with the same id, not a new one."
    Overloaded "OVERLOADED" 503 "The server accepts no more connections at the moment; `Retry-After` says when to try again."
    BrowserUnavailable "BROWSER_UNAVAILABLE" 503 "The request needs a browser, and none is available. With `Retry-After`: all are busy, the browser could not be started or crashed, or the server that runs the session is unreachable; try again. Without it: this server has no browser, and its operator can install one."
    ReaderUnavailable "READER_UNAVAILABLE" 503 "The request needs a document reader, and none is available: all are busy, or none can be started. `Retry-After` says when to try again."
    ModelUnavailable "MODEL_UNAVAILABLE" 503 "The language model cannot be reached, did not answer in time, or a budget is used up, and nothing else was requested; the message says which. Nothing was charged. Try again later."
    SearchUnavailable "SEARCH_UNAVAILABLE" 503 "No search engine of this server has answered; `details` lists the reason of each. Nothing was charged. Try again later, or tell the operator."
    ShuttingDown "SHUTTING_DOWN" 503 "This server is shutting down. Try again; another server may answer."
    StorageFull "STORAGE_FULL" 503 "A disk of the server (database or file storage) is full or nearly full, so no work is accepted whose results must be stored. Try again later, or tell the operator."
    ParseUnsupportedOptions "PARSE_UNSUPPORTED_OPTIONS" 400 "The request has options that need a web page and do not apply to uploaded files. `details` lists them."
    UnsupportedFileType "UNSUPPORTED_FILE_TYPE" 400 "The type of the uploaded file is not supported; the message says what it looks like. `GET /v2/parse/formats` lists the supported types."
    ScrapeOcrNotSupported "SCRAPE_OCR_NOT_SUPPORTED" 400 "Text recognition in images (OCR) needs the program `quarry-reader` and tesseract with its languages, which this server does not have. Its operator can install them."
    ScrapeSummaryNotSupported "SCRAPE_SUMMARY_NOT_SUPPORTED" 400 "The format `summary` is not available on this server: its operator can set `llm.url`, or `llm.extractive = true` for answers from the page's own sentences."
    ScrapeScreenshotNotSupported "SCRAPE_SCREENSHOT_NOT_SUPPORTED" 400 "The format `screenshot` needs a browser, which this server does not have. Its operator can install Chromium (the package `chromium-headless-shell` or `chromium`) and restart the server."
    ScrapeJsonNotSupported "SCRAPE_JSON_NOT_SUPPORTED" 400 "The format `json` needs a language model, which this server does not have, or which may not see this request: its operator can set `llm.url`, and for zero retention `llm.zero_retention`."
    ScrapeAudioNotSupported "SCRAPE_AUDIO_NOT_SUPPORTED" 400 "The format `audio` is not available on this server."
    ScrapeVideoNotSupported "SCRAPE_VIDEO_NOT_SUPPORTED" 400 "The format `video` is not available on this server."
    ScrapeQueryNotSupported "SCRAPE_QUERY_NOT_SUPPORTED" 400 "The format `query` is not available on this server: its operator can set `llm.url`, or `llm.extractive = true` for answers from the page's own sentences."
    ScrapeQuestionNotSupported "SCRAPE_QUESTION_NOT_SUPPORTED" 400 "The format `question` is not available on this server: its operator can set `llm.url`, or `llm.extractive = true` for answers from the page's own sentences."
    ScrapeHighlightsNotSupported "SCRAPE_HIGHLIGHTS_NOT_SUPPORTED" 400 "The format `highlights` is not available on this server: its operator can set `llm.url`, or `llm.extractive = true` for answers from the page's own sentences."
    ScrapeChangeTrackingNotSupported "SCRAPE_CHANGE_TRACKING_NOT_SUPPORTED" 400 "The mode `json` of the format `changeTracking` needs a language model, which this server does not have: its operator can set `llm.url`. The mode `git-diff` works without one."
    ScrapeActionsNotSupported "SCRAPE_ACTIONS_NOT_SUPPORTED" 400 "Actions are not supported: they need a browser, which this server does not have. Its operator can install Chromium (the package `chromium-headless-shell` or `chromium`) and restart the server."
    ScrapeProfileNotSupported "SCRAPE_PROFILE_NOT_SUPPORTED" 400 "`profile` needs a browser, which this server does not have. Its operator can install Chromium (the package `chromium-headless-shell` or `chromium`) and restart the server."
    ScrapeRedactPiiNotSupported "SCRAPE_REDACT_PII_NOT_SUPPORTED" 400 "`redactPII` is not available on this server; nothing was fetched."
    ScrapeOnlyCleanContentNotSupported "SCRAPE_ONLY_CLEAN_CONTENT_NOT_SUPPORTED" 400 "`onlyCleanContent` is not available on this server: its operator can set `llm.url`, or `llm.extractive = true`."
    ScrapePromptInjectionCheckNotSupported "SCRAPE_PROMPT_INJECTION_CHECK_NOT_SUPPORTED" 400 "`checkPromptInjection` is not available on this server."
    ScrapeThreatProtectionNotSupported "SCRAPE_THREAT_PROTECTION_NOT_SUPPORTED" 400 "`threatProtection` is not available on this server, except mode `off`."
    ScrapeDomainToolsNotSupported "SCRAPE_DOMAIN_TOOLS_NOT_SUPPORTED" 400 "`domainTools` is not available on this server."
    CrawlPromptNotSupported "CRAWL_PROMPT_NOT_SUPPORTED" 400 "This `prompt` needs a language model, which this server does not have, or which may not see this request: its operator can set `llm.url`. Without one, plain wishes such as `only /docs, first 50 pages` are understood; or set the options directly."
    CrawlParamsPreviewNotSupported "CRAWL_PARAMS_PREVIEW_NOT_SUPPORTED" 400 "A preview of this `prompt` needs a language model, which this server does not have, or which may not see this request: its operator can set `llm.url`. Without one, plain wishes such as `only /docs, first 50 pages` are understood; or set the options directly."
    ProviderToolsNotSupported "PROVIDER_TOOLS_NOT_SUPPORTED" 400 "Provider-tool calls (`alexandria`) are not available on this server."
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_table_is_sound() {
        let mut seen = HashSet::new();
        for &code in Code::ALL {
            assert!(seen.insert(code.as_str()), "{code} twice");
            assert!((400..=599).contains(&code.status()) && code.status() != 502, "{code}");
            assert!(code.meaning().ends_with('.'), "{code}");
            assert!(!code.as_str().ends_with("_NOT_SUPPORTED") || code.status() == 400, "{code}");
            let json = serde_json::to_value(code).unwrap();
            assert_eq!(json, code.as_str());
            assert_eq!(serde_json::from_value::<Code>(json).unwrap(), code);
        }
    }

    #[test]
    fn codes_that_clients_name() {
        let check = |word: &str, status: u16| {
            let code = Code::ALL.iter().find(|code| code.as_str() == word);
            assert_eq!(code.map(|code| code.status()), Some(status), "{word}");
        };
        check("SCRAPE_TIMEOUT", 408);
        check("SCRAPE_NO_CACHED_DATA", 404);
        check("SCRAPE_LOCKDOWN_CACHE_MISS", 404);
        check("THIRD_PARTY_DATA_TERMS_REQUIRED", 403);
        check("duplicate_request", 409);
        check("request_in_flight", 409);
        check("request_unresolved", 503);
        check("unknown_provider", 404);
        check("insufficient_credits", 402);
        check("billing_unavailable", 503);
        check("UNKNOWN_ERROR", 500);
    }
}
