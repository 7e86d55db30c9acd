//! Errors of this crate.

use thiserror::Error as ThisError;

/// Reason why an image could not be recognised.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
pub enum Error {
    /// No language data. The message names the package to install.
    #[error("{0}")]
    NoLanguage(String),
    /// Tesseract did not start.
    #[error("tesseract could not be started with the language data `{0}`; reinstall the data")]
    Start(String),
    /// Tesseract failed on the image.
    #[error("tesseract could not read the image")]
    Recognise,
    /// Damaged file, or a file of another format.
    #[error("the image is damaged: {0}; save it again and try again")]
    Broken(String),
    /// More pixels than the limit.
    #[error("the image exceeds the limit of {} million pixels; make it smaller and try again", crate::MAX_PIXELS / 1_000_000)]
    TooLarge,
    /// Unsupported image format.
    #[error("{0} images are not supported; save the image as PNG or JPEG and try again")]
    Unsupported(&'static str),
    /// Page number out of range.
    #[error("the document has no page {0}")]
    NoPage(u32),
}
