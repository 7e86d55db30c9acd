//! One document in, its text out. Of a PDF or pictures: pages, typed blocks, markdown, HTML, links, metadata. Of office files,
//! books and rows of values (feature `office`): markdown, HTML, links, metadata. Also what a file is, by its bytes.
//!
//! ```
//! use documents::{MarkdownOptions, ReadOptions, markdown, read};
//!
//! # let file = documents::sample("Hello, paper.");
//! let document = read(&file, &ReadOptions::default()).unwrap();
//! assert_eq!(document.metadata.total_pages, 1);
//! assert_eq!(markdown(&document, &MarkdownOptions::default()).text, "Hello, paper.");
//! ```
//!
//! Nothing here does I/O, reads a clock or panics, and no file can make it use more than a bounded amount of memory and work: see
//! [`Error::Limit`] and [`Quality::cut`]. What is read is text that is embedded; [`Quality::needs_ocr`] says of which pages that is
//! not enough, and a [`Recognise`] is asked for those.
//!
//! The way of a file: `open` finds objects and pages, `content` runs the content of each page with the fonts of `font`, `layout`
//! and `table` find what stands where, `structure` decides for the whole document what it means, and `markdown`, `html` and
//! `blocks` write it down. What a file is says `detect`; with the feature `office`, `office` reads what is neither a PDF nor a
//! picture.

mod blocks;
mod bytes;
mod content;
mod detect;
mod error;
mod font;
mod geometry;
mod html;
mod layout;
mod markdown;
mod metadata;
mod model;
mod objects;
#[cfg(feature = "office")]
mod office;
mod open;
mod recognised;
mod sample;
mod structure;
mod table;

pub use blocks::{BlockItem, Confidence, PageBlocks, blocks};
pub use detect::{Family, ImageKind, Kind, detect, looks_like};
pub use error::Error;
pub use geometry::Rect;
pub use html::html;
pub use markdown::{Markdown, MarkdownOptions, block_markdown, markdown, page_markdown};
pub use model::{
    Block, BlockKind, Cell, Content, Document, Inline, Item, Metadata, Page, Quality, Source, Span, Table,
};
#[cfg(feature = "office")]
pub use office::{Office, office};
pub use recognised::{Recognise, RecogniseError, RecognisedPage, RecognisedWord};
#[doc(hidden)]
pub use sample::sample;

use content::Budget;
use font::Fonts;
use open::Pdf;
use serde::{Deserialize, Serialize};

/// How a document is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Pages after this one are not read.
    pub max_pages: Option<u32>,
    /// Which pages are recognised.
    pub mode: Mode,
}

impl ReadOptions {
    /// How many of so many pages are read.
    #[must_use]
    pub fn pages_of(&self, all: u32) -> u32 {
        self.max_pages.map_or(all, |most| most.min(all))
    }
}

/// Which pages are recognised from pictures of them. Without anything that recognises, none is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// None.
    Fast,
    /// Those whose embedded text is missing or cannot be read.
    #[default]
    Auto,
    /// All.
    Ocr,
}

/// Reads a PDF.
///
/// # Errors
///
/// [`Error::Encrypted`] without the password, [`Error::Broken`] if there is no page in it, [`Error::Limit`] if a part that cannot
/// be done without is too large. That no page has text is no error here: see [`Document::require_text`].
pub fn read(bytes: &[u8], options: &ReadOptions) -> Result<Document, Error> {
    Ok(Opened::new(bytes)?.read(options, None))
}

/// A PDF whose pages are known and not yet read.
pub struct Opened(Pdf);

impl Opened {
    /// Opens a PDF.
    ///
    /// # Errors
    ///
    /// As [`read`].
    pub fn new(bytes: &[u8]) -> Result<Self, Error> {
        Pdf::open(bytes).map(Self)
    }

    /// How many pages it has.
    #[must_use]
    pub fn pages(&self) -> u32 {
        u32::try_from(self.0.pages.len()).unwrap_or(u32::MAX)
    }

    /// Reads it. Pages that are to be recognised are asked for one by one, in order.
    #[must_use]
    pub fn read(&self, options: &ReadOptions, recognise: Option<&mut dyn Recognise>) -> Document {
        let pdf = &self.0;
        let (mut fonts, mut budget) = (Fonts::default(), Budget::default());
        let mut reader = recognised::Reader::new(options.mode, recognise);
        let some = pdf.pages.iter().take(options.pages_of(self.pages()) as usize);
        let mut layout = |page| layout::page(content::read(pdf, page, &mut fonts, &mut budget));
        let embedded = some.map(|id| pdf.page(*id).map(&mut layout).unwrap_or_default()).collect();
        let layouts = reader.pages(embedded);
        let metadata = metadata::read(pdf, layouts.len());
        Document { pages: structure::pages(layouts, &structure::outline(pdf)), metadata }
    }
}

/// Reads pictures, each of which is a page of its own: nothing is embedded, so all are recognised.
#[must_use]
pub fn read_pictures(count: u32, options: &ReadOptions, recognise: &mut dyn Recognise) -> Document {
    let pages = options.pages_of(count);
    let mut reader = recognised::Reader::new(Mode::Ocr, Some(recognise));
    let layouts = reader.pages((0..pages).map(|_| layout::PageLayout::default()).collect());
    let metadata = Metadata { num_pages: pages, total_pages: count, ..Metadata::default() };
    Document { pages: structure::pages(layouts, &structure::Outline::default()), metadata }
}

impl Document {
    /// The pages of which more is shown than was read, counted from 1.
    #[must_use]
    pub fn pages_for_ocr(&self) -> Vec<u32> {
        self.pages.iter().filter(|page| page.needs_ocr()).map(|page| page.number).collect()
    }

    /// Refuses a document without any text that counts.
    ///
    /// # Errors
    ///
    /// [`Error::NoText`] if no page has such text, and some page shows something.
    pub fn require_text(&self) -> Result<(), Error> {
        let counts = self.pages.iter().any(|page| page.quality.counts());
        if counts || self.pages_for_ocr().is_empty() { Ok(()) } else { Err(Error::NoText) }
    }

    /// Addresses that the document links to, each once.
    #[must_use]
    pub fn links(&self) -> Vec<String> {
        let mut seen = std::collections::HashSet::new();
        let all = self.pages.iter().flat_map(|page| &page.links);
        all.filter(|link| seen.insert(link.as_str())).cloned().collect()
    }
}
