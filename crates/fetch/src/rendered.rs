//! What comes back besides a body where scripts have run.

use std::time::Duration;

use browser::{Acted, Picture, State};
use bytes::Bytes;
use serde_json::Value;
use url::Url;

/// What an engine brought that shows pages as a visitor sees them. Has no `Debug`: pages are private.
#[derive(Clone, Default)]
pub struct Rendered {
    /// The page as it stood at the end, as HTML in UTF-8, with the attribute `hidden` on what is not to be seen. `None` for
    /// a file, and for a page that is no HTML: its body says it all.
    pub dom: Option<Bytes>,
    /// The picture that was asked for.
    pub screenshot: Option<Picture>,
    /// What the actions brought.
    pub acted: Acted,
    /// The sample of computed styles that was asked for.
    pub styles: Option<Value>,
    /// IANA name of the time zone that the page saw.
    pub timezone: Option<String>,
    /// Cookies and storage at the end, where they were asked for.
    pub state: Option<State>,
    /// Where the windows were to go that the page wanted to open.
    pub windows: Vec<Url>,
    /// How long the request waited for its place.
    pub waited: Duration,
}
