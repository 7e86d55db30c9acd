//! Tables with rules between groups of columns only.
//!
//! The cells of such a grid hold several columns, which are told by the gaps inside a group: most rows of a cell have
//! the same number of pieces, and a gap runs through all of them.

use super::cells::{Sheet, table as table_of_lines};
use super::grid::Lattice;
use super::judge;
use crate::content::page::LinkArea;
use crate::layout::line::{Line, rows};
use crate::model::Table;

/// Minimum number of rows that show the columns of a group.
const MIN_ROWS: usize = 3;

/// Returns the table of a net whose cells hold groups of columns; `None` for every other net.
pub(super) fn table<'a>(
    net: &Lattice,
    cells: impl Iterator<Item = &'a [Line]> + Clone,
    links: &[LinkArea],
) -> Option<Table> {
    if !cells.clone().any(is_group) {
        return None;
    }
    let lines: Vec<Line> = cells.flatten().cloned().collect();
    let found = table_of_lines(&Sheet { lines: &lines, separators: &net.ys, links })?;
    (found.columns > net.xs.len() - 1 && judge::columns(&found, true)).then_some(found)
}

/// Whether a cell holds several columns of numbers.
fn is_group(lines: &[Line]) -> bool {
    let all: Vec<usize> = (0..lines.len()).collect();
    let rows = rows(lines, &all);
    let most = rows.iter().map(|row| row.lines.len()).max().unwrap_or(0);
    if most < 2 || rows.len() < MIN_ROWS {
        return false;
    }
    // Four of five rows have all columns, and as many of their pieces are numbers.
    let full: Vec<_> = rows.iter().filter(|row| row.lines.len() == most).collect();
    let numbers = full.iter().flat_map(|row| &row.lines).filter(|place| judge::is_number(&lines[**place].text()));
    full.len() * 5 >= rows.len() * 4
        && full.len() >= MIN_ROWS
        && numbers.count() * 5 >= full.len() * most * 4
        && (1..most)
            .all(|piece| is_gutter(lines, &full.iter().map(|row| row.lines.as_slice()).collect::<Vec<_>>(), piece))
}

/// Whether a gap runs down before the piece with this index of all rows.
fn is_gutter(lines: &[Line], rows: &[&[usize]], piece: usize) -> bool {
    let left = rows.iter().map(|row| lines[row[piece - 1]].rect.x1).fold(f32::NEG_INFINITY, f32::max);
    let right = rows.iter().map(|row| lines[row[piece]].rect.x0).fold(f32::INFINITY, f32::min);
    left < right
}
