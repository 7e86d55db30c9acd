//! Blocks one below the other: blank lines between them, and in front of every line the marks of the quotes and list
//! items that it stands in.

/// Quotes and lists inside each other that show; deeper ones are written at this level.
const MAX_CONTAINERS: usize = 24;
/// Bytes of one document. Indentation can make output much larger than its source.
const MAX_BYTES: usize = 48 << 20;
const BLANKS: &str = "                                ";

/// What parts a block from the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gap {
    Line,
    BlankLine,
}

/// What stands before the first line of a list item or footnote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Marker {
    Bullet(char),
    /// With the character after the number.
    Number(i64, char),
    /// The label of a footnote.
    Footnote(String),
    /// Goes on below an item that was closed before.
    Below,
}

#[derive(Debug)]
struct Container {
    /// None for a quote.
    marker: Option<Marker>,
    /// Columns of all lines after the first.
    indent: usize,
    /// Whether a line of it was written.
    started: bool,
}

/// The document as far as it is written.
#[derive(Debug)]
pub(super) struct Blocks {
    out: String,
    containers: Vec<Container>,
    gap: Gap,
    tight: bool,
}

impl Default for Blocks {
    fn default() -> Self {
        Blocks { out: String::new(), containers: Vec::new(), gap: Gap::BlankLine, tight: true }
    }
}

impl Blocks {
    /// Starts a quote; false when nesting is too deep, and then it must not be closed either.
    pub(super) fn open_quote(&mut self) -> bool {
        self.open(Container { marker: None, indent: 0, started: false })
    }

    /// Starts a list item or footnote. It shows only when something is written into it.
    pub(super) fn open_item(&mut self, marker: Marker) -> bool {
        let indent = match &marker {
            Marker::Bullet(_) | Marker::Below => 2,
            // The digits, the character after them and a space.
            Marker::Number(number, _) => number.checked_ilog10().unwrap_or(0) as usize + 3,
            Marker::Footnote(_) => 4,
        };
        let started = marker == Marker::Below;
        self.open(Container { marker: Some(marker), indent, started })
    }

    fn open(&mut self, container: Container) -> bool {
        let fits = self.containers.len() < MAX_CONTAINERS;
        if fits {
            self.containers.push(container);
        }
        fits
    }

    /// Ends the innermost container. True when something was written into it.
    pub(super) fn close(&mut self) -> bool {
        self.tight = true;
        self.containers.pop().is_some_and(|container| container.started)
    }

    /// Whether the innermost container holds something already.
    pub(super) fn started(&self) -> bool {
        self.containers.last().is_none_or(|container| container.started)
    }

    /// Whether the innermost container is a list item, or a footnote.
    pub(super) fn in_item(&self) -> bool {
        self.containers.last().is_some_and(|container| container.marker.is_some())
    }

    pub(super) fn len(&self) -> usize {
        self.out.len()
    }

    /// How the next block is separated from the last one. After a block it is a blank line.
    pub(super) fn set_gap(&mut self, gap: Gap) {
        self.gap = gap;
    }

    /// The block that was just written wants a blank line after it, also in a list item.
    pub(super) fn want_blank_line(&mut self) {
        self.tight = false;
    }

    /// Puts the next block directly below what its list item holds so far, unless that wants a blank line.
    pub(super) fn tighten(&mut self) {
        if self.tight && self.in_item() && self.started() {
            self.gap = Gap::Line;
        }
    }

    /// Whether the next line would stand after the bullet `*`, where a line of stars has another meaning.
    pub(super) fn behind_star(&self) -> bool {
        self.containers.last().is_some_and(|last| !last.started && last.marker == Some(Marker::Bullet('*')))
    }

    /// Writes one block of one or more lines.
    pub(super) fn write(&mut self, block: &str) {
        if self.out.len() > MAX_BYTES {
            return;
        }
        if !self.out.is_empty() {
            self.out.push('\n');
            if self.gap == Gap::BlankLine {
                let started = self.containers.iter().take_while(|container| container.started).count();
                self.prefix(started);
                self.trim_line();
                self.out.push('\n');
            }
        }
        self.gap = Gap::BlankLine;
        self.tight = true;
        if self.containers.is_empty() {
            self.out.push_str(block);
            return;
        }
        for (n, line) in block.split('\n').enumerate() {
            if n > 0 {
                self.out.push('\n');
            }
            if self.out.len() > MAX_BYTES {
                break;
            }
            self.prefix(self.containers.len());
            self.out.push_str(line);
            if line.is_empty() {
                self.trim_line();
            }
        }
    }

    pub(super) fn finish(mut self) -> String {
        self.out.truncate(self.out.trim_end_matches(['\n', ' ']).len());
        self.out
    }

    fn prefix(&mut self, containers: usize) {
        for container in &mut self.containers[..containers] {
            match &container.marker {
                None => self.out.push_str("> "),
                Some(marker) if !container.started => marker.push(&mut self.out),
                Some(_) => self.out.push_str(&BLANKS[..container.indent.min(BLANKS.len())]),
            }
            container.started = true;
        }
    }

    /// Removes spaces at the end of the line that is being written.
    fn trim_line(&mut self) {
        self.out.truncate(self.out.trim_end_matches(' ').len());
    }
}

impl Marker {
    fn push(&self, out: &mut String) {
        match self {
            Marker::Bullet(bullet) => {
                out.push(*bullet);
                out.push(' ');
            }
            Marker::Number(number, end) => {
                out.push_str(&number.to_string());
                out.push(*end);
                out.push(' ');
            }
            Marker::Footnote(label) => {
                out.push_str("[^");
                out.push_str(label);
                out.push_str("]: ");
            }
            Marker::Below => out.push_str("  "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_and_gaps() {
        let mut blocks = Blocks::default();
        blocks.write("a");
        blocks.open_quote();
        blocks.write("b\n\nc");
        blocks.open_item(Marker::Bullet('-'));
        blocks.write("d\ne");
        blocks.open_item(Marker::Number(10, '.'));
        blocks.set_gap(Gap::Line);
        blocks.write("f\ng");
        assert!(blocks.close());
        blocks.open_item(Marker::Number(11, '.'));
        assert!(!blocks.close());
        blocks.close();
        blocks.close();
        blocks.write("h");
        assert_eq!(blocks.finish(), "a\n\n> b\n>\n> c\n>\n> - d\n>   e\n>   10. f\n>       g\n\nh");
    }

    #[test]
    fn items_are_tight_unless_a_block_wants_a_blank_line() {
        let mut blocks = Blocks::default();
        blocks.open_item(Marker::Number(0, ')'));
        blocks.write("a");
        blocks.tighten();
        blocks.write("b");
        blocks.want_blank_line();
        blocks.tighten();
        blocks.write("c");
        blocks.close();
        blocks.open_item(Marker::Footnote("n".into()));
        blocks.write("d\ne");
        assert_eq!(blocks.finish(), "0) a\n   b\n\n   c\n\n[^n]: d\n    e");
    }
}
