//! Headings, quotes, thematic breaks and bold blocks.

use page::{Index, LocalName};

use super::blocks::Gap;
use super::event::Mark;
use super::paragraph::ParagraphKind;
use super::{Open, Writer};

impl Writer<'_> {
    pub(super) fn start_bold_block(&mut self) -> Open {
        self.boundary();
        if !self.inline.open(Mark::Strong, false) {
            return Open::Block;
        }
        self.bold_blocks += 1;
        Open::BoldBlock
    }

    pub(super) fn start_heading(&mut self, name: &LocalName) -> Open {
        if self.heading {
            self.boundary();
            return Open::Block;
        }
        // GFM has no headings in cells.
        if self.in_cell() {
            return self.start_bold_block();
        }
        self.flush();
        self.heading = true;
        Open::Heading(name[1..].parse().unwrap_or(6))
    }

    pub(super) fn end_heading(&mut self, level: usize) {
        self.heading = false;
        let mut line = "#".repeat(level);
        self.inline.take(ParagraphKind::Heading, |text| {
            line.push(' ');
            line.push_str(text);
        });
        if line.len() > level {
            self.blocks.tighten();
            self.blocks.write(&line);
        }
    }

    pub(super) fn start_quote(&mut self) -> Open {
        self.flush();
        // Without a blank line, two quotes in a row would merge.
        if self.blocks.len() > self.quote_end {
            self.blocks.tighten();
        }
        if self.blocks.open_quote() { Open::Quote } else { Open::Flat }
    }

    pub(super) fn end_quote(&mut self, index: Index) {
        self.flush();
        if !self.blocks.started() && self.is_bare(index) {
            self.blocks.write("");
        }
        self.blocks.close();
        self.blocks.set_gap(Gap::BlankLine);
        self.quote_end = self.blocks.len();
    }

    pub(super) fn rule(&mut self) {
        if self.is_flat() {
            return self.boundary();
        }
        self.flush();
        // `---` below a paragraph would be the underline of a heading; after the bullet `*`, `* * *` would be one rule.
        let rule = if self.blocks.behind_star() { "---" } else { "* * *" };
        self.blocks.tighten();
        self.blocks.write(rule);
    }
}
