//! Workbooks of Excel: what the converter drops is put right in the sheets, and large ones are converted in pieces.
//!
//! The converter keeps a whole sheet as a tree, and refuses one that spans many empty cells. So the rows of a large
//! sheet are read one by one and converted some thousand at a time, and long gaps are closed.

mod cells;
mod large;
mod strings;

use std::borrow::Cow;
use std::collections::HashMap;

use anydoc::Format;
use memchr::{memchr_iter, memmem};

use super::marks::Inserts;
use super::package::{Package, Relation, resolved};
use super::tree::{self, Element};
use crate::error::Error;
use cells::Cells;
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

/// Reads a workbook.
pub(super) fn read(file: &[u8], inserts: &mut Inserts) -> Result<Book, Error> {
    let whole = || Ok(Book { markdown: super::convert(file, Format::Excel)?, ..Book::default() });
    let Some(mut package) = Package::open(file) else { return whole() };
    let main = package.main_part("xl/workbook.xml");
    let Some(text) = package.text(&main) else { return whole() };
    let Some(root) = tree::parse(&text).filter(|root| root.local() == "workbook") else { return whole() };
    let relations = package.relations(&main);
    let sheets = sheets(&root, &main, &relations);
    let of_kind = |kind: &str| relations.iter().find(|relation| relation.kind == kind);
    let part_of = |kind: &str| of_kind(kind).map(|relation| resolved(&main, &relation.target));
    let shared = part_of("sharedStrings").or_else(|| Some(resolved(&main, "sharedStrings.xml")));
    let shared = shared.filter(|part| package.has(part));
    let mut strings = Strings::new(shared.as_deref().and_then(|part| package.text(part)).unwrap_or_default());
    let (mut cells, mut tags, mut is_plain) = (0, strings.tags(), strings.is_plain());
    for sheet in &sheets {
        let Some(text) = package.text(&sheet.part) else { continue };
        tags = tags.max(memchr_iter(b'<', text.as_bytes()).count());
        cells += cell_count(&text);
        is_plain &= rows_of(&text).is_some() || !text.contains("sheetData") || text.contains("<sheetData/>");
    }
    if cells > BOUNDS.at_once || tags > MAX_TAGS {
        if !is_plain {
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
    let mut warnings = Vec::new();
    let missing = mend(&mut package, &sheets, &mut strings, inserts);
    warnings.extend(missing_values(missing));
    if let Some((part, text)) = shared.zip(strings.mended()) {
        package.replace(&part, text);
    }
    let mended = package.rewritten();
    Ok(Book { markdown: super::convert(mended.as_deref().unwrap_or(file), Format::Excel)?, warnings })
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

/// Puts the cells of all sheets right; returns the number of formulas without a value.
fn mend(package: &mut Package<'_>, sheets: &[Sheet], strings: &mut Strings, inserts: &mut Inserts) -> usize {
    let mut missing = 0;
    for sheet in sheets {
        let Some(text) = package.text(&sheet.part) else { continue };
        let has = |sign: &str| memmem::find(text.as_bytes(), sign.as_bytes()).is_some();
        let is_far = is_far(&text);
        if !(has("<f") || has("<hyperlink ") || has("_x") || has("vertAlign") || is_far) {
            continue;
        }
        let Some(rows) = rows_of(&text) else { continue };
        let links = links(package, &sheet.part, &text);
        if !links.is_empty() || is_far || has("HYPERLINK") {
            strings.load();
        }
        let mut cells = Cells { strings, links: &links, inserts, missing: 0, resolves: false };
        let mut out = String::with_capacity(text.len());
        out.push_str(&text[..rows.start]);
        let places = if is_far { Places::closing(&text[rows.clone()]) } else { Places::default() };
        each_row(&text[rows.clone()], &mut |source| {
            match tree::parse(source) {
                Some(mut row) => {
                    cells.mend(&mut row, &places);
                    row.write(&mut out);
                }
                None => out.push_str(source),
            }
            true
        });
        missing += cells.missing;
        let after = &text[rows.end..];
        // Merged cells would be at the places before.
        let end = if is_far { after.find("<mergeCells").map(|at| (at, after.find("</mergeCells>"))) } else { None };
        match end {
            Some((start, Some(end))) if start < end => {
                out.push_str(&after[..start]);
                out.push_str(&after[end + "</mergeCells>".len()..]);
            }
            _ => out.push_str(after),
        }
        package.replace(&sheet.part, out.into_bytes());
    }
    missing
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

fn cell_count(text: &str) -> usize {
    memmem::find_iter(text.as_bytes(), b"<c ").count()
}

/// Whether the table of a sheet is large and hardly filled, as with a stray cell far out.
fn is_far(text: &str) -> bool {
    let (mut rows, mut columns, mut cells) = (0_usize, 0_usize, 0_usize);
    for at in memmem::find_iter(text.as_bytes(), b"<c r=\"") {
        let reference = text[at + 6..].split('"').next().unwrap_or_default();
        if let Some((row, column)) = place(reference) {
            (rows, columns, cells) = (rows.max(row), columns.max(column), cells + 1);
        }
    }
    let places = rows.saturating_mul(columns);
    places > MANY_PLACES && places / 10 > cells
}

/// Returns row and column of a reference such as `B7`, counted from 1.
fn place(reference: &str) -> Option<(usize, usize)> {
    let digits = reference.find(|letter: char| letter.is_ascii_digit())?;
    let (letters, number) = reference.split_at(digits);
    let column = letters.bytes().try_fold(0_usize, |sum, letter| {
        let value = letter.to_ascii_uppercase().checked_sub(b'A').filter(|value| *value < 26)?;
        Some(sum * 26 + usize::from(value) + 1).filter(|sum| *sum <= 16_384)
    })?;
    let row = number.parse().ok().filter(|row| (1..=1_048_576).contains(row))?;
    (column > 0).then_some((row, column))
}

/// New numbers of rows and columns, where gaps are closed.
#[derive(Debug, Default)]
struct Places {
    rows: Option<HashMap<usize, usize>>,
    columns: HashMap<usize, usize>,
}

impl Places {
    /// Closes gaps of more than two.
    fn closing(text: &str) -> Self {
        let (mut rows, mut columns) = (Vec::new(), Vec::new());
        for at in memmem::find_iter(text.as_bytes(), b"<c r=\"") {
            let reference = text[at + 6..].split('"').next().unwrap_or_default();
            if let Some((row, column)) = place(reference) {
                rows.push(row);
                columns.push(column);
            }
        }
        Self { rows: Some(closed(rows)), columns: closed(columns) }
    }
}

fn closed(mut numbers: Vec<usize>) -> HashMap<usize, usize> {
    numbers.sort_unstable();
    numbers.dedup();
    let (mut closed, mut last, mut next) = (HashMap::new(), 0, 0);
    for number in numbers {
        next += (number - last).min(3);
        last = number;
        closed.insert(number, next);
    }
    closed
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
    fn gaps_are_closed() {
        let closed = closed(vec![1, 2, 7, 1_048_576, 2]);
        assert_eq!([1, 2, 7, 1_048_576].map(|number| closed[&number]), [1, 2, 5, 8]);
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
