//! What can go wrong.

use thiserror::Error as ThisError;

/// Why something could not be recognised.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
pub enum Error {
    /// There is no data for any language. The text says which package to install.
    #[error("{0}")]
    NoLanguage(String),
    /// Tesseract does not start.
    #[error("tesseract could not be started with the language data `{0}`; install it again")]
    Start(String),
    /// Tesseract gave nothing.
    #[error("tesseract could not read the picture")]
    Recognise,
    /// The file is not the picture or document that it should be.
    #[error("the picture is broken: {0}; save it again and try again")]
    Broken(String),
    /// The picture has more pixels than one may have.
    #[error("the picture is too large: at most {} million pixels are taken; make it smaller and try again", crate::MAX_PIXELS / 1_000_000)]
    TooLarge,
    /// A kind of picture that is not read.
    #[error("{0} pictures are not read; save it as PNG or JPEG and try again")]
    Unsupported(&'static str),
    /// There is no such page.
    #[error("the document has no page {0}")]
    NoPage(u32),
}
