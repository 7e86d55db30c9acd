//! Passages of a page as markdown.

use crate::blocks::Kind;
use crate::page::Page;

/// Between parts of one paragraph that do not follow each other.
const LEFT_OUT: &str = " … ";
/// Between blocks that do not follow each other.
const LEFT_OUT_BLOCKS: &str = "\n\n…\n\n";
/// Longest header of a table, in bytes, that is repeated above its rows.
const LONGEST_HEADER: usize = 300;

/// Longest source of a part, in bytes. Where the targets of links make it longer, its text is written.
const LONGEST_SOURCE: usize = 6000;

/// Sentences of one block that follow each other.
struct Run {
    block: usize,
    first: usize,
    last: usize,
}

impl Page<'_> {
    /// Returns sentences in page order as markdown.
    pub(crate) fn passages(&self, sentences: &[usize]) -> String {
        let mut runs: Vec<Run> = Vec::new();
        for &sentence in sentences {
            let block = self.sentences[sentence].block;
            match runs.last_mut() {
                Some(run) if run.block == block && run.last + 1 == sentence => run.last = sentence,
                _ => runs.push(Run { block, first: sentence, last: sentence }),
            }
        }
        let mut out = String::new();
        for (at, run) in runs.iter().enumerate() {
            let before = at.checked_sub(1).map(|before| &runs[before]);
            if let Some(before) = before {
                out.push_str(self.between(before, run));
            }
            if before.is_none_or(|before| self.blocks[before.block].lead != self.blocks[run.block].lead) {
                self.push_header(run, &mut out);
            }
            self.push_run(run, &mut out);
        }
        out
    }

    fn between(&self, before: &Run, run: &Run) -> &'static str {
        let (kind, next) = (self.blocks[before.block].kind, self.blocks[run.block].kind);
        if before.block == run.block {
            return LEFT_OUT;
        }
        if kind == Kind::Row && next == Kind::Row && self.blocks[before.block].lead == self.blocks[run.block].lead {
            return "\n";
        }
        if before.last + 1 != run.first {
            return LEFT_OUT_BLOCKS;
        }
        if kind == Kind::Item && next == Kind::Item { "\n" } else { "\n\n" }
    }

    /// Adds the header of a table before its first row.
    fn push_header(&self, run: &Run, out: &mut String) {
        let block = &self.blocks[run.block];
        let Some(header) = block.lead.filter(|_| block.kind == Kind::Row) else { return };
        let start = self.blocks[header].source.start;
        let rest = &self.source[start..block.source.start];
        let lines: Vec<&str> = rest.lines().take(2).collect();
        if let [header, delimiter] = lines[..]
            && header.len() + delimiter.len() <= LONGEST_HEADER
        {
            out.push_str(header);
            out.push('\n');
            out.push_str(delimiter);
            out.push('\n');
        }
    }

    /// Adds the source of a run, or its text where the source would be half of an emphasis or a link.
    fn push_run(&self, run: &Run, out: &mut String) {
        let block = &self.blocks[run.block];
        let (first, last) = (&self.sentences[run.first], &self.sentences[run.last]);
        let (begins, ends) = (block.sentences.start == run.first, block.sentences.end == run.last + 1);
        let start = if begins { block.source.start } else { first.source.start };
        let end = if ends { block.source.end } else { last.source.end };
        let source = self.source[start..end.max(start)].trim();
        if source.len() <= LONGEST_SOURCE && ((begins && ends) || is_balanced(source)) {
            out.push_str(source);
        } else {
            out.push_str(&self.text[first.text.start..last.text.end]);
        }
    }

    /// Returns the text of a sentence with its line ends as blanks.
    pub(crate) fn on_one_line(&self, sentence: usize) -> String {
        self.text_of(sentence).split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// Returns whether every mark of emphasis, code and links that begins in a part of the source ends in it.
fn is_balanced(source: &str) -> bool {
    let (mut stars, mut lines, mut ticks, mut brackets) = (0, 0, 0, 0);
    let (mut escaped, mut before) = (false, b' ');
    for byte in source.bytes() {
        match byte {
            _ if escaped => {}
            b'[' => brackets += 1,
            b']' => brackets -= 1,
            // `**` is one mark.
            _ if byte == before => {}
            b'*' => stars += 1,
            b'_' => lines += 1,
            b'`' => ticks += 1,
            _ => {}
        }
        escaped = byte == b'\\' && !escaped;
        before = byte;
    }
    stars % 2 == 0 && lines % 2 == 0 && ticks % 2 == 0 && brackets == 0
}
