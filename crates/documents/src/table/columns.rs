//! Tables without rules: text in columns.

use super::PlacedTable;
use super::cells::{Sheet, table};
use super::judge;
use crate::geometry::Rect;
use crate::layout::drawings::Drawings;
use crate::layout::line::{Line, Row, rows};

/// Maximum number of lines of one table.
const MAX_LINES: usize = 2000;
/// Maximum distance between rows of one table, in ems.
const FAR: f32 = 3.2;

/// Returns the tables among lines that are not running text, and removes their lines from the list.
pub(crate) fn find(lines: &mut Vec<Line>, prose: &[bool], scene: &Drawings<'_>) -> Vec<PlacedTable> {
    let free: Vec<usize> = (0..lines.len()).filter(|place| !prose[*place]).collect();
    let rows = rows(lines, &free);
    let mut found = Vec::new();
    let mut taken = vec![false; lines.len()];
    for run in runs(lines, &rows, prose) {
        let members: Vec<usize> = run.iter().flat_map(|row| row.lines.iter().copied()).collect();
        if members.len() > MAX_LINES {
            continue;
        }
        let here: Vec<Line> = members.iter().map(|place| lines[*place].clone()).collect();
        let rect = here.iter().fold(Rect::EMPTY, |rect, line| rect.union(&line.rect));
        if scene.figures.iter().any(|picture| picture.shared(&rect) > 0.3 * rect.area()) {
            continue;
        }
        let Some(table) = table(&Sheet { lines: &here, separators: &[], links: &scene.content.links }) else {
            continue;
        };
        let Some(order) = here.iter().map(|line| line.order).min() else { continue };
        if aligned(&here) && judge::columns(&table, false) {
            found.push(PlacedTable { rect, table, order, confidence: 0.6 });
            members.iter().for_each(|place| taken[*place] = true);
        }
    }
    let mut place = 0;
    lines.retain(|_| {
        place += 1;
        !taken[place - 1]
    });
    found
}

/// Returns runs of consecutive rows with several lines, which may have single lines between them.
fn runs<'a>(lines: &[Line], rows: &'a [Row], prose: &[bool]) -> Vec<&'a [Row]> {
    let mut out = Vec::new();
    let mut start = 0;
    while start < rows.len() {
        if rows[start].lines.len() < 2 {
            start += 1;
            continue;
        }
        let mut end = start;
        let mut last_full = start;
        // One row heading may stand between full rows. Rows after the last full one are no part of the run.
        while end + 1 < rows.len() && follows(lines, &rows[end], &rows[end + 1], prose) {
            end += 1;
            if rows[end].lines.len() >= 2 {
                last_full = end;
            } else if end - last_full > 1 || is_sentence(&lines[rows[end].lines[0]]) {
                break;
            }
        }
        out.push(&rows[start..=last_full]);
        start = last_full + 1;
    }
    out
}

/// Whether a line that is alone in its row is too long for a cell or a row heading.
fn is_sentence(line: &Line) -> bool {
    let caption = crate::structure::signs::is_caption(&line.text());
    // Seven words, or five that are set wide: 22 em hold about 45 letters.
    caption || line.words.len() >= 7 || (line.words.len() >= 5 && line.rect.width() > 22.0 * line.size)
}

fn follows(lines: &[Line], above: &Row, below: &Row, prose: &[bool]) -> bool {
    let size = above.lines.iter().map(|place| lines[*place].size).fold(0.0, f32::max);
    let between = |line: &Line| line.baseline > above.y1 - 0.5 * size && line.baseline < below.y0 + 0.5 * size;
    let rect = |row: &Row| row.lines.iter().fold(Rect::EMPTY, |rect, place| rect.union(&lines[*place].rect));
    let around = rect(above).union(&rect(below));
    let parted =
        lines.iter().zip(prose).any(|(line, prose)| *prose && between(line) && around.overlap_x(&line.rect) > 0.0);
    below.y0 - above.y1 < FAR * size && !parted && rect(above).overlap_x(&rect(below)) > 0.0
}

/// Whether at least three quarters of the lines share a left edge, right edge or centre with others.
fn aligned(lines: &[Line]) -> bool {
    // In points: columns are set exactly, but glyphs have side bearings of up to 2 points.
    let near = |a: f32, b: f32| (a - b).abs() < 2.5;
    let shared = |line: &&Line| {
        let edges = |line: &Line| [line.rect.x0, line.rect.x1, line.rect.center().x];
        lines.iter().any(|other| {
            (other.baseline - line.baseline).abs() > 0.5 * line.size
                && edges(line).iter().zip(edges(other)).any(|(a, b)| near(*a, b))
        })
    };
    lines.iter().filter(shared).count() * 4 >= lines.len() * 3
}
