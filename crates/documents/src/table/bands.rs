//! Tables between rules, or of shaded bands, of equal width.

use super::PlacedTable;
use super::cells::{Sheet, table};
use super::edges::Edge;
use super::judge;
use crate::content::page::Fill;
use crate::geometry::Rect;
use crate::layout::drawings::Drawings;
use crate::layout::line::Line;

/// Tolerance for the ends of the rules of one table, in points.
const SAME_END: f32 = 6.0;
/// Minimum width of a table, in points.
const NARROWEST: f32 = 60.0;
/// Maximum height of a band that shades a row rather than a column of a page, in points.
const HIGHEST_BAND: f32 = 120.0;

/// Maximum number of attempts to read a table on one page.
const MAX_TRIES: usize = 250;
/// Maximum number of lines of text in one table.
const MAX_LINES: usize = 2000;

/// Rules and bands of equal width, from top to bottom.
#[derive(Debug)]
struct Stack {
    x0: f32,
    x1: f32,
    ys: Vec<f32>,
    /// Whether the last position is the lower side of a band.
    ends_in_band: bool,
}

/// Returns the tables between rules and bands, and removes their lines of text from the list.
pub(crate) fn find(scene: &Drawings<'_>, lines: &mut Vec<Line>) -> Vec<PlacedTable> {
    let mut found = Vec::new();
    let mut tries = MAX_TRIES;
    for stack in stacks(&scene.edges.across, &scene.fills) {
        found.extend(read_tables(&stack, scene, lines, &mut tries));
    }
    found
}

fn stacks(across: &[Edge], fills: &[Fill]) -> Vec<Stack> {
    let bands = fills.iter().filter(|fill| !fill.white && fill.rect.height() <= HIGHEST_BAND);
    let sides = bands.flat_map(|fill| {
        let Rect { x0, y0, x1, y1 } = fill.rect;
        [Edge { at: y0, from: x0, to: x1 }, Edge { at: y1, from: x0, to: x1 }]
    });
    let bands = merged_bands(sides.collect()).into_iter().map(|edge| (edge, true));
    let mut edges: Vec<(Edge, bool)> = across.iter().map(|edge| (*edge, false)).chain(bands).collect();
    edges.retain(|(edge, _)| edge.length() >= NARROWEST);
    edges.sort_by(|a, b| a.0.at.total_cmp(&b.0.at));
    let mut stacks: Vec<Stack> = Vec::new();
    for (edge, band) in edges {
        let same =
            |stack: &&mut Stack| (stack.x0 - edge.from).abs() <= SAME_END && (stack.x1 - edge.to).abs() <= SAME_END;
        match stacks.iter_mut().find(same) {
            Some(stack) => {
                stack.ys.push(edge.at);
                stack.ends_in_band = band;
            }
            None => stacks.push(Stack { x0: edge.from, x1: edge.to, ys: vec![edge.at], ends_in_band: band }),
        }
    }
    // The distance of two lines of small print; less is a double rule. Wide stacks come first, as a narrow one may be a
    // group of columns inside.
    stacks.retain(|stack| stack.ys.last().is_some_and(|last| last - stack.ys[0] > 8.0));
    stacks.sort_by(|a, b| (b.x1 - b.x0).total_cmp(&(a.x1 - a.x0)));
    stacks
}

/// Merges bands that are drawn cell by cell.
fn merged_bands(mut sides: Vec<Edge>) -> Vec<Edge> {
    sides.sort_by(|a, b| a.at.total_cmp(&b.at).then(a.from.total_cmp(&b.from)));
    let mut out: Vec<Edge> = Vec::new();
    for side in sides {
        match out.last_mut().filter(|last| (last.at - side.at).abs() < 1.5 && side.from <= last.to + 4.0) {
            Some(last) => last.to = last.to.max(side.to),
            None => out.push(side),
        }
    }
    out
}

/// Reads the tables of a stack: everything between its rules belongs together unless running text comes between.
fn read_tables(stack: &Stack, scene: &Drawings<'_>, lines: &mut Vec<Line>, tries: &mut usize) -> Vec<PlacedTable> {
    let mut found = Vec::new();
    let mut start = 0;
    while start + 1 < stack.ys.len() && *tries > 0 {
        let area = |end: usize| Rect { x0: stack.x0, y0: stack.ys[start], x1: stack.x1, y1: stack.ys[end] };
        let reach = (start + 1..stack.ys.len())
            .take_while(|end| !has_prose(&Rect { y0: stack.ys[end - 1], ..area(*end) }, lines))
            .last();
        // The largest extent is tried first, as a table extends as far as it stays one.
        let best = reach.and_then(|reach| {
            (start + 1..=reach).rev().take_while(|_| std::mem::replace(tries, tries.saturating_sub(1)) > 0).find_map(
                |end| {
                    let mut area = with_header(&area(end), lines);
                    if stack.ends_in_band && end + 1 == stack.ys.len() {
                        area = with_last_row(&area, lines);
                    }
                    is_table(stack, &area, scene, lines).map(|table| (end, area, table))
                },
            )
        });
        match best {
            Some((end, area, table)) => {
                found.push(table);
                lines.retain(|line| !inside(&area, line));
                start = end + 1;
            }
            None => start = reach.unwrap_or(start + 1).max(start + 1),
        }
    }
    found
}

/// Whether the area contains running text: lines that are alone at their height and nearly as long as the table is
/// wide.
fn has_prose(area: &Rect, lines: &[Line]) -> bool {
    let here: Vec<&Line> = lines.iter().filter(|line| inside(area, line)).collect();
    let alone =
        |line: &Line| here.iter().filter(|other| other.rect.overlap_y(&line.rect) > 0.4 * line.size).count() == 1;
    // Six words over six tenths of the width are no cell, unless something stands beside them.
    let long = |line: &&&Line| line.words.len() >= 6 && line.rect.width() > 0.6 * area.width() && alone(line);
    // Text that runs over the sides of the table belongs to the page around it.
    let outside = |line: &&Line| {
        let middle = line.baseline - 0.3 * line.size;
        let level = area.y0 <= middle && middle <= area.y1;
        level
            && (line.rect.x0 < area.x0 - 12.0 || line.rect.x1 > area.x1 + 12.0)
            && line.rect.overlap_x(area) > 0.5 * area.width()
    };
    here.iter().filter(long).count() >= 1 || lines.iter().any(|line| outside(&line))
}

/// Extends an area by rows right above it that are in columns too, as the header over bands is often not shaded.
fn with_header(area: &Rect, lines: &[Line]) -> Rect {
    let mut area = *area;
    // Headers have up to four lines.
    for _ in 0..4 {
        let near = |line: &&Line| {
            let gap = area.y0 - line.rect.y1;
            (-0.6 * line.size..1.1 * line.size).contains(&gap)
                && line.baseline <= area.y0 + 0.2 * line.size
                && line.rect.x0 >= area.x0 - 4.0
                && line.rect.x1 <= area.x1 + 4.0
        };
        let row: Vec<&Line> = lines.iter().filter(near).collect();
        let short = row.iter().all(|line| line.rect.width() < 0.45 * area.width());
        if row.len() < 2 || !short {
            break;
        }
        area.y0 = row.iter().map(|line| line.rect.y0).fold(area.y0, f32::min);
    }
    area
}

/// Extends an area by a row right below it that is in columns too: if every other row is shaded, the last one may not
/// be.
fn with_last_row(area: &Rect, lines: &[Line]) -> Rect {
    let near = |line: &&Line| {
        let gap = line.rect.y0 - area.y1;
        let within = line.rect.x0 >= area.x0 - 4.0 && line.rect.x1 <= area.x1 + 4.0;
        (-0.3 * line.size..0.9 * line.size).contains(&gap) && line.baseline > area.y1 && within
    };
    let row: Vec<&Line> = lines.iter().filter(near).collect();
    let short = row.iter().all(|line| line.rect.width() < 0.45 * area.width());
    if row.len() < 2 || !short {
        return *area;
    }
    Rect { y1: row.iter().map(|line| line.rect.y1).fold(area.y1, f32::max), ..*area }
}

fn inside(area: &Rect, line: &Line) -> bool {
    let x = line.rect.center().x;
    // The middle of the small letters, which no accent or descender moves.
    let middle = line.baseline - 0.3 * line.size;
    area.x0 - 3.0 <= x && x <= area.x1 + 3.0 && area.y0 <= middle && middle <= area.y1
}

fn is_table(stack: &Stack, area: &Rect, scene: &Drawings<'_>, lines: &[Line]) -> Option<PlacedTable> {
    let here: Vec<Line> = lines.iter().filter(|line| inside(area, line)).cloned().collect();
    let sticks_out = |line: &Line| line.rect.x0 < area.x0 - 12.0 || line.rect.x1 > area.x1 + 12.0;
    if !(4..=MAX_LINES).contains(&here.len()) || here.iter().any(sticks_out) {
        return None;
    }
    let partial = scene.edges.across.iter().filter(|edge| edge.from >= area.x0 - 4.0 && edge.to <= area.x1 + 4.0);
    let separators: Vec<f32> = stack.ys.iter().copied().chain(partial.map(|edge| edge.at)).collect();
    // Text in two columns of a page has long lines side by side.
    let prose = here.iter().filter(|line| line.words.len() >= 6 && line.rect.width() > 0.38 * area.width()).count();
    let framed = stack.ys.iter().filter(|y| area.y0 - 1.0 <= **y && **y <= area.y1 + 1.0).count() >= 3;
    if prose * 3 > here.len() && !framed {
        return None;
    }
    let table = table(&Sheet { lines: &here, separators: &separators, links: &scene.content.links })?;
    let order = here.iter().map(|line| line.order).min()?;
    judge::columns(&table, true).then_some(PlacedTable { rect: *area, table, order, confidence: 0.85 })
}
