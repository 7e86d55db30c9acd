//! Every error code in one table: the word on the wire, its HTTP status, what it means and what to do.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

macro_rules! codes {
    ($($variant:ident $wire:tt $status:literal $meaning:literal)+) => {
        /// A machine-readable error code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
        pub enum Code {
            $(
                #[doc = $meaning]
                #[serde(rename = $wire)]
                $variant,
            )+
        }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $wire,)+
                }
            }

            /// The HTTP status that carries it. Never 502: the official clients repeat the call on 502 alone.
            #[must_use]
            pub const fn status(self) -> u16 {
                match self {
                    $(Self::$variant => $status,)+
                }
            }

            /// What it means and what the caller can do, for the generated documentation.
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
    BadRequest "BAD_REQUEST" 400 "The body, a parameter or a header breaks the contract. `details` lists each fault with its path."
    BadRequestInvalidJson "BAD_REQUEST_INVALID_JSON" 400 "The body is not JSON in UTF-8, or is nested deeper than 128 levels."
    Unauthorized "UNAUTHORIZED" 401 "The API key is missing, unknown or revoked. Send `Authorization: Bearer <key>`."
    InsufficientCredits "insufficient_credits" 402 "The team's credits do not cover this request; nothing was done. Add credits or ask for less."
    Forbidden "FORBIDDEN" 403 "The team may not do this: ask the operator to enable the feature for it. Or the call has no known key and may come from a foreign web page: use a host of `server.hosts`, or a key."
    KeyNotAllowed "KEY_NOT_ALLOWED" 403 "The API key is limited to some groups of endpoints or some formats, and this call needs another one; the message names the rule (`endpoints` or `formats`). Use another key, or ask the operator to change the rule."
    AddressNotAllowed "ADDRESS_NOT_ALLOWED" 403 "The team may call from some networks only, and this call comes from elsewhere; the message names the address that it came from. Call from there, or ask the operator to change the rule `addresses` of the team."
    ThirdPartyDataTermsRequired "THIRD_PARTY_DATA_TERMS_REQUIRED" 403 "An administrator must accept the provider's terms by hand first; see `requiresAction`."
    ScrapeTargetBlocked "SCRAPE_TARGET_BLOCKED" 403 "The URL, or one it redirects to, leads to an address that is not public. Operators admit more with `egress.allow`."
    NotFound "NOT_FOUND" 404 "Nothing is here: the path or the id is unknown, or belongs to another team."
    EndpointNotAvailable "ENDPOINT_NOT_AVAILABLE" 404 "The interface has this path, but this server does not: the message says what it is, or where it is served. Unless the path begins with /v0 or /v1, the base URL is right."
    ScrapeNoCachedData "SCRAPE_NO_CACHED_DATA" 404 "`minAge` was given and no cached copy matches. Leave it out to scrape anew."
    ScrapeLockdownCacheMiss "SCRAPE_LOCKDOWN_CACHE_MISS" 404 "`lockdown` was given and there is no cached copy; the target was not contacted."
    SessionNotFound "SESSION_NOT_FOUND" 404 "There is no browser session with this id, or it belongs to another team."
    UnknownProvider "unknown_provider" 404 "A provider-tool call names an unknown provider or capability; nothing was executed."
    MethodNotAllowed "METHOD_NOT_ALLOWED" 405 "The path exists, but not with this method; see the `Allow` header."
    ScrapeTimeout "SCRAPE_TIMEOUT" 408 "The scrape did not end within `timeout`. Raise it, or try again when the page is faster."
    UploadTooSlow "UPLOAD_TOO_SLOW" 408 "The file arrived more slowly than `server.upload_min_kib_per_s` allows, or not at all for a while. Send it again over a faster connection, or raise the setting."
    MapTimeout "MAP_TIMEOUT" 408 "The map did not end within `timeout`. Raise it, or try again when the site is faster."
    DuplicateRequest "duplicate_request" 409 "This `x-idempotency-key` belongs to an earlier request with other parameters. Use a new one."
    RequestInFlight "request_in_flight" 409 "The request with this `x-request-id` is still running. Wait and send it again."
    JobFinished "JOB_FINISHED" 409 "The job has already ended, so it cannot be cancelled and takes no more pages."
    ProfileInUse "PROFILE_IN_USE" 409 "Another scrape or session is going to save this profile, and only one may. Wait for its end, or set `saveChanges: false`."
    DeliveryGone "DELIVERY_GONE" 409 "The body of this webhook delivery is no longer kept: the receiver took it, or its job has expired. It cannot be sent again."
    FileGone "FILE_GONE" 410 "The URL of this file was good, but its time is over, or the file was removed with what it belonged to."
    SessionEnded "SESSION_ENDED" 410 "The browser session is over: its time has passed, it was stopped, or its browser has died. Begin another one."
    PayloadTooLarge "PAYLOAD_TOO_LARGE" 413 "The request body is over the limit of the server."
    UnsupportedMediaType "UNSUPPORTED_MEDIA_TYPE" 415 "The body must be sent as `Content-Type: application/json`, not compressed."
    RangeNotSatisfiable "RANGE_NOT_SATISFIABLE" 416 "The `Range` begins after the end of the file; `Content-Range` tells its size."
    ScrapeDnsResolutionError "SCRAPE_DNS_RESOLUTION_ERROR" 400 "The host name of the URL, or of one it redirects to, does not resolve. Check its spelling."
    ScrapeSslError "SCRAPE_SSL_ERROR" 422 "The TLS handshake with the page failed. `skipTlsVerification: true` ignores a bad certificate."
    ScrapeSiteError "SCRAPE_SITE_ERROR" 422 "The site refused the connection, broke it off or answered with something that is not HTTP."
    ScrapeUnsupportedFileError "SCRAPE_UNSUPPORTED_FILE_ERROR" 422 "The URL leads to a kind of file that cannot be turned into the formats asked for. `rawBase64` takes any file."
    ScrapePdfOcrRequired "SCRAPE_PDF_OCR_REQUIRED" 422 "The PDF has no embedded text that can be read, and with `mode: fast` nothing else is. Use the mode `auto` or `ocr`."
    ScrapeDocumentEncrypted "SCRAPE_DOCUMENT_ENCRYPTED" 422 "The document is locked with a password. Remove the password and try again."
    ScrapeDocumentBroken "SCRAPE_DOCUMENT_BROKEN" 422 "The document is damaged, or is not what it says it is, so that nothing of it can be read. Save it again and try once more."
    ScrapeDocumentLimit "SCRAPE_DOCUMENT_LIMIT" 422 "Reading the document takes more memory or work than one document may cost. Ask for fewer pages with `maxPages`, or split it."
    ScrapeTooLarge "SCRAPE_TOO_LARGE" 422 "The answer of the site is over a size limit, before or after decompression, or the page takes too much in the browser: memory, requests, addresses, headers."
    ScrapeTooManyRedirects "SCRAPE_TOO_MANY_REDIRECTS" 422 "The URL redirects too often, or in a circle."
    ScrapeProxyError "SCRAPE_PROXY_ERROR" 422 "The configured proxy refused or failed. Try another `proxy` mode."
    ScrapeActionError "SCRAPE_ACTION_ERROR" 422 "An action could not be carried out; `details` names its index, counted from 0, its type, its selector and the reason. Nothing was charged."
    ScrapePromptInjectionDetected "SCRAPE_PROMPT_INJECTION_DETECTED" 422 "`checkPromptInjection` was given and the page tries to give orders to a model."
    RateLimited "RATE_LIMITED" 429 "Too many requests a minute, or too many with a bad key; without a key also too many a day, or the credits for such calls are used up (`reason` says which). `Retry-After` says when to try again."
    ConcurrencyLimited "CONCURRENCY_LIMITED" 429 "Too many requests or browser sessions of this team, or connections of this address, at the same moment; wait for one to end."
    UploadLimit "UPLOAD_LIMIT" 429 "Too many files of this team were sent to upload URLs and not read yet. Read them with `POST /v2/parse`, or wait as long as `Retry-After` says; the operator can raise `files.max_unread_uploads` and `files.max_unread_mib`."
    UnknownError "UNKNOWN_ERROR" 500 "Something failed inside; the operator finds it in the log by the request id."
    DatabaseUnavailable "DATABASE_UNAVAILABLE" 503 "The database of the server does not answer, or cannot be written. Nothing was charged; jobs go on when it is back. `Retry-After` says when to try again."
    StorageUnavailable "STORAGE_UNAVAILABLE" 503 "The store of files of the server (folder or bucket) cannot be reached. Nothing that was kept is lost; `Retry-After` says when to try again."
    BillingUnavailable "billing_unavailable" 503 "Credits cannot be deducted just now; nothing was done. Try again."
    RequestUnresolved "request_unresolved" 503 "The outcome of the request with this `x-request-id` is not known yet. Send the same id again, not a new one."
    Overloaded "OVERLOADED" 503 "The server has no room for more connections; `Retry-After` says when to try again."
    BrowserUnavailable "BROWSER_UNAVAILABLE" 503 "The request needs a browser, and none is to be had: all are busy, it cannot be started, it ended while it worked on the page, or the server that runs the session cannot be reached; then `Retry-After` says when to try again. Without it the server has none, and its operator can install one."
    ReaderUnavailable "READER_UNAVAILABLE" 503 "The request needs a reader of documents, and none is to be had just now: all are busy, or none can be started. `Retry-After` says when to try again."
    ShuttingDown "SHUTTING_DOWN" 503 "This server is about to stop. Try again; another one will answer."
    StorageFull "STORAGE_FULL" 503 "A disk of the server, its database or its store of files is full or nearly full, so nothing is begun whose results have to be kept. Try again later, or tell the operator."
    ParseUnsupportedOptions "PARSE_UNSUPPORTED_OPTIONS" 400 "The request asks for what cannot be done with an uploaded file, as it is no page on the web. `details` lists every such option."
    ParseUnsupportedFile "PARSE_UNSUPPORTED_FILE" 400 "The uploaded file is of a kind that is not read; the message says what it looks like. `GET /v2/parse/formats` lists what is read."
    ScrapeOcrNotSupported "SCRAPE_OCR_NOT_SUPPORTED" 400 "Reading text off pictures (OCR) needs the program `quarry-reader` and tesseract with its languages, which this server does not have. Its operator can install them."
    ScrapeSummaryNotSupported "SCRAPE_SUMMARY_NOT_SUPPORTED" 400 "The format `summary` is not available on this server."
    ScrapeScreenshotNotSupported "SCRAPE_SCREENSHOT_NOT_SUPPORTED" 400 "The format `screenshot` needs a browser, which this server does not have. Its operator can install Chromium (the package `chromium-headless-shell` or `chromium`) and start the server again."
    ScrapeJsonNotSupported "SCRAPE_JSON_NOT_SUPPORTED" 400 "The format `json` is not available on this server."
    ScrapeProductNotSupported "SCRAPE_PRODUCT_NOT_SUPPORTED" 400 "The format `product` is not available on this server."
    ScrapeMenuNotSupported "SCRAPE_MENU_NOT_SUPPORTED" 400 "The format `menu` is not available on this server."
    ScrapeAudioNotSupported "SCRAPE_AUDIO_NOT_SUPPORTED" 400 "The format `audio` is not available on this server."
    ScrapeVideoNotSupported "SCRAPE_VIDEO_NOT_SUPPORTED" 400 "The format `video` is not available on this server."
    ScrapeQueryNotSupported "SCRAPE_QUERY_NOT_SUPPORTED" 400 "The format `query` is not available on this server."
    ScrapeQuestionNotSupported "SCRAPE_QUESTION_NOT_SUPPORTED" 400 "The format `question` is not available on this server."
    ScrapeHighlightsNotSupported "SCRAPE_HIGHLIGHTS_NOT_SUPPORTED" 400 "The format `highlights` is not available on this server."
    ScrapeChangeTrackingNotSupported "SCRAPE_CHANGE_TRACKING_NOT_SUPPORTED" 400 "The format `changeTracking` is not available on this server."
    ScrapeActionsNotSupported "SCRAPE_ACTIONS_NOT_SUPPORTED" 400 "Actions are not supported: they need a browser, which this server does not have. Its operator can install Chromium (the package `chromium-headless-shell` or `chromium`) and start the server again."
    ScrapeProfileNotSupported "SCRAPE_PROFILE_NOT_SUPPORTED" 400 "`profile` needs a browser, which this server does not have. Its operator can install Chromium (the package `chromium-headless-shell` or `chromium`) and start the server again."
    ScrapeRedactPiiNotSupported "SCRAPE_REDACT_PII_NOT_SUPPORTED" 400 "`redactPII` is not available on this server; nothing was fetched, so nothing leaked."
    ScrapeOnlyCleanContentNotSupported "SCRAPE_ONLY_CLEAN_CONTENT_NOT_SUPPORTED" 400 "`onlyCleanContent` is not available on this server."
    ScrapePromptInjectionCheckNotSupported "SCRAPE_PROMPT_INJECTION_CHECK_NOT_SUPPORTED" 400 "`checkPromptInjection` is not available on this server."
    ScrapeThreatProtectionNotSupported "SCRAPE_THREAT_PROTECTION_NOT_SUPPORTED" 400 "`threatProtection` is not available on this server; only mode `off` is."
    ScrapeDomainToolsNotSupported "SCRAPE_DOMAIN_TOOLS_NOT_SUPPORTED" 400 "`domainTools` is not available on this server."
    CrawlPromptNotSupported "CRAWL_PROMPT_NOT_SUPPORTED" 400 "`prompt` needs a model, which this server does not have. Give the options themselves."
    CrawlParamsPreviewNotSupported "CRAWL_PARAMS_PREVIEW_NOT_SUPPORTED" 400 "A preview needs a model, which this server does not have. Give the options themselves."
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
