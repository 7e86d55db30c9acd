//! Grouping of lines into blocks: lines below each other that look like one text.
//!
//! A line continues a block only if no other line at its height could, and if it could continue no other block. So a
//! title over two columns ends where they begin, and each column is a separate block.

use super::code;
use super::drawings::Drawings;
use super::justified;
use super::line::{Line, Row, rows};
use crate::geometry::Rect;

/// Maximum gap inside a block, as a share of the size, unless the page is set with wider spacing.
const MAX_GAP: f32 = 1.05;
/// Maximum gap of widely spaced text, as a share of the size: text with two blank lines.
const WIDEST_GAP: f32 = 2.6;
/// Minimum number of gaps that show wide spacing, and how much they may differ, as a share of the size.
const MIN_WIDE: usize = 2;
const EVEN_GAP: f32 = 0.3;
/// Maximum number of lines of a block that may be labels of several rows, and maximum number of words of a label.
const LABEL_LINES: usize = 3;
const LABEL_WORDS: usize = 4;
/// Allowed ratio of sizes inside a block.
pub(super) const SAME_SIZE: std::ops::RangeInclusive<f32> = 0.78..=1.28;

/// Groups lines into blocks, each from top to bottom.
pub(crate) fn gather(lines: Vec<Line>, scene: &Drawings<'_>) -> Vec<Vec<Line>> {
    let mut lines = lines;
    justified::join(&mut lines);
    code::join(&mut lines, scene);
    let places = grouped(&lines, scene);
    let mut lines: Vec<Option<Line>> = lines.into_iter().map(Some).collect();
    places.into_iter().map(|block| block.into_iter().filter_map(|place| lines[place].take()).collect()).collect()
}

/// Returns for each line whether it is running text.
pub(crate) fn prose(lines: &[Line], scene: &Drawings<'_>) -> Vec<bool> {
    let mut prose = vec![false; lines.len()];
    for block in grouped(lines, scene) {
        let rect = around(lines, &block);
        let size = lines[block[0]].size;
        let wordy = block.iter().filter(|place| lines[**place].words.len() >= 4).count();
        let full = block.iter().filter(|place| lines[**place].rect.width() > 0.7 * rect.width()).count();
        // A block is prose with three lines or more, most of them wordy, half of them nearly full, and not too narrow.
        let text =
            block.len() >= 3 && wordy * 3 >= block.len() * 2 && full * 2 >= block.len() && rect.width() > 9.0 * size;
        for place in block {
            let long = lines[place].words.len() >= 9 && lines[place].rect.width() > 0.45 * scene.size.width;
            prose[place] = text || long;
        }
    }
    set_code(lines, scene, &mut prose);
    prose
}

/// Marks rows that are code throughout as prose, as the spaces in them make no columns.
fn set_code(lines: &[Line], scene: &Drawings<'_>, prose: &mut [bool]) {
    let is_code = code::code(lines, scene);
    if !is_code.contains(&true) {
        return;
    }
    let all: Vec<usize> = (0..lines.len()).collect();
    for row in rows(lines, &all) {
        if row.lines.iter().all(|place| is_code[*place]) {
            row.lines.iter().for_each(|place| prose[*place] = true);
        }
    }
}

fn around(lines: &[Line], places: &[usize]) -> Rect {
    places.iter().fold(Rect::EMPTY, |rect, place| rect.union(&lines[*place].rect))
}

/// Block under construction.
struct OpenBlock {
    places: Vec<usize>,
    rect: Rect,
    /// Index of its last line.
    last: usize,
}

fn grouped(lines: &[Line], scene: &Drawings<'_>) -> Vec<Vec<usize>> {
    let all: Vec<usize> = (0..lines.len()).collect();
    let mut blocks: Vec<OpenBlock> = Vec::new();
    let mut done: Vec<Vec<usize>> = Vec::new();
    let rows = rows(lines, &all);
    let most = usual_gap(lines, &rows);
    for row in &rows {
        let early = |block: &OpenBlock| lines[block.last].rect.y1 < row.y0 - 3.0 * lines[block.last].size.max(8.0);
        let (closed, open): (Vec<OpenBlock>, Vec<OpenBlock>) = blocks.into_iter().partition(early);
        done.extend(closed.into_iter().map(|block| block.places));
        blocks = open;
        let wanted: Vec<Vec<usize>> =
            row.lines.iter().map(|place| candidates(lines, *place, &blocks, &Look { scene, gap: most })).collect();
        for (index, place) in row.lines.iter().enumerate() {
            let alone = |block: usize| wanted.iter().filter(|other| other.contains(&block)).count() == 1;
            match wanted[index][..] {
                [only] if alone(only) => {
                    let block = &mut blocks[only];
                    block.places.push(*place);
                    block.rect = block.rect.union(&lines[*place].rect);
                    block.last = *place;
                }
                _ => blocks.push(OpenBlock { places: vec![*place], rect: lines[*place].rect, last: *place }),
            }
        }
    }
    done.extend(blocks.into_iter().map(|block| block.places));
    apart(lines, &rows, done)
}

/// Returns the maximum gap inside a block: more than usual where most lines of running text have the same wide gap.
fn usual_gap(lines: &[Line], rows: &[Row]) -> f32 {
    let right = lines.iter().map(|line| line.rect.x1).fold(0.0, f32::max);
    let mut gaps: Vec<f32> = Vec::new();
    let mut pairs = 0;
    for pair in rows.windows(2) {
        let ([above], [below]) = (&pair[0].lines[..], &pair[1].lines[..]) else { continue };
        let (above, below) = (&lines[*above], &lines[*below]);
        let wordy = above.words.len() >= 5 && above.rect.x1 > 0.8 * right && (above.size - below.size).abs() < 0.5;
        if !wordy || above.rect.overlap_x(&below.rect) <= 0.0 {
            continue;
        }
        pairs += 1;
        let gap = (below.rect.y0 - above.rect.y1) / above.size.max(0.1);
        // A line in the middle of a sentence continues the one above.
        let goes_on = below.words.first().is_some_and(|word| word.text.starts_with(char::is_lowercase));
        if goes_on && (MAX_GAP..WIDEST_GAP).contains(&gap) {
            gaps.push(gap);
        }
    }
    gaps.sort_by(f32::total_cmp);
    let Some(usual) = gaps.get(gaps.len() / 2).copied() else { return MAX_GAP };
    let even = gaps.iter().filter(|gap| (**gap - usual).abs() < EVEN_GAP).count();
    if even >= MIN_WIDE && 5 * even >= 2 * pairs { usual + EVEN_GAP } else { MAX_GAP }
}

/// Splits blocks of a few short lines with a single line beside them: labels of a form, whose rows belong together.
fn apart(lines: &[Line], rows: &[Row], blocks: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    let mut length = vec![0; lines.len()];
    for block in &blocks {
        block.iter().for_each(|place| length[*place] = block.len());
    }
    let mut beside = vec![false; lines.len()];
    for row in rows.iter().filter(|row| row.lines.len() > 1) {
        for place in &row.lines {
            let label =
                |other: &usize| other != place && length[*other] == 1 && is_alike(&lines[*place], &lines[*other]);
            beside[*place] = row.lines.iter().any(label);
        }
    }
    if !beside.contains(&true) {
        return blocks;
    }
    let body = super::body_size(lines);
    let is_label = |place: &usize| {
        let line = &lines[*place];
        let wrapped = line.words.first().is_some_and(|word| word.text.starts_with(char::is_lowercase));
        line.words.len() <= LABEL_WORDS && line.size < 1.1 * body && !wrapped
    };
    let split = |block: Vec<usize>| -> Vec<Vec<usize>> {
        let labels = (2..=LABEL_LINES).contains(&block.len()) && block.iter().all(is_label);
        if labels && block.iter().any(|place| beside[*place]) {
            return block.into_iter().map(|place| vec![place]).collect();
        }
        vec![block]
    };
    blocks.into_iter().flat_map(split).collect()
}

/// Whether two lines are set alike on one baseline.
fn is_alike(one: &Line, other: &Line) -> bool {
    (one.baseline - other.baseline).abs() < 0.5 && (one.size - other.size).abs() < 0.3 && one.style == other.style
}

/// Conditions of the grouping of lines, besides the lines themselves.
struct Look<'a> {
    scene: &'a Drawings<'a>,
    /// Maximum gap inside a block, as a share of the size.
    gap: f32,
}

/// Returns the blocks that a line could continue.
fn candidates(lines: &[Line], place: usize, blocks: &[OpenBlock], look: &Look<'_>) -> Vec<usize> {
    let line = &lines[place];
    let fits = |block: &OpenBlock| {
        let last = &lines[block.last];
        let gap = line.rect.y0 - last.rect.y1;
        let ratio = line.size / last.size.max(0.1);
        line.baseline > last.baseline + 0.3 * line.size.min(last.size)
            && gap < look.gap * line.size.min(last.size)
            && SAME_SIZE.contains(&ratio)
            && line.rect.overlap_x(&block.rect) > 0.2 * line.rect.width().min(block.rect.width())
            && !is_parted(&last.rect, &line.rect, look.scene)
    };
    (0..blocks.len()).filter(|block| fits(&blocks[*block])).collect()
}

/// Whether a rule is drawn between two lines of text.
fn is_parted(above: &Rect, below: &Rect, scene: &Drawings<'_>) -> bool {
    let (from, to) = (above.center().y, below.center().y);
    let edges = &scene.edges.across;
    let first = edges.partition_point(|edge| edge.at < from);
    edges[first..].iter().take_while(|edge| edge.at < to).any(|edge| {
        let shared = edge.to.min(below.x1.max(above.x1)) - edge.from.max(below.x0.min(above.x0));
        // A rule as long as the text above it, and close below it, is an underline.
        let underline = (edge.from - above.x0).abs() < 2.0 && edge.to <= above.x1 + 2.0 && edge.at < above.y1 + 1.5;
        shared > 20.0 && !underline
    })
}
