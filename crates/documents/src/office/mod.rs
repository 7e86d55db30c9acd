//! Office files, CSV and books.
//!
//! The conversion is done by anydoc. This module checks limits before (`limits`), puts right before what anydoc drops
//! or joins (`word`, `presentations`, `open_document`, `rtf`, `books`, `workbook`) or after (`lists`, `sheets`,
//! `slides`), makes HTML and links from the same markdown (`html`), and reads the metadata (`properties`). What anydoc
//! has no way to say goes through it as marks (`marks`).

mod books;
mod charts;
mod entities;
mod flat;
mod grid;
mod html;
mod limits;
mod lists;
mod marks;
mod numbers;
mod open_document;
mod package;
mod presentations;
mod properties;
mod rows;
mod rtf;
mod sheets;
mod slides;
mod symbols;
mod tree;
mod web;
mod word;
mod workbook;

use std::panic::{AssertUnwindSafe, catch_unwind};

use anydoc::{ConvertError, Format};

use crate::detect::Kind;
use crate::error::Error;
use crate::model::Metadata;
use marks::Inserts;

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
    /// Warnings about the text, as sentences without a full stop.
    pub warnings: Vec<String>,
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
    let unfolded = flat::unfolded(bytes, kind);
    let bytes = unfolded.as_deref().unwrap_or(bytes);
    let room = limits::check(bytes, kind)?;
    let mut inserts = Inserts::default();
    let mut warnings = Vec::new();
    let markdown = text(&Source { bytes, kind, format, room }, &mut inserts, &mut warnings)?;
    let html::OfficeOutput { markdown, html, links } = html::written(marks::replaced(markdown, inserts));
    Ok(Office { markdown, html, links, metadata: properties::read_properties(bytes, kind), warnings })
}

/// Rewrites a package with one part, without converting it. For tests of what strangers send.
#[doc(hidden)]
pub fn rewritten_part(part: &[u8], kind: Kind, name: &str) {
    let relation = |id: &str, target: &str| format!("<Relationship Id=\"{id}\" Type=\"x/{id}\" Target=\"{target}\"/>");
    let list = ["slide", "chart", "styles", "sharedStrings"].map(|id| relation(id, &format!("/{name}"))).concat();
    let list = format!("<R>{list}{}</R>", relation("worksheet", "worksheets/sheet1.xml"));
    let text = "<w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"><w:p><w:r><w:t>x</w:t></w:r></w:p></w:document>";
    let sheet =
        "<worksheet><sheetData><row r=\"1\"><c r=\"A1\" t=\"s\"><f>1</f><v>0</v></c></row></sheetData></worksheet>";
    let book = "<workbook><sheets><sheet name=\"S\" r:id=\"worksheet\"/></sheets></workbook>";
    let others: [(&str, &str); 7] = [
        ("word/document.xml", text),
        ("word/_rels/document.xml.rels", &list),
        ("ppt/presentation.xml", "<p:presentation/>"),
        ("ppt/_rels/presentation.xml.rels", &list),
        ("xl/workbook.xml", book),
        ("xl/_rels/workbook.xml.rels", &list),
        ("xl/worksheets/sheet1.xml", sheet),
    ];
    let others = others.iter().filter(|(other, _)| *other != name).map(|(other, text)| (*other, text.as_bytes()));
    let parts: Vec<(&str, &[u8])> = std::iter::once((name, part)).chain(others).collect();
    rewritten_file(&package::packed(&parts).unwrap_or_default(), kind);
}

/// Rewrites a file as before its conversion. For tests of what strangers send.
#[doc(hidden)]
pub fn rewritten_file(bytes: &[u8], kind: Kind) {
    let unfolded = flat::unfolded(bytes, kind);
    let bytes = unfolded.as_deref().unwrap_or(bytes);
    let mut inserts = Inserts::default();
    let before = match kind {
        Kind::Docx => word::mended(bytes, &mut inserts),
        Kind::Odt => open_document::mended(bytes),
        Kind::Pptx => presentations::mended(bytes),
        Kind::Rtf => rtf::mended(bytes),
        Kind::Epub => books::mended(bytes, &mut inserts),
        Kind::Csv => Some(rows::rows(bytes).text),
        Kind::Xlsx => {
            let book = workbook::read(bytes, limits::MAX_UNPACKED, &mut inserts);
            book.ok().map(|book| book.markdown.into_bytes())
        }
        _ => None,
    };
    let text = String::from_utf8_lossy(before.as_deref().unwrap_or(bytes)).into_owned();
    let _markdown = lists::indented(marks::replaced(text, inserts));
}

/// Returns the markdown of a document inside another.
fn inner_markdown(bytes: &[u8], kind: Kind) -> Option<String> {
    let room = limits::check(bytes, kind).ok()?;
    let mut inserts = Inserts::inner();
    let source = Source { bytes, kind, format: format(kind)?, room };
    let markdown = text(&source, &mut inserts, &mut Vec::new()).ok()?;
    Some(marks::replaced(markdown, inserts))
}

/// File to convert.
struct Source<'a> {
    bytes: &'a [u8],
    kind: Kind,
    format: Format,
    /// Number of bytes that the sheets of a workbook may have.
    room: u64,
}

/// Returns the markdown of a file, with marks in it.
fn text(source: &Source<'_>, inserts: &mut Inserts, warnings: &mut Vec<String>) -> Result<String, Error> {
    let Source { bytes, kind, format, room } = *source;
    if matches!(kind, Kind::Xlsx | Kind::Xlsm) {
        let book = workbook::read(bytes, room, inserts)?;
        warnings.extend(book.warnings);
        let is_large = book.markdown.len() > sheets::MAX_SHEET;
        return Ok(if is_large { book.markdown } else { sheets::with_tables_apart(&book.markdown) });
    }
    let before = match kind {
        Kind::Docx | Kind::Docm => word::mended(bytes, inserts),
        Kind::Pptx | Kind::Pptm if presentations::is_empty(bytes) => return Ok(String::new()),
        Kind::Pptx | Kind::Pptm => presentations::mended(bytes),
        Kind::Odt | Kind::Odp | Kind::Ods => open_document::mended(bytes),
        Kind::Rtf => rtf::mended(bytes),
        Kind::Epub if books::is_locked(bytes) => return Err(Error::Encrypted),
        Kind::Epub => books::mended(bytes, inserts),
        Kind::Csv => {
            let rows = rows::rows(bytes);
            warnings.extend(rows.warning);
            Some(rows.text)
        }
        _ => None,
    };
    let markdown = convert(before.as_deref().unwrap_or(bytes), format)?;
    Ok(match kind {
        Kind::Xls | Kind::Xlsb | Kind::Ods => sheets::with_tables_apart(&markdown),
        Kind::Ppt => slides::with_tables(markdown, bytes),
        Kind::Docx | Kind::Docm | Kind::Doc | Kind::Odt | Kind::Rtf | Kind::Pptx | Kind::Pptm => {
            lists::indented(markdown)
        }
        _ => markdown,
    })
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
