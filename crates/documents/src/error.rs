//! Errors of this crate.

use thiserror::Error;

/// Reason why a document could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Error {
    /// Encrypted with a password that is not empty.
    #[error("the document is encrypted; remove its password and try again")]
    Encrypted,
    /// Unsupported format, or too damaged to find a page.
    #[error("the document is damaged: {0}; save it again with the program that made it and try again")]
    Broken(String),
    /// Over the limit of memory or work.
    #[error("the document exceeds a limit: {0}; split it and try again")]
    Limit(&'static str),
    /// No page with readable text, so OCR is needed.
    #[error("the document has no embedded text; read it with optical character recognition")]
    NoText,
}

impl From<lopdf::Error> for Error {
    fn from(error: lopdf::Error) -> Self {
        use lopdf::{DecompressError, Error as Pdf};
        match error {
            Pdf::Decompress(DecompressError::MemoryLimitExceeded { .. }) => Self::Limit("a stream is too large"),
            Pdf::InvalidPassword | Pdf::Decryption(_) | Pdf::UnsupportedSecurityHandler(_) => Self::Encrypted,
            other => Self::Broken(other.to_string()),
        }
    }
}
