//! Marks for what the converter cannot say, in the text that it gets, and their replacement in its markdown.
//!
//! A mark is a noncharacter of Unicode, which no document contains on purpose. The converter keeps it like a letter.
//! Raised and lowered text stand between two marks. Anything else is an insert: a number between two marks, in whose
//! place the markdown with that number goes, once.

use std::ops::Range;

use memchr::memmem;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

const RAISED: [char; 2] = ['\u{FDD0}', '\u{FDD1}'];
const LOWERED: [char; 2] = ['\u{FDD2}', '\u{FDD3}'];
/// An empty box and a ticked one.
const BOXES: [char; 2] = ['\u{FDD4}', '\u{FDD5}'];
const INSERT: [char; 2] = ['\u{FDD6}', '\u{FDD7}'];
/// The bytes that all marks begin with in UTF-8.
const START: [u8; 2] = [0xEF, 0xB7];
/// Maximum number of inserts in one document.
const MAX_INSERTS: usize = 100_000;

/// Position of text relative to the line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Script {
    #[default]
    Normal,
    Raised,
    Lowered,
}

impl Script {
    fn marks(self) -> Option<[char; 2]> {
        match self {
            Self::Normal => None,
            Self::Raised => Some(RAISED),
            Self::Lowered => Some(LOWERED),
        }
    }

    /// Returns the text between its marks, white space outside of them.
    pub(super) fn marked(self, text: &str) -> String {
        let Some([open, close]) = self.marks().filter(|_| !text.trim().is_empty()) else { return text.to_owned() };
        let core = text.trim();
        let (before, after) = text.split_once(core).unwrap_or_default();
        format!("{before}{open}{core}{close}{after}")
    }

    /// Returns the mark at the beginning and that at the end.
    pub(super) fn ends(self) -> [&'static str; 2] {
        match self {
            Self::Normal => ["", ""],
            Self::Raised => ["\u{FDD0}", "\u{FDD1}"],
            Self::Lowered => ["\u{FDD2}", "\u{FDD3}"],
        }
    }

    /// Returns what stands before and after the text in markdown.
    fn tags(self, is_code: bool) -> [&'static str; 2] {
        match (self, is_code) {
            (Self::Normal, _) => ["", ""],
            (Self::Raised, true) => ["^", ""],
            (Self::Lowered, true) => ["_", ""],
            (Self::Raised, false) => ["<sup>", "</sup>"],
            (Self::Lowered, false) => ["<sub>", "</sub>"],
        }
    }
}

/// Insert whose markdown is set later.
pub(super) struct Later {
    pub place: usize,
    /// Text of its mark.
    pub mark: String,
}

/// Markdown that takes the place of marks.
#[derive(Debug, Default)]
pub(super) struct Inserts {
    list: Vec<Insert>,
    /// Whether these are of a document inside another, which may contain no further ones.
    is_inner: bool,
}

#[derive(Debug)]
enum Insert {
    /// Part of a line.
    Inline(String),
    /// Whole paragraphs, in the place of a paragraph.
    Blocks(String),
}

impl Inserts {
    /// Returns those of a document inside another.
    pub(super) fn inner() -> Self {
        Self { is_inner: true, ..Self::default() }
    }

    /// Adds a part of a line; returns its mark, or nothing if there are too many.
    pub(super) fn inline(&mut self, markdown: String) -> String {
        self.add(Insert::Inline(markdown))
    }

    /// Adds paragraphs; the mark that is returned must be the only text of its paragraph.
    pub(super) fn blocks(&mut self, markdown: String) -> String {
        self.add(Insert::Blocks(markdown))
    }

    /// Adds markdown inside a line that is not known yet; until it is set, it is empty.
    pub(super) fn later(&mut self) -> Later {
        let place = self.list.len();
        Later { place, mark: self.inline(String::new()) }
    }

    /// Sets the markdown of an insert.
    pub(super) fn set(&mut self, place: usize, markdown: String) {
        if let Some(insert) = self.list.get_mut(place) {
            *insert = Insert::Inline(markdown);
        }
    }

    fn add(&mut self, insert: Insert) -> String {
        if self.list.len() >= MAX_INSERTS {
            return String::new();
        }
        self.list.push(insert);
        format!("{}{}{}", INSERT[0], self.list.len() - 1, INSERT[1])
    }

    /// Returns the number of paragraphs that may still be inserted.
    pub(super) fn blocks_left(&self, most: usize) -> usize {
        let used = self.list.iter().filter(|insert| matches!(insert, Insert::Blocks(_))).count();
        if self.is_inner { 0 } else { most.saturating_sub(used) }
    }

    fn take(&mut self, number: &str) -> Option<Insert> {
        let place = self.list.get_mut(number.parse::<usize>().ok()?)?;
        Some(std::mem::replace(place, Insert::Inline(String::new())))
    }
}

/// Returns text without marks.
pub(super) fn without_marks(text: String) -> String {
    if has_marks(&text) { text.chars().filter(|letter| !is_mark(*letter)).collect() } else { text }
}

/// Returns the mark for a box of a form.
pub(super) fn ticked(is_ticked: bool) -> &'static str {
    if is_ticked { "\u{FDD5}" } else { "\u{FDD4}" }
}

/// Whether there are marks in the text.
pub(super) fn has_marks(text: &str) -> bool {
    memmem::find(text.as_bytes(), &START).is_some()
}

/// Replaces all marks of the markdown.
pub(super) fn replaced(markdown: String, mut inserts: Inserts) -> String {
    if !has_marks(&markdown) {
        return markdown;
    }
    let code = code(&markdown);
    let mut out = String::with_capacity(markdown.len() + markdown.len() / 8);
    let (mut at, mut first) = (0, 0);
    for text in markdown.split_inclusive('\n') {
        let end = at + text.len();
        first += code[first..].iter().take_while(|range| range.end <= at).count();
        let code = code[first..].iter().take_while(|range| range.start < end);
        let code = code.map(|range| range.start.saturating_sub(at)..range.end - at).collect();
        Line { text, code }.write(&mut inserts, &mut out);
        at = end;
    }
    out
}

/// Returns the ranges of code, where no markup works.
fn code(markdown: &str) -> Vec<Range<usize>> {
    let (mut ranges, mut in_block) = (Vec::new(), false);
    for (event, range) in Parser::new_ext(markdown, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(_)) => in_block = true,
            Event::End(TagEnd::CodeBlock) => in_block = false,
            Event::Code(_) => ranges.push(range),
            Event::Text(_) if in_block => ranges.push(range),
            _ => {}
        }
    }
    ranges
}

/// Line of markdown, and the ranges of code in it.
struct Line<'a> {
    text: &'a str,
    code: Vec<Range<usize>>,
}

impl Line<'_> {
    fn write(&self, inserts: &mut Inserts, out: &mut String) {
        if !has_marks(self.text) {
            out.push_str(self.text);
            return;
        }
        let ends = [Script::Raised, Script::Lowered].map(|script| self.text.rfind(script.ends()[1]).unwrap_or(0));
        let mut letters = self.text.char_indices().peekable();
        let mut open = None;
        while let Some((at, letter)) = letters.next() {
            if letter == INSERT[0] {
                let digit = || letters.next_if(|(_, next)| next.is_ascii_digit()).map(|(_, next)| next);
                let number: String = std::iter::from_fn(digit).collect();
                letters.next_if(|(_, next)| *next == INSERT[1]);
                self.insert(inserts.take(&number), out);
            } else if let Some((script, is_start)) = script_mark(letter) {
                // Text that goes on in the same position is one piece.
                let next = letters.peek().and_then(|(_, next)| script_mark(*next));
                let goes_on = !is_start && open == Some(script) && next == Some((script, true));
                if goes_on {
                    letters.next();
                } else if is_start == open.is_none() && (is_start || open == Some(script)) {
                    let has_end = at < ends[usize::from(script == Script::Lowered)];
                    if is_start && !has_end {
                        continue;
                    }
                    let is_code = self.code.iter().any(|range| range.contains(&at));
                    out.push_str(script.tags(is_code)[usize::from(!is_start)]);
                    open = is_start.then_some(script);
                }
            } else if BOXES.contains(&letter) {
                out.push_str(if letter == BOXES[1] { "[x]" } else { "[ ]" });
            } else if !is_mark(letter) {
                out.push(letter);
            }
        }
    }

    /// Writes an insert. Paragraphs are indented like the text in whose place they stand.
    fn insert(&self, insert: Option<Insert>, out: &mut String) {
        match insert {
            None => {}
            Some(Insert::Inline(markdown)) => out.push_str(&markdown),
            Some(Insert::Blocks(markdown)) if self.text.starts_with('|') => {
                let lines: Vec<&str> = markdown.lines().filter(|line| !line.trim().is_empty()).collect();
                out.push_str(&lines.join("<br>").replace('|', "\\|"));
            }
            Some(Insert::Blocks(markdown)) => {
                let indent: String = self.text.chars().take_while(|letter| matches!(letter, ' ' | '>')).collect();
                out.push_str(&markdown.trim().replace('\n', &format!("\n{indent}")));
            }
        }
    }
}

fn is_mark(letter: char) -> bool {
    ('\u{FDD0}'..='\u{FDEF}').contains(&letter)
}

/// Returns the position that a mark is for, and whether it is the first of its two marks.
fn script_mark(letter: char) -> Option<(Script, bool)> {
    [Script::Raised, Script::Lowered].into_iter().find_map(|script| {
        let [open, close] = script.marks()?;
        (letter == open || letter == close).then_some((script, letter == open))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(replaced(text.to_owned(), Inserts::default()), expected);
    }

    #[test]
    fn raised_and_lowered_text_is_marked_up() {
        let (two, sub) = (Script::Raised.marked("2"), Script::Lowered.marked(" 2 "));
        check(&format!("25 m{two} and H{sub}O"), "25 m<sup>2</sup> and H <sub>2</sub> O");
        check(&format!("10{two}{two} x"), "10<sup>22</sup> x");
        check(&format!("`10{two}` {two}\n\n    y{two}\n"), "`10^2` <sup>2</sup>\n\n    y^2\n");
    }

    #[test]
    fn boxes_are_shown_and_marks_without_a_partner_go() {
        check(&format!("{} yes {} no", ticked(true), ticked(false)), "[x] yes [ ] no");
        check("a\u{FDD0}b\nc\u{FDD1}d \u{FDD3}\u{FDD6}7\u{FDD7}\u{FDEF}", "ab\ncd ");
    }

    #[test]
    fn an_insert_stands_once_and_where_its_mark_is() {
        let mut inserts = Inserts::default();
        let (code, blocks) = (inserts.inline("`=A1`".to_owned()), inserts.blocks("a\n\nb\n".to_owned()));
        let text = format!("x {code} {code}\n\n  {blocks}\n\ny");
        assert_eq!(replaced(text, inserts), "x `=A1` \n\n  a\n  \n  b\n\ny");
    }
}
