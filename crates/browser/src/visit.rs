//! What a visit is asked for, and what it brings.

use std::time::Duration;

use base::Owner;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;
use url::Url;

/// Headers of the caller that may go to one URL, asked for each request that the page makes.
pub type HeadersFor<'a> = dyn Fn(&Url) -> Vec<(String, String)> + Send + Sync + 'a;

/// One visit to a page: go there, wait until it has settled, act, capture. Has no `Debug`: it may hold secrets.
#[derive(Clone)]
pub struct Visit<'a> {
    /// The page, `http` or `https`, without user name and password.
    pub url: &'a Url,
    /// What the caller gave; nothing reaches an origin that this function does not name.
    pub headers: &'a HeadersFor<'a>,
    /// Whether to look like a phone: window, touch, scale, user agent.
    pub mobile: bool,
    /// Where the visitor seems to be: time zone, languages, geolocation.
    pub location: Option<&'a wire::Location>,
    /// The proxy behind the guard; none means direct connections.
    pub proxy: Option<net::Proxy>,
    /// Whether any certificate will do.
    pub skip_tls_verification: bool,
    /// Whether advertisements and consent notices are kept out.
    pub block_ads: bool,
    /// How long to wait once the page has settled.
    pub wait_for: Duration,
    /// What to do before the capture, in order.
    pub actions: &'a [wire::Action],
    /// The picture that is wanted of the page after all actions.
    pub screenshot: Option<&'a wire::ScreenshotOptions>,
    /// Whether computed styles are to be sampled ([`Visited::styles`]).
    pub styles: bool,
    /// Cookies and storage to begin with.
    pub state: Option<&'a State>,
    /// Whether they are wanted back at the end ([`Visited::state`]).
    pub keeps_state: bool,
    /// Whose turn it is: places are shared out fairly.
    pub owner: Owner,
    /// When everything must be done, the time in the line included.
    pub deadline: Instant,
}

impl<'a> Visit<'a> {
    /// This page and nothing else: a desktop, no proxy, any certificate, advertisements kept out, nobody's place.
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

/// What a visit brought. Has no `Debug`: pages are private.
pub struct Visited {
    /// Where the browser is at the end, after redirects, scripts and history.
    pub url: Url,
    /// HTTP status of the last document.
    pub status: u16,
    /// Its `Content-Type` header as it was sent.
    pub content_type: Option<String>,
    /// Its `Retry-After` header as it was sent.
    pub retry_after: Option<String>,
    /// What the server sent for the last document, decoded; for a download the file.
    pub body: Bytes,
    /// The page as it stood at the end, as HTML: shadow roots and frames put in their place (`div[data-frame-url]`), what
    /// CSS hides marked with `hidden="unseen"`, or with `data-collapsed` where a control of the page opens it. Where scripts have
    /// brought next to nothing, `noscript` stands there too (`div[data-noscript]`). `None` when the URL is a download.
    pub dom: Option<String>,
    /// The picture that was asked for.
    pub screenshot: Option<Picture>,
    /// What the actions brought.
    pub acted: Acted,
    /// The sample of computed styles that was asked for (`styles.js` says its shape).
    pub styles: Option<Value>,
    /// IANA name of the time zone that the page saw.
    pub timezone: Option<String>,
    /// Cookies and storage at the end.
    pub state: Option<State>,
    /// Where the windows were to go that the page wanted to open; none was opened.
    pub windows: Vec<Url>,
    /// What the caller should know.
    pub warnings: Vec<String>,
    /// What all of it holds of the budget for large pages. It goes where the page goes, or what was made of it.
    pub room: net::Room,
    /// How long the visit waited for its place.
    pub waited: Duration,
}

/// What the actions brought, each list in the order of its actions.
#[derive(Clone, Default)]
pub struct Acted {
    /// By `screenshot`.
    pub screenshots: Vec<Picture>,
    /// By `scrape`.
    pub scrapes: Vec<ScrapedPage>,
    /// By `executeJavascript`.
    pub returns: Vec<wire::ScriptReturn>,
    /// By `pdf`.
    pub pdfs: Vec<Printed>,
}

/// A picture.
#[derive(Clone)]
pub struct Picture {
    /// The file.
    pub bytes: Bytes,
    /// `image/png` or `image/jpeg`.
    pub content_type: &'static str,
}

/// A PDF.
#[derive(Clone)]
pub struct Printed {
    /// The file.
    pub bytes: Bytes,
}

/// What a `scrape` action captured.
#[derive(Clone)]
pub struct ScrapedPage {
    /// Where the browser was.
    pub url: Url,
    /// What it showed, in the shape of [`Visited::dom`].
    pub html: String,
}

/// Cookies and storage of a browser. Has no `Debug`: they are secrets.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// Cookies, as `Network.CookieParam` of the DevTools protocol.
    pub cookies: Vec<Value>,
    /// Storage by origin.
    pub origins: Vec<Value>,
}
