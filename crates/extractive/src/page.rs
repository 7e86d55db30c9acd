//! A page as blocks and sentences.

use std::ops::Range;

use base::Stop;

use crate::GaveUp;
use crate::blocks::{Block, Blocks, Finished, Kind};
use crate::inline::Plain;
use crate::language::Language;
use crate::sentences::sentences;

/// What a page is, as its caller knows it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Source<'a> {
    /// The markdown of the page. What lies beyond 64 MiB is not read.
    pub markdown: &'a str,
    /// The title of the page, or an empty string.
    pub title: &'a str,
    /// The language of the page as a tag such as `pt-BR`, or an empty string: then it is guessed from the text.
    pub language: &'a str,
}

/// Most bytes of markdown that are read.
const LONGEST_PAGE: usize = 64 << 20;
/// Most sentences that are read: what follows is not. Bounds the memory for a page of a million one-letter paragraphs.
const MOST_SENTENCES: usize = 1_500_000;
/// Longest heading, row or block of code in bytes that is one sentence. Longer ones are cut like text.
const LONGEST_WHOLE: usize = 1200;
/// Lines between two looks at the [`Stop`].
const LINES_BETWEEN_LOOKS: usize = 256;

/// A sentence, or a unit that is treated as one: a heading, a row of a table, a block of code.
#[derive(Debug, Clone)]
pub(crate) struct Sentence {
    /// Its part of the plain text.
    pub(crate) text: Range<usize>,
    /// Its part of the source, with the markup directly around it.
    pub(crate) source: Range<usize>,
    pub(crate) block: usize,
}

/// A page that was read once and answers many questions.
#[derive(Debug)]
pub struct Page<'a> {
    pub(crate) source: &'a str,
    pub(crate) title: &'a str,
    pub(crate) language: &'static Language,
    pub(crate) text: String,
    pub(crate) blocks: Vec<Block>,
    pub(crate) sentences: Vec<Sentence>,
}

impl<'a> Page<'a> {
    /// Reads a page.
    ///
    /// # Errors
    ///
    /// [`GaveUp`] when `stop` is set.
    pub fn read(source: &Source<'a>, stop: &Stop) -> Result<Self, GaveUp> {
        let markdown = upto(source.markdown, LONGEST_PAGE);
        let language = Language::of_page(source.language, upto(markdown, 16_384));
        let mut page = Page {
            source: markdown,
            title: source.title,
            language,
            text: String::new(),
            blocks: Vec::new(),
            sentences: Vec::new(),
        };
        let mut plain = Plain::default();
        let mut blocks = Blocks::new(markdown);
        let mut start = 0;
        for (number, end) in memchr::memchr_iter(b'\n', markdown.as_bytes()).chain([markdown.len()]).enumerate() {
            if number % LINES_BETWEEN_LOOKS == 0 && stop.is_set() {
                return Err(GaveUp);
            }
            if let Some(done) = blocks.line(start..end, &mut plain, page.blocks.len()) {
                page.add(done, &plain, stop);
                if page.sentences.len() > MOST_SENTENCES {
                    break;
                }
            }
            start = (end + 1).min(markdown.len());
        }
        if let Some(done) = blocks.finish(&mut plain, page.blocks.len()) {
            page.add(done, &plain, stop);
        }
        page.text = plain.text;
        if stop.is_set() { Err(GaveUp) } else { Ok(page) }
    }

    /// Returns the text of the page without markup, its blocks one after another.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the sentences of the page in page order, without markup. A heading, a row of a table and a block of code
    /// count as one each. A line end in one is a blank.
    pub fn sentences(&self) -> impl Iterator<Item = String> + '_ {
        (0..self.sentences.len()).map(|sentence| self.on_one_line(sentence))
    }

    /// Adds a block and cuts it into sentences.
    fn add(&mut self, done: Finished, plain: &Plain, stop: &Stop) {
        let Finished { mut block } = done;
        let index = self.blocks.len();
        let first = self.sentences.len();
        let text = &plain.text[block.text.clone()];
        let offset = block.text.start;
        let whole = matches!(block.kind, Kind::Heading(_) | Kind::Row | Kind::Code) && text.len() <= LONGEST_WHOLE;
        let mut push = |range: Range<usize>| {
            let range = range.start + offset..range.end + offset;
            let source = plain.source_of(&range, &block.source);
            self.sentences.push(Sentence { text: range, source, block: index });
        };
        if whole {
            let edge = |c: char| c.is_whitespace() || c == '|';
            let start = text.len() - text.trim_start_matches(edge).len();
            let end = start + text[start..].trim_end_matches(edge).len();
            if start < end {
                push(start..end);
            }
        } else {
            sentences(text, self.language, stop, push);
        }
        block.sentences = first..self.sentences.len();
        self.blocks.push(block);
    }

    /// Returns the text of a sentence, without markup.
    pub(crate) fn text_of(&self, sentence: usize) -> &str {
        &self.text[self.sentences[sentence].text.clone()]
    }

    /// Returns the block of a sentence.
    pub(crate) fn block_of(&self, sentence: usize) -> &Block {
        &self.blocks[self.sentences[sentence].block]
    }
}

/// Returns the beginning of a text, at most `most` bytes of it.
pub(crate) fn upto(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
