//! `parsers`: what happens to files that are not web pages.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::read::{Field, Fields};
use crate::words::{Word, words};

/// A kind of file that is read, and how. A file of a kind that is not listed is returned as it is, in base64.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Parser {
    /// PDF files become markdown.
    Pdf(PdfParser),
    /// Pictures become one-page documents by OCR.
    Image,
}

/// How an entry of `parsers` may be written.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(untagged)]
pub enum ParserEntry {
    /// The kind alone.
    Name(ParserKind),
    /// The kind with settings.
    Object(Parser),
}

words! {
    /// Kinds of parsers.
    pub enum ParserKind {
        /// PDF files.
        Pdf = "pdf",
        /// Pictures.
        Image = "image",
    }
}

/// How PDF files are read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PdfParser {
    /// Embedded text, OCR or both.
    pub mode: PdfMode,
    /// Pages after this one are not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 10000)]
    pub max_pages: Option<u32>,
    /// Adds layout blocks per page to `blocks`.
    pub blocks: bool,
    /// Adds markdown per physical page to `pages`.
    pub pages: bool,
    /// Marks page boundaries inside the markdown.
    pub page_markers: bool,
}

words! {
    /// How text is taken from a PDF.
    #[derive(Default)]
    pub enum PdfMode {
        /// Embedded text only.
        Fast = "fast",
        /// Embedded text, then OCR where it is missing.
        #[default]
        Auto = "auto",
        /// OCR of every page.
        Ocr = "ocr",
    }
}

impl Parser {
    /// Which kind of file this is for.
    #[must_use]
    pub fn kind(&self) -> ParserKind {
        match self {
            Self::Pdf(_) => ParserKind::Pdf,
            Self::Image => ParserKind::Image,
        }
    }

    /// Reads the whole list; one entry per kind.
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
            // Which keys are known depends on the type, so they are not judged without it.
            None => {
                fields.ignore_rest();
                None
            }
        }
    }
}

impl PdfParser {
    fn read(fields: &mut Fields<'_>) -> Self {
        // `pageMarkdown` is the old name of `pages`.
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
