//! Errors of a scrape.

use std::error::Error;

use answers::Refusal;
use fetch::FetchError;
use reader::ReadError;

/// Reason why a scrape failed. The messages may be shown to the caller.
#[derive(Debug, thiserror::Error)]
pub enum ScrapeError {
    /// Failure to fetch the page.
    #[error(transparent)]
    Fetch(FetchError),
    /// Cache miss where fetching is not allowed.
    #[error("the page is not in the cache, and this request must not fetch it")]
    NoCopy,
    /// Failure of a port (cache, files or billing). The cause is for the log only.
    #[error("an internal component that the scrape needs failed")]
    Port(#[source] Box<dyn Error + Send + Sync>),
    /// File of an unsupported type.
    #[error("files of type {content_type} cannot be turned into text; {advice}")]
    UnsupportedFile {
        /// Declared type, or the type detected from the bytes.
        content_type: String,
        /// Advice to the caller.
        advice: &'static str,
    },
    /// Document that cannot be read.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// Selectors that exceed the step limit of one request on this page.
    #[error(
        "includeTags, excludeTags and the selectors of attributes take too many steps on this page; use fewer or simpler ones"
    )]
    Selectors,
    /// Nothing but answers was requested, and there is none.
    #[error(transparent)]
    Unanswered(Refusal),
    /// Deadline exceeded, while fetching or while deriving.
    #[error("the scrape did not finish in time; a longer timeout may help")]
    Timeout,
    /// Panic while processing this page. The service itself goes on.
    #[error("the page could not be processed")]
    Panicked,
}

/// Reason why a document cannot be read. The messages may be shown to the caller.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// Encrypted document.
    #[error("the document is encrypted; remove its password and try again")]
    Encrypted,
    /// Damaged document, or a file of another type than declared.
    #[error("{0}")]
    Broken(String),
    /// Document that exceeds the limit of memory or work.
    #[error("{0}")]
    Limit(String),
    /// PDF without embedded text, where no OCR was allowed.
    #[error("the PDF has no embedded text; use the mode `auto` or `ocr`")]
    OcrRequired,
    /// Document that needs OCR, which this server does not have.
    #[error("{0}")]
    OcrMissing(String),
    /// No reader available.
    #[error("no document reader is available: {0}")]
    Unavailable(String),
}

impl From<ReadError<Self>> for ScrapeError {
    fn from(error: ReadError<Self>) -> Self {
        Self::Document(match error {
            ReadError::Afford(error) => return error,
            ReadError::Timeout => return Self::Timeout,
            ReadError::Encrypted => DocumentError::Encrypted,
            ReadError::Broken(why) => DocumentError::Broken(why),
            ReadError::Limit(why) => DocumentError::Limit(why),
            ReadError::OcrRequired => DocumentError::OcrRequired,
            ReadError::OcrMissing(why) => DocumentError::OcrMissing(why),
            ReadError::Unavailable(why) => DocumentError::Unavailable(why),
        })
    }
}

impl From<FetchError> for ScrapeError {
    fn from(error: FetchError) -> Self {
        match error {
            FetchError::Timeout => Self::Timeout,
            other => Self::Fetch(other),
        }
    }
}
