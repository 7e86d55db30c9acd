//! Large workbooks: rows are converted some thousand at a time.

use std::fmt::Write;

use anydoc::Format;

use super::super::grid::Grid;
use super::super::marks::Inserts;
use super::super::numbers;
use super::super::package::Package;
use super::super::sheets;
use super::super::tree::{self, Element};
use super::cells::{Cells, set};
use super::shared::SharedFormulas;
use super::strings::Strings;
use super::{Book, Sheet, each_row, links, missing_values, place, rows_of};
use crate::error::Error;
use crate::office::flat::letters;

/// Bounds of what is converted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Maximum number of cells that are converted at once.
    pub at_once: usize,
    /// Maximum number of cells of a workbook, rows by columns: some 400 bytes each while the table is written.
    pub places: usize,
}

/// Maximum number of empty rows that stay between two others.
const MAX_GAP: usize = 2;

/// Parts of a workbook that its sheets need.
pub(super) struct Parts<'b> {
    pub sheets: &'b [Sheet],
    pub strings: &'b Strings,
    /// Part of the styles.
    pub styles: Option<String>,
    /// Whether days are counted from 1904.
    pub is_1904: bool,
    pub bounds: Bounds,
}

/// Reads a large workbook; what exceeds the maximum is cut, and a warning says where.
pub(super) fn read(package: &mut Package<'_>, parts: &Parts<'_>, inserts: &mut Inserts) -> Result<Book, Error> {
    let (mut book, mut room, mut missing) = (Book::default(), parts.bounds.places, 0);
    for sheet in parts.sheets {
        let Some(text) = package.text(&sheet.part) else { continue };
        let Some(rows) = rows_of(&text) else { continue };
        let links = links(package, &sheet.part, &text);
        let cells = Cells {
            strings: parts.strings,
            links: &links,
            inserts,
            shared: SharedFormulas::default(),
            missing: 0,
            resolves: true,
        };
        let mut table =
            Table { parts, columns: columns(&text), cells, rows: Vec::new(), piece: Piece::default(), last: 0, room };
        let cut = table.read(&text[rows])?;
        missing += table.cells.missing;
        room = table.room;
        if let Some(row) = cut {
            let name = sheet.name.replace('`', "'");
            let most = parts.bounds.places;
            let why = format!("as the workbook has more than {most} cells");
            book.warnings.push(format!("the sheet `{name}` is cut before its row {row}, {why}"));
        }
        if let Some(grid) = table.grid() {
            if parts.sheets.len() > 1 {
                let _ = write!(book.markdown, "## {}\n\n", heading(&sheet.name));
            }
            book.markdown.push_str(&grid.markdown());
            book.markdown.push_str("\n\n");
        }
    }
    book.markdown.truncate(book.markdown.trim_end().len());
    if !book.markdown.is_empty() {
        book.markdown.push('\n');
    }
    book.warnings.extend(missing_values(missing));
    Ok(book)
}

fn heading(name: &str) -> String {
    name.chars()
        .flat_map(|letter| {
            let is_sign = matches!(letter, '\\' | '*' | '_' | '`' | '<' | '[' | ']' | '#');
            is_sign.then_some('\\').into_iter().chain((!letter.is_control()).then_some(letter))
        })
        .collect()
}

/// Returns the part of a sheet that hides columns.
fn columns(text: &str) -> String {
    let range = text.find("<cols>").zip(text.find("</cols>")).filter(|(start, end)| start < end);
    range.map(|(start, end)| text[start..end + "</cols>".len()].to_owned()).unwrap_or_default()
}

/// Rows that are converted together.
#[derive(Debug, Default)]
struct Piece {
    source: String,
    rows: usize,
    cells: usize,
    widest: usize,
}

struct Table<'b, 's> {
    parts: &'b Parts<'b>,
    columns: String,
    cells: Cells<'s>,
    /// Converted rows.
    rows: Vec<Vec<String>>,
    piece: Piece,
    /// Number of the last row that was read.
    last: usize,
    /// Number of cells that may still be written.
    room: usize,
}

impl Table<'_, '_> {
    /// Reads the rows; returns the number of the first one that is left out.
    fn read(&mut self, rows: &str) -> Result<Option<usize>, Error> {
        let (mut cut, mut widest, mut failure) = (None, 0, None);
        each_row(rows, &mut |source| {
            let Some(row) = tree::parse(source) else { return true };
            let number = row.attribute("r").and_then(|number| number.parse().ok()).unwrap_or(self.last + 1);
            let is_hidden = row.attribute("hidden").is_some_and(|hidden| hidden == "1" || hidden == "true");
            if is_hidden || row.children.is_empty() {
                return true;
            }
            // Cells that only have a style are no part of the table.
            let last = row.elements().rev().find(|cell| !cell.children.is_empty());
            let last = last.and_then(|cell| place(&cell.attribute("r")?));
            widest = widest.max(last.map_or(row.children.len(), |(_, column)| column));
            if (self.rows.len() + self.piece.rows + 1).saturating_mul(widest) > self.room {
                cut = Some(number);
                return false;
            }
            self.row(row, number);
            if self.piece.cells + self.piece.rows >= self.parts.bounds.at_once {
                failure = self.convert().err();
            }
            failure.is_none()
        });
        match failure {
            Some(failure) => return Err(failure),
            None => self.convert()?,
        }
        let written = self.rows.len().saturating_mul(widest);
        self.room = self.room.saturating_sub(written);
        Ok(cut)
    }

    /// Adds a row to the piece.
    fn row(&mut self, mut row: Element<'_>, number: usize) {
        let gap = number.saturating_sub(self.last + 1).min(if self.last == 0 { 0 } else { MAX_GAP });
        self.last = number;
        self.piece.rows += gap + 1;
        // The first row of a piece holds a word in every column.
        let new = self.piece.rows + 1;
        let (mut column, mut out) = (0, String::new());
        for node in &mut row.children {
            let tree::Node::Element(cell) = node else { continue };
            let at = cell.attribute("r").and_then(|reference| place(&reference)).unwrap_or((number, column + 1));
            column = at.1;
            self.cells.cell(cell, Some(at));
            set(cell, "r", &format!("{}{new}", letters(column)));
            if cell.children.is_empty() {
                continue;
            }
            cell.write(&mut out);
            self.piece.cells += 1;
            self.piece.widest = self.piece.widest.max(column);
        }
        let _ = write!(self.piece.source, "<row r=\"{new}\">{out}</row>");
    }

    /// Converts the rows of the piece.
    fn convert(&mut self) -> Result<(), Error> {
        let piece = std::mem::take(&mut self.piece);
        if piece.cells == 0 {
            return Ok(());
        }
        let names: String =
            (1..=piece.widest).map(|column| format!("<c r=\"{}1\" t=\"str\"><v>x</v></c>", letters(column))).collect();
        let sheet = format!("{}<sheetData><row r=\"1\">{names}</row>{}</sheetData>", self.columns, piece.source);
        let styles = self.parts.styles.as_deref().unwrap_or("<styleSheet/>");
        let broken = || Error::Broken("its sheets cannot be read".to_owned());
        let file = numbers::workbook(&sheet, styles, self.parts.is_1904).ok_or_else(broken)?;
        drop(sheet);
        let markdown = crate::office::convert(&file, Format::Excel)?;
        let lines: Vec<&str> = markdown.lines().filter(|line| line.starts_with('|')).collect();
        let grid = Grid::of_lines(&lines).ok_or_else(broken)?;
        let missing = (piece.rows + 1).saturating_sub(grid.rows.len());
        self.rows.extend(grid.rows.into_iter().skip(1));
        // Empty rows at the end of a piece are before the next one.
        self.rows.extend(std::iter::repeat_n(Vec::new(), missing.min(MAX_GAP)));
        Ok(())
    }

    /// Returns the table without empty rows and columns around it.
    fn grid(&mut self) -> Option<Grid> {
        let mut rows = std::mem::take(&mut self.rows);
        while rows.last().is_some_and(|row| row.iter().all(String::is_empty)) {
            rows.pop();
        }
        let filled = |row: &Vec<String>| row.iter().rposition(|cell| !cell.is_empty()).map_or(0, |last| last + 1);
        let width = rows.iter().map(filled).max().filter(|width| *width > 0)?;
        let first = rows.iter().filter_map(|row| row.iter().position(|cell| !cell.is_empty())).min().unwrap_or(0);
        for row in &mut rows {
            row.resize(width, String::new());
            row.drain(..first);
        }
        let has_header = sheets::names_columns(&rows);
        Some(Grid { rows, has_header })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::package::packed;
    use super::*;

    fn book(rows: &str) -> Book {
        let sheet = format!(
            "<worksheet><cols><col min='2' max='2' hidden='1'/></cols><sheetData>{rows}</sheetData></worksheet>"
        );
        let file = packed(&[("s.xml", sheet.as_bytes())]).unwrap();
        let sheets = [Sheet { name: "S".to_owned(), part: "s.xml".to_owned() }];
        let mut strings = Strings::new("<sst><si><t>shared|text</t></si></sst>".to_owned());
        strings.load();
        let parts = Parts {
            sheets: &sheets,
            strings: &strings,
            styles: None,
            is_1904: false,
            bounds: Bounds { at_once: 100, places: 1000 },
        };
        read(&mut Package::open(&file).unwrap(), &parts, &mut Inserts::default()).unwrap()
    }

    #[test]
    fn pieces_are_one_table() {
        let mut rows = String::from(
            "<row r='1'><c r='A1' t='str'><v>name</v></c><c r='B1'><v>7</v></c><c r='C1' t='str'><v>n</v></c></row>",
        );
        for row in 2..=240 {
            let _ = write!(
                rows,
                "<row r='{row}'><c r='A{row}' t='s'><v>0</v></c><c r='B{row}'><v>1</v></c><c r='C{row}'><v>{row}</v></c></row>"
            );
        }
        let book = book(&rows);
        let lines: Vec<&str> = book.markdown.lines().collect();
        assert_eq!(lines[..3], ["| name | n |", "| --- | --- |", "| shared\\|text | 2 |"]);
        assert_eq!((lines.len(), lines[lines.len() - 1]), (241, "| shared\\|text | 240 |"));
        assert!(book.warnings.is_empty());
    }

    #[test]
    fn what_is_too_much_is_cut_and_told() {
        let rows: String = (1..=60)
            .map(|row| format!("<row r='{row}'><c r='A{row}'><v>{row}</v></c><c r='T{row}'><v>1</v></c></row>"))
            .collect();
        let book = book(&rows);
        assert!(book.markdown.contains("| 50 |") && !book.markdown.contains("| 51 |"));
        assert_eq!(book.warnings, ["the sheet `S` is cut before its row 51, as the workbook has more than 1000 cells"]);
    }
}
