//! Why a document could not be read.

use thiserror::Error;

/// Why a document could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Error {
    /// It is encrypted and the empty password does not open it.
    #[error("the document is encrypted; remove its password and try again")]
    Encrypted,
    /// It is not what it is read as, or too damaged to find a page in it.
    #[error("the document is broken: {0}; save it again with the program that made it and try again")]
    Broken(String),
    /// Reading it would take more memory or work than one document may cost.
    #[error("the document goes beyond a limit: {0}; split it and try again")]
    Limit(&'static str),
    /// No page has text that can be read, so it must be recognised from pictures.
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
