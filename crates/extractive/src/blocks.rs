//! The blocks of a page: its markdown read line by line.

use std::ops::Range;

use crate::inline::Plain;

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A heading with its level.
    Heading(u8),
    Paragraph,
    /// An item of a list, without the items below it.
    Item,
    /// A row of a table.
    Row,
    /// A fenced block of code.
    Code,
}

/// A block of the source.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    pub(crate) kind: Kind,
    /// Where it stands in the source, with its marker.
    pub(crate) source: Range<usize>,
    /// Its part of the plain text.
    pub(crate) text: Range<usize>,
    /// The heading that it is under: for a heading the one above it in the outline.
    pub(crate) heading: Option<usize>,
    /// What has to be read before it: the paragraph that leads to a list, the header of a table.
    pub(crate) lead: Option<usize>,
    /// Its first sentence, and the one after its last.
    pub(crate) sentences: Range<usize>,
}

/// Reads blocks from lines.
pub(crate) struct Blocks<'a> {
    source: &'a str,
    open: Option<Open>,
    /// The headings that the next block is under, with their levels.
    outline: Vec<(u8, usize)>,
    /// The paragraph before the list that is open.
    lead: Option<usize>,
    /// The header of the table that is open.
    header: Option<usize>,
    fence: Option<Fence>,
}

struct Open {
    kind: Kind,
    source: Range<usize>,
    lines: Vec<Range<usize>>,
}

#[derive(Clone, Copy)]
struct Fence {
    mark: u8,
    length: usize,
}

/// A block with its text, before it is cut into sentences.
pub(crate) struct Finished {
    pub(crate) block: Block,
}

impl<'a> Blocks<'a> {
    pub(crate) fn new(source: &'a str) -> Self {
        Blocks { source, open: None, outline: Vec::new(), lead: None, header: None, fence: None }
    }

    /// Takes the next line. Returns the block that it ends, if it ends one; `index` is the number of that block.
    pub(crate) fn line(&mut self, line: Range<usize>, plain: &mut Plain, index: usize) -> Option<Finished> {
        let bytes = self.source.as_bytes();
        let mut at = line.start;
        let mut end = line.end;
        while end > at && matches!(bytes[end - 1], b'\r' | b'\n') {
            end -= 1;
        }
        if let Some(fence) = self.fence {
            return self.code_line(fence, at..end, plain, index);
        }
        let indent = skip_blanks(bytes, &mut at, end);
        while at < end && bytes[at] == b'>' {
            at += 1;
            skip_blanks(bytes, &mut at, end);
        }
        let rest = &bytes[at..end];
        if rest.is_empty() {
            return self.close(plain, index);
        }
        if let Some(fence) = fence(rest) {
            let done = self.close(plain, index);
            self.fence = Some(fence);
            self.open = Some(Open { kind: Kind::Code, source: at..end, lines: Vec::new() });
            return done;
        }
        if is_rule(rest) {
            let done = self.close(plain, index);
            self.lead = None;
            self.header = None;
            return done;
        }
        self.content_line(indent, at..end, plain, index)
    }

    /// Returns the last block.
    pub(crate) fn finish(&mut self, plain: &mut Plain, index: usize) -> Option<Finished> {
        self.fence = None;
        self.close(plain, index)
    }

    fn code_line(&mut self, fence: Fence, line: Range<usize>, plain: &mut Plain, index: usize) -> Option<Finished> {
        let rest = self.source.as_bytes()[line.clone()].trim_ascii();
        let ends = rest.len() >= fence.length && rest.iter().all(|byte| *byte == fence.mark);
        if let Some(open) = &mut self.open {
            open.source.end = line.end;
            if !ends {
                open.lines.push(line);
                return None;
            }
        }
        self.fence = None;
        self.close(plain, index)
    }

    fn content_line(&mut self, indent: usize, line: Range<usize>, plain: &mut Plain, index: usize) -> Option<Finished> {
        let rest = &self.source.as_bytes()[line.clone()];
        if let Some((level, skip)) = heading(rest) {
            let done = self.close(plain, index);
            self.begin(Kind::Heading(level), line, skip);
            return done;
        }
        if rest[0] == b'|' {
            if is_delimiter(rest) {
                // The row before is the header of a table.
                let done = self.close(plain, index);
                self.header = done.as_ref().map(|_| index);
                return done;
            }
            let done = self.close(plain, index);
            self.begin(Kind::Row, line, 1);
            return done;
        }
        if let Some(skip) = marker(rest) {
            let done = self.close(plain, index);
            self.begin(Kind::Item, line, skip);
            return done;
        }
        match &mut self.open {
            Some(open) if matches!(open.kind, Kind::Paragraph | Kind::Item) => {
                open.source.end = line.end;
                open.lines.push(line);
                None
            }
            _ => {
                let done = self.close(plain, index);
                let kind = if indent >= 2 && self.lead.is_some() { Kind::Item } else { Kind::Paragraph };
                self.begin(kind, line, 0);
                done
            }
        }
    }

    fn begin(&mut self, kind: Kind, line: Range<usize>, skip: usize) {
        let content = line.start + skip..line.end;
        self.open = Some(Open { kind, source: line, lines: vec![content] });
    }

    /// Ends the open block and adds its text.
    fn close(&mut self, plain: &mut Plain, index: usize) -> Option<Finished> {
        let open = self.open.take()?;
        let start = plain.text.len();
        plain.forget_runs();
        for (number, line) in open.lines.iter().enumerate() {
            if number > 0 {
                let before = self.source[open.lines[number - 1].clone()].as_bytes();
                plain.push_break(open.kind == Kind::Code || before.ends_with(b"  ") || before.ends_with(b"\\"));
            }
            if open.kind == Kind::Code {
                plain.text.push_str(&self.source[line.clone()]);
            } else {
                plain.read(self.source, line.clone());
            }
        }
        let (heading, lead) = self.place(open.kind, index);
        let text = start..plain.text.len();
        let block = Block { kind: open.kind, source: open.source, text, heading, lead, sentences: 0..0 };
        Some(Finished { block })
    }

    /// Returns the heading and the lead of a block, and notes what the block is to those after it.
    fn place(&mut self, kind: Kind, index: usize) -> (Option<usize>, Option<usize>) {
        if let Kind::Heading(level) = kind {
            self.outline.retain(|(above, _)| *above < level);
            let above = self.outline.last().map(|(_, heading)| *heading);
            self.outline.push((level, index));
            (self.lead, self.header) = (None, None);
            return (above, None);
        }
        let heading = self.outline.last().map(|(_, heading)| *heading);
        let lead = match kind {
            Kind::Row => self.header,
            Kind::Item | Kind::Code => self.lead,
            _ => None,
        };
        match kind {
            Kind::Paragraph => (self.lead, self.header) = (Some(index), None),
            Kind::Row => {}
            _ => self.header = None,
        }
        (heading, lead)
    }
}

fn skip_blanks(bytes: &[u8], at: &mut usize, end: usize) -> usize {
    let start = *at;
    while *at < end && matches!(bytes[*at], b' ' | b'\t') {
        *at += 1;
    }
    *at - start
}

/// Returns the level of a heading, and where its text starts.
fn heading(line: &[u8]) -> Option<(u8, usize)> {
    let level = line.iter().take(7).take_while(|byte| **byte == b'#').count();
    let level = u8::try_from(level).ok().filter(|level| (1..=6).contains(level))?;
    (line.len() > level.into() && line[usize::from(level)] == b' ').then(|| (level, usize::from(level) + 1))
}

/// Returns where the text of a list item starts.
fn marker(line: &[u8]) -> Option<usize> {
    let digits = line.iter().take(9).take_while(|byte| byte.is_ascii_digit()).count();
    let length = match line.get(digits)? {
        b'-' | b'*' | b'+' | b':' if digits == 0 => 1,
        b'.' | b')' if digits > 0 => digits + 1,
        _ => return None,
    };
    matches!(line.get(length), Some(b' ' | b'\t')).then_some(length + 1)
}

fn fence(line: &[u8]) -> Option<Fence> {
    let mark = *line.first().filter(|mark| matches!(mark, b'`' | b'~'))?;
    let length = line.iter().take_while(|byte| **byte == mark).count();
    (length >= 3 && !(mark == b'`' && line[length..].contains(&b'`'))).then_some(Fence { mark, length })
}

fn is_rule(line: &[u8]) -> bool {
    let mark = line[0];
    matches!(mark, b'-' | b'*' | b'_')
        && line.iter().all(|byte| *byte == mark || *byte == b' ')
        && line.iter().filter(|byte| **byte == mark).count() >= 3
}

fn is_delimiter(line: &[u8]) -> bool {
    line.contains(&b'-') && line.iter().all(|byte| matches!(byte, b'|' | b'-' | b':' | b' '))
}
