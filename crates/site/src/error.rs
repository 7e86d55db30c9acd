//! Errors of this crate.

/// Reason why nothing is known about a site. A failure of the site itself is an answer:
/// [`SiteRules::failure`](crate::SiteRules::failure).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SiteError {
    /// Deadline of the caller exceeded.
    #[error("robots.txt did not arrive in time")]
    Timeout,
    /// Panic while reading robots.txt; the panic hook has logged it.
    #[error("robots.txt could not be processed")]
    Panicked,
}
