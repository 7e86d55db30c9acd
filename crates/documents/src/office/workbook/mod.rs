//! Workbooks of Excel: what the converter drops is put right in the sheets, and large ones are converted in pieces.
//!
//! The converter keeps a whole sheet as a tree, and refuses one that spans many empty cells. So the rows of a large
//! sheet are read one by one and converted some thousand at a time, and long gaps are closed.

mod cells;
mod large;
mod mend;
mod places;
mod shared;
mod strings;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use anydoc::Format;
use memchr::{memchr_iter, memmem};

use super::limits;
use super::marks::Inserts;
use super::package::{Package, Relation, resolved};
use super::tree::{self, Element};
use crate::error::Error;
use strings::Strings;

/// Bounds of large workbooks.
const BOUNDS: large::Bounds = large::Bounds { at_once: 100_000, places: 1_000_000 };
/// Maximum number of tags of a part that the converter gets as a whole.
const MAX_TAGS: usize = 800_000;
/// Places of a table, of which hardly any is used, from which on gaps are closed.
const MANY_PLACES: usize = 200_000;

/// Markdown of a workbook, and what its reader must know.
#[derive(Debug, Default)]
pub(super) struct Book {
    pub markdown: String,
    pub warnings: Vec<String>,
}

/// Sheet that is shown.
struct Sheet {
    name: String,
    part: String,
}

/// Reads a workbook whose sheets may have `room` bytes.
pub(super) fn read(file: &[u8], room: u64, inserts: &mut Inserts) -> Result<Book, Error> {
    let whole = || Ok(Book { markdown: super::convert(file, Format::Excel)?, ..Book::default() });
    let Some(mut package) = Package::open(file) else { return whole() };
    let main = package.main_part("xl/workbook.xml");
    let text = package.text(&main).unwrap_or_default();
    let root = tree::parse(&text).filter(|root| root.local() == "workbook");
    let relations = package.relations(&main);
    let sheets = root.as_ref().map(|root| sheets(root, &main, &relations)).unwrap_or_default();
    let of_kind = |kind: &str| relations.iter().find(|relation| relation.kind == kind);
    let part_of = |kind: &str| of_kind(kind).map(|relation| resolved(&main, &relation.target));
    let shared = part_of("sharedStrings").unwrap_or_else(|| resolved(&main, "sharedStrings.xml"));
    let mut strings = Strings::new(package.text(&shared).unwrap_or_default());
    let looks = Looks::of(&mut package, &sheets, &strings, &mut Room { left: room, shared: &shared })?;
    let Some(root) = root else { return whole() };
    if looks.cells > BOUNDS.at_once || looks.tags > MAX_TAGS {
        if !looks.is_plain {
            return Err(Error::Limit("it has too many cells or paragraphs"));
        }
        let styles = part_of("styles").and_then(|part| package.text(&part));
        let is_1904 = root
            .child("workbookPr")
            .and_then(|book| book.attribute("date1904"))
            .is_some_and(|set| set == "1" || set == "true");
        strings.load();
        let parts = large::Parts { sheets: &sheets, strings: &strings, styles, is_1904, bounds: BOUNDS };
        return large::read(&mut package, &parts, inserts);
    }
    let missing = mend::sheets(&mut package, looks.to_mend, &mut strings, inserts);
    if let Some(text) = strings.mended() {
        package.replace(&shared, text);
    }
    let mended = package.rewritten();
    let markdown = super::convert(mended.as_deref().unwrap_or(file), Format::Excel)?;
    Ok(Book { markdown, warnings: missing_values(missing).into_iter().collect() })
}

/// Number of bytes that the sheets may still have, and the part of their texts.
struct Room<'a> {
    left: u64,
    shared: &'a str,
}

impl Room<'_> {
    fn take(&mut self, size: u64) -> Result<(), Error> {
        self.left = self.left.checked_sub(size).ok_or(limits::TOO_LARGE)?;
        Ok(())
    }
}

/// Sheet that has to be put right before it is converted.
struct ToMend {
    part: String,
    text: String,
    is_far: bool,
}

/// What all sheets have, found in one look at each.
struct Looks {
    cells: usize,
    /// Number of tags of the longest part.
    tags: usize,
    /// Whether all sheets can be read row by row: their elements have no prefix.
    is_plain: bool,
    to_mend: Vec<ToMend>,
}

impl Looks {
    /// Unpacks each sheet once. Those that are put right are kept, unless the workbook is read row by row.
    fn of(package: &mut Package<'_>, sheets: &[Sheet], strings: &Strings, room: &mut Room<'_>) -> Result<Self, Error> {
        room.take(strings.size())?;
        let mut looks = Self { cells: 0, tags: strings.tags(), is_plain: strings.is_plain(), to_mend: Vec::new() };
        let mut read = HashSet::new();
        if strings.size() > 0 {
            read.insert(room.shared.trim_start_matches('/').to_owned());
        }
        for sheet in sheets {
            let Some(text) = package.text(&sheet.part) else { continue };
            room.take(text.len() as u64)?;
            read.insert(sheet.part.trim_start_matches('/').to_owned());
            looks.add(sheet, text);
        }
        // Hidden sheets are unpacked by the converter.
        for name in package.names().iter().filter(|name| limits::is_of_sheets(name) && !read.contains(*name)) {
            let size = package.size(name, room.left)?;
            room.take(size)?;
        }
        Ok(looks)
    }

    fn add(&mut self, sheet: &Sheet, text: String) {
        let rows = rows_of(&text);
        self.tags = self.tags.max(memchr_iter(b'<', text.as_bytes()).count());
        self.cells += memmem::find_iter(text.as_bytes(), b"<c ").count();
        self.is_plain &= rows.is_some() || !text.contains("sheetData") || text.contains("<sheetData/>");
        if self.cells > BOUNDS.at_once || self.tags > MAX_TAGS {
            self.to_mend.clear();
            return;
        }
        let Some(rows) = rows else { return };
        let has = |sign: &str| memmem::find(text.as_bytes(), sign.as_bytes()).is_some();
        let is_far = is_far(&text[rows]);
        if is_far || ["<f", "<hyperlink ", "_x", "vertAlign"].into_iter().any(has) {
            self.to_mend.push(ToMend { part: sheet.part.clone(), text, is_far });
        }
    }
}

/// Says that formulas have no values.
fn missing_values(count: usize) -> Option<String> {
    let (formulas, have, they) =
        if count == 1 { ("formula", "has", "it is") } else { ("formulas", "have", "they are") };
    (count > 0).then(|| {
        format!(
            "{count} {formulas} of the workbook {have} no stored value, so {they} shown instead; save it with a \
             spreadsheet program to have the values"
        )
    })
}

/// Returns the sheets that are shown, in order.
fn sheets(root: &Element<'_>, main: &str, relations: &[Relation]) -> Vec<Sheet> {
    let Some(list) = root.child("sheets") else { return Vec::new() };
    let is_shown = |sheet: &&Element<'_>| !matches!(sheet.attribute("state").as_deref(), Some("hidden" | "veryHidden"));
    let sheet = |sheet: &Element<'_>| {
        let id = sheet.attributes().find(|(name, _)| name.ends_with(":id")).map(|(_, id)| id)?;
        let relation = relations.iter().find(|relation| relation.id == id)?;
        let name = sheet.attribute("name").map(Cow::into_owned).unwrap_or_default();
        Some(Sheet { name, part: resolved(main, &relation.target) })
    };
    list.elements().filter(is_shown).filter_map(sheet).collect()
}

/// Returns the range of the rows in the text of a sheet; `None` if its elements have a prefix.
fn rows_of(text: &str) -> Option<std::ops::Range<usize>> {
    let start = text.find("<sheetData>").map(|at| at + "<sheetData>".len());
    let start =
        start.or_else(|| text.find("<sheetData ").and_then(|at| text[at..].find('>').map(|end| at + end + 1)))?;
    let end = start + memmem::find(&text.as_bytes()[start..], b"</sheetData>")?;
    Some(start..end)
}

/// Calls a function with the source of each row, until it returns false.
fn each_row(rows: &str, found: &mut impl FnMut(&str) -> bool) {
    let mut rest = rows;
    while let Some(at) = memmem::find(rest.as_bytes(), b"<row") {
        rest = &rest[at..];
        let Some(tag) = memchr::memchr(b'>', rest.as_bytes()) else { return };
        let end = if rest[..tag].ends_with('/') {
            tag + 1
        } else {
            let Some(end) = memmem::find(rest.as_bytes(), b"</row>") else { return };
            end + "</row>".len()
        };
        if !found(&rest[..end]) {
            return;
        }
        rest = &rest[end..];
    }
}

/// Whether the table of these rows is large and hardly filled, as with a stray cell far out.
fn is_far(rows: &str) -> bool {
    let (mut last, mut columns, mut cells) = (0_usize, 0_usize, 0_usize);
    each_row(rows, &mut |row| {
        // Cells stand in order, so the last one is the farthest.
        let farthest = memmem::rfind(row.as_bytes(), b"<c r=\"").and_then(|at| place(reference(&row[at..])));
        if let Some((number, column)) = farthest {
            (last, columns) = (last.max(number), columns.max(column));
            cells += memmem::find_iter(row.as_bytes(), b"<c ").count();
        }
        true
    });
    let places = last.saturating_mul(columns);
    places > MANY_PLACES && places / 10 > cells
}

/// Returns the reference of a cell, given its source from the name on.
fn reference(cell: &str) -> &str {
    cell.get(6..).and_then(|rest| rest.split('"').next()).unwrap_or_default()
}

/// Maximum number of rows and columns of a sheet.
const MAX_ROW: usize = 1_048_576;
const MAX_COLUMN: usize = 16_384;

/// Returns row and column of a reference such as `B7`, counted from 1.
fn place(reference: &str) -> Option<(usize, usize)> {
    let digits = reference.find(|letter: char| letter.is_ascii_digit())?;
    let (letters, number) = reference.split_at(digits);
    let column = letters.bytes().try_fold(0_usize, |sum, letter| {
        let value = letter.to_ascii_uppercase().checked_sub(b'A').filter(|value| *value < 26)?;
        Some(sum * 26 + usize::from(value) + 1).filter(|sum| *sum <= MAX_COLUMN)
    })?;
    let row = number.parse().ok().filter(|row| (1..=MAX_ROW).contains(row))?;
    (column > 0).then_some((row, column))
}

/// Returns the addresses of the links of a sheet, by the place of their cell.
fn links(package: &mut Package<'_>, part: &str, text: &str) -> HashMap<(usize, usize), String> {
    let mut links = HashMap::new();
    let Some(start) = text.find("<hyperlinks") else { return links };
    let Some(end) = text[start..].find("</hyperlinks>") else { return links };
    // Prefixes are declared further out, but the tree needs no declarations.
    let Some(list) = tree::parse(&text[start..start + end + "</hyperlinks>".len()]) else { return links };
    let relations = package.relations(part);
    for link in list.elements() {
        let id = link.attributes().find(|(name, _)| name.ends_with(":id")).map(|(_, id)| id);
        let target = id.and_then(|id| relations.iter().find(|relation| relation.id == id && relation.is_external));
        let (Some(target), Some(reference)) = (target, link.attribute("ref")) else { continue };
        let mut address = target.target.clone();
        if let Some(location) = link.attribute("location").filter(|_| !address.contains('#')) {
            address.push('#');
            address.push_str(&location);
        }
        let (first, last) = reference.split_once(':').unwrap_or((&reference, &reference));
        let (Some(first), Some(last)) = (place(first), place(last)) else { continue };
        for row in first.0..=last.0.min(first.0 + 100) {
            for column in first.1..=last.1.min(first.1 + 20) {
                links.insert((row, column), address.clone());
            }
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_places() {
        for (reference, expected) in [
            ("A1", Some((1, 1))),
            ("XFD1048576", Some((1_048_576, 16_384))),
            ("XFE1", None),
            ("A0", None),
            ("1", None),
            ("a", None),
        ] {
            assert_eq!(place(reference), expected, "{reference}");
        }
    }

    #[test]
    fn rows_are_found_one_by_one() {
        let mut found = Vec::new();
        each_row("<row r=\"1\"><c/></row> <row r=\"2\"/><row>x</row><row", &mut |row| {
            found.push(row.to_owned());
            true
        });
        assert_eq!(found, ["<row r=\"1\"><c/></row>", "<row r=\"2\"/>", "<row>x</row>"]);
    }
}
