//! Blocks one below the other: blank lines between them, and in front of every line the marks of the quotes and list
//! items that it stands in.

/// Quotes and lists inside each other that show; deeper ones are written at this level.
const MAX_CONTAINERS: usize = 24;
/// Bytes of one document. Indentation can make output much larger than its source.
const MAX_BYTES: usize = 48 << 20;

/// What parts a block from the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gap {
    Line,
    BlankLine,
}

#[derive(Debug)]
enum Container {
    Quote,
    /// The bullet or number with the blank behind it.
    Item(String),
}

/// The document as far as it is written.
#[derive(Debug)]
pub(super) struct Blocks {
    out: String,
    /// With whether a line of it was written.
    containers: Vec<(Container, bool)>,
    gap: Gap,
}

impl Default for Blocks {
    fn default() -> Self {
        Blocks { out: String::new(), containers: Vec::new(), gap: Gap::BlankLine }
    }
}

impl Blocks {
    /// Starts a quote; false when nesting is too deep, and then it must not be closed either.
    pub(super) fn open_quote(&mut self) -> bool {
        self.open(Container::Quote, false)
    }

    /// Starts a list item. It shows only when something is written into it.
    pub(super) fn open_item(&mut self, marker: String) -> bool {
        self.open(Container::Item(marker), false)
    }

    /// Goes on below an item that was closed before.
    pub(super) fn reopen_item(&mut self) -> bool {
        self.open(Container::Item("  ".into()), true)
    }

    fn open(&mut self, container: Container, started: bool) -> bool {
        let fits = self.containers.len() < MAX_CONTAINERS;
        if fits {
            self.containers.push((container, started));
        }
        fits
    }

    /// Ends the innermost container. True when something was written into it.
    pub(super) fn close(&mut self) -> bool {
        self.containers.pop().is_some_and(|(_, started)| started)
    }

    /// Whether the innermost container holds something already.
    pub(super) fn started(&self) -> bool {
        self.containers.last().is_none_or(|(_, started)| *started)
    }

    pub(super) fn len(&self) -> usize {
        self.out.len()
    }

    /// How the next block is parted from the last one. After a block it is a blank line.
    pub(super) fn set_gap(&mut self, gap: Gap) {
        self.gap = gap;
    }

    /// Whether the next line would stand behind the bullet `*`, where a line of stars has another meaning.
    pub(super) fn behind_star(&self) -> bool {
        matches!(self.containers.last(), Some((Container::Item(marker), false)) if marker.starts_with('*'))
    }

    /// Writes one block of one or more lines.
    pub(super) fn write(&mut self, block: &str) {
        if self.out.len() > MAX_BYTES {
            return;
        }
        if !self.out.is_empty() {
            self.out.push('\n');
            if self.gap == Gap::BlankLine {
                let started = self.containers.iter().take_while(|(_, started)| *started).count();
                self.prefix(started);
                self.trim_line();
                self.out.push('\n');
            }
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
        self.gap = Gap::BlankLine;
    }

    pub(super) fn finish(mut self) -> String {
        self.out.truncate(self.out.trim_end().len());
        self.out
    }

    fn prefix(&mut self, containers: usize) {
        for (container, started) in &mut self.containers[..containers] {
            match container {
                Container::Quote => self.out.push_str("> "),
                Container::Item(marker) if !*started => self.out.push_str(marker),
                Container::Item(marker) => self.out.extend(std::iter::repeat_n(' ', marker.len())),
            }
            *started = true;
        }
    }

    /// Removes blanks at the end of the line that is being written.
    fn trim_line(&mut self) {
        self.out.truncate(self.out.trim_end_matches(' ').len());
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
        blocks.open_item("- ".into());
        blocks.write("d\ne");
        blocks.open_item("10. ".into());
        blocks.set_gap(Gap::Line);
        blocks.write("f\ng");
        assert!(blocks.close());
        blocks.open_item("11. ".into());
        assert!(!blocks.close());
        blocks.close();
        blocks.close();
        blocks.write("h");
        assert_eq!(blocks.finish(), "a\n\n> b\n>\n> c\n>\n> - d\n>   e\n>   10. f\n>       g\n\nh");
    }
}
