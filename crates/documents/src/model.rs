//! What a document is read into.

use serde::{Deserialize, Serialize};

use crate::geometry::Rect;
use crate::recognised::RecogniseError;

/// A document.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// The pages that were read, in order.
    pub pages: Vec<Page>,
    /// What the document says about itself.
    pub metadata: Metadata,
}

/// What a document says about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metadata {
    /// Its title.
    pub title: Option<String>,
    /// Who wrote it.
    pub author: Option<String>,
    /// What it is about.
    pub subject: Option<String>,
    /// Keywords as given.
    pub keywords: Option<String>,
    /// The program that it was written with.
    pub creator: Option<String>,
    /// The program that made the PDF.
    pub producer: Option<String>,
    /// The language of its text, such as `en-US`.
    pub language: Option<String>,
    /// When it was made, RFC 3339.
    pub created: Option<String>,
    /// When it was changed, RFC 3339.
    pub modified: Option<String>,
    /// Pages that were read.
    pub num_pages: u32,
    /// Pages that it has.
    pub total_pages: u32,
}

/// One page.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// Counted from 1.
    pub number: u32,
    /// Width as shown, in points.
    pub width: f32,
    /// Height as shown, in points.
    pub height: f32,
    /// Its blocks in reading order, those of its margins too.
    pub blocks: Vec<Block>,
    /// How good its text is.
    pub quality: Quality,
    /// Where its text comes from.
    pub source: Source,
    /// How sure its characters are, 0 to 1, if they were recognised.
    pub confidence: Option<f32>,
    /// Why it was not recognised, though it was to be.
    pub failure: Option<RecogniseError>,
    /// Addresses that the page links to, in the order of the page, each once.
    pub links: Vec<String>,
}

/// Where the text of a page comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Source {
    /// It is embedded in the document.
    #[default]
    Embedded,
    /// It was recognised from a picture of the page.
    Recognised,
}

impl Page {
    /// The page shows more than was read of it, so it should be recognised.
    #[must_use]
    pub fn needs_ocr(&self) -> bool {
        self.source == Source::Embedded && (self.failure.is_some() || self.quality.needs_ocr())
    }
}

/// How good the text of a page is.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Quality {
    /// Characters other than spaces.
    pub characters: usize,
    /// Share of the characters that can be read, 0 to 1.
    pub readable: f32,
    /// Share of the page that pictures cover, 0 to 1.
    pub pictures: f32,
    /// All text is drawn without ink, as that of a recognised scan is.
    pub hidden: bool,
    /// Something is missing because the page went beyond a limit.
    pub cut: bool,
}

/// What is asked of the text of a page before it counts.
const READABLE: f32 = 0.6;

impl Quality {
    /// The embedded text can be taken for the text of the page.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.characters > 0 && self.readable >= READABLE
    }

    /// The page shows more than its embedded text says, so it should be recognised.
    #[must_use]
    pub fn needs_ocr(&self) -> bool {
        let bare = self.characters < 16 && self.pictures > 0.5;
        (self.characters > 0 && !self.counts()) || bare || (self.characters == 0 && self.pictures > 0.05)
    }
}

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockKind {
    /// The title of the document.
    Title,
    /// A heading.
    Heading,
    /// Running text.
    Text,
    /// A table.
    Table,
    /// A formula.
    Formula,
    /// A picture.
    Figure,
    /// Text to a picture or table.
    Caption,
    /// The number of the page.
    PageNumber,
    /// What stands above every page.
    PageHeader,
    /// What stands below every page.
    PageFooter,
}

/// One block of a page.
#[derive(Debug, Clone)]
pub struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// Where it is, in points from the top left corner of the page as shown.
    pub rect: Rect,
    /// What it holds.
    pub content: Content,
    /// It repeats on other pages, so the text of the document goes without it.
    pub repeated: bool,
    /// How sure the layout is, 0 to 1.
    pub confidence: f32,
    /// How sure its characters are, 0 to 1, if they were recognised.
    pub recognition: Option<f32>,
}

/// What a block holds.
#[derive(Debug, Clone)]
pub enum Content {
    /// A heading of a level, 1 to 6.
    Heading(u8, Inline),
    /// A paragraph.
    Paragraph(Inline),
    /// Items of a list.
    List(Vec<Item>),
    /// Lines of code.
    Code(Vec<String>),
    /// A table.
    Table(Table),
    /// A picture, which has no text of its own.
    Picture,
}

/// One item of a list.
#[derive(Debug, Clone)]
pub struct Item {
    /// How deep it lies, from 0.
    pub depth: u8,
    /// Its number or letter as written; bullets have none.
    pub mark: Option<String>,
    /// Its text.
    pub text: Inline,
}

/// Running text in pieces.
pub type Inline = Vec<Span>;

/// A piece of text with one look.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Span {
    /// The text.
    pub text: String,
    /// It is set in a font of typewriters.
    pub code: bool,
    /// Where it links to.
    pub link: Option<String>,
}

/// A table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Cells by row and column; places that no cell covers are empty.
    pub cells: Vec<Cell>,
}

/// One cell of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cell {
    /// The first row that it covers, from 0.
    pub row: usize,
    /// The first column that it covers, from 0.
    pub column: usize,
    /// How many rows it covers.
    pub row_span: usize,
    /// How many columns it covers.
    pub column_span: usize,
    /// Its text.
    pub text: String,
}

impl Table {
    /// Some cell covers more than one place.
    #[must_use]
    pub fn has_spans(&self) -> bool {
        self.cells.iter().any(|cell| cell.row_span > 1 || cell.column_span > 1)
    }
}
