//! The canonical lines of a text.

use std::borrow::Cow;

use memchr::memchr2;

use super::blocks::{Blocks, LineKind, Role};

/// Byte order mark.
const MARK: char = '\u{feff}';

/// A canonical line, without its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line<'t> {
    pub(super) text: &'t str,
    pub(super) kind: LineKind,
}

/// Returns the canonical form of a text, to which a diff applies. Empty if the text has no visible line.
#[must_use]
pub fn canonical(text: &str) -> String {
    let text = without_marks(text);
    let mut canonical = String::with_capacity(text.len() + 1);
    for line in Lines::new(&text) {
        canonical.push_str(line.text);
        canonical.push('\n');
    }
    canonical
}

/// Returns the text without byte order marks if its first visible line begins with one: where files were put together,
/// each has its own.
pub(super) fn without_marks(text: &str) -> Cow<'_, str> {
    match text.strip_prefix(MARK) {
        Some(rest) if !rest.contains(MARK) => Cow::Borrowed(rest),
        Some(rest) => Cow::Owned(rest.replace(MARK, "")),
        None if first_line(text).starts_with(MARK) => Cow::Owned(text.replace(MARK, "")),
        None => Cow::Borrowed(text),
    }
}

/// Returns the first line that is not blank.
fn first_line(text: &str) -> &str {
    text.split(['\n', '\r']).find(|line| !trimmed(line).is_empty()).unwrap_or_default()
}

/// Iterator over the canonical lines of a text.
pub(super) struct Lines<'t> {
    rest: Option<&'t str>,
    blocks: Blocks,
    /// Blank lines that come before `next`.
    blanks: usize,
    next: Option<Line<'t>>,
    begun: bool,
}

impl<'t> Lines<'t> {
    /// Reads a text that is free of byte order marks.
    pub(super) fn new(text: &'t str) -> Self {
        Self { rest: Some(text), blocks: Blocks::default(), blanks: 0, next: None, begun: false }
    }

    /// Returns the next line as it is in the text, without blanks at its end.
    fn raw(&mut self) -> Option<&'t str> {
        let rest = self.rest?;
        let Some(end) = memchr2(b'\n', b'\r', rest.as_bytes()) else {
            self.rest = None;
            return Some(trimmed(rest));
        };
        let wide = if rest[end..].starts_with("\r\n") { 2 } else { 1 };
        self.rest = Some(&rest[end + wide..]);
        Some(trimmed(&rest[..end]))
    }
}

impl<'t> Iterator for Lines<'t> {
    type Item = Line<'t>;

    fn next(&mut self) -> Option<Line<'t>> {
        if self.next.is_none() {
            let mut blanks = 0;
            let text = loop {
                let line = self.raw()?;
                if !line.is_empty() {
                    break line;
                }
                self.blocks.blank();
                blanks += 1;
            };
            let Role { kind, after_code } = self.blocks.read_line(text);
            self.next = Some(Line { text, kind });
            self.blanks = if after_code { blanks } else { blanks.min(usize::from(self.begun)) };
            self.begun = true;
        }
        if self.blanks > 0 {
            self.blanks -= 1;
            return Some(Line { text: "", kind: LineKind::Text });
        }
        self.next.take()
    }
}

fn trimmed(line: &str) -> &str {
    match line.as_bytes().last() {
        Some(byte) if byte.is_ascii() && !matches!(byte, b' ' | b'\t') => line,
        _ => line.trim_end_matches(|letter| matches!(letter, ' ' | '\t' | '\u{a0}') || is_ignored(letter)),
    }
}

/// Whether the character has no width and no meaning. U+200C and U+200D are not among them: they change words and
/// emoji.
pub(crate) fn is_ignored(letter: char) -> bool {
    matches!(letter, '\u{200b}' | '\u{2060}' | '\u{feff}' | '\u{ad}')
}
