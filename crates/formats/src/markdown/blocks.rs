//! Output of markdown blocks: blank lines between them, and on every line the prefixes of its quotes and list items.

/// Nesting limit of quotes and lists; deeper ones are written at this level.
const MAX_CONTAINERS: usize = 24;
/// Limit on one document, in bytes. Indentation can make the output much larger than its source.
const MAX_BYTES: usize = 48 << 20;
const BLANKS: &str = "                                ";

/// Separation of a block from the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gap {
    Line,
    BlankLine,
}

/// Marker before the first line of a list item or footnote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Marker {
    Bullet(char),
    /// The number, and the character after it.
    Number(i64, char),
    /// The label of a footnote.
    Footnote(String),
}

/// Kind of a container of blocks.
#[derive(Debug)]
enum Holder {
    Quote,
    Item(Marker),
    /// A list. Blocks in it that are in no item continue the last item.
    List,
}

#[derive(Debug)]
struct Container {
    holder: Holder,
    /// Indentation of all lines after the first, in columns; for a list, that of its last item.
    indent: usize,
    /// Whether a line of the container was written.
    started: bool,
}

/// The document written so far.
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
    /// Starts a quote. Returns false if the nesting is too deep; the caller must not close it then.
    pub(super) fn open_quote(&mut self) -> bool {
        self.open(Container { holder: Holder::Quote, indent: 0, started: false })
    }

    /// Starts a list item or footnote. Its marker appears only if something is written into it.
    pub(super) fn open_item(&mut self, marker: Marker) -> bool {
        let indent = match &marker {
            Marker::Bullet(_) => 2,
            // The digits, the character after them and a space.
            Marker::Number(number, _) => number.checked_ilog10().unwrap_or(0) as usize + 3,
            Marker::Footnote(_) => 4,
        };
        let opened = self.open(Container { holder: Holder::Item(marker), indent, started: false });
        if opened && let Some(list) = self.containers.iter_mut().nth_back(1).filter(|list| list.is_list()) {
            list.indent = indent;
        }
        opened
    }

    /// Starts a list; its items follow. A list has no marker of its own.
    pub(super) fn open_list(&mut self) {
        self.containers.push(Container { holder: Holder::List, indent: 0, started: true });
    }

    /// Whether another list may start here. A list directly inside a list counts towards the nesting like an item.
    pub(super) fn fits_list(&self) -> bool {
        let holders = || self.containers.iter().filter(|container| !container.is_list()).count();
        let direct = || self.containers.windows(2).filter(|pair| pair[0].is_list() && pair[1].is_list()).count();
        !self.in_list() || holders() + direct() < MAX_CONTAINERS
    }

    /// Ends the innermost container, which must be a list.
    pub(super) fn close_list(&mut self) {
        self.containers.pop();
    }

    /// Whether the innermost container is a list, outside its items.
    pub(super) fn in_list(&self) -> bool {
        self.containers.last().is_some_and(Container::is_list)
    }

    fn open(&mut self, container: Container) -> bool {
        let fits = self.containers.iter().filter(|container| !container.is_list()).count() < MAX_CONTAINERS;
        if fits {
            self.containers.push(container);
        }
        fits
    }

    /// Ends the innermost container. Returns whether something was written into it.
    pub(super) fn close(&mut self) -> bool {
        self.tight = true;
        self.containers.pop().is_some_and(|container| container.started)
    }

    /// Whether something was written into the innermost container.
    pub(super) fn started(&self) -> bool {
        self.containers.last().is_none_or(|container| container.started)
    }

    /// Whether the innermost container is a list item or footnote.
    pub(super) fn in_item(&self) -> bool {
        self.containers.last().is_some_and(|container| matches!(container.holder, Holder::Item(_)))
    }

    pub(super) fn len(&self) -> usize {
        self.out.len()
    }

    /// Sets the separation of the next block. Every written block resets it to a blank line.
    pub(super) fn set_gap(&mut self, gap: Gap) {
        self.gap = gap;
    }

    /// Requires a blank line after the last block, even in a list item.
    pub(super) fn want_blank_line(&mut self) {
        self.tight = false;
    }

    /// Omits the blank line before the next block in a list item, unless the last block requires one.
    pub(super) fn tighten(&mut self) {
        if self.tight && self.in_item() && self.started() {
            self.gap = Gap::Line;
        }
    }

    /// Whether the next line follows the bullet `*`, where a line of stars would be read as a thematic break.
    pub(super) fn behind_star(&self) -> bool {
        let is_star = |holder: &Holder| matches!(holder, Holder::Item(Marker::Bullet('*')));
        self.containers.last().is_some_and(|last| !last.started && is_star(&last.holder))
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
        for at in 0..containers {
            // An item starts at the column of its list, so the list adds no indentation in front of it.
            let next = self.containers.get(at + 1).filter(|_| at + 1 < containers);
            let is_beside = next.is_none_or(|next| !matches!(next.holder, Holder::Item(_)));
            let container = &mut self.containers[at];
            let blanks = &BLANKS[..container.indent.min(BLANKS.len())];
            match &container.holder {
                Holder::Quote => self.out.push_str("> "),
                Holder::List if is_beside => self.out.push_str(blanks),
                Holder::List => {}
                Holder::Item(marker) if !container.started => marker.push(&mut self.out),
                Holder::Item(_) => self.out.push_str(blanks),
            }
            container.started = true;
        }
    }

    /// Removes spaces at the end of the line that is being written.
    fn trim_line(&mut self) {
        self.out.truncate(self.out.trim_end_matches(' ').len());
    }
}

impl Container {
    fn is_list(&self) -> bool {
        matches!(self.holder, Holder::List)
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
    fn what_stands_in_a_list_beside_its_items_goes_on_below_the_last() {
        let mut blocks = Blocks::default();
        blocks.open_list();
        blocks.open_item(Marker::Number(10, '.'));
        blocks.write("a");
        blocks.close();
        blocks.write("b");
        blocks.open_list();
        blocks.open_item(Marker::Bullet('-'));
        blocks.write("c");
        blocks.close();
        blocks.close_list();
        blocks.open_item(Marker::Number(11, '.'));
        blocks.write("d");
        assert_eq!(blocks.finish(), "10. a\n\n    b\n\n    - c\n\n11. d");
    }

    #[test]
    fn lists_directly_in_lists_are_counted() {
        let mut blocks = Blocks::default();
        for _ in 0..=MAX_CONTAINERS {
            assert!(blocks.fits_list());
            blocks.open_list();
        }
        assert!(!blocks.fits_list());
        assert!(blocks.open_item(Marker::Bullet('-')) && blocks.fits_list());
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
