//! The `markdown` format: GitHub Flavored Markdown, written in one walk over the tree.
//!
//! This file dispatches on the elements; [`inline`] collects a paragraph, [`paragraph`] writes it, [`blocks`] arranges
//! the blocks; lists, tables, code, formulas, footnotes and media have a file each.

mod apart;
mod blocks;
mod callouts;
mod code;
mod edges;
mod escape;
mod event;
mod footnote;
mod grid;
mod inline;
mod language;
mod layout;
mod list;
#[cfg(test)]
mod manual_tests;
mod math;
mod mathml;
pub(crate) mod media;
mod paragraph;
#[cfg(test)]
mod roundtrip;
mod sections;
mod spaces;
mod starts;
mod table;
mod tabs;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use page::{Index, LocalName, Page, local_name};

use self::blocks::Blocks;
use self::callouts::Callout;
use self::event::Mark;
use self::footnote::Footnotes;
use self::inline::Inline;
use self::list::{Columns, EndedList, List};
use self::paragraph::ParagraphKind;
use self::table::Table;
use self::tabs::Tabs;
use crate::content::{Content, Visitor};

/// Style of the targets of links, images and players.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LinkStyle {
    /// Absolute URLs, normalised by the URL standard. Links that are not valid URLs become text.
    #[default]
    Absolute,
    /// Targets as written in the page, so that the relative links of a saved page keep working.
    AsWritten,
}

/// Options for markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarkdownOptions {
    /// Whether to write `![alt](<Base64-Image-Removed>)` for images embedded as data.
    pub remove_base64_images: bool,
    /// Style of the targets of links, images and embedded players.
    pub links: LinkStyle,
    /// Whether to leave out texts that a reader of the page does not see: titles of links and pictures, and alternative
    /// texts of pictures that are longer than a label.
    pub only_seen: bool,
}

impl Default for MarkdownOptions {
    fn default() -> Self {
        MarkdownOptions { remove_base64_images: true, links: LinkStyle::Absolute, only_seen: false }
    }
}

/// Writes the content as GitHub Flavored Markdown, without a trailing line break. Text that looks like markdown or HTML
/// is escaped, so all markup comes from the markup of the page. Links that would run code become text. At most 48 MiB.
pub fn markdown(content: &Content, options: &MarkdownOptions) -> String {
    let mut writer = Writer {
        content,
        page: content.page(),
        options: *options,
        origin: media::origin(content.page().base()),
        tables: HashMap::new(),
        tables_end: 0,
        blocks: Blocks::default(),
        inline: Inline::default(),
        open: Vec::new(),
        lists: Vec::new(),
        ended: None,
        row_lists_end: 0,
        columns: None,
        quote_end: 0,
        table: None,
        inner_tables: Vec::new(),
        grid: None,
        flat_lists: Vec::new(),
        item_mark: None,
        callouts: Vec::new(),
        apart: Vec::new(),
        tabs: Tabs::of(content),
        footnotes: None,
        notes: 0,
        reads_tex: None,
        heading: false,
        bold_blocks: 0,
        link_bytes: 0,
    };
    content.walk(&mut writer);
    writer.flush();
    writer.blocks.finish()
}

/// Action at the end of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Inline,
    Mark,
    Code,
    Block,
    Paragraph,
    /// A bold block: `<dt>`, `<summary>`.
    BoldBlock,
    Heading(usize),
    Quote,
    Item,
    List,
    /// A list directly inside another one, before its first item.
    WrappedList,
    /// A footnote.
    Note,
    /// A container that was nested too deep to be written.
    Flat,
    Table,
    Row,
    Cell,
    /// A table in a cell.
    InnerTable,
    /// A row or cell of a table in a cell, with its end tag.
    InnerPart(&'static str),
    /// A list in a cell.
    FlatList,
    /// An item of a list in a cell.
    FlatItem,
    Callout,
    Quotation,
    /// The pronunciation of a ruby text, in parentheses.
    Reading,
}

struct Writer<'c> {
    content: &'c Content<'c>,
    page: &'c Page,
    options: MarkdownOptions,
    origin: String,
    /// Whether tables are data, for those before `tables_end`.
    tables: HashMap<Index, bool>,
    tables_end: Index,
    blocks: Blocks,
    inline: Inline,
    open: Vec<Open>,
    lists: Vec<List>,
    ended: Option<EndedList>,
    /// End of the element that shows lists as lines of items.
    row_lists_end: Index,
    /// The last list in columns.
    columns: Option<Columns>,
    /// Length of the document where the last quote ended.
    quote_end: usize,
    table: Option<Table>,
    /// Open tables in the open cell, and whether they are written as HTML.
    inner_tables: Vec<bool>,
    /// The element that is a table by its role.
    grid: Option<Index>,
    /// Open lists in the open cell, with the number of the next item of ordered ones.
    flat_lists: Vec<Option<i64>>,
    /// Marker for the next line of that cell.
    item_mark: Option<String>,
    callouts: Vec<Callout>,
    /// Open elements whose children are separate parts.
    apart: Vec<Index>,
    tabs: Tabs,
    /// Footnotes of the page; searched for at the first reference.
    footnotes: Option<Footnotes>,
    /// Number of open footnotes.
    notes: usize,
    /// Whether a script of the page renders formulas in its text; computed on first use.
    reads_tex: Option<bool>,
    heading: bool,
    bold_blocks: usize,
    link_bytes: usize,
}

impl Visitor for Writer<'_> {
    fn enter(&mut self, index: Index, name: &LocalName) -> bool {
        self.part(index);
        let (has_tabs, is_item) = (!self.tabs.is_empty(), *name == local_name!("li"));
        if has_tabs && self.is_row_of_tabs(index) {
            return false;
        }
        if has_tabs && !is_item {
            self.label_panel(index);
        }
        match self.start(index, name) {
            Some(open) => {
                self.open.push(open);
                if has_tabs && is_item {
                    self.label_panel(index);
                }
                true
            }
            None => false,
        }
    }

    fn text(&mut self, index: Index) {
        if let Some(text) = self.page.text(index) {
            if math::may_hold_formulas(text) {
                self.text_with_formulas(text);
            } else {
                self.inline.text(text);
            }
            if self.inline.is_too_long() && !self.is_flat() {
                self.flush();
            }
        }
    }

    fn leave(&mut self, index: Index) {
        match self.open.pop() {
            Some(Open::Mark) => self.inline.close(),
            Some(Open::Code) => self.inline.close_code(),
            Some(Open::Block | Open::Flat) => self.boundary(),
            Some(Open::Paragraph) => self.end_paragraph(),
            Some(Open::BoldBlock) => {
                self.boundary();
                self.inline.close();
                self.bold_blocks -= 1;
            }
            Some(Open::Heading(level)) => self.end_heading(level),
            Some(Open::Quote) => self.end_quote(index),
            Some(Open::Callout) => self.end_callout(index),
            Some(Open::Item) => self.end_item(index),
            Some(Open::List) => self.end_list(),
            Some(Open::WrappedList) => self.end_wrapped_list(),
            Some(Open::Note) => {
                self.flush();
                self.blocks.close();
                self.notes -= 1;
            }
            Some(Open::Table) => self.end_table(),
            Some(Open::InnerTable) => self.end_inner_table(),
            Some(Open::InnerPart(tag)) => self.end_inner_part(tag),
            Some(Open::FlatList) => {
                self.boundary();
                self.flat_lists.pop();
            }
            Some(Open::FlatItem) => self.end_flat_item(index),
            Some(Open::Cell) => {
                self.flush();
                if let Some(table) = &mut self.table {
                    table.close_cell();
                }
            }
            Some(Open::Quotation) => self.inline.text("\""),
            Some(Open::Reading) => self.inline.text(")"),
            Some(Open::Inline | Open::Row) | None => {}
        }
        self.end_part(index);
    }
}

impl Writer<'_> {
    /// Starts an element. `None` leaves it out with its descendants.
    fn start(&mut self, index: Index, name: &LocalName) -> Option<Open> {
        if let Some(open) = self.start_grid_part(index) {
            return Some(open);
        }
        if !self.callouts.is_empty()
            && let Some(open) = self.start_callout_title(index)
        {
            return open;
        }
        Some(match *name {
            local_name!("span") => return self.start_span(index),
            local_name!("a") => return self.start_link(index),
            local_name!("strong") | local_name!("b") => self.mark(index, name, Mark::Strong),
            local_name!("i") if self.is_icon(index) => return None,
            local_name!("em") | local_name!("i") => self.mark(index, name, Mark::Emphasis),
            local_name!("del") | local_name!("s") | local_name!("strike") => self.mark(index, name, Mark::Strike),
            local_name!("sub") => self.shifted(index, name, Mark::Subscript),
            local_name!("sup") if self.holds_reference(index) => Open::Inline,
            local_name!("sup") => self.shifted(index, name, Mark::Superscript),
            local_name!("code") | local_name!("kbd") | local_name!("samp") | local_name!("tt") => {
                self.inline.open_code();
                Open::Code
            }
            local_name!("q") => {
                self.inline.text("\"");
                Open::Quotation
            }
            local_name!("rt") => {
                self.inline.text("(");
                Open::Reading
            }
            local_name!("h1") | local_name!("h2") | local_name!("h3") => self.start_heading(name),
            local_name!("h4") | local_name!("h5") | local_name!("h6") => self.start_heading(name),
            local_name!("ul") | local_name!("menu") => self.start_list(index, false),
            local_name!("ol") => self.start_list(index, true),
            local_name!("li") => self.start_note(index).unwrap_or_else(|| self.start_item(index)),
            local_name!("blockquote") if !self.is_flat() => {
                self.start_callout(index).unwrap_or_else(|| self.start_quote())
            }
            local_name!("dt") if self.is_term_of_note(index) => return None,
            local_name!("dt") | local_name!("summary") => self.start_bold_block(),
            local_name!("tr") | local_name!("td") | local_name!("th") => return self.start_table_part(index, name),
            _ => return self.start_other(index, name),
        })
    }

    fn mark(&mut self, index: Index, name: &LocalName, mark: Mark) -> Open {
        let inside = self.inline.holds(mark);
        if inside && mark == Mark::Strong && self.bold_blocks > 0 {
            return Open::Inline;
        }
        // `<b><b>a</b></b>` is written as two marks, `<b><strong>a</strong></b>` as one.
        let kept = inside
            && self.page.parent(index).is_some_and(|above| {
                self.page.is(above, name) && above + 1 == index && self.page.end(above) == self.page.end(index)
            });
        if self.inline.open(mark, kept) { Open::Mark } else { Open::Inline }
    }

    /// Whether an element has no attributes and no content.
    fn is_bare(&self, index: Index) -> bool {
        self.page.element(index).is_some_and(|element| element.attrs.is_empty())
            && (index + 1..self.page.end(index)).all(|i| self.page.text(i).is_some_and(|text| text.trim().is_empty()))
    }

    fn in_cell(&self) -> bool {
        self.table.as_ref().is_some_and(Table::in_cell)
    }

    /// Whether blocks are impossible here: in headings and table cells.
    fn is_flat(&self) -> bool {
        self.heading || self.in_cell()
    }

    /// Starts or ends a block. In headings and links this only separates words.
    fn boundary(&mut self) {
        if self.heading || self.inline.in_link() {
            self.inline.blank();
        } else {
            self.flush();
        }
    }

    /// Ends a `<p>`. In a list item a blank line follows it, unlike bare text.
    fn end_paragraph(&mut self) {
        let written = self.blocks.len();
        self.boundary();
        if self.blocks.len() > written {
            self.blocks.want_blank_line();
        }
    }

    /// Writes the current paragraph.
    fn flush(&mut self) {
        if self.inline.is_empty() {
            return self.inline.take(ParagraphKind::Paragraph, |_| {});
        }
        if let Some(cell) = self.table.as_mut().and_then(Table::cell) {
            let mark = &mut self.item_mark;
            return self
                .inline
                .take(ParagraphKind::Cell, |block| cell.write(&(mark.take().unwrap_or_default() + block)));
        }
        let first = self.blocks.in_item() && !self.blocks.started();
        let place = if first { ParagraphKind::Item } else { ParagraphKind::Paragraph };
        self.inline.take(place, |paragraph| self.blocks.write(paragraph));
    }
}
