//! The page as lines of text, as a browser would show them.

use std::ops::Range;

use page::{Index, Page};

use super::looks::{PageArea, TextStyle, area_of, is_block};

/// Limit on the lines of one page.
const MAX_LINES: usize = 40_000;
/// Limit on the bytes of one line; the rest of it is left out.
const MAX_LINE: usize = 2000;
/// Limit on the letters of a heading that is only bold.
const MAX_HEADING: usize = 60;
/// Rank of a text that only looks like a heading: bold, or with the class of a heading.
pub(super) const SOFT: u8 = 7;

/// A line of text.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) parts: Vec<TextRun>,
    /// The first text node.
    pub(super) node: Index,
    /// The nearest element around it that begins a line.
    pub(super) block: Index,
    /// Rank of a heading, 1 to 6, or [`SOFT`]; 0 for other lines.
    pub(super) heading: u8,
    /// Whether it is outside of the content: in a page's header, footer or side bar.
    pub(super) aside: bool,
    /// Whether a blank line comes before it.
    pub(super) gap: bool,
}

/// Part of a line in one text style.
#[derive(Debug, Clone)]
pub(super) struct TextRun {
    /// Byte range in the text of the line.
    pub(super) range: Range<usize>,
    pub(super) looks: TextStyle,
}

/// The lines of a page.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) lines: Vec<Line>,
    /// Labels of buttons.
    pub(super) controls: Vec<String>,
    tabs: Vec<Tab>,
}

/// A tab, and the id of the part of the page that it opens.
#[derive(Debug)]
struct Tab {
    label: String,
    id: String,
    opens: String,
}

impl Lines {
    /// The lines inside of an element.
    pub(super) fn of(&self, page: &Page, index: Index) -> Range<usize> {
        let nodes = page.subtree(index);
        let start = self.lines.partition_point(|line| line.node < nodes.start);
        start..self.lines.partition_point(|line| line.node < nodes.end)
    }
}

/// Reads the visible text of a page.
pub(super) fn lines(page: &Page) -> Lines {
    let mut reader =
        Reader { page, out: Lines::default(), line: Line::new(0), open: Vec::new(), asides: 0, gap: false };
    let mut at = page.first(&page::local_name!("body")).unwrap_or(0);
    while at < page.node_count() && !page.stop().is_set() && reader.out.lines.len() < MAX_LINES {
        reader.close_until(at);
        at = reader.node(at);
    }
    reader.flush();
    reader.out
}

struct Reader<'p> {
    page: &'p Page,
    out: Lines,
    line: Line,
    /// The open elements that begin a line, the innermost last.
    open: Vec<OpenElement>,
    asides: usize,
    gap: bool,
}

/// An element whose end is not reached yet.
struct OpenElement {
    node: Index,
    is_aside: bool,
}

impl Line {
    fn new(block: Index) -> Self {
        Line { text: String::new(), parts: Vec::new(), node: 0, block, heading: 0, aside: false, gap: false }
    }
}

impl Reader<'_> {
    fn close_until(&mut self, at: Index) {
        while let Some(open) = self.open.pop_if(|open| self.page.end(open.node) <= at) {
            self.flush_into(open.node);
            self.asides -= usize::from(open.is_aside);
        }
    }

    /// Reads one node and returns the next.
    fn node(&mut self, at: Index) -> Index {
        if let Some(text) = self.page.text(at) {
            self.text(at, text);
            return at + 1;
        }
        let Some(name) = self.page.name(at) else { return at + 1 };
        match area_of(self.page, at) {
            PageArea::Hidden => return self.page.end(at),
            PageArea::Tab => return self.tab(at),
            PageArea::Control => return self.control(at),
            PageArea::Aside => self.block(at, true),
            PageArea::Content if &**name == "br" => self.line_break(),
            PageArea::Content if is_block(name) => self.block(at, false),
            PageArea::Content => {}
        }
        at + 1
    }

    fn block(&mut self, at: Index, is_aside: bool) {
        self.flush();
        self.asides += usize::from(is_aside);
        self.open.push(OpenElement { node: at, is_aside });
        self.panel(at);
    }

    /// The label of its tab is the heading of a part of the page.
    fn panel(&mut self, at: Index) {
        let attr = |name| self.page.attr(at, name);
        let is_of = |tab: &&Tab| {
            let is_called = |id: &str, name| !id.is_empty() && attr(name).is_some_and(|value| &*value == id);
            is_called(&tab.opens, "id") || is_called(&tab.id, "aria-labelledby")
        };
        let Some(label) = self.out.tabs.iter().find(is_of).map(|tab| tab.label.clone()) else { return };
        let part = TextRun { range: 0..label.len(), looks: TextStyle::default() };
        let line =
            Line { text: label, parts: vec![part], node: at, heading: 2, aside: self.asides > 0, ..Line::new(at) };
        self.out.lines.push(line);
    }

    fn line_break(&mut self) {
        self.gap |= self.line.text.trim().is_empty();
        self.flush();
    }

    fn control(&mut self, at: Index) -> Index {
        let text = crate::tags::text(self.page, at);
        let shown = if text.is_empty() { self.page.attr(at, "value").unwrap_or_default().to_string() } else { text };
        self.out.controls.push(shown);
        self.page.end(at)
    }

    fn tab(&mut self, at: Index) -> Index {
        let attr = |name| self.page.attr(at, name).filter(|value| value.len() > 1);
        let opens = attr("aria-controls").or_else(|| attr("data-bs-target")).or_else(|| attr("href"));
        let opens = opens.map(|id| id.trim_start_matches('#').to_owned()).unwrap_or_default();
        if self.out.tabs.len() < 100 {
            let id = self.page.attr(at, "id").map(|id| id.to_string()).unwrap_or_default();
            self.out.tabs.push(Tab { label: crate::tags::text(self.page, at), id, opens });
        }
        self.page.end(at)
    }

    fn text(&mut self, at: Index, text: &str) {
        let is_plain = self.page.ancestors(at).take(4).any(|up| self.page.name(up).is_some_and(|n| &**n == "pre"));
        if !is_plain {
            return self.run(at, text);
        }
        for (number, line) in text.split('\n').enumerate() {
            if number > 0 {
                self.line_break();
            }
            self.run(at, line);
        }
    }

    /// Appends text of one line, with each run of blanks as one. Many blanks are the leader of a price.
    fn run(&mut self, at: Index, text: &str) {
        let block = self.open.last().map_or(0, |open| open.node);
        let looks = TextStyle::of(self.page, at, block);
        // Names, descriptions and prices in elements of their own are apart even without blanks.
        let is_apart = self.line.parts.last().is_some_and(|last| last.looks.role() != looks.role());
        self.blank(usize::from(is_apart));
        let start = self.line.text.len();
        let mut blanks = 0;
        for c in text.chars().filter(|c| !matches!(c, '\u{200b}' | '\u{ad}' | '\u{feff}' | '\u{2060}')) {
            if c.is_whitespace() {
                blanks += 1;
                continue;
            }
            self.blank(std::mem::take(&mut blanks));
            if self.line.text.len() > MAX_LINE {
                break;
            }
            self.line.text.push(c);
        }
        let end = self.line.text.len();
        self.blank(blanks);
        if end > start {
            let first = start + (self.line.text[start..end].len() - self.line.text[start..end].trim_start().len());
            if self.line.parts.is_empty() {
                self.line.node = at;
            }
            self.line.parts.push(TextRun { range: first..end, looks });
        }
    }

    fn blank(&mut self, count: usize) {
        if count > 0 && !self.line.text.is_empty() && !self.line.text.ends_with(' ') {
            self.line.text.push(' ');
        }
    }

    fn flush(&mut self) {
        let block = self.open.last().map_or(0, |open| open.node);
        self.flush_into(block);
    }

    fn flush_into(&mut self, block: Index) {
        let mut line = std::mem::replace(&mut self.line, Line::new(block));
        line.text.truncate(line.text.trim_end().len());
        if line.parts.is_empty() {
            return;
        }
        line.block = block;
        line.heading = heading(self.page, &line);
        line.aside = self.asides > 0;
        line.gap = std::mem::take(&mut self.gap);
        self.out.lines.push(line);
    }
}

/// Returns the rank of a line as a heading; 0 for other lines.
fn heading(page: &Page, line: &Line) -> u8 {
    for up in std::iter::once(line.block).chain(page.ancestors(line.block).take(3)) {
        let Some(name) = page.name(up) else { break };
        match &**name {
            "h1" => return 1,
            "h2" => return 2,
            "h3" => return 3,
            "h4" => return 4,
            "h5" => return 5,
            "h6" | "caption" | "summary" | "legend" => return 6,
            "li" | "td" | "table" | "ul" | "section" | "article" => break,
            _ => {}
        }
        if page.attr(up, "role").is_some_and(|role| &*role == "heading") {
            return page.attr(up, "aria-level").and_then(|level| level.parse().ok()).unwrap_or(2).clamp(1, 6);
        }
    }
    let is_short = line.text.chars().count() <= MAX_HEADING && !line.text.ends_with(['.', ',']);
    if is_short && (line.parts.iter().all(|part| part.looks.is_strong) || is_titled(page, line) || is_loud(&line.text))
    {
        return SOFT;
    }
    0
}

/// Whether the class of the block says that it is the title of a part of the page.
fn is_titled(page: &Page, line: &Line) -> bool {
    let block = [Some(line.block), page.parent(line.block)];
    let mut classes = block.into_iter().flatten().filter_map(|at| page.attr(at, "class"));
    let has = |class: &str| {
        let class = class.to_ascii_lowercase();
        [
            "section-title",
            "section-head",
            "section-name",
            "category",
            "heading",
            "menu-title",
            "group-title",
            "menu-header",
            "kategorie",
        ]
        .iter()
        .any(|word| class.contains(word))
    };
    classes.next().is_some_and(|class| has(&class)) && page.children(line.block).count() <= 3
}

/// Whether a text is in capital letters.
fn is_loud(text: &str) -> bool {
    let letters = || text.chars().filter(|c| c.is_alphabetic());
    letters().count() > 3 && letters().all(char::is_uppercase)
}
