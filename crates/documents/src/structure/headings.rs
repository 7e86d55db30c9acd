//! Headings: text that is set apart from running text.
//!
//! A heading is larger than the running text, or bold where that is not, or listed in the outline. Its level is the
//! rank of its look among the looks of all headings, the largest first.

use std::collections::HashMap;

use super::Body;
use super::furniture::Furniture;
use super::outline::Outline;
use super::signs::{is_caption, is_formula, number_depth};
use crate::layout::leaders::LEADER;
use crate::layout::paragraphs::Paragraph;
use crate::layout::text::plain;
use crate::layout::{LayoutPart, PageLayout};
use crate::model::BlockKind;

/// Maximum length of a heading, in characters.
const MAX_LETTERS: usize = 220;
/// Maximum number of lines of a heading.
const MAX_LINES: usize = 4;
// Sizes are steps in nearly all documents: 11 to 12 points is 1.09, 12 to 14 is 1.17, 10 to 12 is 1.2. A ratio of 1.13
// leaves out text that is a step larger than the rest, such as an abstract. Bold text needs only what rounding cannot
// explain.

/// Minimum ratio of a heading's size to that of running text.
const LARGER: f32 = 1.13;
/// Minimum ratio for bold text.
const LARGER_BOLD: f32 = 1.03;
/// Number of heading levels.
const LEVELS: usize = 6;
/// A look is rare if fewer than one in this many headings have it.
const RARE: usize = 60;
/// Minimum ratio of a bold heading's size to that of running text.
const SMALLER_BOLD: f32 = 0.7;

/// Parts that are headings, with their kind and level.
pub(crate) struct Headings(HashMap<(usize, usize), (BlockKind, u8)>);

/// Heading that was found: its place, as page and part, and its style.
#[derive(Clone, Copy)]
struct Heading {
    place: (usize, usize),
    style: HeadingStyle,
}

/// Style of a heading: its size in quarters of a point, whether it is bold, and whether it is in capitals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct HeadingStyle {
    size: i32,
    bold: bool,
    capitals: bool,
}

impl Headings {
    pub(crate) fn of(layouts: &[PageLayout], furniture: &Furniture, body: &Body, outline: &Outline) -> Self {
        let mut found: Vec<Heading> = Vec::new();
        for (page, layout) in layouts.iter().enumerate() {
            for (part, paragraph) in paragraphs(layout) {
                let context = Context { layout, part, paragraph, body };
                if furniture.get(page, part).is_none() && context.is_heading(outline) {
                    found.push(Heading { place: (page, part), style: context.style() });
                }
            }
        }
        let levels = levels(&found);
        let mut headings: HashMap<_, _> = found
            .iter()
            .map(|heading| (heading.place, (BlockKind::Heading, levels.get(&heading.style).copied().unwrap_or(6))))
            .collect();
        if let Some(title) = title(&found, layouts) {
            headings.entry(title).and_modify(|heading| heading.0 = BlockKind::Title);
        }
        Self(headings)
    }

    pub(crate) fn get(&self, page: usize, part: usize) -> Option<(BlockKind, u8)> {
        self.0.get(&(page, part)).copied()
    }
}

fn paragraphs(layout: &PageLayout) -> impl Iterator<Item = (usize, &Paragraph)> {
    layout.parts.iter().enumerate().filter_map(|(place, part)| match part {
        LayoutPart::Paragraph(paragraph) => Some((place, paragraph)),
        _ => None,
    })
}

/// Returns the level of each look: the rank of its size, and then of its other properties. If there are more ranks than
/// levels, the most frequent ranks define the levels, and every other one gets the level of the next rank below, as
/// covers and samples contain many looks.
fn levels(found: &[Heading]) -> HashMap<HeadingStyle, u8> {
    let ranks = ranks(found);
    let mut order: Vec<usize> = (0..ranks.len()).collect();
    order.sort_by_key(|rank| std::cmp::Reverse(ranks[*rank].len()));
    // Up to six ranks all count. Of more, only those of at least two headings and of one heading in sixty.
    let enough = |rank: &usize| ranks.len() <= LEVELS || ranks[*rank].len() >= (found.len() / RARE).max(2);
    let kept: Vec<usize> = order.into_iter().take(LEVELS).filter(enough).collect();
    let mut levels = HashMap::new();
    for (place, looks) in ranks.iter().enumerate() {
        // Ranks are ordered from the largest look, so a rank that is not kept takes the level of the next smaller one.
        let above = kept.iter().filter(|rank| **rank < place).count();
        let level = (above + 1).min(kept.len()).max(1) as u8;
        levels.extend(looks.iter().map(|look| (*look, level)));
    }
    levels
}

/// Returns the looks of all headings, the largest first. Looks that differ only by rounding are grouped.
fn ranks(found: &[Heading]) -> Vec<Vec<HeadingStyle>> {
    let mut looks: Vec<HeadingStyle> = found.iter().map(|heading| heading.style).collect();
    looks.sort_by(|a, b| b.cmp(a));
    let mut ranks: Vec<Vec<HeadingStyle>> = Vec::new();
    for look in looks {
        // Sizes are in quarters of a point: producers round them differently from page to page.
        let same = |last: &HeadingStyle| {
            (last.size - look.size).abs() <= 1 && last.bold == look.bold && last.capitals == look.capitals
        };
        match ranks.last_mut() {
            Some(rank) if rank.last().is_some_and(same) => rank.push(look),
            _ => ranks.push(vec![look]),
        }
    }
    ranks
}

/// Returns the title: the largest heading, if it is on the first page and no other is as large.
fn title(found: &[Heading], layouts: &[PageLayout]) -> Option<(usize, usize)> {
    let by_size = |a: &&Heading, b: &&Heading| a.style.size.cmp(&b.style.size).then(b.place.cmp(&a.place));
    let Heading { place: (page, part), style } = *found.iter().max_by(by_size)?;
    let alone = found.iter().filter(|other| other.style.size >= style.size - 1).count() == 1;
    let rect = layouts.get(page)?.parts.get(part)?.rect();
    // In the upper half of the page; a document of one page has no title page.
    (page == 0 && alone && layouts.len() > 1 && rect.y0 < 0.45 * layouts[page].height).then_some((page, part))
}

/// Paragraph in its context.
struct Context<'a> {
    layout: &'a PageLayout,
    part: usize,
    paragraph: &'a Paragraph,
    body: &'a Body,
}

impl Context<'_> {
    fn style(&self) -> HeadingStyle {
        let text = plain(&self.paragraph.inline);
        HeadingStyle {
            size: (self.paragraph.size * 4.0).round() as i32,
            bold: self.paragraph.bold,
            capitals: is_capitals(&text),
        }
    }

    fn is_heading(&self, outline: &Outline) -> bool {
        let Paragraph { size, bold, lines, letters, .. } = *self.paragraph;
        let text = plain(&self.paragraph.inline);
        let text = text.trim();
        if lines > MAX_LINES || !(2..=MAX_LETTERS).contains(&letters) || !can_be(text) {
            return false;
        }
        if is_caption(text) || is_formula(text) || self.is_item() {
            return false;
        }
        // The author says so. Whole paragraphs are tagged by mistake.
        if self.paragraph.tagged && !is_sentence(text, lines) {
            return true;
        }
        // The outline says so, and the text looks a little like it: outlines also list figures and plain paragraphs.
        if outline.depth(text).is_some() && (bold || size > 1.02 * self.body.size || number_depth(text).is_some()) {
            return true;
        }
        // Then size decides, except for sentences (a lead is larger too) and code; text of medium size must also be
        // bold or short.
        let ratio = size / self.body.size.max(0.1);
        let mono = self.paragraph.mono && !self.body.mono;
        if ratio >= LARGER {
            let set_off = bold || lines <= 2 || ratio > 1.5;
            return !is_sentence(text, lines) && set_off && (!mono || (bold && lines == 1));
        }
        // Not larger: bold decides, where running text is not bold itself.
        if mono || self.body.bold || !bold || is_sentence(text, lines) {
            return self.is_plain_heading(text, ratio);
        }
        ratio >= LARGER_BOLD || (ratio >= SMALLER_BOLD && lines <= 3 && !is_label(text) && self.leads())
    }

    /// Whether it is a heading that is neither larger nor bold: numbered, in capitals or in another font, alone on its
    /// line, and followed by text.
    fn is_plain_heading(&self, text: &str, ratio: f32) -> bool {
        let short = self.paragraph.lines == 1 && self.paragraph.letters <= 60 && !text.ends_with(['.', ':', ',', ';']);
        let numbered = number_depth(text).is_some_and(|depth| depth >= 2);
        let capitals = is_capitals(text) && text.split_whitespace().count() >= 2;
        // More than the distance of lines, which is 0.2 em beyond the letters.
        let apart = self.paragraph.above > 0.45 * self.paragraph.size;
        let face = !self.body.faces.is_empty() && !self.body.faces.contains(&self.paragraph.face);
        let opens = text.starts_with(|letter: char| letter.is_uppercase() || letter.is_ascii_digit());
        let other = face && opens && self.heads_text();
        let told = numbered || capitals || other;
        let large = ratio >= 0.95 || (numbered && ratio >= SMALLER_BOLD);
        !self.paragraph.mono && large && short && told && apart && self.leads()
    }

    /// Whether it is one of several list items.
    fn is_item(&self) -> bool {
        let Some(mark) = &self.paragraph.mark else { return false };
        let near = [self.part.checked_sub(1), Some(self.part + 1)].into_iter().flatten();
        let items = near.filter_map(|place| self.layout.parts.get(place)).filter(|part| {
            matches!(
                part,
                LayoutPart::Paragraph(other)
                    if other.mark.is_some() && (other.size - self.paragraph.size).abs() < 0.3
            )
        });
        crate::layout::line::is_bullet(mark)
            || (items.count() > 0 && self.paragraph.size < LARGER * self.body.size && !self.paragraph.bold)
    }

    /// Whether longer text in a font of running text follows it.
    fn heads_text(&self) -> bool {
        let Some(LayoutPart::Paragraph(next)) = self.layout.parts.get(self.part + 1) else { return false };
        let below = next.rect.y1 > self.paragraph.rect.y1 && next.rect.overlap_x(&self.paragraph.rect) > 0.0;
        below && self.body.faces.contains(&next.face) && next.letters > 2 * self.paragraph.letters
    }

    /// Whether what follows can be its text: anything but more bold text of the same size. At the end of a page its
    /// text may be on the next one.
    fn leads(&self) -> bool {
        match self.layout.parts.get(self.part + 1) {
            Some(LayoutPart::Paragraph(next)) => !(next.bold && next.size == self.paragraph.size && next.lines > 2),
            Some(_) => true,
            None => true,
        }
    }
}

/// Whether the text only introduces what follows.
fn is_label(text: &str) -> bool {
    text.ends_with(',') || (text.ends_with(':') && text.split_whitespace().count() > 7)
}

/// Whether the text contains a word and is not an address.
fn can_be(text: &str) -> bool {
    let letters = text.chars().filter(|letter| letter.is_alphabetic()).count();
    letters >= 2
        && letters * 3 >= text.chars().filter(|letter| !letter.is_whitespace()).count()
        && !text.contains("://")
        && !text.contains(LEADER)
}

/// Whether the text ends like a sentence and is as long as one, or breaks off in the middle of one.
fn is_sentence(text: &str, lines: usize) -> bool {
    const OPEN: [&str; 16] =
        ["the", "of", "and", "to", "a", "an", "in", "for", "with", "that", "is", "are", "or", "by", "as", "at"];
    let words = text.split_whitespace().count();
    let last = text.split_whitespace().next_back().unwrap_or_default();
    // Short headings may end with a full stop ("1. Scope."), long ones do not. The words with which
    // a sentence breaks off are English only.
    let ends = text.ends_with(['.', ';', ',']) && (words > 6 || lines > 1);
    ends || words > 28 || (words > 4 && OPEN.contains(&last))
}

fn is_capitals(text: &str) -> bool {
    let letters = || text.chars().filter(|letter| letter.is_alphabetic());
    letters().count() >= 3 && letters().all(char::is_uppercase)
}
