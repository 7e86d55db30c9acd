//! Results of a visit that only an engine that runs scripts has.

use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use url::Url;

use crate::State;

/// What a visitor of the page sees. Has no `Debug`, as pages are private.
#[derive(Clone, Default)]
pub struct Rendered {
    /// Final page as HTML in UTF-8. Shadow roots and frames are inlined (`div[data-frame-url]`). Elements hidden by CSS
    /// are marked with `hidden="unseen"`, or with `data-collapsed` if a control of the page opens them. If scripts have
    /// shown next to nothing, `noscript` is included (`div[data-noscript]`). `None` for a file: its body is used.
    pub dom: Option<Bytes>,
    /// Screenshot, if requested.
    pub screenshot: Option<Picture>,
    /// Results of the actions.
    pub acted: Acted,
    /// Sample of computed styles, if requested.
    pub styles: Option<Value>,
    /// IANA name of the time zone that the page saw.
    pub timezone: Option<String>,
    /// Cookies and storage at the end, if requested.
    pub state: Option<State>,
    /// URLs of the windows that the page tried to open; none was opened.
    pub windows: Vec<Url>,
    /// Time that the visit waited for a browser slot.
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
    /// HTML in the format of [`Rendered::dom`].
    pub html: String,
}
