//! Headers and result of a visit.

use std::sync::Arc;

use bytes::Bytes;
use url::Url;
use visit::Rendered;

/// Function that returns the caller's headers for a URL, called for each request of the page. A request gets only the
/// headers that are returned for its URL.
pub type HeadersFor<'a> = dyn Fn(&Url) -> Vec<(String, String)> + Send + Sync + 'a;

/// Function like [`HeadersFor`] for a page that stays open.
pub type OwnHeaders = Arc<HeadersFor<'static>>;

/// Result of a visit. Has no `Debug` because pages are private.
pub struct Visited {
    /// Final URL, after redirects, scripts and history.
    pub url: Url,
    /// HTTP status of the last document.
    pub status: u16,
    /// `Content-Type` header of the last document, with the charset UTF-8 if Chromium has converted the body.
    pub content_type: Option<String>,
    /// `Retry-After` header of the last document.
    pub retry_after: Option<String>,
    /// Decoded body of the last document; the file for a download.
    pub body: Bytes,
    /// What the browser showed; `styles.js` documents its sample of computed styles.
    pub rendered: Rendered,
    /// Warnings for the caller.
    pub warnings: Vec<String>,
    /// Share of the budget for large pages that the result holds. Must be kept as long as the page or anything made
    /// from it.
    pub room: net::Room,
}
