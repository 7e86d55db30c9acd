//! Long pages in chunks: cut before headings, between table rows, list items and paragraphs, and inside of these only
//! where one alone is too long.

mod blocks;

use blocks::{Block, Kind};

use crate::tokens;

/// Characters of a heading that is repeated at the beginning of a chunk.
const HEADING_CHARACTERS: usize = 200;

/// A part of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Markdown: the headings above the part, the header of a table that was cut, and the part itself.
    pub text: String,
    /// Estimated tokens of the text.
    pub tokens: u64,
}

/// Cuts a page into chunks of at most `max_tokens`. Nothing is left out, and no row, item or paragraph occurs twice.
///
/// ```
/// let page = "# Staff\n\n| Name | Room |\n| --- | --- |\n| Ada | 1 |\n| Ben | 2 |\n";
/// let chunks = llm::pages::cut(page, 20);
/// assert_eq!(chunks[0].text, "# Staff\n\n| Name | Room |\n| --- | --- |\n| Ada | 1 |");
/// assert_eq!(chunks[1].text, "# Staff\n\n| Name | Room |\n| --- | --- |\n| Ben | 2 |");
/// ```
#[must_use]
pub fn cut(markdown: &str, max_tokens: u64) -> Vec<Chunk> {
    let max_tokens = max_tokens.max(16);
    let mut cutter = Cutter {
        max_tokens,
        chunks: Vec::new(),
        text: String::new(),
        tokens: 0,
        is_fresh: true,
        has_text: false,
        path: Vec::new(),
    };
    let blocks = blocks::of(markdown);
    let sections = sections(&blocks);
    for (index, block) in blocks.iter().enumerate() {
        if let Kind::Heading(level) = block.kind {
            cutter.begin_section(block, usize::from(level), sections[index]);
        }
        cutter.add(block);
    }
    cutter.finish();
    cutter.chunks
}

/// Returns for each block the tokens up to the next heading of its level or above; 0 for blocks that are no headings.
fn sections(blocks: &[Block<'_>]) -> Vec<u64> {
    let mut sections = vec![0; blocks.len()];
    // Tokens of the open section of each level; index 0 is not used.
    let mut after = [0_u64; 7];
    for (index, block) in blocks.iter().enumerate().rev() {
        for sum in &mut after {
            *sum += block.tokens;
        }
        if let Kind::Heading(level) = block.kind {
            let level = usize::from(level).min(6);
            sections[index] = after[level];
            after[level..].fill(0);
        }
    }
    sections
}

struct Cutter<'a> {
    max_tokens: u64,
    chunks: Vec<Chunk>,
    text: String,
    tokens: u64,
    /// Whether the current chunk has nothing of its own yet.
    is_fresh: bool,
    /// Whether it has more than headings, which are not left alone.
    has_text: bool,
    path: Vec<Heading<'a>>,
}

struct Heading<'a> {
    level: usize,
    text: &'a str,
}

impl<'a> Cutter<'a> {
    /// Starts a section: in a new chunk if it fits there and does not fit here.
    fn begin_section(&mut self, heading: &Block<'a>, level: usize, section: u64) {
        self.path.retain(|above| above.level < level);
        let fits_alone = section + self.prefix(None).1 <= self.max_tokens;
        if !self.is_fresh && self.tokens + section > self.max_tokens && fits_alone {
            self.finish();
        }
        let text = heading.text.trim();
        let end = text.char_indices().nth(HEADING_CHARACTERS).map_or(text.len(), |(end, _)| end);
        self.path.push(Heading { level, text: text[..end].lines().next().unwrap_or_default() });
    }

    fn add(&mut self, block: &Block<'a>) {
        let may_finish = self.has_text || matches!(block.kind, Kind::Heading(_));
        if !self.is_fresh && may_finish && self.tokens + block.tokens > self.max_tokens {
            self.finish();
        }
        self.open(block);
        if self.tokens + block.tokens <= self.max_tokens {
            self.push(block, block.text);
            return;
        }
        let room = self.max_tokens.saturating_sub(self.tokens).max(self.max_tokens / 4);
        for (index, piece) in pieces(block.text, room).into_iter().enumerate() {
            if index > 0 {
                self.finish();
                self.open(block);
            }
            self.push(block, piece);
        }
    }

    /// Writes what a new chunk repeats: the headings above it and the header of its table.
    fn open(&mut self, block: &Block<'a>) {
        if self.text.is_empty() {
            let (prefix, tokens) = self.prefix(Some(block));
            (self.text, self.tokens) = (prefix, tokens);
        }
    }

    fn prefix(&self, block: Option<&Block<'a>>) -> (String, u64) {
        // The heading itself follows as a block.
        let is_heading = block.is_none_or(|block| matches!(block.kind, Kind::Heading(_)));
        let above = self.path.len() - usize::from(is_heading && block.is_some());
        let mut path = &self.path[..above];
        let joined = |path: &[Heading<'_>]| path.iter().map(|heading| heading.text).collect::<Vec<_>>().join("\n\n");
        let mut prefix = joined(path);
        // Long paths lose their outermost headings: the part itself has to fit.
        while tokens::estimate(&prefix) > self.max_tokens / 4 && !path.is_empty() {
            path = &path[1..];
            prefix = joined(path);
        }
        if let Some(header) =
            block.and_then(|block| block.header).filter(|header| tokens::estimate(header) <= self.max_tokens / 2)
        {
            if !prefix.is_empty() {
                prefix.push_str("\n\n");
            }
            prefix.push_str(header.trim_end());
        }
        let tokens = tokens::estimate(&prefix);
        (prefix, tokens)
    }

    fn push(&mut self, block: &Block<'a>, text: &str) {
        if !self.text.is_empty() {
            let is_row_below_header = self.is_fresh && block.header.is_some();
            self.text.push_str(if block.is_tight && (!self.is_fresh || is_row_below_header) { "\n" } else { "\n\n" });
        }
        self.text.push_str(text.trim_end());
        // The line break before it.
        self.tokens += tokens::estimate(text) + 1;
        self.is_fresh = false;
        self.has_text |= block.kind == Kind::Text;
    }

    fn finish(&mut self) {
        if !self.is_fresh {
            let text = std::mem::take(&mut self.text);
            let tokens = tokens::estimate(&text);
            self.chunks.push(Chunk { text, tokens });
        }
        self.text.clear();
        (self.tokens, self.is_fresh, self.has_text) = (0, true, false);
    }
}

/// Cuts a text that is too long, after a line or a sentence that ends in the second half of a piece, or after a word.
fn pieces(text: &str, max_tokens: u64) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.trim().is_empty() {
        let end = fitting(rest, max_tokens);
        pieces.push(rest[..end].trim_end());
        rest = rest[end..].trim_start();
    }
    pieces
}

/// Returns the end of the longest good piece at the beginning of a text.
fn fitting(text: &str, max_tokens: u64) -> usize {
    let mut used = 0;
    let (mut line, mut sentence, mut word) = (None, None, None);
    let mut previous = ' ';
    for (at, character) in text.char_indices() {
        used += tokens::weight(character);
        if used > max_tokens * 1000 {
            return line.or(sentence).or(word).unwrap_or(at.max(character.len_utf8()));
        }
        let end = at + character.len_utf8();
        let is_second_half = used > max_tokens * 500;
        match character {
            '\n' if is_second_half => line = Some(end),
            '。' | '！' | '？' if is_second_half => sentence = Some(end),
            ' ' if is_second_half && matches!(previous, '.' | '!' | '?') => sentence = Some(end),
            ' ' | '\n' => word = Some(end),
            _ => {}
        }
        previous = character;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(markdown: &str, max_tokens: u64) -> Vec<String> {
        cut(markdown, max_tokens).into_iter().map(|chunk| chunk.text).collect()
    }

    #[test]
    fn a_short_page_is_one_chunk() {
        assert_eq!(texts("# A\n\ntext\n\n- one\n- two\n", 100), ["# A\n\ntext\n\n- one\n- two"]);
        assert!(cut("  \n\n", 100).is_empty());
    }

    #[test]
    fn sections_stay_together_and_carry_their_headings() {
        let card =
            |number: usize| format!("## Station {number}\n\nPlace: Essen {number}\n\nValue: {number}.5 units\n\n");
        let page = format!("# Readings\n\nOperator: North Grid.\n\n{}", (0..9).map(card).collect::<String>());
        let chunks = texts(&page, 45);
        assert!(chunks.len() > 3);
        for (index, chunk) in chunks.iter().enumerate() {
            assert!(chunk.starts_with("# Readings\n\n"), "{chunk}");
            assert_eq!(chunk.contains("Operator"), index == 0);
            assert_eq!(chunk.matches("## Station").count(), chunk.matches("Value:").count(), "{chunk}");
        }
        assert_eq!(chunks.concat().matches("## Station").count(), 9);
    }

    #[test]
    fn tables_are_cut_between_rows_and_lists_between_items() {
        let rows: String = (0..50).map(|number| format!("| JX-{number:05} | Halle {number} |\n")).collect();
        let page = format!("# R\n\nBefore.\n\n| Id | Station |\n| --- | --- |\n{rows}\nAfter.\n");
        let chunks = texts(&page, 120);
        assert!(chunks.len() > 4);
        for chunk in &chunks[1..chunks.len() - 1] {
            assert!(chunk.starts_with("# R\n\n| Id | Station |\n| --- | --- |\n| JX-"), "{chunk}");
        }
        let all = chunks.concat();
        assert!((0..50).all(|number| all.matches(&format!("JX-{number:05}")).count() == 1));
        let items: String = (0..40).map(|number| format!("- item {number}:\n  - inner {number}\n")).collect();
        for chunk in texts(&items, 60) {
            assert!(chunk.starts_with("- item"), "{chunk}");
            assert_eq!(chunk.matches("- item").count(), chunk.matches("- inner").count());
        }
    }

    #[test]
    fn a_paragraph_that_is_too_long_is_cut_after_sentences() {
        let page = format!("# A\n\n{}", "This is a sentence of the page. ".repeat(60));
        let chunks = texts(&page, 60);
        assert!(
            chunks.len() > 5
                && chunks.iter().all(|chunk| chunk.starts_with("# A\n\nThis is") && chunk.ends_with("page."))
        );
        let solid = texts(&"字".repeat(500), 100);
        assert_eq!(solid.concat(), "字".repeat(500));
    }

    #[test]
    fn code_is_one_block_and_its_comments_are_no_headings() {
        let page = "# A\n\n```sh\n# not a heading\n\n| a | b |\n```\n\ntext";
        let blocks = blocks::of(page);
        assert_eq!(blocks.len(), 3);
        assert_eq!(texts(page, 1000), [page]);
    }

    #[test]
    fn a_large_page_is_cut_in_linear_time() {
        let rows: String = (0..60_000).map(|number| format!("| JX-{number:05} | Halle {number} | 12.5 |\n")).collect();
        let page = format!("# R\n\n| Id | Station | Value |\n| --- | --- | --- |\n{rows}");
        let chunks = cut(&page, 4000);
        assert!(chunks.iter().all(|chunk| chunk.tokens <= 4000));
        assert_eq!(chunks.iter().map(|chunk| chunk.text.matches("JX-").count()).sum::<usize>(), 60_000);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_every_chunk_fits(
            lines in prop::collection::vec("#{0,3} ?[a-z]{0,9} ?[|a-z. -]{0,30}|- [a-z]{1,20}|```|\\| [a-z]{1,9} \\||字{0,40}|", 0..40),
            max_tokens in 16_u64..80,
        ) {
            let page = lines.join("\n");
            let chunks = cut(&page, max_tokens);
            let all: String = chunks.iter().map(|chunk| chunk.text.as_str()).collect::<Vec<_>>().join("\n");
            for word in page.split_whitespace().filter(|word| word.len() < 10) {
                prop_assert!(all.contains(word), "{word} is lost");
            }
            for chunk in &chunks {
                // A piece that is cut shares its chunk with the headings above it.
                prop_assert!(chunk.tokens <= max_tokens * 7 / 4 + 4, "{} of {max_tokens}: {}", chunk.tokens, chunk.text);
            }
        }
    }
}
