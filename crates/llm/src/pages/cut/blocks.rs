//! Markdown in blocks between which a page can be cut.

use crate::tokens;

/// A block of markdown.
#[derive(Debug)]
pub(super) struct Block<'a> {
    pub(super) kind: Kind,
    /// The text, without the line break at its end.
    pub(super) text: &'a str,
    /// Header of the table of a row.
    pub(super) header: Option<&'a str>,
    /// Whether it follows the previous block without a blank line: a row, or an item of a list.
    pub(super) is_tight: bool,
    pub(super) tokens: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A heading of this level, from 1 to 6.
    Heading(u8),
    /// Anything else.
    Text,
}

/// Returns the blocks of a page: headings, table rows, list items with what is below them, code, paragraphs.
pub(super) fn of(markdown: &str) -> Vec<Block<'_>> {
    let mut reader = Reader { text: markdown, at: 0, blocks: Vec::new() };
    while let Some(line) = reader.line() {
        if line.trim().is_empty() {
            reader.at += line.len();
        } else if let Some(level) = heading(line) {
            reader.take(line.len(), Kind::Heading(level), false);
        } else if let Some(fence) = fence(line) {
            reader.code(fence);
        } else if is_row(line) && reader.second_line().is_some_and(is_delimiter) {
            reader.table();
        } else if is_item(line) {
            reader.list();
        } else {
            reader.paragraph();
        }
    }
    reader.blocks
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    blocks: Vec<Block<'a>>,
}

impl<'a> Reader<'a> {
    /// Returns the next line with its line break, without consuming it.
    fn line(&self) -> Option<&'a str> {
        self.line_at(self.at)
    }

    fn second_line(&self) -> Option<&'a str> {
        self.line_at(self.at + self.line()?.len())
    }

    fn line_at(&self, at: usize) -> Option<&'a str> {
        self.text.get(at..).and_then(|rest| rest.split_inclusive('\n').next())
    }

    /// Makes a block of the next `length` bytes.
    fn take(&mut self, length: usize, kind: Kind, is_tight: bool) {
        self.take_row(length, kind, is_tight, None);
    }

    fn take_row(&mut self, length: usize, kind: Kind, is_tight: bool, header: Option<&'a str>) {
        let text = self.text[self.at..self.at + length].trim_end();
        self.at += length;
        if !text.trim().is_empty() {
            self.blocks.push(Block { kind, text, header, is_tight, tokens: tokens::estimate(text) + 1 });
        }
    }

    fn code(&mut self, fence: &str) {
        let mut length = self.line().map_or(0, str::len);
        while let Some(line) = self.line_at(self.at + length) {
            length += line.len();
            if line.trim() == fence {
                break;
            }
        }
        self.take(length, Kind::Text, false);
    }

    /// Reads a table. The first row comes with the header, so that no header stands alone.
    fn table(&mut self) {
        let start = self.at;
        let head = self.line().map_or(0, str::len) + self.second_line().map_or(0, str::len);
        let header = &self.text[start..start + head];
        match self.line_at(start + head).filter(|line| is_row(line)) {
            Some(row) => self.take(head + row.len(), Kind::Text, false),
            None => self.take(head, Kind::Text, false),
        }
        while let Some(row) = self.line().filter(|line| is_row(line)) {
            self.take_row(row.len(), Kind::Text, true, Some(header));
        }
    }

    fn list(&mut self) {
        let mut is_tight = false;
        let indent = self.line().map_or(0, indent);
        while let Some(first) = self.line().filter(|line| is_item(line)) {
            let mut length = first.len();
            let mut blank = 0;
            // What is indented deeper belongs to the item, also after blank lines.
            while let Some(line) = self.line_at(self.at + length + blank) {
                if line.trim().is_empty() {
                    blank += line.len();
                } else if self::indent(line) > indent || (blank == 0 && !starts_block(line)) {
                    length += blank + line.len();
                    blank = 0;
                } else {
                    break;
                }
            }
            self.take(length, Kind::Text, is_tight);
            is_tight = blank == 0;
            self.at += blank;
        }
    }

    fn paragraph(&mut self) {
        let mut length = self.line().map_or(0, str::len);
        while let Some(line) = self.line_at(self.at + length) {
            if line.trim().is_empty() || starts_block(line) {
                break;
            }
            length += line.len();
        }
        self.take(length, Kind::Text, false);
    }
}

fn starts_block(line: &str) -> bool {
    heading(line).is_some() || fence(line).is_some() || is_item(line) || is_row(line)
}

fn heading(line: &str) -> Option<u8> {
    let marks = line.bytes().take_while(|byte| *byte == b'#').count();
    let is_heading = (1..=6).contains(&marks) && line[marks..].starts_with([' ', '\t']);
    is_heading.then(|| u8::try_from(marks).unwrap_or(6))
}

/// Returns the line that ends the code that a line begins.
fn fence(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = line.chars().take_while(|character| *character == mark).count();
    (length >= 3).then(|| &line[..length])
}

fn is_row(line: &str) -> bool {
    line.trim_start().starts_with('|')
}

fn is_delimiter(line: &str) -> bool {
    let line = line.trim();
    line.contains('-') && line.bytes().all(|byte| matches!(byte, b'|' | b'-' | b':' | b' '))
}

fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    if let Some(rest) = line.strip_prefix(['-', '*', '+']) {
        return rest.starts_with([' ', '\t']);
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &line[digits..];
    (1..=9).contains(&digits) && (rest.starts_with(". ") || rest.starts_with(") "))
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}
