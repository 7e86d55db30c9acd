//! Blocks of a text: paragraphs, headings, items of lists, rows of tables and lines of code.

use std::ops::Range;

use super::blocks::LineKind;
use super::key::key;
use super::lines::{Line, Lines};

/// Kind of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockKind {
    Paragraph,
    Heading,
    Item,
    Row,
    /// Line of a code block, or its beginning or end.
    Code,
}

/// Block of a text.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    pub(crate) kind: BlockKind,
    /// Lines that it has.
    lines: Range<usize>,
    /// Its text without what readers cannot see. Equal blocks have the same.
    pub(crate) text: String,
}

/// Canonical text with its blocks.
pub(crate) struct Parts<'t> {
    lines: Vec<Line<'t>>,
    pub(crate) blocks: Vec<Block>,
}

impl<'t> Parts<'t> {
    /// Reads a canonical text.
    pub(crate) fn read(text: &'t str) -> Self {
        let lines: Vec<Line<'t>> = Lines::new(text).collect();
        let mut blocks: Vec<Block> = Vec::new();
        let mut is_open = false;
        for (place, &line) in lines.iter().enumerate() {
            if line.kind == LineKind::Text && line.text.is_empty() {
                is_open = false;
                continue;
            }
            let started = start(line);
            match blocks.last_mut() {
                Some(last) if is_open && started == BlockKind::Paragraph => {
                    last.lines.end = place + 1;
                    last.text.push('\n');
                    last.text.push_str(&key(line));
                }
                _ => {
                    blocks.push(Block { kind: started, lines: place..place + 1, text: key(line).into_owned() });
                    is_open = matches!(started, BlockKind::Paragraph | BlockKind::Item);
                }
            }
        }
        Self { lines, blocks }
    }

    /// Returns the text without the blocks that `is_out` names.
    pub(crate) fn without(&self, is_out: impl Fn(usize) -> bool) -> String {
        let mut kept = vec![true; self.lines.len()];
        for (_, block) in self.blocks.iter().enumerate().filter(|(place, _)| is_out(*place)) {
            kept[block.lines.clone()].fill(false);
        }
        let mut text = String::new();
        for (line, _) in self.lines.iter().zip(kept).filter(|(_, kept)| *kept) {
            text.push_str(line.text);
            text.push('\n');
        }
        text
    }
}

/// Returns the kind of the block that begins with a line, if one begins there. A paragraph may go on.
fn start(line: Line<'_>) -> BlockKind {
    if line.kind != LineKind::Text {
        return BlockKind::Code;
    }
    let text = line.text.trim_start_matches([' ', '\t', '>']);
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let after = |marker: usize| text[marker..].starts_with([' ', '\t']);
    match text.as_bytes() {
        [b'|', ..] => BlockKind::Row,
        [b'#', ..] => BlockKind::Heading,
        [b'-' | b'*' | b'+', ..] if after(1) => BlockKind::Item,
        [.., _] if (1..=9).contains(&digits) && text[digits..].starts_with(['.', ')']) && after(digits + 1) => {
            BlockKind::Item
        }
        _ => BlockKind::Paragraph,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_paragraphs_headings_items_rows_and_code() {
        use BlockKind::{Code, Heading, Item, Paragraph, Row};
        let text = "# Tea\n\nAssam\nand more\n\n- one\n  goes on\n- two\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n10. ten\n\n```\nx  y\n```\n\nend\n";
        let parts = Parts::read(text);
        let kinds: Vec<BlockKind> = parts.blocks.iter().map(|block| block.kind).collect();
        assert_eq!(kinds, [Heading, Paragraph, Item, Item, Row, Row, Row, Item, Code, Code, Code, Paragraph]);
        assert_eq!(parts.blocks[1].text, "Assam\nand more");
        assert_eq!(parts.blocks[2].text, "- one\n  goes on");
        assert_eq!(parts.without(|_| false), text);
        assert!(!parts.without(|place| place == 1).contains("Assam"));
        assert_eq!(parts.without(|_| true).trim(), "");
    }
}
