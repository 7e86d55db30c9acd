//! Results of an engine that runs scripts.

use std::time::Duration;

use browser::{Acted, Picture, State};
use bytes::Bytes;
use serde_json::Value;
use url::Url;

/// Results of an engine that shows pages as a visitor sees them. Has no `Debug`, as pages are private.
#[derive(Clone, Default)]
pub struct Rendered {
    /// Final DOM as HTML in UTF-8, with the attribute `hidden` on invisible elements. `None` for files and for pages
    /// other than HTML; their body is used.
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
    /// Targets of the windows that the page tried to open.
    pub windows: Vec<Url>,
    /// Time that the request waited for a browser slot.
    pub waited: Duration,
}
