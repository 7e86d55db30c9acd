//! Detection of code blocks in markdown, where every blank counts: fenced and indented code, also in lists and quotes.
//!
//! The block structure of CommonMark as far as code depends on it. HTML blocks, tables and link definitions count as
//! paragraphs, in which no code begins by indentation.

use super::cursor::Cursor;

/// Maximum depth of quotes and lists. Deeper markers are text; it bounds the time of a line.
const MAX_NESTING: usize = 100;
/// Indentation of indented code, in columns.
const CODE_INDENT: usize = 4;

/// Open blocks of a text, between two of its lines.
#[derive(Default)]
pub(super) struct Blocks {
    containers: Vec<Container>,
    fence: Option<Fence>,
    paragraph: bool,
    indented: bool,
}

/// Meaning of a line in markdown. Lines of two kinds look different, whatever invisible characters they share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    Text,
    /// Line of a code block, in which every character counts.
    Code,
    /// Beginning or end of a fenced code block.
    Fence,
}

/// Relation of a line to code blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Role {
    pub(super) kind: LineKind,
    /// Whether the blank lines before it belong to a code block.
    pub(super) after_code: bool,
}

#[derive(Clone, Copy)]
enum Container {
    Quote,
    /// Item of a list, by the columns that its further lines are indented.
    Item(usize),
}

#[derive(Clone, Copy)]
struct Fence {
    mark: u8,
    length: usize,
}

/// Construct that the rest of a line begins with.
enum BlockStart {
    Quote,
    Item {
        marker: usize,
        /// Whether the item may stand in the middle of a paragraph.
        interrupts: bool,
    },
    Fence(Fence),
    /// Heading or thematic break.
    Single,
    Text,
}

impl Blocks {
    /// Reads a blank line. It ends paragraphs and quotes.
    pub(super) fn blank(&mut self) {
        self.paragraph = false;
        if let Some(quote) = self.containers.iter().position(|open| matches!(open, Container::Quote)) {
            self.containers.truncate(quote);
            self.fence = None;
            self.indented = false;
        }
    }

    /// Reads a line that is not blank.
    pub(super) fn read_line(&mut self, line: &str) -> Role {
        if self.is_plain(line) {
            self.paragraph = true;
            self.indented = false;
            return Role { kind: LineKind::Text, after_code: false };
        }
        let (matched, cursor) = self.matching(line);
        if let Some(fence) = self.fence {
            let items = self.containers[matched..].iter().all(|open| matches!(open, Container::Item(_)));
            // A fence that closes less far indented than it was opened is read as what its writer meant.
            if items && cursor.indent() < CODE_INDENT && fence.closes(cursor.word()) {
                self.fence = None;
                return Role { kind: LineKind::Fence, after_code: true };
            }
            if matched == self.containers.len() {
                return Role { kind: LineKind::Code, after_code: true };
            }
            self.fence = None;
        }
        let was_indented = std::mem::take(&mut self.indented) && matched == self.containers.len();
        if matched < self.containers.len() {
            if self.paragraph && (cursor.indent() >= CODE_INDENT || matches!(start(cursor.word()), BlockStart::Text)) {
                return Role { kind: LineKind::Text, after_code: false };
            }
            self.containers.truncate(matched);
            self.paragraph = false;
        }
        self.open(cursor, was_indented)
    }

    /// Whether the line is text outside of all containers, judged by its first byte.
    fn is_plain(&self, line: &str) -> bool {
        let first = line.as_bytes().first().copied().unwrap_or_default();
        self.containers.is_empty()
            && self.fence.is_none()
            && (first.is_ascii_alphabetic() || first >= 0x80 || first == b'|')
    }

    /// Returns how many of the open containers the line continues, and the place after their prefixes.
    fn matching<'t>(&self, line: &'t str) -> (usize, Cursor<'t>) {
        let mut cursor = Cursor::new(line);
        for (depth, open) in self.containers.iter().enumerate() {
            cursor = match *open {
                Container::Quote if cursor.indent() < CODE_INDENT && cursor.word().starts_with('>') => in_quote(cursor),
                Container::Item(width) if cursor.indent() >= width => cursor.indented(width),
                _ => return (depth, cursor),
            };
        }
        (self.containers.len(), cursor)
    }

    /// Opens the blocks that begin at `cursor`.
    fn open(&mut self, mut cursor: Cursor<'_>, was_indented: bool) -> Role {
        let text = Role { kind: LineKind::Text, after_code: false };
        loop {
            if cursor.indent() >= CODE_INDENT {
                self.indented = !self.paragraph && !cursor.word().is_empty();
                let kind = if self.indented { LineKind::Code } else { LineKind::Text };
                return Role { kind, after_code: self.indented && was_indented };
            }
            let next = if self.containers.len() < MAX_NESTING { start(cursor.word()) } else { BlockStart::Text };
            match next {
                BlockStart::Quote => {
                    self.containers.push(Container::Quote);
                    cursor = in_quote(cursor);
                }
                BlockStart::Item { marker, interrupts } if interrupts || !self.paragraph => {
                    let before = cursor.indent();
                    cursor = cursor.past(marker);
                    let blanks = cursor.indent();
                    // Code after a marker begins one blank behind it.
                    let blanks =
                        if (1..=CODE_INDENT).contains(&blanks) && !cursor.word().is_empty() { blanks } else { 1 };
                    cursor = cursor.indented(blanks);
                    self.containers.push(Container::Item(before + marker + blanks));
                }
                BlockStart::Fence(fence) => {
                    self.fence = Some(fence);
                    self.paragraph = false;
                    return Role { kind: LineKind::Fence, after_code: false };
                }
                BlockStart::Single => {
                    self.paragraph = false;
                    return text;
                }
                BlockStart::Item { .. } | BlockStart::Text => {
                    self.paragraph = !cursor.word().is_empty();
                    return text;
                }
            }
            self.paragraph = false;
        }
    }
}

impl Fence {
    /// Reads the run of marks that opens a fence.
    fn read(word: &str) -> Option<Self> {
        let mark = word.bytes().next().filter(|mark| matches!(mark, b'`' | b'~'))?;
        let length = run(word, mark);
        let usable = length >= 3 && !(mark == b'`' && word[length..].contains('`'));
        usable.then_some(Fence { mark, length })
    }

    fn closes(self, word: &str) -> bool {
        let length = run(word, self.mark);
        length >= self.length && word[length..].trim().is_empty()
    }
}

fn run(word: &str, mark: u8) -> usize {
    word.bytes().take_while(|&byte| byte == mark).count()
}

/// Moves behind the mark of a quote and the blank after it.
fn in_quote(cursor: Cursor<'_>) -> Cursor<'_> {
    let inside = cursor.past(1);
    inside.indented(inside.indent().min(1))
}

fn start(word: &str) -> BlockStart {
    match word.bytes().next() {
        Some(b'>') => BlockStart::Quote,
        Some(b'`' | b'~') => Fence::read(word).map_or(BlockStart::Text, BlockStart::Fence),
        Some(b'#') => BlockStart::Single,
        Some(mark @ (b'-' | b'*' | b'_' | b'+')) => {
            let breaks = mark != b'+' && word.bytes().filter(|&byte| byte == mark).count() >= 3;
            if breaks && word.bytes().all(|byte| byte == mark || byte == b' ' || byte == b'\t') {
                BlockStart::Single
            } else if mark != b'_' && is_marker(&word[1..]) {
                BlockStart::Item { marker: 1, interrupts: word.len() > 1 }
            } else {
                BlockStart::Text
            }
        }
        Some(b'0'..=b'9') => {
            let digits = word.bytes().take_while(u8::is_ascii_digit).count();
            let ends = digits <= 9 && matches!(word.as_bytes().get(digits), Some(b'.' | b')'));
            if ends && is_marker(&word[digits + 1..]) {
                BlockStart::Item { marker: digits + 1, interrupts: &word[..digits] == "1" && word.len() > digits + 1 }
            } else {
                BlockStart::Text
            }
        }
        _ => BlockStart::Text,
    }
}

/// Whether a marker of a list ends here. A no-break space counts as a blank: readers cannot tell them apart.
fn is_marker(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with([' ', '\t', '\u{a0}'])
}
