//! Parameters and result of a visit.

use std::sync::Arc;
use std::time::Duration;

use base::Owner;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;
use url::Url;

/// Function that returns the caller's headers for a URL, called for each request of the page.
pub type HeadersFor<'a> = dyn Fn(&Url) -> Vec<(String, String)> + Send + Sync + 'a;

/// Function that returns the headers that may be sent to a URL, valid for the lifetime of a session.
pub type OwnHeaders = Arc<dyn Fn(&Url) -> Vec<(String, String)> + Send + Sync>;

/// Parameters of a visit: navigate, wait until the page has settled, act, capture. Has no `Debug` because it may hold
/// secrets.
#[derive(Clone)]
pub struct Visit<'a> {
    /// URL of the page, `http` or `https`, without user name and password.
    pub url: &'a Url,
    /// Headers of the caller. They are sent only to URLs for which this function returns them.
    pub headers: &'a HeadersFor<'a>,
    /// Whether to emulate a phone: window, touch, scale, user agent.
    pub mobile: bool,
    /// Apparent location of the visitor: time zone, languages, geolocation.
    pub location: Option<&'a wire::Location>,
    /// Upstream proxy of the guard; `None` means direct connections.
    pub proxy: Option<net::Proxy>,
    /// Whether invalid certificates are accepted.
    pub skip_tls_verification: bool,
    /// Whether advertisements and consent notices are blocked.
    pub block_ads: bool,
    /// Extra wait after the page has settled.
    pub wait_for: Duration,
    /// Actions before the capture, in order.
    pub actions: &'a [wire::Action],
    /// Options of the screenshot after all actions; `None` means no screenshot.
    pub screenshot: Option<&'a wire::ScreenshotOptions>,
    /// Whether computed styles are sampled ([`Visited::styles`]).
    pub styles: bool,
    /// Cookies and storage to restore before the visit.
    pub state: Option<&'a State>,
    /// Whether cookies and storage are saved at the end ([`Visited::state`]).
    pub keeps_state: bool,
    /// Owner of the visit, for fair queueing.
    pub owner: Owner,
    /// Deadline of the visit, including the time in the queue.
    pub deadline: Instant,
}

impl<'a> Visit<'a> {
    /// Returns a visit with defaults: desktop, no proxy, any certificate, ads blocked, no owner.
    #[must_use]
    pub fn new(url: &'a Url, headers: &'a HeadersFor<'a>, deadline: Instant) -> Self {
        Self {
            url,
            headers,
            mobile: false,
            location: None,
            proxy: None,
            skip_tls_verification: true,
            block_ads: true,
            wait_for: Duration::ZERO,
            actions: &[],
            screenshot: None,
            styles: false,
            state: None,
            keeps_state: false,
            owner: Owner::default(),
            deadline,
        }
    }
}

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
    /// Final page as HTML. Shadow roots and frames are inlined (`div[data-frame-url]`). Elements hidden by CSS are
    /// marked with `hidden="unseen"`, or with `data-collapsed` if a control of the page opens them. If scripts have
    /// shown next to nothing, `noscript` is included (`div[data-noscript]`). `None` if the URL is a download.
    pub dom: Option<String>,
    /// Screenshot, if requested.
    pub screenshot: Option<Picture>,
    /// Results of the actions.
    pub acted: Acted,
    /// Sample of computed styles, if requested (documented in `styles.js`).
    pub styles: Option<Value>,
    /// IANA name of the emulated time zone.
    pub timezone: Option<String>,
    /// Cookies and storage at the end, if requested.
    pub state: Option<State>,
    /// URLs of windows that the page tried to open; none was opened.
    pub windows: Vec<Url>,
    /// Warnings for the caller.
    pub warnings: Vec<String>,
    /// Share of the budget for large pages that the result holds. Must be kept as long as the page or anything made
    /// from it.
    pub room: net::Room,
    /// Time that the visit waited for its slot.
    pub waited: Duration,
}

/// Results of the actions, each list in the order of its actions.
#[derive(Clone, Default)]
pub struct Acted {
    /// Results of `screenshot`.
    pub screenshots: Vec<Picture>,
    /// Results of `scrape`.
    pub scrapes: Vec<ScrapedPage>,
    /// Results of `executeJavascript`.
    pub returns: Vec<wire::ScriptReturn>,
    /// Results of `pdf`.
    pub pdfs: Vec<Printed>,
}

/// A screenshot.
#[derive(Clone)]
pub struct Picture {
    /// Content of the file.
    pub bytes: Bytes,
    /// `image/png` or `image/jpeg`.
    pub content_type: &'static str,
}

/// A PDF.
#[derive(Clone)]
pub struct Printed {
    /// Content of the file.
    pub bytes: Bytes,
}

/// Page that a `scrape` action captured.
#[derive(Clone)]
pub struct ScrapedPage {
    /// URL at that time.
    pub url: Url,
    /// HTML in the format of [`Visited::dom`].
    pub html: String,
}

/// Cookies and storage of a browser. Has no `Debug` because they are secrets.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// Cookies, as `Network.CookieParam` of the DevTools protocol.
    pub cookies: Vec<Value>,
    /// Storage by origin.
    pub origins: Vec<Value>,
}
