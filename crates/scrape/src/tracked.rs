//! A page whose changes are tracked.

use bytes::Bytes;
use fetch::Fetched;

use crate::Previous;

/// Page as it was fetched, and what it is compared with.
pub(crate) struct Tracked {
    pub(crate) page: Fetched,
    pub(crate) previous: Previous,
    /// Text that a reader has made of the page.
    pub(crate) text: Option<Bytes>,
}

impl Tracked {
    /// Returns the text that was kept of the same bytes, if they are a document.
    pub(crate) fn kept_text(&self) -> Option<&Bytes> {
        match &self.previous {
            Previous::Version(version) if version.has_same_bytes => version.text.as_ref(),
            _ => None,
        }
    }
}
