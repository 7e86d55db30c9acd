//! Separation of several tables in one sheet.
//!
//! The converter makes one table of a sheet, but a sheet may contain several, with a title above or empty rows or
//! columns between them. They are separated only where the gap cannot be part of one table, as a wrong cut would take
//! values away from their header.

use std::ops::Range;

use super::grid::Grid;

/// Maximum size of markdown whose tables are separated, in bytes.
pub(super) const MAX_SHEET: usize = 8 * 1024 * 1024;

/// Returns the markdown with the tables of each sheet separated.
pub(super) fn with_tables_apart(markdown: &str) -> String {
    let lines: Vec<&str> = markdown.lines().collect();
    let (mut out, mut at) = (Vec::new(), 0);
    while at < lines.len() {
        let length = lines[at..].iter().take_while(|line| line.starts_with('|')).count();
        if length == 0 {
            out.push(lines[at].to_owned());
            at += 1;
            continue;
        }
        let table = &lines[at..at + length];
        match Grid::of_lines(table) {
            Some(grid) => out.push(parts(&grid).join("\n\n")),
            None => out.extend(table.iter().map(|line| (*line).to_owned())),
        }
        at += length;
    }
    let mut text = out.join("\n");
    if markdown.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Whether the first row names the columns of the others.
pub(super) fn names_columns(rows: &[Vec<String>]) -> bool {
    let columns = 0..rows.first().map_or(0, Vec::len);
    Cells(rows).is_header(&Area { rows: 0..rows.len(), columns })
}

/// Rectangle of cells.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Area {
    rows: Range<usize>,
    columns: Range<usize>,
}

fn parts(grid: &Grid) -> Vec<String> {
    let cells = Cells(&grid.rows);
    let whole = Area { rows: 0..grid.rows.len(), columns: 0..grid.rows.first().map_or(0, Vec::len) };
    let areas = cells.areas(&whole);
    if areas.len() < 2 && areas.first().is_none_or(|area| *area == whole) {
        return vec![grid.markdown()];
    }
    areas.iter().map(|area| cells.part(area, grid.has_header)).collect()
}

struct Cells<'a>(&'a [Vec<String>]);

impl Cells<'_> {
    fn at(&self, row: usize, column: usize) -> &str {
        self.0.get(row).and_then(|row| row.get(column)).map_or("", String::as_str)
    }

    fn row_is_empty(&self, row: usize, columns: &Range<usize>) -> bool {
        columns.clone().all(|column| self.at(row, column).is_empty())
    }

    fn column_is_empty(&self, column: usize, rows: &Range<usize>) -> bool {
        rows.clone().all(|row| self.at(row, column).is_empty())
    }

    /// Returns the tables of an area, from top to bottom and from left to right.
    fn areas(&self, area: &Area) -> Vec<Area> {
        let Some(area) = self.trimmed(area) else { return Vec::new() };
        let bands = self.bands(&area);
        if let [_, _, ..] = bands[..] {
            return bands.iter().flat_map(|band| self.areas(band)).collect();
        }
        let columns = self.side_by_side(&area);
        if let [_, _, ..] = columns[..] {
            return columns.iter().flat_map(|part| self.areas(part)).collect();
        }
        vec![area]
    }

    /// Returns the area without empty rows and columns around it.
    fn trimmed(&self, area: &Area) -> Option<Area> {
        let is_filled = |row: &usize| !self.row_is_empty(*row, &area.columns);
        let rows = area.rows.clone().find(is_filled)?..area.rows.clone().rev().find(is_filled)? + 1;
        let is_filled = |column: &usize| !self.column_is_empty(*column, &rows);
        let columns = area.columns.clone().find(is_filled)?..area.columns.clone().rev().find(is_filled)? + 1;
        Some(Area { rows, columns })
    }

    /// Splits an area at empty rows where a different table begins below.
    fn bands(&self, area: &Area) -> Vec<Area> {
        let pieces = runs(area.rows.clone(), |row| self.row_is_empty(row, &area.columns));
        let piece = |rows: &Range<usize>| Area { rows: rows.clone(), columns: area.columns.clone() };
        let mut bands: Vec<Area> = Vec::new();
        for rows in &pieces {
            match bands.last_mut() {
                Some(above) if !self.starts_anew(above, &piece(rows)) => above.rows.end = rows.end,
                _ => bands.push(piece(rows)),
            }
        }
        bands
    }

    fn starts_anew(&self, above: &Area, below: &Area) -> bool {
        let (Some(upper), Some(lower)) = (self.trimmed(above), self.trimmed(below)) else { return false };
        let gap = below.rows.start - above.rows.end;
        gap > 1 || upper.columns != lower.columns || self.is_header(&lower)
    }

    /// Splits an area at empty columns where each side has its own header.
    fn side_by_side(&self, area: &Area) -> Vec<Area> {
        let pieces = runs(area.columns.clone(), |column| self.column_is_empty(column, &area.rows));
        let piece = |columns: &Range<usize>| Area { rows: area.rows.clone(), columns: columns.clone() };
        let stands_alone =
            |part: &Area| part.columns.len() > 1 && self.trimmed(part).is_some_and(|part| self.is_header(&part));
        let mut parts: Vec<Area> = Vec::new();
        for columns in &pieces {
            match parts.last_mut() {
                Some(left) if !(stands_alone(left) && stands_alone(&piece(columns))) => left.columns.end = columns.end,
                _ => parts.push(piece(columns)),
            }
        }
        parts
    }

    /// Whether the first row of an area names its columns: words in every cell, and a number somewhere below.
    fn is_header(&self, area: &Area) -> bool {
        let first = area.rows.start;
        let names = area.columns.clone().all(|column| {
            let text = self.at(first, column);
            !text.is_empty() && !is_number(text)
        });
        let has_number = || {
            let mut places =
                (first + 1..area.rows.end).flat_map(|row| area.columns.clone().map(move |column| (row, column)));
            places.any(|(row, column)| is_number(self.at(row, column)))
        };
        names && has_number()
    }

    /// Writes one table; a single cell becomes a paragraph.
    fn part(&self, area: &Area, first_is_header: bool) -> String {
        if area.rows.len() == 1 && area.columns.len() == 1 {
            return paragraph(self.at(area.rows.start, area.columns.start));
        }
        let row = |row: usize| area.columns.clone().map(|column| self.at(row, column).to_owned()).collect();
        let rows: Vec<Vec<String>> = area.rows.clone().map(row).collect();
        let has_header = (first_is_header && area.rows.start == 0) || self.is_header(area);
        Grid { rows, has_header }.markdown()
    }
}

/// Returns the text of a cell as a paragraph, with the start of a heading, list or quotation escaped.
fn paragraph(cell: &str) -> String {
    let digits = cell.bytes().take_while(u8::is_ascii_digit).count();
    let sign = match cell.as_bytes().get(digits..) {
        Some([b'.' | b')', ..]) if digits > 0 => digits,
        Some([b'#' | b'>' | b'-' | b'+' | b'=' | b'~', ..]) if digits == 0 => 0,
        _ => return cell.to_owned(),
    };
    format!("{}\\{}", &cell[..sign], &cell[sign..])
}

/// Returns the runs of non-empty indices.
fn runs(range: Range<usize>, is_empty: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for index in range {
        if is_empty(index) {
            continue;
        }
        match runs.last_mut() {
            Some(run) if run.end == index => run.end += 1,
            _ => runs.push(index..index + 1),
        }
    }
    runs
}

fn is_number(text: &str) -> bool {
    text.contains(|letter: char| letter.is_ascii_digit())
        && text.chars().all(|letter| {
            letter.is_ascii_digit()
                || matches!(letter, '.' | ',' | '-' | '+' | '%' | ' ' | '\\' | ':' | '/' | '$' | '€')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rows: &[&str], expected: &str) {
        let table: Vec<Vec<String>> = rows.iter().map(|row| row.split(',').map(str::to_owned).collect()).collect();
        let grid = Grid { rows: table, has_header: false };
        assert_eq!(with_tables_apart(&format!("## S\n\n{}\n", grid.markdown())), format!("## S\n\n{expected}\n"));
    }

    #[test]
    fn a_title_stands_above_its_table() {
        check(
            &["Ducks,,", ",,", "Year,Wild,Tame", "2019,1,2"],
            "Ducks\n\n| Year | Wild | Tame |\n| --- | --- | --- |\n| 2019 | 1 | 2 |",
        );
    }

    #[test]
    fn tables_below_and_beside_each_other() {
        check(
            &["a,b,,", "1,2,,", ",,,", "c,d,e,f", "3,4,5,6"],
            "| a | b |\n| --- | --- |\n| 1 | 2 |\n\n| c | d | e | f |\n| --- | --- | --- | --- |\n| 3 | 4 | 5 | 6 |",
        );
        check(&["a,b,,c,d", "1,2,,3,4"], "| a | b |\n| --- | --- |\n| 1 | 2 |\n\n| c | d |\n| --- | --- |\n| 3 | 4 |");
    }

    #[test]
    fn one_table_with_gaps_stays_one() {
        let rows = ["item,,price", "tea,,2", ",,", "milk,,3"];
        let table = "|  |  |  |\n| --- | --- | --- |\n| item |  | price |\n| tea |  | 2 |\n|  |  |  |\n| milk |  | 3 |";
        check(&rows, table);
    }

    #[test]
    fn titles_stay_paragraphs() {
        for (cell, expected) in
            [("# a", "\\# a"), ("1. a", "1\\. a"), ("2024", "2024"), ("- a", "\\- a"), ("a # b", "a # b")]
        {
            assert_eq!(paragraph(cell), expected);
        }
    }

    #[test]
    fn empty_edges_go() {
        check(&[",,", ",a,b", ",1,2"], "| a | b |\n| --- | --- |\n| 1 | 2 |");
    }
}
