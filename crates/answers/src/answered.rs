//! A result, and what the caller should know of it.

/// Result of a format.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered<T> {
    /// The result.
    pub value: T,
    /// Warnings for the caller, one sentence each, without a full stop.
    pub warnings: Vec<String>,
}

impl<T> Answered<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { value, warnings: Vec::new() }
    }

    pub(crate) fn with(mut self, warning: impl Into<String>) -> Self {
        self.warnings.push(warning.into());
        self
    }
}
