//! The text of inline markdown, and where each part of it stands in the source.

use std::ops::Range;

/// Longest target of a link, tag or entity that is looked for. Real ones are far shorter; what is longer is text.
const LONGEST_MARKUP: usize = 4096;
/// Longest code span whose end is looked for.
const LONGEST_CODE: usize = 2048;

/// The text of a page without its markup, and a map from it to the source.
#[derive(Debug, Default)]
pub(crate) struct Plain {
    pub(crate) text: String,
    /// Where a run begins in the text and in the source. A run ends where the next begins in the text.
    runs: Vec<Run>,
}

#[derive(Debug, Clone, Copy)]
struct Run {
    text: usize,
    source: usize,
    length: usize,
}

impl Plain {
    /// Forgets where the text stands in the source, which is needed only while a block is read.
    pub(crate) fn forget_runs(&mut self) {
        self.runs.clear();
    }

    /// Adds a blank in place of a line end.
    pub(crate) fn push_break(&mut self, hard: bool) {
        self.text.push(if hard { '\n' } else { ' ' });
    }

    fn copy(&mut self, source: &str, range: Range<usize>) {
        if !range.is_empty() {
            self.runs.push(Run { text: self.text.len(), source: range.start, length: range.len() });
            self.text.push_str(&source[range]);
        }
    }

    /// Returns the source of a part of the text, with the markup that directly surrounds it.
    pub(crate) fn source_of(&self, text: &Range<usize>, block: &Range<usize>) -> Range<usize> {
        let first = self.runs.partition_point(|run| run.text <= text.start).saturating_sub(1);
        let last = self.runs.partition_point(|run| run.text < text.end).saturating_sub(1);
        let (Some(head), Some(tail)) = (self.runs.get(first), self.runs.get(last)) else { return block.clone() };
        let into = text.start.saturating_sub(head.text);
        let start = if into > 0 {
            head.source + into.min(head.length)
        } else {
            first.checked_sub(1).map_or(block.start, |before| self.runs[before].source + self.runs[before].length)
        };
        let into = text.end.saturating_sub(tail.text).min(tail.length);
        let end = if into < tail.length {
            tail.source + into
        } else {
            self.runs.get(last + 1).map_or(block.end, |after| after.source)
        };
        start..end.max(start)
    }

    /// Adds the text of a part of the source that holds inline markdown.
    pub(crate) fn read(&mut self, source: &str, part: Range<usize>) {
        let mut reader = Reader {
            source,
            bytes: source.as_bytes(),
            end: part.end,
            at: part.start,
            copied: part.start,
            links: links(source.as_bytes(), &part),
            next_link: 0,
            no_close: 0,
        };
        reader.run(self);
    }
}

/// A link in the source: its `[`, the `]` of its text, and where its target ends.
struct Link {
    open: usize,
    close: usize,
    end: usize,
    image: bool,
}

/// Returns the links of a part of the source, by their start.
fn links(bytes: &[u8], part: &Range<usize>) -> Vec<Link> {
    let mut found = Vec::new();
    if memchr::memchr2(b'[', b']', &bytes[part.clone()]).is_none() {
        return found;
    }
    let (mut open, mut at, mut no_target) = (Vec::new(), part.start, 0);
    while at < part.end {
        match bytes[at] {
            b'\\' => at += 1,
            b'[' => open.push(at),
            b']' => {
                if let Some(start) = open.pop()
                    && bytes.get(at + 1).is_some_and(|next| *next == b'(')
                    && at + 1 < part.end
                    && at >= no_target
                {
                    match target_end(bytes, at + 2, part.end) {
                        Some(end) => {
                            let image = start > part.start && bytes[start - 1] == b'!';
                            found.push(Link { open: start, close: at, end, image });
                            at = end - 1;
                        }
                        None => no_target = at + LONGEST_MARKUP,
                    }
                }
            }
            _ => {}
        }
        at += 1;
    }
    found.sort_by_key(|link| link.open);
    found
}

/// Returns where the target of a link ends that starts at `at`, after its `)`.
fn target_end(bytes: &[u8], at: usize, end: usize) -> Option<usize> {
    let mut depth = 1;
    let limit = end.min(at + LONGEST_MARKUP);
    let mut at = at;
    while at < limit {
        match bytes[at] {
            b'\\' => at += 1,
            b'(' => depth += 1,
            b')' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

struct Reader<'a> {
    source: &'a str,
    bytes: &'a [u8],
    end: usize,
    at: usize,
    /// What lies before is in the text already, or dropped.
    copied: usize,
    links: Vec<Link>,
    next_link: usize,
    /// Up to here no tag or code span ends, as a look for it has shown.
    no_close: usize,
}

impl Reader<'_> {
    fn run(&mut self, plain: &mut Plain) {
        let mut ends: Vec<(usize, usize)> = Vec::new();
        while self.at < self.end {
            if let Some(&(close, end)) = ends.last()
                && self.at >= close
            {
                ends.pop();
                self.drop_to(plain, close, end);
                continue;
            }
            match self.bytes[self.at] {
                b'\\' if self.next().is_some_and(|next| next.is_ascii_punctuation()) => {
                    self.drop_to(plain, self.at, self.at + 1);
                    self.at += 1;
                }
                b'[' | b'!' => self.bracket(plain, &mut ends),
                b'*' => self.emphasis(plain, false),
                b'_' => self.emphasis(plain, true),
                b'~' if self.next() == Some(b'~') => self.drop_to(plain, self.at, self.at + 2),
                b'`' => self.code(plain),
                b'<' => self.tag(plain),
                b'&' => self.entity(plain),
                _ => self.at += 1,
            }
        }
        self.flush(plain, self.end);
    }

    fn next(&self) -> Option<u8> {
        (self.at + 1 < self.end).then(|| self.bytes[self.at + 1])
    }

    fn flush(&mut self, plain: &mut Plain, to: usize) {
        if self.copied < to {
            plain.copy(self.source, self.copied..to);
        }
        self.copied = self.copied.max(to);
    }

    /// Copies up to `from` and leaves out what follows up to `to`.
    fn drop_to(&mut self, plain: &mut Plain, from: usize, to: usize) {
        self.flush(plain, from.min(self.end));
        // A code span or a tag may have gone beyond the end of a link already.
        self.copied = self.copied.max(to.min(self.end));
        self.at = self.at.max(self.copied);
    }

    fn bracket(&mut self, plain: &mut Plain, ends: &mut Vec<(usize, usize)>) {
        let open = self.at + usize::from(self.bytes[self.at] == b'!');
        while self.links.get(self.next_link).is_some_and(|link| link.open < open) {
            self.next_link += 1;
        }
        match self.links.get(self.next_link) {
            Some(link) if link.open == open => {
                let (close, end, image) = (link.close, link.end, link.image && open != self.at);
                if image {
                    self.drop_to(plain, self.at, end);
                } else if open == self.at {
                    ends.push((close, end));
                    self.drop_to(plain, open, open + 1);
                } else {
                    self.at += 1;
                }
            }
            _ if self.bytes[self.at] == b'[' && self.next() == Some(b'^') => {
                match memchr::memchr(b']', &self.bytes[self.at..self.end.min(self.at + 64)]) {
                    Some(length) => self.drop_to(plain, self.at, self.at + length + 1),
                    None => self.at += 1,
                }
            }
            _ => self.at += 1,
        }
    }

    /// Leaves out `*` and `_` that begin or end emphasis. A `_` inside a word, and both between blanks, are text.
    fn emphasis(&mut self, plain: &mut Plain, within_words: bool) {
        let mark = self.bytes[self.at];
        let start = self.at;
        let mut end = start;
        while end < self.end && self.bytes[end] == mark {
            end += 1;
        }
        let before = start.checked_sub(1).map_or(b' ', |at| self.bytes[at]);
        let after = if end < self.end { self.bytes[end] } else { b' ' };
        let blank = |byte: u8| byte.is_ascii_whitespace();
        let word = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 0x80;
        let text = (blank(before) && blank(after)) || (within_words && word(before) && word(after));
        if text {
            self.at = end;
        } else {
            self.drop_to(plain, start, end);
        }
    }

    fn code(&mut self, plain: &mut Plain) {
        let start = self.at;
        let mut open = start;
        while open < self.end && self.bytes[open] == b'`' {
            open += 1;
        }
        let ticks = &self.bytes[start..open];
        let limit = self.end.min(open + LONGEST_CODE);
        let close = if start < self.no_close { None } else { memchr::memmem::find(&self.bytes[open..limit], ticks) };
        match close {
            Some(length) => {
                self.drop_to(plain, start, open);
                self.flush(plain, open + length);
                self.drop_to(plain, open + length, open + length + ticks.len());
            }
            None => {
                self.no_close = limit;
                self.at = open;
            }
        }
    }

    fn tag(&mut self, plain: &mut Plain) {
        let named = self.next().is_some_and(|next| next.is_ascii_alphabetic() || matches!(next, b'/' | b'!'));
        let limit = self.end.min(self.at + LONGEST_MARKUP);
        let close =
            if named && self.at >= self.no_close { memchr::memchr(b'>', &self.bytes[self.at..limit]) } else { None };
        match close {
            Some(length) => {
                let line_break = self.bytes[self.at + 1..].starts_with(b"br");
                self.drop_to(plain, self.at, self.at + length + 1);
                if line_break {
                    plain.push_break(true);
                }
            }
            None => {
                if named {
                    self.no_close = self.no_close.max(limit);
                }
                self.at += 1;
            }
        }
    }

    fn entity(&mut self, plain: &mut Plain) {
        const ENTITIES: [(&[u8], &str); 6] =
            [(b"&amp;", "&"), (b"&lt;", "<"), (b"&gt;", ">"), (b"&quot;", "\""), (b"&#39;", "'"), (b"&nbsp;", " ")];
        let rest = &self.bytes[self.at..self.end];
        match ENTITIES.iter().find(|(name, _)| rest.starts_with(name)) {
            Some((name, text)) => {
                self.drop_to(plain, self.at, self.at + name.len());
                plain.text.push_str(text);
            }
            None => self.at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(source: &str) -> String {
        let mut plain = Plain::default();
        plain.read(source, 0..source.len());
        plain.text
    }

    #[test]
    fn markup_is_left_out_and_text_is_kept() {
        for (source, wanted) in [
            ("a **bold** and _slanted_ word", "a bold and slanted word"),
            ("snake_case_name and 2 * 3", "snake_case_name and 2 * 3"),
            ("[text](https://a.test/b_(c) \"title\") after", "text after"),
            ("[![alt](i.png)](https://a.test) after", " after"),
            ("![alt](i.png)x", "x"),
            ("a [bracket] stays", "a [bracket] stays"),
            ("note[^12] here", "note here"),
            ("`code_*x*` and ``a`b``", "code_*x* and a`b"),
            (r"1\. not \*a\* list", "1. not *a* list"),
            ("a<br>b <sup>2</sup> x < y", "a\nb 2 x < y"),
            ("AT&amp;T &lt;b&gt;", "AT&T <b>"),
            ("[**bold** link](u) ~~gone~~", "bold link gone"),
        ] {
            assert_eq!(text(source), wanted, "{source}");
        }
    }

    #[test]
    fn a_part_of_the_text_is_found_in_the_source() {
        let source = "One **two**. [Three](u) four.";
        let mut plain = Plain::default();
        plain.read(source, 0..source.len());
        assert_eq!(plain.text, "One two. Three four.");
        assert_eq!(&source[plain.source_of(&(9..20), &(0..source.len()))], "[Three](u) four.");
        assert_eq!(&source[plain.source_of(&(0..8), &(0..source.len()))], "One **two**.");
    }

    #[test]
    fn markup_without_an_end_takes_linear_time() {
        for unit in ["[", "[a](", "<a", "`", "``a", "![", "*_", "[]("] {
            let source = unit.repeat(300_000);
            assert!(text(&source).len() <= source.len());
        }
    }
}
