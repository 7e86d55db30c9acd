//! Page furniture: headers, footers and page numbers.
//!
//! Text in the margin of several pages at the same height with the same words, except digits, is furniture, and is left
//! out of the document's text. On a single page the position alone indicates furniture, and then its text is kept.

use std::collections::HashMap;

use super::Body;
use super::signs::is_page_number;
use crate::geometry::Rect;
use crate::layout::paragraphs::Paragraph;
use crate::layout::text::plain;
use crate::layout::{LayoutPart, PageLayout};
use crate::model::BlockKind;

/// Share of the page height that counts as margin at the top and the bottom.
const MARGIN: f32 = 0.14;
/// Margin for page numbers that are the outermost text of their pages: sheets are often higher than the layout was made for.
const NUMBER_MARGIN: f32 = 0.2;
/// Margin for text that does not repeat, as a share of the page height.
const NARROW_MARGIN: f32 = 0.085;
/// Ratio to the size of running text above which text is a title.
const LARGE: f32 = 1.4;
/// Maximum number of lines of furniture.
const MAX_LINES: usize = 4;
/// Text of several lines that is on fewer than one of this many pages is a note, not furniture.
const FEW: usize = 10;
/// Tolerance of the position from page to page, as a share of the page height.
const SAME_HEIGHT: f32 = 0.02;

/// Parts that are furniture, with their kind and whether they repeat.
pub(crate) struct Furniture(HashMap<(usize, usize), (BlockKind, bool)>);

impl Furniture {
    pub(crate) fn of(layouts: &[PageLayout], body: &Body) -> Self {
        let mut found = HashMap::new();
        let candidates = candidates(layouts, body);
        let mut pages: HashMap<(&str, bool, i32), Vec<usize>> = HashMap::new();
        for candidate in &candidates {
            let on = pages.entry(candidate.key(0)).or_default();
            if on.last() != Some(&candidate.page) {
                on.push(candidate.page);
            }
        }
        // Text repeats if the same words, at nearly the same height, are on another page at most two pages away (left
        // and right pages may differ), and on three pages in all unless the document is short.
        for candidate in &candidates {
            let alike = || (-1..=1).filter_map(|step| pages.get(&candidate.key(step)));
            let repeats = alike().map(Vec::len).sum::<usize>();
            let is_near = |other: &usize| *other != candidate.page && other.abs_diff(candidate.page) <= 2;
            let first = |on: &Vec<usize>| on.partition_point(|page| page + 2 < candidate.page);
            let is_first = candidate.page == alike().filter_map(|on| on.first().copied()).min().unwrap_or(0);
            let near = alike().any(|on| on[first(on)..].iter().take(5).any(is_near));
            // A longer text on a few pages of many is a note below their tables.
            let is_note = candidate.lines > 1 && repeats * FEW < layouts.len();
            // Large text is a title, which is furniture only where it repeats on most pages, after the first of them.
            let is_title = candidate.large && !(repeats >= 3 && repeats * 2 > layouts.len() && !is_first);
            if repeats >= 2 && near && !is_note && !is_title && (repeats >= 3 || layouts.len() <= 8) {
                found.insert((candidate.page, candidate.part), (candidate.kind(), true));
            }
        }
        for (page, layout) in layouts.iter().enumerate() {
            for (part, kind) in alone(layout, body) {
                let marked = layouts.len() > 1 && is_artifact(&layout.parts[part]);
                found.entry((page, part)).or_insert((kind, marked));
            }
        }
        let mut furniture = Self(found);
        furniture.spare_whole_pages(layouts);
        furniture
    }

    /// Keeps repeated text if it is the only text of a page.
    fn spare_whole_pages(&mut self, layouts: &[PageLayout]) {
        for (page, layout) in layouts.iter().enumerate() {
            let repeats = |part: usize| matches!(self.get(page, part), Some((_, true)));
            let rest = layout.parts.iter().enumerate().any(|(part, _)| !repeats(part));
            if !rest {
                let words = |part: &usize| !matches!(self.get(page, *part), Some((BlockKind::PageNumber, _)));
                let all = 0..layout.parts.len();
                let only_numbers = !all.clone().any(|part| words(&part));
                let spared: Vec<usize> = all.filter(|part| only_numbers || words(part)).collect();
                for part in spared {
                    self.0.remove(&(page, part));
                }
            }
        }
    }

    pub(crate) fn get(&self, page: usize, part: usize) -> Option<(BlockKind, bool)> {
        self.0.get(&(page, part)).copied()
    }
}

/// Text in a margin.
struct Candidate {
    page: usize,
    part: usize,
    /// Words of the text, with every number replaced by `#` unless it is large.
    words: String,
    number: bool,
    lines: usize,
    /// Whether it is much larger than running text.
    large: bool,
    top: bool,
    /// Vertical position as a share of the page height.
    y: f32,
}

impl Candidate {
    /// Returns the properties that repeated text has in common, at its own height or a neighbouring step.
    fn key(&self, step: i32) -> (&str, bool, i32) {
        let words = if self.number { "#" } else { self.words.as_str() };
        (words, self.top, (self.y / SAME_HEIGHT).round() as i32 + step)
    }

    fn kind(&self) -> BlockKind {
        match (self.number, self.top) {
            (true, _) => BlockKind::PageNumber,
            (false, true) => BlockKind::PageHeader,
            (false, false) => BlockKind::PageFooter,
        }
    }
}

fn candidates(layouts: &[PageLayout], body: &Body) -> Vec<Candidate> {
    let mut out = Vec::new();
    for (page, layout) in layouts.iter().enumerate() {
        for (part, paragraph) in paragraphs(layout) {
            let y = paragraph.rect.center().y / layout.height.max(1.0);
            let is_within = |margin: f32| !(margin..=1.0 - margin).contains(&y);
            if !is_within(NUMBER_MARGIN) || paragraph.lines > MAX_LINES {
                continue;
            }
            let text = plain(&paragraph.inline);
            let (number, top) = (is_page_number(&text), y < 0.5);
            if is_within(MARGIN) || (number && is_outermost(layout, part, top)) {
                let (lines, large) = (paragraph.lines, paragraph.size >= LARGE * body.size);
                // The numbers of large text tell headings apart, such as `Chapter 7`.
                let words = if large { text } else { without_numbers(&text) };
                out.push(Candidate { page, part, words, number, lines, large, top, y });
            }
        }
    }
    out
}

fn paragraphs(layout: &PageLayout) -> impl Iterator<Item = (usize, &Paragraph)> {
    layout.parts.iter().enumerate().filter_map(|(place, part)| match part {
        LayoutPart::Paragraph(paragraph) => Some((place, paragraph)),
        _ => None,
    })
}

/// Whether no other part lies beyond one, at the top or the bottom of a page.
fn is_outermost(layout: &PageLayout, part: usize, top: bool) -> bool {
    let rect = layout.parts[part].rect();
    let mut others = layout.parts.iter().enumerate().filter(|(place, _)| *place != part).map(|(_, part)| part.rect());
    others.all(|other| if top { other.y0 >= rect.y1 } else { other.y1 <= rect.y0 })
}

fn without_numbers(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars().filter(|letter| !letter.is_whitespace()) {
        let letter = if letter.is_ascii_digit() { '#' } else { letter };
        if letter != '#' || !out.ends_with('#') {
            out.push(letter);
        }
    }
    out
}

fn is_artifact(part: &LayoutPart) -> bool {
    matches!(part, LayoutPart::Paragraph(paragraph) if paragraph.artifact)
}

/// Returns furniture by position alone: above or below everything else, separate from it, and not larger.
fn alone(layout: &PageLayout, body: &Body) -> Vec<(usize, BlockKind)> {
    let mut out = Vec::new();
    for (part, paragraph) in paragraphs(layout) {
        let rect = paragraph.rect;
        let height = layout.height.max(1.0);
        let top = rect.y1 / height < NARROW_MARGIN;
        let bottom = rect.y0 / height > 1.0 - NARROW_MARGIN;
        let short = paragraph.lines <= 2 && paragraph.size < 1.25 * body.size;
        if !(top || bottom) || !short || !is_apart(layout, part, &rect, top, paragraph.size) {
            continue;
        }
        let number = is_page_number(&plain(&paragraph.inline));
        let kind = match (number, top) {
            (true, _) => BlockKind::PageNumber,
            (false, true) => BlockKind::PageHeader,
            (false, false) => BlockKind::PageFooter,
        };
        out.push((part, kind));
    }
    out
}

/// Whether nothing lies beyond it except at its own height, and there is a gap to the rest of the page.
fn is_apart(layout: &PageLayout, part: usize, rect: &Rect, top: bool, size: f32) -> bool {
    let others = layout.parts.iter().enumerate().filter(|(place, _)| *place != part).map(|(_, part)| part.rect());
    let margin = |other: &Rect| other.overlap_y(rect) > 0.0;
    let gap =
        others.filter(|other| !margin(other)).map(|other| if top { other.y0 - rect.y1 } else { rect.y0 - other.y1 });
    let outside = |gap: f32| gap < 0.0;
    let gaps: Vec<f32> = gap.filter(|gap| !outside(*gap) || gap.abs() > 3.0 * size).collect();
    let nearest = gaps.iter().copied().filter(|gap| *gap >= 0.0).fold(f32::INFINITY, f32::min);
    nearest > 0.6 * size
}
