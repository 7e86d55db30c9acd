//! Conversion of lines in columns to the cells of a table.
//!
//! Columns are made from the rows with the most lines, which are the least likely to contain spans. Other lines then
//! widen the column that they overlap, or span several. Rows are lines at one height; a line that only continues the
//! text of a cell above is joined to it.

use crate::content::page::LinkArea;
use crate::geometry::Rect;
use crate::layout::line::{Line, Row, rows};
use crate::layout::text::{append_inline, inline, plain};
use crate::model::{Cell, Inline, Table};

/// Maximum number of columns of a table without a grid.
const MAX_COLUMNS: usize = 60;
/// Width of a letter, in ems.
const LETTER: f32 = 0.5;

/// Horizontal range of one column.
#[derive(Debug, Clone, Copy)]
struct Column {
    x0: f32,
    x1: f32,
}

/// Input for the cells.
pub(crate) struct Sheet<'a> {
    pub(crate) lines: &'a [Line],
    /// Vertical positions of rules across the table.
    pub(crate) separators: &'a [f32],
    /// Links of the page.
    pub(crate) links: &'a [LinkArea],
}

/// Returns the table that the lines form.
pub(crate) fn table(sheet: &Sheet<'_>) -> Option<Table> {
    let lines = split_at_gutters(sheet.lines);
    let all: Vec<usize> = (0..lines.len()).collect();
    let rows = rows(&lines, &all);
    let columns = with_headers(&lines, &rows, columns(&lines, &rows));
    if columns.len() < 2 || columns.len() > MAX_COLUMNS {
        return None;
    }
    let mut placed: Vec<Vec<PlacedLine>> = rows.iter().map(|row| place(sheet, &lines, row, &columns)).collect();
    let joins = continuations(&lines, &rows, &placed, sheet.separators);
    let mut cells: Vec<Cell> = Vec::new();
    let mut count: usize = 0;
    for (index, row) in placed.drain(..).enumerate() {
        let goes_on = index > 0 && joins[index];
        if !goes_on {
            count += 1;
        }
        for item in row {
            add(&mut cells, item, count - 1);
        }
    }
    cells.sort_by_key(|cell| (cell.row, cell.column));
    Some(Table { rows: count, columns: columns.len(), cells })
}

fn add(cells: &mut Vec<Cell>, item: PlacedLine, row: usize) {
    let overlaps = |cell: &&mut Cell| {
        cell.row == row && cell.column < item.column + item.span && item.column < cell.column + cell.column_span
    };
    match cells.iter_mut().rev().take(MAX_COLUMNS).find(overlaps) {
        Some(cell) => append_inline(&mut cell.text, &item.text),
        None => cells.push(Cell { row, column: item.column, row_span: 1, column_span: item.span, text: item.text }),
    }
}

/// Line with its columns.
struct PlacedLine {
    column: usize,
    span: usize,
    text: Inline,
    rect: Rect,
}

/// Splits lines whose words are in several columns of the other rows.
fn split_at_gutters(lines: &[Line]) -> Vec<Line> {
    let all: Vec<usize> = (0..lines.len()).collect();
    let columns = columns(lines, &rows(lines, &all));
    let mut out = Vec::with_capacity(lines.len());
    for line in lines {
        let mut part: Vec<_> = Vec::new();
        for word in &line.words {
            let gutter = part.last().is_some_and(|last: &crate::layout::words::Word| {
                let gap = last.gap_to(word);
                let between = f32::midpoint(last.rect.x1, word.rect.x0);
                let free = columns.iter().all(|column| between <= column.x0 + 0.5 || column.x1 - 0.5 <= between);
                gap > 0.55 * word.size && free
            });
            if gutter {
                out.push(Line::new(std::mem::take(&mut part)));
            }
            part.push(word.clone());
        }
        out.push(Line::new(part));
    }
    out
}

/// Returns the columns of rows, from left to right.
fn columns(lines: &[Line], rows: &[Row]) -> Vec<Column> {
    let mut by_count: Vec<&Row> = rows.iter().collect();
    by_count.sort_by_key(|row| std::cmp::Reverse(row.lines.len()));
    let most = by_count.first().map_or(0, |row| row.lines.len());
    let mut columns: Vec<Column> = Vec::new();
    for row in by_count {
        for line in row.lines.iter().map(|place| &lines[*place]) {
            let over: Vec<usize> = (0..columns.len()).filter(|place| lies_over(&columns[*place], line)).collect();
            match over[..] {
                // A line in a row with few others may be a spanning heading, so it makes no column.
                [] if 2 * row.lines.len() >= most => columns.push(Column { x0: line.rect.x0, x1: line.rect.x1 }),
                [only] => widen(&mut columns, only, &line.rect),
                _ => {}
            }
        }
    }
    columns.sort_by(|a, b| a.x0.total_cmp(&b.x0));
    columns
}

/// Joins two columns if one contains only the header of the other: `Year` aligned left, its numbers aligned right.
fn with_headers(lines: &[Line], rows: &[Row], mut columns: Vec<Column>) -> Vec<Column> {
    let filled = |column: &Column| -> Vec<usize> {
        let over = |row: &Row| row.lines.iter().any(|place| lies_over(column, &lines[*place]));
        (0..rows.len()).filter(|row| over(&rows[*row])).collect()
    };
    let mut place = 0;
    while place + 1 < columns.len() {
        let (left, right) = (columns[place], columns[place + 1]);
        let (here, there) = (filled(&left), filled(&right));
        let (first, last) = if here.first() <= there.first() { (&here, &there) } else { (&there, &here) };
        let head = first.len() <= 2 && first.last() < last.first() && last.len() >= 2;
        // The header could also belong to the column after that; it goes to the nearer one.
        let beyond = columns.get(place + 2).map_or(f32::INFINITY, |next| next.x0 - right.x1);
        let nearest =
            first != &there || right.x0 - left.x1 <= beyond || filled(&columns[place + 2]).first() == there.first();
        let size = lines.first().map_or(10.0, |line| line.size);
        if head && nearest && right.x0 - left.x1 < 4.0 * size {
            columns[place] = Column { x0: left.x0, x1: right.x1 };
            columns.remove(place + 1);
        } else {
            place += 1;
        }
    }
    columns
}

fn lies_over(column: &Column, line: &Line) -> bool {
    let shared = column.x1.min(line.rect.x1) - column.x0.max(line.rect.x0);
    let small = (column.x1 - column.x0).min(line.rect.width());
    shared > (0.12 * small).max(0.4)
}

/// Widens a column, but not into others.
fn widen(columns: &mut [Column], place: usize, rect: &Rect) {
    let Column { x0, x1 } = columns[place];
    let others = || columns.iter().enumerate().filter(|(other, _)| *other != place).map(|(_, column)| column);
    let left = others().map(|other| other.x1).filter(|end| *end <= x0).fold(f32::NEG_INFINITY, f32::max);
    let right = others().map(|other| other.x0).filter(|start| *start >= x1).fold(f32::INFINITY, f32::min);
    columns[place] = Column { x0: x0.min(rect.x0.max(left)), x1: x1.max(rect.x1.min(right)) };
}

fn place(sheet: &Sheet<'_>, lines: &[Line], row: &Row, columns: &[Column]) -> Vec<PlacedLine> {
    let mut placed: Vec<PlacedLine> = Vec::new();
    for line in row.lines.iter().map(|place| &lines[*place]) {
        let over = columns_of(columns, line);
        let (column, span) = match (over.first(), over.last()) {
            (Some(first), Some(last)) => (*first, last - first + 1),
            _ => (nearest(columns, line.rect.center().x), 1),
        };
        match placed.last_mut().filter(|last| column < last.column + last.span) {
            Some(last) => {
                append_inline(&mut last.text, &inline(&[line], &[], sheet.links));
                last.rect = last.rect.union(&line.rect);
            }
            None => placed.push(PlacedLine { column, span, text: inline(&[line], &[], sheet.links), rect: line.rect }),
        }
    }
    placed
}

/// Returns the columns that a line is in. One into which it reaches by less than a letter is none of them.
fn columns_of(columns: &[Column], line: &Line) -> Vec<usize> {
    let over: Vec<usize> = (0..columns.len()).filter(|place| lies_over(&columns[*place], line)).collect();
    let shared = |place: &usize| columns[*place].x1.min(line.rect.x1) - columns[*place].x0.max(line.rect.x0);
    let wide: Vec<usize> = over.iter().filter(|place| shared(place) > LETTER * line.size).copied().collect();
    if over.len() < 2 || wide.is_empty() { over } else { wide }
}

fn nearest(columns: &[Column], x: f32) -> usize {
    let distance = |column: &Column| (f32::midpoint(column.x0, column.x1) - x).abs();
    (0..columns.len()).min_by(|a, b| distance(&columns[*a]).total_cmp(&distance(&columns[*b]))).unwrap_or(0)
}

/// Returns for each row whether it only continues the row above.
fn continuations(lines: &[Line], rows: &[Row], placed: &[Vec<PlacedLine>], separators: &[f32]) -> Vec<bool> {
    let baseline = |row: &Row| row.lines.first().map_or(0.0, |place| lines[*place].baseline);
    let parted: Vec<bool> = (0..rows.len())
        .map(|row| {
            row == 0 || {
                let (above, below) = (baseline(&rows[row - 1]), baseline(&rows[row]));
                separators.iter().any(|y| above < *y && *y < below)
            }
        })
        .collect();
    let inner = parted.iter().skip(1).filter(|parted| **parted).count();
    // If rules separate most rows, they alone separate rows.
    if inner >= 3 && inner * 3 >= rows.len().saturating_sub(1) {
        return parted.into_iter().map(|parted| !parted).collect();
    }
    // Otherwise, rows separated by more than the tightest spacing are separate; rows set tightly may be wrapped cells.
    let size = lines.iter().map(|line| line.size).fold(0.0, f32::max).max(1.0);
    let blanks = blanks(rows);
    let tightest = blanks.iter().skip(1).copied().fold(f32::INFINITY, f32::min);
    let is_wide = |row: usize| parted[row] || blanks[row] > tightest + 0.45 * size;
    let mut out = vec![false; rows.len()];
    let mut start = 0;
    while start < rows.len() {
        let length = 1 + (start + 1..rows.len()).take_while(|row| !is_wide(*row)).count();
        let segment = &placed[start..start + length];
        let whole = length < rows.len() && (is_wrapped(segment) || (inner > 0 && start == 0 && is_header(segment)));
        let mut head = start;
        for row in start + 1..start + length {
            out[row] = whole || goes_on(&placed[head..row], &placed[row], blanks[row] < 0.35 * size);
            head = if out[row] { head } else { row };
        }
        start += length;
    }
    out
}

/// Returns the blank height above each row.
fn blanks(rows: &[Row]) -> Vec<f32> {
    let mut bottom = f32::NEG_INFINITY;
    let blank = |row: &Row| {
        // Overlapping rows, such as cells centred beside taller ones, have no blank between them.
        let blank = (row.y0 - bottom).max(0.0);
        bottom = bottom.max(row.y1);
        blank
    };
    rows.iter().map(blank).collect()
}

/// Whether the rows between the first two rules are one header: two to five rows, without spans and numbers.
fn is_header(rows: &[Vec<PlacedLine>]) -> bool {
    let spans = rows.iter().flatten().any(|cell| cell.span > 1);
    let counts = rows
        .iter()
        .skip(1)
        .flatten()
        .any(|cell| super::judge::is_number(&plain(&cell.text)) && plain(&cell.text).len() < 12);
    (2..=5).contains(&rows.len()) && !spans && !counts
}

/// Whether tightly set rows are the lines of a single row: at most one number per column, and lines as long as
/// possible.
fn is_wrapped(rows: &[Vec<PlacedLine>]) -> bool {
    if !(2..=12).contains(&rows.len()) {
        return false;
    }
    let columns = rows.iter().flatten().map(|cell| cell.column + cell.span).max().unwrap_or(0);
    let mut wrapped = 0;
    for column in 0..columns {
        let cells: Vec<&PlacedLine> =
            rows.iter().flatten().filter(|cell| cell.column == column && cell.span == 1).collect();
        if cells.iter().filter(|cell| super::judge::is_number(&plain(&cell.text))).count() > 1 {
            return false;
        }
        let widest = cells.iter().map(|cell| cell.rect.width()).fold(0.0, f32::max);
        let (ends, full) = (cells.len().saturating_sub(1), cells.iter().rev().skip(1));
        let full = full.filter(|cell| cell.rect.width() > 0.6 * widest).count();
        if ends > 0 {
            if full * 5 < ends * 3 {
                return false;
            }
            wrapped += 1;
        }
    }
    wrapped > 0
}

/// Whether the cells of a row only continue the text of the row above, given its lines so far: fewer cells, none of
/// them a number, and either an empty first column or text in lower case.
fn goes_on(above: &[Vec<PlacedLine>], here: &[PlacedLine], tight: bool) -> bool {
    let has =
        |column: usize| above.iter().flatten().any(|cell| (cell.column..cell.column + cell.span).contains(&column));
    let texts = here.iter().all(|cell| cell.span == 1 && !super::judge::is_number(&plain(&cell.text)));
    let over = here.iter().all(|cell| has(cell.column));
    let fewer = above.first().is_some_and(|first| here.len() < first.len());
    let first_empty = here.iter().all(|cell| cell.column > 0) && has(0);
    let starts_low = here.iter().all(|cell| plain(&cell.text).starts_with(|letter: char| !letter.is_uppercase()));
    over && fewer && texts && ((first_empty && (tight || starts_low)) || (tight && starts_low))
}
