//! Error of a comparison that ended early.

/// Reason why a comparison ended without a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GaveUp {
    /// The caller has set the stop flag.
    #[error("comparison was stopped")]
    Stopped,
    /// The versions have more differing lines or values than are compared.
    #[error("versions differ in too many places to compare them")]
    TooLarge,
}
