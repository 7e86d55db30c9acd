//! Why a page could not be turned into a document.

use std::error::Error;

use fetch::FetchError;

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
    #[error("files of type {content_type} cannot be turned into text; the format rawBase64 returns them as they are")]
    UnsupportedFile {
        /// The type that the site gave, or what the bytes look like.
        content_type: String,
    },
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

impl From<FetchError> for ScrapeError {
    fn from(error: FetchError) -> Self {
        match error {
            FetchError::Timeout => Self::Timeout,
            other => Self::Fetch(other),
        }
    }
}
