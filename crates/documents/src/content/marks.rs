//! Marked content: page furniture, hidden layers, and replacement text (`ActualText`).

use lopdf::Dictionary;

use super::Interpreter;
use super::lexer::{Lexer, Operand};
use super::page::{Flags, Glyph};
use super::show::spread;
use crate::font::text::Text;
use crate::objects::{Lookup, text_of};

/// Maximum nesting of marks; deeper ones are treated as part of the enclosing mark.
const MAX_MARKS: usize = 256;
/// Maximum length of a replacement text, in bytes.
const MAX_ACTUAL: usize = 2000;

/// Stack of open marks.
#[derive(Default)]
pub(super) struct Marks {
    open: Vec<Mark>,
    artifacts: usize,
    hidden: usize,
    headings: usize,
    /// Number of open marks beyond the maximum nesting.
    beyond: usize,
}

#[derive(Default)]
struct Mark {
    artifact: bool,
    hidden: bool,
    heading: bool,
    actual: Option<String>,
    /// Number of glyphs on the page before the mark.
    glyphs: usize,
}

impl Marks {
    pub(super) fn artifact(&self) -> bool {
        self.artifacts > 0
    }

    pub(super) fn hidden(&self) -> bool {
        self.hidden > 0
    }

    pub(super) fn heading(&self) -> bool {
        self.headings > 0
    }

    fn push(&mut self, mark: Mark) {
        if self.open.len() >= MAX_MARKS {
            self.beyond += 1;
            return;
        }
        self.artifacts += usize::from(mark.artifact);
        self.hidden += usize::from(mark.hidden);
        self.headings += usize::from(mark.heading);
        self.open.push(mark);
    }

    fn pop(&mut self) -> Option<Mark> {
        if self.beyond > 0 {
            self.beyond -= 1;
            return None;
        }
        let mark = self.open.pop()?;
        self.artifacts -= usize::from(mark.artifact);
        self.hidden -= usize::from(mark.hidden);
        self.headings -= usize::from(mark.heading);
        Some(mark)
    }
}

impl Interpreter<'_> {
    /// Runs an operator of marked content; returns false for other operators.
    pub(super) fn mark_operator(&mut self, operator: &[u8], lexer: &Lexer<'_>, resources: &Dictionary) -> bool {
        match operator {
            b"BMC" => self.marks.push(self.mark(lexer)),
            b"BDC" => {
                let mut mark = self.mark(lexer);
                match lexer.name(1) {
                    Some(name) => self.read_properties(&mut mark, name, resources),
                    None => mark.actual = actual_text(lexer),
                }
                self.marks.push(mark);
            }
            b"EMC" => {
                if let Some(Mark { actual: Some(actual), glyphs, .. }) = self.marks.pop() {
                    replace(&mut self.page.glyphs, glyphs, &actual);
                }
            }
            _ => return false,
        }
        true
    }

    fn mark(&self, lexer: &Lexer<'_>) -> Mark {
        let tag = lexer.name(0);
        let artifact = tag == Some(b"Artifact");
        let heading = tag.is_some_and(|tag| self.pdf.is_heading_tag(tag));
        Mark { artifact, heading, glyphs: self.page.glyphs.len(), ..Mark::default() }
    }

    fn read_properties(&self, mark: &mut Mark, name: &[u8], resources: &Dictionary) {
        let doc = &self.pdf.doc;
        let Some(properties) = resources.dict(doc, b"Properties") else { return };
        mark.actual = properties.dict(doc, name).and_then(|found| found.text(doc, b"ActualText"));
        mark.hidden = properties.get(name).is_ok_and(|layer| self.pdf.is_switched_off(layer));
    }
}

/// Returns `ActualText` from an inline property list.
fn actual_text(lexer: &Lexer<'_>) -> Option<String> {
    let says = |pair: &[Operand]| match *pair {
        [Operand::Name(start, end), Operand::Text(from, to)] if lexer.slice(start, end) == b"ActualText" => {
            Some(text_of(lexer.slice(from, to)))
        }
        _ => None,
    };
    lexer.operands.windows(2).find_map(says)
}

/// Replaces the glyphs of a mark by its text.
fn replace(glyphs: &mut Vec<Glyph>, from: usize, actual: &str) {
    let drawn = glyphs.get(from..).unwrap_or_default();
    let (Some(first), Some(last)) = (drawn.first().copied(), drawn.last().copied()) else { return };
    let one_line = (first.start.y - last.end.y).abs() < first.size * 0.5 && first.direction == last.direction;
    let text = match Text::of(actual) {
        Text::One(only) => only.to_string(),
        Text::Many(text) => text.into(),
        // Only a single glyph may be replaced by nothing, such as a hyphen at the end of a line.
        Text::Unknown if drawn.len() <= 1 => String::new(),
        Text::Unknown => return,
    };
    // A text much longer than what is drawn is a description rather than a replacement.
    let plausible = text.chars().count() <= 4 * drawn.len() + 8;
    if one_line && plausible && text.len() <= MAX_ACTUAL {
        glyphs.truncate(from);
        let known = drawn_flags(first.flags);
        spread(glyphs, &Glyph { end: last.end, flags: known, ..first }, &text);
    }
}

fn drawn_flags(flags: Flags) -> Flags {
    [Flags::HIDDEN, Flags::ARTIFACT, Flags::FIRST, Flags::HEADING]
        .into_iter()
        .fold(Flags::default(), |kept, flag| kept.with(flag, flags.has(flag)))
}
