//! Lines of justified text: their spaces are stretched, in narrow columns to many times the width of a space.

use super::blocks;
use super::line::{Line, remove, rows};

/// Maximum gap inside a line that begins and ends nearly where a neighbouring line does, in ems.
const GAP: f32 = 3.0;
/// Maximum gap inside a line that begins and ends exactly there, in ems.
const WIDEST_GAP: f32 = 24.0;
/// Maximum distance of edges that are nearly the same, and of edges that are the same, in ems.
const NEAR_EDGE: f32 = 0.6;
const SAME_EDGE: f32 = 0.25;
/// Maximum difference of sizes in a line, in points.
const SAME_SIZE: f32 = 0.5;
/// Maximum distance between two lines, as a share of the size.
const MAX_GAP: f32 = 0.9;
/// Minimum number of words, or of letters, of a line that is compared with.
const WORDS: usize = 4;
const LETTERS: usize = 24;
/// Number of rows above and below in which the left edges of columns are looked for.
const COLUMN_ROWS: usize = 3;
/// Maximum distance of the left edges of a column, in points.
const COLUMN_EDGE: f32 = 1.0;
/// Maximum number of parts of a line, and of lines of a row in which columns are looked for: the search is quadratic.
const MAX_PARTS: usize = 40;
const MAX_COMPARED: usize = 200;

/// Joins the parts of justified lines, where the line above or below is as long and has no gap.
pub(super) fn join(lines: &mut Vec<Line>) {
    let all: Vec<usize> = (0..lines.len()).collect();
    let mut rows: Vec<Vec<usize>> = rows(lines, &all).into_iter().map(|row| row.lines).collect();
    let mut gone = vec![false; lines.len()];
    // Downwards and upwards, as a joined line may help to join the next.
    let down = (1..rows.len()).map(|row| (row, row - 1));
    let up = (1..rows.len()).rev().map(|row| (row - 1, row));
    for (row, near) in down.chain(up).collect::<Vec<_>>() {
        if rows[row].len() < 2 {
            continue;
        }
        for whole in rows[near].clone() {
            let parts = parts_of(lines, &rows, row, whole);
            let [first, rest @ ..] = &parts[..] else { continue };
            for place in rest {
                let part = lines[*place].clone();
                lines[*first].merge(part);
                gone[*place] = true;
            }
            rows[row].retain(|place| !rest.contains(place));
        }
    }
    remove(lines, &gone);
}

/// Returns the lines of a row that together begin and end where a whole line does, or none.
fn parts_of(lines: &[Line], rows: &[Vec<usize>], row: usize, whole: usize) -> Vec<usize> {
    let whole = &lines[whole];
    let size = whole.size;
    let inside = |place: &&usize| {
        let line = &lines[**place];
        begin(line) > whole.rect.x0 - NEAR_EDGE * size && line.rect.x1 < whole.rect.x1 + NEAR_EDGE * size
    };
    let parts: Vec<usize> = rows[row].iter().filter(inside).copied().collect();
    let (Some(first), Some(last)) =
        (parts.first().map(|place| &lines[*place]), parts.last().map(|place| &lines[*place]))
    else {
        return Vec::new();
    };
    let is_long = whole.words.len() >= WORDS || whole.letters() >= LETTERS;
    let near = first.rect.overlap_y(&whole.rect) > -MAX_GAP * size;
    // A line after the first of an item begins where the text of the first does.
    let starts = [whole.rect.x0, begin(whole)];
    let shift = starts.iter().map(|start| (begin(first) - start).abs()).fold(f32::INFINITY, f32::min);
    let shift = shift.max((last.rect.x1 - whole.rect.x1).abs()) / size;
    if !(2..=MAX_PARTS).contains(&parts.len()) || !is_long || !near || shift >= NEAR_EDGE {
        return Vec::new();
    }
    let exact = shift < SAME_EDGE;
    let are_one = |pair: &[usize]| {
        let (left, right) = (&lines[pair[0]], &lines[pair[1]]);
        let gap = (right.rect.x0 - left.rect.x1) / size;
        let same = (left.size - right.size).abs() < SAME_SIZE && (left.size - size).abs() < SAME_SIZE;
        let alike = [left, right].iter().all(|line| blocks::SAME_SIZE.contains(&(line.size / size)));
        (same && gap < GAP) || (exact && alike && gap < WIDEST_GAP && !is_column(lines, rows, row, right))
    };
    if parts.windows(2).all(are_one) { parts } else { Vec::new() }
}

/// Returns the left edge of a line without the mark of its item.
fn begin(line: &Line) -> f32 {
    match &line.words[..] {
        [_, word, ..] if line.mark().is_some() => word.rect.x0,
        _ => line.rect.x0,
    }
}

/// Whether lines of the rows nearby begin where a line does, as those of a column do.
fn is_column(lines: &[Line], rows: &[Vec<usize>], row: usize, line: &Line) -> bool {
    let near = row.saturating_sub(COLUMN_ROWS)..(row + COLUMN_ROWS + 1).min(rows.len());
    let mut others = near.filter(|other| *other != row).flat_map(|other| rows[other].iter().take(MAX_COMPARED));
    others.any(|other| (lines[*other].rect.x0 - line.rect.x0).abs() < COLUMN_EDGE)
}
