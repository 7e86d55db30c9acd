//! Port for the versions of a page that change tracking compares.

use async_trait::async_trait;
use base::Timestamp;
use bytes::Bytes;
use fetch::Fetched;
use serde_json::Value;
use tokio::time::Instant;

use crate::ScrapeError;

/// Versions of one page, for one scrape.
#[async_trait]
pub trait Versions: Send + Sync {
    /// Returns the previous version, and makes other scrapes of the page wait until this one is recorded or given up.
    /// Waits itself, until `patience` at most, while another scrape of the page goes on. May be called again when the
    /// page is fetched again.
    ///
    /// # Errors
    /// [`ScrapeError::Port`] when the versions cannot be read.
    async fn previous(&self, current: &Fetched, patience: Instant) -> Result<Previous, ScrapeError>;

    /// Returns the page of the previous version, as if it had just been fetched; `None` when it cannot be read any
    /// more.
    ///
    /// # Errors
    /// [`ScrapeError::Port`] when the versions cannot be read.
    async fn page(&self) -> Result<Option<Fetched>, ScrapeError>;

    /// Prepares the next version, which is written when the scrape is recorded. Returns whether it can be.
    ///
    /// # Errors
    /// [`ScrapeError::Port`] when it cannot be stored.
    async fn keep(&self, next: NextVersion<'_>, extraction: Option<Extraction>) -> Result<bool, ScrapeError>;
}

/// Result of a look-up.
pub enum Previous {
    /// The page was never scraped.
    None,
    /// Previous version.
    Version(PreviousVersion),
    /// Another scrape of the page goes on.
    Busy,
}

/// Previous version of a page.
#[derive(Debug, Clone)]
pub struct PreviousVersion {
    /// Time of its scrape.
    pub scraped_at: Timestamp,
    /// Whether the page was removed then.
    pub is_removed: bool,
    /// Whether it has the same bytes as the current page.
    pub has_same_bytes: bool,
    /// Whether it was sent under the same conditions too: URL, type, character set, before or after its scripts.
    pub has_same_terms: bool,
    /// Text that a reader made of it, as it was given to [`Versions::keep`].
    pub text: Option<Bytes>,
    /// Values that were extracted from it.
    pub extraction: Option<Extraction>,
}

/// Values that were extracted from a page.
#[derive(Debug, Clone, PartialEq)]
pub struct Extraction {
    /// Digest of the schema and the prompt.
    pub key: String,
    /// Values.
    pub value: Value,
}

/// Next version of a page.
#[derive(Clone)]
pub enum NextVersion<'a> {
    /// The page, and the text that a reader made of it.
    Page {
        /// Page as it was fetched.
        page: &'a Fetched,
        /// Text of a document.
        text: Option<Bytes>,
    },
    /// As in the previous version.
    Unchanged,
    /// The page was removed.
    Removed {
        /// Its answer.
        page: &'a Fetched,
    },
}
