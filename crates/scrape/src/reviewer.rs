//! Port for what counts when the versions of a page are compared.

use base::Stop;

/// Looks at a page whose changes are tracked, and at its versions before they are compared. For one scrape; called in the
/// threads that parse and compare.
pub trait Reviewer: Send + Sync {
    /// Returns the CSS selectors whose elements are looked for on the page.
    fn selectors(&self) -> &[String];

    /// Takes which of the selectors have met an element. Called for each parsed page; the last one counts.
    fn met(&self, met: Vec<bool>);

    /// Returns the versions, as markdown, as they are to be compared; `None` to compare them as they are. Not called for
    /// versions whose bytes are the same.
    fn review(&self, previous: &str, current: &str, stop: &Stop) -> Option<Reviewed>;
}

/// Two versions as they are to be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reviewed {
    /// Previous version.
    pub previous: String,
    /// Current version.
    pub current: String,
}
