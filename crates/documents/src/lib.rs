//! Text extraction from documents. PDFs and images give pages, typed blocks, markdown, HTML, links and metadata; office
//! files, books and CSV (feature `office`) give markdown, HTML, links and metadata. Also detects the kind of a file by
//! its bytes.
//!
//! ```
//! use documents::{MarkdownOptions, ReadOptions, markdown, read_pdf};
//!
//! # let file = documents::sample("Hello, paper.");
//! let document = read_pdf(&file, &ReadOptions::default()).unwrap();
//! assert_eq!(document.metadata.total_pages, 1);
//! assert_eq!(markdown(&document, &MarkdownOptions::default()).text, "Hello, paper.");
//! ```
//!
//! Nothing here does I/O, reads a clock or panics, and memory and work are bounded for any file: see [`Error::Limit`]
//! and [`Quality::cut`]. Embedded text is read; [`Quality::needs_ocr`] tells for which pages that is not enough, and a
//! [`Recognise`] is asked for those.
//!
//! The path of a file: `detect` finds its kind; `open` finds objects and pages, `content` runs the content of each page
//! with the fonts of `font`, `layout` and `table` analyse the layout, `structure` determines the role of each part for
//! the whole document, and `markdown`, `html` and `blocks` write the results. With the feature `office`, `office` reads
//! all kinds except PDFs and images. `mail` makes pages of messages, which are read like other pages.

mod blocks;
mod bytes;
mod content;
mod detect;
mod error;
mod font;
mod geometry;
mod html;
mod layout;
mod mail;
mod markdown;
mod metadata;
mod model;
mod objects;
#[cfg(feature = "office")]
mod office;
mod open;
mod reader;
mod recognised;
mod sample;
mod sequence;
mod structure;
mod table;

pub use blocks::{BlockItem, Confidence, PageBlocks, blocks};
pub use detect::{Family, ImageKind, Kind, detect, looks_like};
pub use error::Error;
pub use geometry::Rect;
pub use html::html;
pub use mail::{is_mail, mail_page};
pub use markdown::{Markdown, MarkdownOptions, block_markdown, markdown, page_markdown};
pub use model::{
    Block, BlockKind, Cell, Content, Document, Inline, Item, Metadata, Note, Page, Quality, Script, Span, Table,
    TextSource,
};
#[cfg(feature = "office")]
pub use office::{Office, office};
#[cfg(feature = "office")]
#[doc(hidden)]
pub use office::{rewritten_file, rewritten_part};
pub use recognised::{Recognise, RecogniseError, RecognisedPage, RecognisedWord};
#[doc(hidden)]
pub use sample::sample;

use content::Budget;
use font::Fonts;
use open::Pdf;
use reader::Reader;
use serde::{Deserialize, Serialize};

/// Options of reading a document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Number of the last page to read.
    pub max_pages: Option<u32>,
    /// Pages to recognise.
    pub mode: Mode,
}

impl ReadOptions {
    /// Returns how many of `all` pages are read.
    #[must_use]
    pub fn pages_of(&self, all: u32) -> u32 {
        self.max_pages.map_or(all, |most| most.min(all))
    }
}

/// Pages that are recognised by OCR, if a recogniser is available.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// No pages.
    Fast,
    /// Pages whose embedded text is missing or unreadable.
    #[default]
    Auto,
    /// All pages.
    Ocr,
}

/// Reads a PDF.
///
/// # Errors
///
/// [`Error::Encrypted`] if it needs a password, [`Error::Broken`] if there is no page in it, [`Error::Limit`] if an
/// essential part is too large. A document without text is not an error here: see [`Document::require_text`].
pub fn read_pdf(bytes: &[u8], options: &ReadOptions) -> Result<Document, Error> {
    Ok(Opened::new(bytes)?.read(options, None))
}

/// Opened PDF whose pages have not been read yet.
pub struct Opened(Pdf);

impl Opened {
    /// Opens a PDF.
    ///
    /// # Errors
    ///
    /// Like [`read_pdf`].
    pub fn new(bytes: &[u8]) -> Result<Self, Error> {
        Pdf::open(bytes).map(Self)
    }

    /// Returns the number of pages.
    #[must_use]
    pub fn pages(&self) -> u32 {
        u32::try_from(self.0.pages.len()).unwrap_or(u32::MAX)
    }

    /// Reads the pages. Those that need OCR are requested from `recognise` one by one, in order.
    #[must_use]
    pub fn read(&self, options: &ReadOptions, recognise: Option<&mut dyn Recognise>) -> Document {
        let pdf = &self.0;
        let (mut fonts, mut budget) = (Fonts::default(), Budget::default());
        let mut reader = Reader::new(options.mode, recognise);
        let some = pdf.pages.iter().take(options.pages_of(self.pages()) as usize);
        let mut layout = |page| layout::page(content::read_content(pdf, page, &mut fonts, &mut budget));
        let embedded = some.map(|id| pdf.page(*id).map(&mut layout).unwrap_or_default()).collect();
        let layouts = reader.pages(embedded);
        let metadata = metadata::read_info(pdf, layouts.len());
        Document { pages: structure::pages(layouts, &structure::outline(pdf)), metadata }
    }
}

/// Reads images, each as one page. All are recognised, as they have no embedded text.
#[must_use]
pub fn read_pictures(count: u32, options: &ReadOptions, recognise: &mut dyn Recognise) -> Document {
    let pages = options.pages_of(count);
    let mut reader = Reader::new(Mode::Ocr, Some(recognise));
    let layouts = reader.pages((0..pages).map(|_| layout::PageLayout::default()).collect());
    let metadata = Metadata { num_pages: pages, total_pages: count, ..Metadata::default() };
    Document { pages: structure::pages(layouts, &structure::Outline::default()), metadata }
}

impl Document {
    /// Returns the numbers of the pages that need OCR, counted from 1.
    #[must_use]
    pub fn pages_for_ocr(&self) -> Vec<u32> {
        self.pages.iter().filter(|page| page.needs_ocr()).map(|page| page.number).collect()
    }

    /// Checks that the document has usable text.
    ///
    /// # Errors
    ///
    /// [`Error::NoText`] if no page has such text, and some page shows something.
    pub fn require_text(&self) -> Result<(), Error> {
        let counts = self.pages.iter().any(|page| page.quality.counts());
        if counts || self.pages_for_ocr().is_empty() { Ok(()) } else { Err(Error::NoText) }
    }

    /// Returns the link targets of the document, without duplicates.
    #[must_use]
    pub fn links(&self) -> Vec<String> {
        let mut seen = std::collections::HashSet::new();
        let all = self.pages.iter().flat_map(|page| &page.links);
        all.filter(|link| seen.insert(link.as_str())).cloned().collect()
    }
}
