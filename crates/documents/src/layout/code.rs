//! Lines of code: monospaced text, in which wide gaps are spaces.

use super::drawings::Drawings;
use super::line::{Line, rows};

/// Share of the width of all lines above which a page is mostly monospaced.
const MOSTLY: f32 = 0.6;
/// Maximum gap between two parts of a line of code without further evidence, in ems: four spaces.
const SPACES: f32 = 2.4;
/// Maximum distance of a line that runs across a gap, and so shows that no columns lie beside it, in ems.
const NEAR: f32 = 2.5;
/// Maximum difference of sizes in a line, in points.
const SAME_SIZE: f32 = 0.5;
/// Maximum distance of left edges that are the same, in points.
const SAME_EDGE: f32 = 3.0;

/// Returns for each line whether it is code. In text that is mostly monospaced the font does not indicate code.
pub(super) fn code(lines: &[Line], scene: &Drawings<'_>) -> Vec<bool> {
    let is_mono = |line: &Line| scene.content.styles.get(usize::from(line.style)).is_some_and(|style| style.mono);
    let mono: Vec<bool> = lines.iter().map(is_mono).collect();
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
    if !is_code.contains(&true) {
        return;
    }
    let code: Vec<usize> = (0..lines.len()).filter(|place| is_code[*place]).collect();
    let edges: Vec<f32> = (0..lines.len()).filter(|place| !is_code[*place]).map(|place| lines[place].rect.x0).collect();
    let mut gone = vec![false; lines.len()];
    for row in rows(lines, &code) {
        let mut first = row.lines[0];
        for next in row.lines.iter().skip(1).copied() {
            if are_one(lines, first, next, &code) && !edges.iter().any(|edge| is_at(lines, next, *edge)) {
                let part = lines[next].clone();
                lines[first].merge(part);
                gone[next] = true;
            } else {
                first = next;
            }
        }
    }
    let mut place = 0;
    lines.retain(|_| {
        place += 1;
        !gone[place - 1]
    });
}

/// Whether a line begins at an edge.
fn is_at(lines: &[Line], place: usize, edge: f32) -> bool {
    (lines[place].rect.x0 - edge).abs() < SAME_EDGE
}

/// Whether two lines of code at one height are parts of one line: they are a few spaces apart, or another line of code
/// nearby runs across the gap.
fn are_one(lines: &[Line], left: usize, right: usize, code: &[usize]) -> bool {
    let (left, right) = (&lines[left], &lines[right]);
    let (from, to) = (left.rect.x1, right.rect.x0);
    let level = (left.baseline - right.baseline).abs() < 0.3 * left.size;
    if !level || to <= from || (left.size - right.size).abs() > SAME_SIZE {
        return false;
    }
    let runs_across = |other: &Line| {
        let distance = (other.baseline - left.baseline).abs();
        other.rect.x0 < from && other.rect.x1 > to && distance < NEAR * left.size && distance > 0.3 * left.size
    };
    to - from < SPACES * left.size || code.iter().any(|place| runs_across(&lines[*place]))
}
