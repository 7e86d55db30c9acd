//! Why a page could not be turned into a document.

use std::error::Error;

use fetch::FetchError;
use reader::ReadError;

/// Why a scrape failed. The texts are fit for the caller.
#[derive(Debug, thiserror::Error)]
pub enum ScrapeError {
    /// No page arrived.
    #[error(transparent)]
    Fetch(FetchError),
    /// No copy answers, and the page must not be fetched.
    #[error("no copy of the page answers, and it is not to be fetched")]
    NoCopy,
    /// What the scrape was lent failed; the text of the cause is for the log only.
    #[error("a part of the service that the scrape needs failed")]
    Port(#[source] Box<dyn Error + Send + Sync>),
    /// The URL leads to a file of a kind that is not read.
    #[error("files of type {content_type} cannot be turned into text; {advice}")]
    UnsupportedFile {
        /// The type that the site gave, or what the bytes look like.
        content_type: String,
        /// What the caller can do instead.
        advice: &'static str,
    },
    /// The document that was found cannot be read.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// The selectors of the request cost more on this page than all of one request may.
    #[error(
        "includeTags, excludeTags and the selectors of attributes take too many steps on this page; use fewer or simpler ones"
    )]
    Selectors,
    /// The deadline passed, while fetching or while deriving.
    #[error("the scrape did not finish in time; a longer timeout may help")]
    Timeout,
    /// Our own code broke on this page. The service itself goes on.
    #[error("the page could not be processed")]
    Panicked,
}

/// Why a document cannot be read. The texts are fit for the caller.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// It is locked with a password.
    #[error("the document is encrypted; remove its password and try again")]
    Encrypted,
    /// It is damaged, or not what it says it is.
    #[error("{0}")]
    Broken(String),
    /// Reading it takes more memory or work than one document may cost.
    #[error("{0}")]
    Limit(String),
    /// Nothing but its embedded text was to be read, and it has none.
    #[error("the PDF has no embedded text; use the mode `auto` or `ocr`")]
    OcrRequired,
    /// Its text would have to be recognised, for which this server lacks the means.
    #[error("{0}")]
    OcrMissing(String),
    /// No reader is to be had now.
    #[error("no reader of documents is to be had: {0}")]
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
