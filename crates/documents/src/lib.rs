//! One PDF in, a document out: pages, typed blocks, markdown, HTML, links, metadata.
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
//! [`Error::Limit`] and [`Quality::cut`]. Only text that is embedded is read; [`Quality::needs_ocr`] says of which pages that is
//! not enough.
//!
//! The way of a file: `open` finds objects and pages, `content` runs the content of each page with the fonts of `font`, `layout`
//! and `table` find what stands where, `structure` decides for the whole document what it means, and `markdown`, `html` and
//! `blocks` write it down.

mod blocks;
mod content;
mod error;
mod font;
mod geometry;
mod html;
mod layout;
mod markdown;
mod metadata;
mod model;
mod objects;
mod open;
mod sample;
mod structure;
mod table;

pub use blocks::{BlockItem, Confidence, PageBlocks, blocks};
pub use error::Error;
pub use geometry::Rect;
pub use html::html;
pub use markdown::{Markdown, MarkdownOptions, block_markdown, markdown, page_markdown};
pub use model::{Block, BlockKind, Cell, Content, Document, Inline, Item, Metadata, Page, Quality, Span, Table};
#[doc(hidden)]
pub use sample::sample;

use content::Budget;
use font::Fonts;
use open::Pdf;

/// How a document is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Pages after this one are not read.
    pub max_pages: Option<u32>,
}

/// Reads a PDF.
///
/// # Errors
///
/// [`Error::Encrypted`] without the password, [`Error::Broken`] if there is no page in it, [`Error::Limit`] if a part that cannot
/// be done without is too large. That no page has text is no error here: see [`Document::require_text`].
pub fn read(bytes: &[u8], options: &ReadOptions) -> Result<Document, Error> {
    let pdf = Pdf::open(bytes)?;
    let most = options.max_pages.map_or(usize::MAX, |most| most as usize);
    let (mut fonts, mut budget) = (Fonts::default(), Budget::default());
    let layouts: Vec<_> = pdf
        .pages
        .iter()
        .take(most)
        .map(|id| match pdf.page(*id) {
            Some(page) => layout::page(&content::read(&pdf, page, &mut fonts, &mut budget)),
            None => layout::PageLayout::default(),
        })
        .collect();
    let metadata = metadata::read(&pdf, layouts.len());
    Ok(Document { pages: structure::pages(layouts, &structure::outline(&pdf)), metadata })
}

impl Document {
    /// The pages whose embedded text is not enough, counted from 1.
    #[must_use]
    pub fn pages_for_ocr(&self) -> Vec<u32> {
        self.pages.iter().filter(|page| page.quality.needs_ocr()).map(|page| page.number).collect()
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
