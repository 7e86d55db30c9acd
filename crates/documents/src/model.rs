//! Data model of a document.

use serde::{Deserialize, Serialize};

use crate::geometry::Rect;
use crate::recognised::RecogniseError;

/// Document that was read.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// Pages that were read, in order.
    pub pages: Vec<Page>,
    /// Metadata of the document.
    pub metadata: Metadata,
}

/// Metadata of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metadata {
    /// Title.
    pub title: Option<String>,
    /// Author.
    pub author: Option<String>,
    /// Subject.
    pub subject: Option<String>,
    /// Keywords as given.
    pub keywords: Option<String>,
    /// Program that the document was written with.
    pub creator: Option<String>,
    /// Program that made the PDF; the publisher of a book.
    pub producer: Option<String>,
    /// Language of the text, such as `en-US`.
    pub language: Option<String>,
    /// Creation time, RFC 3339.
    pub created: Option<String>,
    /// Modification time, RFC 3339.
    pub modified: Option<String>,
    /// Number of pages that were read.
    pub num_pages: u32,
    /// Number of pages in the document.
    pub total_pages: u32,
}

/// Page that was read.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// Page number, counted from 1.
    pub number: u32,
    /// Visible width, in points.
    pub width: f32,
    /// Visible height, in points.
    pub height: f32,
    /// Blocks in reading order, including headers and footers.
    pub blocks: Vec<Block>,
    /// Quality of the embedded text.
    pub quality: Quality,
    /// Source of the text.
    pub source: TextSource,
    /// Mean confidence of recognised characters, 0 to 1.
    pub confidence: Option<f32>,
    /// Reason why OCR failed, if it was wanted.
    pub failure: Option<RecogniseError>,
    /// Link targets in page order, without duplicates.
    pub links: Vec<String>,
}

/// Source of a page's text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TextSource {
    /// Embedded in the document.
    #[default]
    Embedded,
    /// Recognised by OCR.
    Recognised,
}

impl Page {
    /// Whether the page shows more than was read of it, so that OCR is needed.
    #[must_use]
    pub fn needs_ocr(&self) -> bool {
        self.source == TextSource::Embedded && (self.failure.is_some() || self.quality.needs_ocr())
    }
}

/// Quality of a page's text.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Quality {
    /// Number of characters other than spaces.
    pub characters: usize,
    /// Share of readable characters, 0 to 1.
    pub readable: f32,
    /// Share of the page that images cover, 0 to 1.
    pub pictures: f32,
    /// Area of the text as a share of the area of the images.
    pub explained: f32,
    /// Whether OCR looked at the page and found no words.
    pub looked: bool,
    /// Whether all text is invisible, like the text layer of a scan.
    pub hidden: bool,
    /// Whether something is missing because the page exceeded a limit.
    pub cut: bool,
}

/// Minimum share of readable characters for usable text.
const READABLE: f32 = 0.6;
/// Minimum area of the text of a page of which an image covers most, as a share of the image. A page of text has 0.15
/// to 0.3, the title of a slide over a photo 0.05, a stamp with a page number 0.01.
const EXPLAINED: f32 = 0.03;
/// Minimum share of the page that images cover if the page may be a scan.
const SCANNED: f32 = 0.5;

impl Quality {
    /// Whether the embedded text is usable.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.characters > 0 && self.readable >= READABLE
    }

    /// Whether the page shows more than its embedded text, so that OCR is needed.
    #[must_use]
    pub fn needs_ocr(&self) -> bool {
        let unread = self.characters > 0 && !self.counts();
        unread || self.is_picture() || (self.characters == 0 && self.pictures > 0.05)
    }

    /// Whether the page is a picture with a little text on it: a stamp, a page number, the line of a fax.
    #[must_use]
    pub fn is_picture(&self) -> bool {
        self.pictures > SCANNED && self.explained < EXPLAINED && !(self.looked && self.counts())
    }
}

/// Kind of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockKind {
    /// Title of the document.
    Title,
    /// Section heading.
    Heading,
    /// Running text.
    Text,
    /// Table.
    Table,
    /// Formula.
    Formula,
    /// Figure.
    Figure,
    /// Caption of a figure or table.
    Caption,
    /// Page number.
    PageNumber,
    /// Page header.
    PageHeader,
    /// Page footer.
    PageFooter,
}

/// Block of a page.
#[derive(Debug, Clone)]
pub struct Block {
    /// Kind of the block.
    pub kind: BlockKind,
    /// Bounding box, in points from the top left corner of the visible page.
    pub rect: Rect,
    /// Content of the block.
    pub content: Content,
    /// Whether it repeats on other pages and is left out of the document's text.
    pub repeated: bool,
    /// Confidence of the layout, 0 to 1.
    pub confidence: f32,
    /// Mean confidence of recognised characters, 0 to 1.
    pub recognition: Option<f32>,
    /// Whether it is a footnote, which a sentence may continue after on the next page.
    pub note: bool,
}

/// Content of a block.
#[derive(Debug, Clone)]
pub enum Content {
    /// Heading with its level, 1 to 6.
    Heading(u8, Inline),
    /// Paragraph.
    Paragraph(Inline),
    /// Footnote to which a mark in the text refers.
    Note(Note),
    /// Items of a list.
    List(Vec<Item>),
    /// Lines of code.
    Code(Vec<String>),
    /// Table.
    Table(Table),
    /// Picture without text.
    Picture,
}

/// Footnote.
#[derive(Debug, Clone)]
pub struct Note {
    /// Label, unique in the document.
    pub label: String,
    /// Mark as written, such as `7`.
    pub mark: String,
    /// Text of the note.
    pub text: Inline,
}

/// Item of a list.
#[derive(Debug, Clone)]
pub struct Item {
    /// Nesting depth, from 0.
    pub depth: u8,
    /// Number or letter as written; `None` for bullets.
    pub mark: Option<String>,
    /// Text of the item.
    pub text: Inline,
}

/// Running text as a list of spans.
pub type Inline = Vec<Span>;

/// Span of uniform text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Span {
    /// Text.
    pub text: String,
    /// Whether it is set in a monospaced font.
    pub code: bool,
    /// Link target.
    pub link: Option<String>,
    /// Position against the line.
    pub script: Script,
    /// Label of the footnote whose mark it is.
    pub note: Option<String>,
}

/// Position of text against its line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Script {
    /// On the line.
    #[default]
    Normal,
    /// Raised and smaller: powers, marks of notes.
    Raised,
    /// Lowered and smaller: indices, chemical formulas.
    Lowered,
}

impl Script {
    /// Returns the name of its element in HTML and markdown.
    pub(crate) fn tag(self) -> Option<&'static str> {
        match self {
            Self::Normal => None,
            Self::Raised => Some("sup"),
            Self::Lowered => Some("sub"),
        }
    }
}

/// Table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Cells by row and column; positions without a cell are empty.
    pub cells: Vec<Cell>,
}

/// Cell of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cell {
    /// First row, from 0.
    pub row: usize,
    /// First column, from 0.
    pub column: usize,
    /// Number of rows that it spans.
    pub row_span: usize,
    /// Number of columns that it spans.
    pub column_span: usize,
    /// Text.
    pub text: Inline,
}

impl Cell {
    /// Returns the text without its markup.
    #[must_use]
    pub fn plain(&self) -> String {
        self.text.iter().map(|span| span.text.as_str()).collect()
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.text.iter().all(|span| span.text.is_empty())
    }
}

impl Table {
    /// Whether some cell spans several rows or columns.
    #[must_use]
    pub fn has_spans(&self) -> bool {
        self.cells.iter().any(|cell| cell.row_span > 1 || cell.column_span > 1)
    }
}
