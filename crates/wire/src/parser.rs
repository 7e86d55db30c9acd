//! `parsers`: how files other than web pages are read.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::read::{Field, Fields};
use crate::words::{Word, words};

/// File type to parse. A PDF is returned as base64 if the list omits `pdf`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Parser {
    /// Converts PDF files to markdown.
    Pdf(PdfParser),
    /// Converts images to one-page documents by OCR.
    Image,
}

/// Entry of `parsers`: a name or an object.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(untagged)]
pub enum ParserEntry {
    /// Name only.
    Name(ParserKind),
    /// Object with `type` and settings.
    Object(Parser),
}

words! {
    /// Names of parsers.
    pub enum ParserKind {
        /// PDF files.
        Pdf = "pdf",
        /// Images.
        Image = "image",
    }
}

/// Settings of the PDF parser.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PdfParser {
    /// Source of the text: embedded text, OCR or both.
    pub mode: PdfMode,
    /// Maximum number of pages to read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 10000)]
    pub max_pages: Option<u32>,
    /// Whether layout blocks per page are returned in `blocks`.
    pub blocks: bool,
    /// Whether markdown per page is returned in `pages`.
    pub pages: bool,
    /// Whether page boundaries are marked in the markdown.
    pub page_markers: bool,
}

words! {
    /// Source of the text of a PDF.
    #[derive(Default)]
    pub enum PdfMode {
        /// Embedded text only.
        Fast = "fast",
        /// Embedded text, and OCR for pages whose text is missing or garbled.
        #[default]
        Auto = "auto",
        /// OCR of every page.
        Ocr = "ocr",
    }
}

impl Parser {
    /// Returns the file type that this parser reads.
    #[must_use]
    pub fn kind(&self) -> ParserKind {
        match self {
            Self::Pdf(_) => ParserKind::Pdf,
            Self::Image => ParserKind::Image,
        }
    }

    /// Reads the list of parsers; one entry per type.
    pub(crate) fn read_list(field: Field<'_>) -> Option<Vec<Self>> {
        field.one_of_each(0..=ParserKind::WORDS.len(), Self::kind, Self::read)
    }

    fn read(field: Field<'_>) -> Option<Self> {
        if matches!(field.value, Value::Object(_)) {
            return field.record(Self::read_object).flatten();
        }
        Some(match field.word()? {
            ParserKind::Pdf => Self::Pdf(PdfParser::default()),
            ParserKind::Image => Self::Image,
        })
    }

    fn read_object(fields: &mut Fields<'_>) -> Option<Self> {
        match fields.need("type").and_then(Field::word::<ParserKind>) {
            Some(ParserKind::Pdf) => Some(Self::Pdf(PdfParser::read(fields))),
            Some(ParserKind::Image) => Some(Self::Image),
            // The type decides which keys are known. Without it, the other keys cannot be checked.
            None => {
                fields.ignore_rest();
                None
            }
        }
    }
}

impl PdfParser {
    fn read(fields: &mut Fields<'_>) -> Self {
        // `pageMarkdown` is the former name of `pages`.
        let page_markdown = fields.flag("pageMarkdown", false);
        Self {
            mode: fields.take("mode").and_then(Field::word).unwrap_or_default(),
            max_pages: fields.take("maxPages").and_then(|field| field.whole32(1..=10_000)),
            blocks: fields.flag("blocks", false),
            pages: fields.flag("pages", false) || page_markdown,
            page_markers: fields.flag("pageMarkers", false),
        }
    }
}
