//! Options of one scrape.

use std::sync::Arc;

use ::scrape::Reviewer;
use fetch::{BasicAuth, Fetched};
use kernel::credentials;
use url::Url;
use wire::{ScrapeOptions, ScrapeRequest};

/// Page to scrape.
pub struct Wanted {
    /// Its `scrapeId`.
    pub id: String,
    /// URL without user name and password.
    pub url: Url,
    /// Spelling of `url` in the answer.
    pub source: String,
    /// Name of an uploaded file; then `url` is not an address.
    pub file: Option<String>,
    /// URL that the headers and `basic_auth` were given for.
    pub given_for: Url,
    /// User name and password from `given_for`.
    pub basic_auth: Option<BasicAuth>,
    /// Options of the scrape.
    pub options: Arc<ScrapeOptions>,
    /// Whether the request asks for zero data retention.
    pub zero_data_retention: bool,
    /// Whether links are collected even if no format asks for them.
    pub collect_links: bool,
    /// What counts when the versions of the page are compared.
    pub reviewer: Option<Arc<dyn Reviewer>>,
    /// Run that the page belongs to: owner of its files, and of its place in the queue for a browser.
    pub run: Option<String>,
    /// Start of the crawl that the page belongs to.
    pub start: Option<Url>,
}

/// Uploaded file, presented as a fetched page.
pub(crate) struct UploadedFile {
    pub(crate) wanted: Wanted,
    pub(crate) fetched: Fetched,
}

impl Wanted {
    /// Builds the page of a scrape request, whose headers were given for its URL.
    pub(super) fn of(id: String, request: ScrapeRequest) -> Self {
        let (url, basic_auth) = credentials::split(request.url);
        Self {
            id,
            source: request.source.or(&url),
            file: None,
            given_for: url.clone(),
            url,
            basic_auth,
            options: Arc::new(request.options),
            zero_data_retention: request.zero_data_retention,
            collect_links: false,
            reviewer: None,
            run: None,
            start: None,
        }
    }
}
