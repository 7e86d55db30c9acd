//! Office files, CSV and books.
//!
//! The conversion is done by anydoc. This module checks limits before (`limits`), corrects what anydoc does not support
//! before (`books`) or after (`sheets`, `slides`), makes HTML and links from the same markdown (`html`), and reads the
//! metadata (`properties`).

mod books;
mod grid;
mod html;
mod limits;
mod properties;
mod rows;
mod sheets;
mod slides;

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use anydoc::{ConvertError, Format};

use crate::detect::Kind;
use crate::error::Error;
use crate::model::Metadata;

/// Result of reading an office file, CSV or book.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Office {
    /// GitHub-flavoured markdown. The sheets of a workbook with several begin with `## ` and their name.
    pub markdown: String,
    /// HTML of the markdown, without styles.
    pub html: String,
    /// Absolute link targets, without duplicates, in order.
    pub links: Vec<String>,
    /// Metadata, without page counts.
    pub metadata: Metadata,
}

/// Reads a document other than a PDF or an image. Nothing in it is run, and nothing that it refers to is fetched.
///
/// # Errors
///
/// [`Error::Encrypted`], [`Error::Limit`] before it takes much more memory than its text, and [`Error::Broken`], also
/// for an unsupported kind.
pub fn office(bytes: &[u8], kind: Kind) -> Result<Office, Error> {
    let Some(format) = format(kind) else {
        return Err(Error::Broken(format!("{} is not an office format", kind.word())));
    };
    limits::check(bytes, kind)?;
    let file = match kind {
        Kind::Epub => books::with_paragraphs(bytes).map_or(Cow::Borrowed(bytes), Cow::Owned),
        Kind::Csv => rows::utf8(bytes),
        _ => Cow::Borrowed(bytes),
    };
    let markdown = mended(convert(&file, format)?, bytes, kind);
    let html::OfficeOutput { markdown, html, links } = html::written(markdown);
    Ok(Office { markdown, html, links, metadata: properties::read_properties(bytes, kind) })
}

fn format(kind: Kind) -> Option<Format> {
    Some(match kind {
        Kind::Docx | Kind::Docm => Format::Docx,
        Kind::Doc => Format::Doc,
        Kind::Odt => Format::Odt,
        Kind::Rtf => Format::Rtf,
        Kind::Pptx | Kind::Pptm => Format::Pptx,
        Kind::Ppt => Format::Ppt,
        Kind::Odp => Format::Odp,
        Kind::Xlsx | Kind::Xlsm | Kind::Xls | Kind::Xlsb => Format::Excel,
        Kind::Ods => Format::Ods,
        Kind::Csv => Format::Csv,
        Kind::Epub => Format::Epub,
        Kind::Pdf | Kind::Image(_) => return None,
    })
}

fn convert(bytes: &[u8], format: Format) -> Result<String, Error> {
    // A panic of the converter means a damaged file; the process can go on.
    match catch_unwind(AssertUnwindSafe(|| anydoc::to_markdown_bytes(bytes, format))) {
        Ok(markdown) => Ok(markdown?),
        Err(_) => Err(Error::Broken("its parts are inconsistent".to_owned())),
    }
}

fn mended(markdown: String, bytes: &[u8], kind: Kind) -> String {
    match kind {
        Kind::Xlsx | Kind::Xlsm | Kind::Xls | Kind::Xlsb | Kind::Ods => sheets::with_tables_apart(&markdown),
        Kind::Ppt => slides::with_tables(markdown, bytes),
        _ => markdown,
    }
}

impl From<ConvertError> for Error {
    fn from(error: ConvertError) -> Self {
        match error {
            ConvertError::Encrypted => Self::Encrypted,
            ConvertError::ResourceLimit { limit, .. } => Self::Limit(match limit {
                "max_xml_depth" | "max_record_depth" => "its parts are nested too deeply",
                "max_grid_slots" | "max_expansion" | "max_expansion_text_bytes" => "a table is too large",
                "max_entry_bytes" | "max_total_bytes" => "it is too large when unpacked",
                _ => "it has too many parts",
            }),
            other => Self::Broken(other.to_string()),
        }
    }
}
