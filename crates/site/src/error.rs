//! Why a site is not known.

/// Why there is no answer about a site. That the site itself failed is an answer:
/// [`SiteRules::failure`](crate::SiteRules::failure).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SiteError {
    /// The deadline of the caller passed.
    #[error("robots.txt was not known in time")]
    Timeout,
    /// Reading robots.txt panicked; the panic hook has said why.
    #[error("robots.txt could not be processed")]
    Panicked,
}
