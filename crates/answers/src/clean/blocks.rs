//! Markdown in blocks, with the text and the links of each.

use std::ops::Range;

/// Block of markdown.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) kind: Kind,
    /// Place in the markdown, with the blank lines after it.
    pub(super) place: Range<usize>,
    /// Visible characters that are no link.
    pub(super) plain: usize,
    /// Visible characters of links.
    pub(super) linked: usize,
    /// Number of links.
    pub(super) links: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Heading of this level, from 1 to 6.
    Heading(u8),
    /// Fenced or indented code.
    Code,
    Table,
    Quote,
    List,
    Rule,
    Paragraph,
}

/// Link of a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link<'a> {
    pub(super) target: &'a str,
}

/// Cuts markdown into blocks. All blocks together are the whole text.
pub(super) fn of(markdown: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open: Option<(Kind, usize)> = None;
    let mut fence: Option<&str> = None;
    let mut is_blank_before = true;
    let mut at = 0;
    for line in markdown.split_inclusive('\n') {
        let (start, text) = (at, line.trim());
        at += line.len();
        if let Some(mark) = fence {
            if text.starts_with(mark) && text.trim_start_matches(&mark[..1]).is_empty() {
                fence = None;
                is_blank_before = true;
            }
            continue;
        }
        if text.is_empty() {
            is_blank_before = true;
            continue;
        }
        let kind = kind_of(line, text, open.map(|(kind, _)| kind), is_blank_before);
        let goes_on = open.is_some_and(|(before, _)| goes_on(before, kind, is_blank_before));
        if !goes_on {
            close(&mut blocks, markdown, open.replace((kind, start)), start);
        }
        fence = fence_of(text).filter(|_| kind == Kind::Code);
        is_blank_before = false;
    }
    close(&mut blocks, markdown, open, markdown.len());
    if let Some(first) = blocks.first_mut() {
        first.place.start = 0;
    }
    blocks
}

fn close(blocks: &mut Vec<Block>, markdown: &str, open: Option<(Kind, usize)>, end: usize) {
    let Some((kind, start)) = open else { return };
    let mut block = Block { kind, place: start..end, plain: 0, linked: 0, links: 0 };
    if kind != Kind::Code {
        let text = &markdown[start..end];
        walk(text, |piece| match piece {
            Piece::Plain(text) => block.plain += visible(text),
            Piece::Link { text, .. } => {
                block.linked += visible(text);
                block.links += 1;
            }
            Piece::Image => {}
        });
    }
    blocks.push(block);
}

/// Whether a line belongs to the block before it.
fn goes_on(before: Kind, kind: Kind, is_blank_before: bool) -> bool {
    match (before, kind) {
        (Kind::List, Kind::List) => true,
        (Kind::Quote | Kind::Table | Kind::Paragraph, same) if !is_blank_before => before == same,
        _ => false,
    }
}

fn kind_of(line: &str, text: &str, open: Option<Kind>, is_blank_before: bool) -> Kind {
    let indent = line.len() - line.trim_start().len();
    let level = text.bytes().take_while(|byte| *byte == b'#').count();
    match () {
        () if open == Some(Kind::List) && (indent >= 2 || (!is_blank_before && !is_item(text) && level == 0)) => {
            Kind::List
        }
        () if fence_of(text).is_some() || (indent >= 4 && is_blank_before) => Kind::Code,
        () if (1..=6).contains(&level) && text[level..].starts_with([' ', '\t']) => {
            Kind::Heading(u8::try_from(level).unwrap_or(6))
        }
        () if is_rule(text) => Kind::Rule,
        () if is_item(text) => Kind::List,
        () if text.starts_with('|') => Kind::Table,
        () if text.starts_with('>') => Kind::Quote,
        () => Kind::Paragraph,
    }
}

fn fence_of(text: &str) -> Option<&str> {
    let mark = text.as_bytes().first().filter(|byte| matches!(byte, b'`' | b'~'))?;
    let length = text.bytes().take_while(|byte| byte == mark).count();
    (length >= 3).then(|| &text[..length])
}

fn is_rule(text: &str) -> bool {
    let is_of = |mark: char| text.chars().all(|c| c == mark || c == ' ') && text.matches(mark).count() >= 3;
    ['-', '*', '_'].into_iter().any(is_of)
}

fn is_item(text: &str) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let after = if (1..=9).contains(&digits) {
        text[digits..].strip_prefix(['.', ')'])
    } else {
        text.strip_prefix(['-', '*', '+'])
    };
    after.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// Number of letters and digits.
fn visible(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphanumeric()).count()
}

/// Piece of inline markdown.
enum Piece<'a> {
    Plain(&'a str),
    Link { text: &'a str, target: &'a str },
    Image,
}

/// Calls `take` with the targets of all links of a text.
pub(super) fn each_link<'a>(text: &'a str, mut take: impl FnMut(Link<'a>)) {
    walk(text, |piece| {
        if let Piece::Link { target, .. } = piece {
            take(Link { target });
        }
    });
}

/// Returns the visible text without the targets of links.
pub(super) fn plain_text(text: &str) -> String {
    let mut plain = String::new();
    walk(text, |piece| match piece {
        Piece::Plain(text) | Piece::Link { text, .. } => plain.push_str(text),
        Piece::Image => {}
    });
    plain
}

/// Cuts inline markdown at its links and images. An image in a link belongs to the link.
fn walk<'a>(text: &'a str, mut take: impl FnMut(Piece<'a>)) {
    let bytes = text.as_bytes();
    let pairs = Pairs::of(bytes);
    let (mut at, mut plain) = (0, 0);
    while let Some(found) = text[at..].find('[') {
        let open = at + found;
        let Some((close, end)) = pairs.link(bytes, open) else {
            at = open + 1;
            continue;
        };
        let is_image = open > 0 && bytes[open - 1] == b'!';
        let start = open - usize::from(is_image);
        if plain < start {
            take(Piece::Plain(&text[plain..start]));
        }
        take(match is_image {
            true => Piece::Image,
            false => Piece::Link { text: without_images(&text[open + 1..close]), target: &text[close + 2..end] },
        });
        (at, plain) = (end + 1, end + 1);
    }
    if plain < text.len() {
        take(Piece::Plain(&text[plain..]));
    }
}

/// Brackets of a text with those that close them, found in one pass.
struct Pairs {
    /// Places of `[` and `(`, in order, with the places of their ends.
    found: Vec<(usize, usize)>,
}

impl Pairs {
    fn of(bytes: &[u8]) -> Self {
        let (mut square, mut round, mut found) = (Vec::new(), Vec::new(), Vec::new());
        for (at, byte) in bytes.iter().enumerate() {
            let closed = match byte {
                b'[' => {
                    square.push(at);
                    None
                }
                b'(' => {
                    round.push(at);
                    None
                }
                b']' => square.pop(),
                b')' => round.pop(),
                _ => None,
            };
            found.extend(closed.map(|open| (open, at)));
        }
        found.sort_unstable();
        Self { found }
    }

    /// Returns the places of the `]` and the `)` of the inline link that begins at `open`.
    fn link(&self, bytes: &[u8], open: usize) -> Option<(usize, usize)> {
        let close = self.end(open)?;
        (bytes.get(close + 1) == Some(&b'(')).then_some(())?;
        Some((close, self.end(close + 1)?))
    }

    fn end(&self, open: usize) -> Option<usize> {
        self.found.binary_search_by_key(&open, |(open, _)| *open).ok().map(|index| self.found[index].1)
    }
}

/// Returns the text of a link after the image that it begins with.
fn without_images(text: &str) -> &str {
    let bytes = text.as_bytes();
    match text.starts_with("![").then(|| Pairs::of(bytes).link(bytes, 1)).flatten() {
        Some((_, end)) => &text[end + 1..],
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_is_cut_into_blocks() {
        let markdown = "\n# Title\nText [a](/b) ![i](x)\nmore\n\n- one\n  - two\n\n- three\n\n```rust\n# no\n\n- no\n```\n| a | b |\n|---|---|\n\n> quote\n\n    code\n\n---\nend";
        let blocks = of(markdown);
        let kinds: Vec<Kind> = blocks.iter().map(|block| block.kind).collect();
        assert_eq!(
            kinds,
            [
                Kind::Heading(1),
                Kind::Paragraph,
                Kind::List,
                Kind::Code,
                Kind::Table,
                Kind::Quote,
                Kind::Code,
                Kind::Rule,
                Kind::Paragraph,
            ]
        );
        let whole: String = blocks.iter().map(|block| &markdown[block.place.clone()]).collect();
        assert_eq!(whole, markdown);
        assert_eq!((blocks[1].plain, blocks[1].linked, blocks[1].links), (8, 1, 1));
    }

    #[test]
    fn links_are_found() {
        let mut found = Vec::new();
        each_link("[![x](y) a](/p(1)) [b] [c](d) ![e](f) [", |link| found.push(link.target));
        assert_eq!(found, ["/p(1)", "d"]);
        assert_eq!(plain_text("see [![x](y) a](/p) now"), "see  a now");
    }
}
