//! A line of a page, its text in reading order, and rows of lines at one height.

use super::rtl::in_reading_order;
use super::words::{Word, is_ideograph};
use crate::geometry::Rect;
use crate::model::Script;

/// Maximum ratio of the size of raised or lowered text to that of its line.
const SMALL: f32 = 0.85;
/// Minimum and maximum shift of its baseline, in ems of the line.
const SHIFT: std::ops::RangeInclusive<f32> = 0.06..=0.7;
/// Maximum length of a raised or lowered word, in characters.
const MAX_SCRIPT: usize = 8;
/// Maximum distance to the text that it belongs to, in ems of the line.
const ADJACENT: f32 = 0.4;

/// Maximum number of words of a line that are compared with each other.
const MAX_COMPARED: usize = 400;

/// Words with which the labels of articles and sections begin.
const LABELS: [&str; 16] = [
    "article",
    "section",
    "clause",
    "chapter",
    "rule",
    "part",
    "schedule",
    "annex",
    "appendix",
    "artikel",
    "abschnitt",
    "artículo",
    "cláusula",
    "articolo",
    "artigo",
    "§",
];

/// Words on one baseline.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) words: Vec<Word>,
    pub(crate) rect: Rect,
    pub(crate) baseline: f32,
    /// Size of most of its letters.
    pub(crate) size: f32,
    pub(crate) style: u16,
    /// Size of its largest word.
    largest: f32,
    /// Earliest position of its words in drawing order.
    pub(crate) order: u32,
    /// Whether most of its words run from right to left.
    pub(crate) rtl: bool,
}

impl Line {
    pub(crate) fn new(words: Vec<Word>) -> Self {
        let mut line = Self {
            words,
            rect: Rect::EMPTY,
            baseline: 0.0,
            size: 0.0,
            style: 0,
            largest: 0.0,
            order: u32::MAX,
            rtl: false,
        };
        line.measure();
        line
    }

    pub(super) fn measure(&mut self) {
        self.rect = self.words.iter().fold(Rect::EMPTY, |rect, word| rect.union(&word.rect));
        self.order = self.words.iter().map(|word| word.order).min().unwrap_or(u32::MAX);
        self.largest = self.words.iter().map(|word| word.size).fold(0.0, f32::max);
        let rtl = self.words.iter().filter(|word| word.is_rtl()).count();
        let lettered = || self.words.iter().filter(|word| word.text.contains(char::is_alphabetic)).count();
        // Numbers have no direction, so only words with letters vote.
        self.rtl = rtl > 0 && 2 * rtl >= lettered();
        if let Some(look) = self.look() {
            (self.size, self.style, self.baseline) = look;
        }
    }

    /// Returns the size, style and baseline of most letters.
    fn look(&self) -> Option<(f32, u16, f32)> {
        let first = self.words.first()?;
        let is_same = |word: &Word, size: f32, style: u16| (word.size - size).abs() < 0.1 && word.style == style;
        if self.words.iter().all(|word| is_same(word, first.size, first.style)) {
            return Some((first.size, first.style, first.baseline));
        }
        // A linear search suffices, as a line has few kinds.
        let mut kinds: Vec<(&Word, usize)> = Vec::new();
        for word in &self.words {
            let count = word.text.chars().count();
            match kinds.iter_mut().find(|(kind, _)| is_same(word, kind.size, kind.style)) {
                Some((_, letters)) => *letters += count,
                None => kinds.push((word, count)),
            }
        }
        kinds.iter().max_by_key(|(_, letters)| *letters).map(|(word, _)| (word.size, word.style, word.baseline))
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
        if self.rtl { in_reading_order(&self.words) } else { self.words.iter().collect() }
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

    /// Returns whether a word is raised or lowered against the text beside it.
    pub(crate) fn script(&self, word: &Word) -> Script {
        // On nearly all lines no word is smaller than the rest. A page with too many words is one line, for speed.
        if self.words.len() > MAX_COMPARED {
            return Script::Normal;
        }
        let is_small = word.size < SMALL * self.largest;
        if !is_small || word.text.chars().nth(MAX_SCRIPT).is_some() || self.is_inside(word) {
            return Script::Normal;
        }
        let larger = |other: &&Word| {
            let gap = (word.rect.x0 - other.rect.x1).max(other.rect.x0 - word.rect.x1);
            let shift = (other.baseline - word.baseline).abs() / other.size;
            word.size < SMALL * other.size && gap < ADJACENT * other.size && SHIFT.contains(&shift)
        };
        let beside = self.words.iter().filter(larger).max_by(|a, b| a.size.total_cmp(&b.size));
        match beside {
            Some(base) if base.baseline > word.baseline => Script::Raised,
            Some(_) => Script::Lowered,
            None => Script::Normal,
        }
    }

    /// Whether these are capitals in the middle of a word, as in the logo of LaTeX.
    fn is_inside(&self, word: &Word) -> bool {
        if !word.text.chars().all(char::is_uppercase) {
            return false;
        }
        let Some(place) = self.words.iter().position(|other| std::ptr::eq(other, word)) else { return false };
        let capital = |place: usize| self.words.get(place).is_some_and(|word| word.text.contains(char::is_uppercase));
        place > 0 && capital(place - 1) && capital(place + 1) && !self.is_spaced(place) && !self.is_spaced(place + 1)
    }

    pub(crate) fn letters(&self) -> usize {
        self.words.iter().map(|word| word.text.chars().count()).sum()
    }

    /// Returns the number of words of the label that it begins with, such as `Article I.`; 0 without one.
    pub(crate) fn label(&self) -> usize {
        let [named, number, ..] = &self.words[..] else { return 0 };
        if LABELS.iter().any(|label| label.eq_ignore_ascii_case(&named.text)) && is_label_number(&number.text) {
            2
        } else {
            0
        }
    }

    /// Returns the first word, if it is the mark of a list item.
    pub(crate) fn mark(&self) -> Option<&str> {
        self.words.first().map(|word| word.text.as_str()).filter(|text| is_mark(text))
    }
}

/// Whether the text is a mark that says yes or no.
pub(crate) fn is_state(text: &str) -> bool {
    matches!(text, "✓" | "✔" | "✗" | "✘" | "☐" | "☑" | "☒")
}

/// Whether the text is a bullet, or a number or letter with a dot or bracket.
pub(crate) fn is_mark(text: &str) -> bool {
    is_bullet(text) || is_number_mark(text)
}

pub(crate) fn is_bullet(text: &str) -> bool {
    let mut chars = text.chars();
    is_state(text)
        || matches!(
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

/// Whether the text is the number of a label: with a full stop or colon, so that no sentence goes on after it.
fn is_label_number(text: &str) -> bool {
    let Some(inner) = text.strip_suffix(['.', ':']) else { return false };
    let is_number = |part: &str| (1..=3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_roman = (1..=6).contains(&inner.len()) && inner.bytes().all(|byte| b"IVXLC".contains(&byte));
    let is_letter = inner.len() == 1 && inner.bytes().all(|byte| byte.is_ascii_uppercase());
    is_roman || is_letter || inner.split('.').all(is_number)
}

/// Lines at one height, from left to right.
pub(crate) struct Row {
    /// Indices in the list of lines.
    pub(crate) lines: Vec<usize>,
    pub(crate) y0: f32,
    pub(crate) y1: f32,
}

/// Removes the lines that were merged into others.
pub(super) fn remove(lines: &mut Vec<Line>, gone: &[bool]) {
    let mut places = 0..gone.len();
    lines.retain(|_| places.next().is_none_or(|place| !gone[place]));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_labels_end_them() {
        for (text, is_label) in
            [("I.", true), ("12:", true), ("2.1.", true), ("A.", true), ("I", false), ("xyz.", false), (".", false)]
        {
            assert_eq!(is_label_number(text), is_label, "{text}");
        }
    }
}
