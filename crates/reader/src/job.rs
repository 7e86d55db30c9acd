//! Jobs and their answers.

use base::Owner;
use bytes::Bytes;
use documents::{Kind, Metadata};
use serde::{Deserialize, Serialize};
use wire::{PageBlocks, PageText, PdfMode};

/// Document to read.
#[derive(Clone)]
pub struct Job {
    /// The file.
    pub bytes: Bytes,
    /// Kind of the file, from [`documents::detect`].
    pub kind: Kind,
    /// Owner of the job; children are shared fairly among owners.
    pub owner: Owner,
    /// Options.
    pub options: Options,
}

/// Options of reading a document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// Embedded text, recognised text or both. Images have only recognised text, office files only embedded text.
    pub mode: PdfMode,
    /// Number of the last page to read.
    pub max_pages: Option<u32>,
    /// Whether page boundaries are marked in the markdown.
    pub page_markers: bool,
    /// Requested results besides the markdown.
    pub wants: Wants,
}

/// Requested results besides the markdown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wants {
    /// Whether the document is wanted as HTML.
    pub html: bool,
    /// Whether the markdown of each page is wanted.
    pub pages: bool,
    /// Whether the layout of each page is wanted.
    pub blocks: bool,
}

/// Result of reading a document.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Answer {
    /// Text as markdown.
    pub markdown: String,
    /// Text as HTML, if requested.
    pub html: Option<String>,
    /// Link targets, without duplicates.
    pub links: Vec<String>,
    /// Markdown of each page, if requested; none for office files.
    pub pages: Vec<PageText>,
    /// Layout of each page, if requested; none for office files.
    pub blocks: Vec<PageBlocks>,
    /// Metadata of the document.
    pub metadata: Metadata,
    /// Number of pages read; 1 for files without pages.
    pub pages_read: u32,
    /// Warnings for the caller.
    pub warnings: Vec<String>,
    /// Whether something is missing that more time or another server could have read.
    pub is_partial: bool,
}

/// Reason why a document was not read. `E` is the reason why it was declined.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError<E> {
    /// Declined by the `afford` callback.
    #[error("the document was declined because of its number of pages")]
    Afford(E),
    /// Encrypted with a password that is not empty.
    #[error("the document is encrypted; remove its password and try again")]
    Encrypted,
    /// Wrong type, too damaged, or the cause of a crash of the child.
    #[error("{0}")]
    Broken(String),
    /// Over the limit of memory or work.
    #[error("{0}")]
    Limit(String),
    /// No embedded text, where OCR was not allowed.
    #[error("the document has no embedded text; use the mode `auto` or `ocr`")]
    OcrRequired,
    /// OCR needed, which this server does not have.
    #[error("{0}")]
    OcrMissing(String),
    /// Deadline exceeded.
    #[error("the document was not read in time")]
    Timeout,
    /// No child available. The message says what to do.
    #[error("documents cannot be read now: {0}")]
    Unavailable(String),
}

/// Reason why a document was not read, as reported by a child or concluded from its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Failure {
    Encrypted,
    Broken(String),
    Limit(String),
    OcrRequired,
    OcrMissing(String),
    Timeout,
    Unavailable(String),
}

impl<E> From<Failure> for ReadError<E> {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Encrypted => Self::Encrypted,
            Failure::Broken(why) => Self::Broken(why),
            Failure::Limit(why) => Self::Limit(why),
            Failure::OcrRequired => Self::OcrRequired,
            Failure::OcrMissing(why) => Self::OcrMissing(why),
            Failure::Timeout => Self::Timeout,
            Failure::Unavailable(why) => Self::Unavailable(why),
        }
    }
}
