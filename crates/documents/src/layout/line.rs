//! A line of a page, its text in reading order, and rows of lines at one height.

use super::words::{Word, is_ideograph};
use crate::geometry::Rect;

/// Words on one baseline.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) words: Vec<Word>,
    pub(crate) rect: Rect,
    pub(crate) baseline: f32,
    /// Size of most of its letters.
    pub(crate) size: f32,
    pub(crate) style: u16,
    /// Earliest position of its words in drawing order.
    pub(crate) order: u32,
    /// Whether most of its words run from right to left.
    pub(crate) rtl: bool,
}

impl Line {
    pub(crate) fn new(words: Vec<Word>) -> Self {
        let mut line =
            Self { words, rect: Rect::EMPTY, baseline: 0.0, size: 0.0, style: 0, order: u32::MAX, rtl: false };
        line.measure();
        line
    }

    pub(super) fn measure(&mut self) {
        self.rect = self.words.iter().fold(Rect::EMPTY, |rect, word| rect.union(&word.rect));
        self.order = self.words.iter().map(|word| word.order).min().unwrap_or(u32::MAX);
        let rtl = self.words.iter().filter(|word| word.is_rtl()).count();
        let lettered = self.words.iter().filter(|word| word.text.contains(char::is_alphabetic)).count();
        // Numbers have no direction, so only words with letters vote.
        self.rtl = rtl > 0 && 2 * rtl >= lettered;
        // The size and style of most letters; a linear search suffices, as a line has few kinds.
        let mut kinds: Vec<(f32, u16, f32, usize)> = Vec::new();
        for word in &self.words {
            let count = word.text.chars().count();
            match kinds.iter_mut().find(|kind| (kind.0 - word.size).abs() < 0.1 && kind.1 == word.style) {
                Some(kind) => kind.3 += count,
                None => kinds.push((word.size, word.style, word.baseline, count)),
            }
        }
        if let Some((size, style, baseline, _)) = kinds.iter().max_by_key(|kind| kind.3) {
            (self.size, self.style, self.baseline) = (*size, *style, *baseline);
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.words.extend(other.words);
        self.words.sort_by(|a, b| a.rect.x0.total_cmp(&b.rect.x0));
        self.measure();
    }

    /// Returns the text, from right to left if most words are.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for (place, word) in self.reading().iter().enumerate() {
            if place > 0 && self.is_spaced(place) {
                text.push(' ');
            }
            text.push_str(&word.text);
        }
        text
    }

    /// Returns the words in reading order.
    pub(crate) fn reading(&self) -> Vec<&Word> {
        if self.rtl { rtl_order(&self.words) } else { self.words.iter().collect() }
    }

    /// Whether a space precedes the word at an index of the reading order.
    pub(crate) fn is_spaced(&self, place: usize) -> bool {
        // The gaps below are measured from left to right, which the reading order is not here.
        if self.rtl {
            return true;
        }
        let (Some(word), Some(before)) = (self.words.get(place), self.words.get(place.wrapping_sub(1))) else {
            return false;
        };
        let gap = before.gap_to(word);
        let size = before.size.min(word.size);
        let ideographs = before.text.chars().next_back().is_some_and(is_ideograph)
            && word.text.chars().next().is_some_and(is_ideograph);
        // Ideographs are set with gaps but without spaces. A drawn space counts even where the glyphs nearly touch.
        !ideographs && (gap > 0.14 * size || (word.spaced && gap > -0.1 * size))
    }

    pub(crate) fn letters(&self) -> usize {
        self.words.iter().map(|word| word.text.chars().count()).sum()
    }

    /// Returns the first word, if it is the mark of a list item.
    pub(crate) fn mark(&self) -> Option<&str> {
        self.words.first().map(|word| word.text.as_str()).filter(|text| is_mark(text))
    }
}

/// Returns the words from right to left, with runs of Latin words in their own order.
fn rtl_order(words: &[Word]) -> Vec<&Word> {
    // All words are turned around, then each run of Latin words back.
    let mut order: Vec<&Word> = words.iter().rev().collect();
    let mut start = 0;
    while start < order.len() {
        let latin = |word: &&Word| word.text.contains(|letter: char| letter.is_ascii_alphabetic());
        let length = order[start..].iter().take_while(|word| latin(word)).count();
        order[start..start + length].reverse();
        start += length.max(1);
    }
    order
}

/// Whether the text is a bullet, or a number or letter with a dot or bracket.
pub(crate) fn is_mark(text: &str) -> bool {
    is_bullet(text) || is_number_mark(text)
}

pub(crate) fn is_bullet(text: &str) -> bool {
    let mut chars = text.chars();
    matches!(
        (chars.next(), chars.next()),
        (
            Some(
                '•' | '◦'
                    | '▪'
                    | '▫'
                    | '■'
                    | '□'
                    | '●'
                    | '○'
                    | '‣'
                    | '⁃'
                    | '–'
                    | '-'
                    | '*'
                    | '·'
                    | '➢'
                    | '✓'
                    | '❖'
                    | '❑'
                    | '∙'
                    | '⋅'
                    | '▶'
                    | '►'
                    | '▸'
                    | '◆'
                    | '◇'
                    | '✔'
                    | '➔'
                    | '➤'
                    | '\u{25b7}'
            ),
            None
        )
    )
}

fn is_number_mark(text: &str) -> bool {
    let inner = text.strip_prefix('(').unwrap_or(text);
    let Some(inner) = inner.strip_suffix([')', '.']) else { return false };
    let digits = (1..=3).contains(&inner.len()) && inner.bytes().all(|byte| byte.is_ascii_digit());
    let letter = inner.len() == 1 && inner.bytes().all(|byte| byte.is_ascii_alphabetic());
    let roman = (1..=5).contains(&inner.len()) && inner.bytes().all(|byte| b"ivxIVX".contains(&byte));
    digits || letter || roman
}

/// Lines at one height, from left to right.
pub(crate) struct Row {
    /// Indices in the list of lines.
    pub(crate) lines: Vec<usize>,
    pub(crate) y0: f32,
    pub(crate) y1: f32,
}

/// Groups lines into rows, from top to bottom.
pub(crate) fn rows(lines: &[Line], among: &[usize]) -> Vec<Row> {
    let mut places = among.to_vec();
    places.sort_by(|a, b| lines[*a].baseline.total_cmp(&lines[*b].baseline));
    let mut rows: Vec<Row> = Vec::new();
    let mut baseline = f32::NEG_INFINITY;
    for place in places {
        let line = &lines[place];
        // Compared with the first baseline of the row, not the last, so that a row cannot drift downwards.
        match rows.last_mut().filter(|_| (line.baseline - baseline).abs() < 0.4 * line.size.max(4.0)) {
            Some(row) => {
                row.lines.push(place);
                row.y0 = row.y0.min(line.rect.y0);
                row.y1 = row.y1.max(line.rect.y1);
            }
            None => {
                baseline = line.baseline;
                rows.push(Row { lines: vec![place], y0: line.rect.y0, y1: line.rect.y1 });
            }
        }
    }
    for row in &mut rows {
        row.lines.sort_by(|a, b| lines[*a].rect.x0.total_cmp(&lines[*b].rect.x0));
    }
    rows
}
