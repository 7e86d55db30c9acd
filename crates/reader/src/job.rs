//! What is asked for, and what comes back.

use base::Owner;
use bytes::Bytes;
use documents::{Kind, Metadata};
use serde::{Deserialize, Serialize};
use wire::{PageBlocks, PageText, PdfMode};

/// A document to read.
#[derive(Clone)]
pub struct Job {
    /// The file.
    pub bytes: Bytes,
    /// What it is, by [`documents::detect`].
    pub kind: Kind,
    /// Whose turn it is: children are shared out fairly.
    pub owner: Owner,
    /// How it is read.
    pub options: Options,
}

/// How a document is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// Embedded text, recognised text or both. Pictures have only the latter, office files only the former.
    pub mode: PdfMode,
    /// Pages after this one are not read.
    pub max_pages: Option<u32>,
    /// Marks the boundaries of pages in the markdown.
    pub page_markers: bool,
    /// What is wanted besides the markdown.
    pub wants: Wants,
}

/// What is wanted besides the markdown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wants {
    /// The document as HTML.
    pub html: bool,
    /// The markdown of each page.
    pub pages: bool,
    /// The layout of each page.
    pub blocks: bool,
}

/// A document that was read.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Answer {
    /// Its text.
    pub markdown: String,
    /// The same as HTML, if wanted.
    pub html: Option<String>,
    /// Addresses that it links to, each once.
    pub links: Vec<String>,
    /// The markdown of each page, if wanted; office files have none.
    pub pages: Vec<PageText>,
    /// The layout of each page, if wanted; office files have none.
    pub blocks: Vec<PageBlocks>,
    /// What it says about itself.
    pub metadata: Metadata,
    /// How many pages were read; 1 for what has no pages.
    pub pages_read: u32,
    /// What the caller should know, in sentences.
    pub warnings: Vec<String>,
    /// Something is missing that more time or another server could have read.
    pub is_partial: bool,
}

/// Why a document was not read. `E` is why it could not be afforded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError<E> {
    /// It cannot be afforded.
    #[error("the document cannot be afforded")]
    Afford(E),
    /// It is encrypted, and the empty password does not open it.
    #[error("the document is encrypted; remove its password and try again")]
    Encrypted,
    /// It is not what it seemed, or too damaged, or it made the child crash.
    #[error("{0}")]
    Broken(String),
    /// Reading it takes more memory or work than a document may cost.
    #[error("{0}")]
    Limit(String),
    /// There is no embedded text, and only that was asked for.
    #[error("the document has no embedded text; use the mode `auto` or `ocr`")]
    OcrRequired,
    /// Its text would have to be recognised, which this server cannot do.
    #[error("{0}")]
    OcrMissing(String),
    /// The deadline has passed.
    #[error("the document was not read in time")]
    Timeout,
    /// No child can be had. The reason says what to do.
    #[error("documents cannot be read now: {0}")]
    Unavailable(String),
}

/// Why a document was not read, as a child says it or as it ended.
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
