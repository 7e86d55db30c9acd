//! Lines of code: monospaced text, in which wide gaps are spaces.

use super::drawings::Drawings;
use super::line::{Line, remove, rows};
use super::words::Word;
use crate::geometry::Rect;

/// Share of the width of all lines above which a page is mostly monospaced.
const MOSTLY: f32 = 0.6;
/// Maximum share of letters of other fonts in a line of code.
const OTHER: f32 = 0.25;
/// Maximum gap between two parts of a line of code without further evidence, in ems: four spaces.
const SPACES: f32 = 2.4;
/// Maximum distance of a line that runs across a gap, and so shows that no columns lie beside it, in ems.
const NEAR: f32 = 2.5;
/// Maximum difference of sizes in a line, in points.
const SAME_SIZE: f32 = 0.5;
/// Maximum distance of left edges that are the same, in points.
const SAME_EDGE: f32 = 3.0;
/// Maximum number of lines of a page whose parts are joined; the search is quadratic.
const MAX_LINES: usize = 3000;

/// Whether a line is monospaced: not a line of text with names in it that are.
pub(super) fn is_mono(line: &Line, scene: &Drawings<'_>) -> bool {
    if !scene.is_mono(line.style) {
        return false;
    }
    let others = line.words.iter().filter(|word| !scene.is_mono(word.style));
    let other: usize = others.map(|word| word.text.chars().count()).sum();
    other as f32 <= OTHER * line.letters() as f32
}

/// Returns for each line whether it is code. In text that is mostly monospaced the font does not indicate code.
pub(super) fn code(lines: &[Line], scene: &Drawings<'_>) -> Vec<bool> {
    let mono: Vec<bool> = lines.iter().map(|line| is_mono(line, scene)).collect();
    let width = |line: &Line| line.rect.width();
    let code: f32 = lines.iter().zip(&mono).filter(|(_, mono)| **mono).map(|(line, _)| width(line)).sum();
    if code > MOSTLY * lines.iter().map(width).sum::<f32>() {
        return vec![false; lines.len()];
    }
    mono
}

/// Joins the parts of lines of code: columns of options, comments at the end of a line, numbers that are set in columns.
pub(super) fn join(lines: &mut Vec<Line>, scene: &Drawings<'_>) {
    let is_code = code(lines, scene);
    if !is_code.contains(&true) || lines.len() > MAX_LINES {
        return;
    }
    let code: Vec<usize> = (0..lines.len()).filter(|place| is_code[*place]).collect();
    let prose: Vec<Rect> = (0..lines.len()).filter(|place| !is_code[*place]).map(|place| lines[place].rect).collect();
    let mut gone = vec![false; lines.len()];
    for row in rows(lines, &code) {
        let mut first = row.lines[0];
        for next in row.lines.iter().skip(1).copied() {
            let (left, right) = (&lines[first], &lines[next]);
            if are_level(left, right)
                && (are_near(lines, left, right, &code) || follows(left, right))
                && !prose.iter().any(|line| is_edge(line, right))
            {
                let part = lines[next].clone();
                lines[first].merge(part);
                gone[next] = true;
            } else {
                first = next;
            }
        }
    }
    remove(lines, &gone);
}

/// Whether a line of text begins where the right part of a line of code does, as in columns.
fn is_edge(text: &Rect, right: &Line) -> bool {
    (text.x0 - right.rect.x0).abs() < SAME_EDGE
}

/// Whether two parts can be of one line.
fn are_level(left: &Line, right: &Line) -> bool {
    (left.baseline - right.baseline).abs() < 0.3 * left.size
        && right.rect.x0 > left.rect.x1
        && (left.size - right.size).abs() <= SAME_SIZE
}

/// Whether two parts are a few spaces apart, or another line of code nearby runs across the gap.
fn are_near(lines: &[Line], left: &Line, right: &Line, code: &[usize]) -> bool {
    let (from, to) = (left.rect.x1, right.rect.x0);
    let runs_across = |other: &Line| {
        let distance = (other.baseline - left.baseline).abs();
        other.rect.x0 < from && other.rect.x1 > to && distance < NEAR * left.size && distance > 0.3 * left.size
    };
    to - from < SPACES * left.size || code.iter().any(|place| runs_across(&lines[*place]))
}

/// Whether the right part was drawn directly after the left one.
fn follows(left: &Line, right: &Line) -> bool {
    let order = |word: Option<&Word>| word.map(|word| word.order).filter(|order| *order < u32::MAX);
    order(left.words.last()).is_some_and(|last| order(right.words.first()) == Some(last + 1))
}
