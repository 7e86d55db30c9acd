//! The `markdown` format: GitHub Flavored Markdown, written in one walk over the tree.
//!
//! This file knows what every element becomes; [`inline`] collects a paragraph, [`paragraph`] writes it, [`blocks`] puts
//! blocks below each other; lists, tables, code and media have a file each.

mod blocks;
mod code;
mod escape;
mod inline;
mod list;
pub(crate) mod media;
mod paragraph;
mod table;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use dom_query::{LocalName, local_name};

use self::blocks::Blocks;
use self::inline::{Inline, Mark};
use self::list::{Ended, List};
use self::paragraph::Place;
use self::table::Table;
use crate::content::{Content, Visitor};
use crate::page::{Index, Page};

/// How markdown is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarkdownOptions {
    /// Write `![alt](<Base64-Image-Removed>)` for pictures embedded in the page.
    pub remove_base64_images: bool,
}

impl Default for MarkdownOptions {
    fn default() -> Self {
        MarkdownOptions { remove_base64_images: true }
    }
}

/// The content as GitHub Flavored Markdown, without a line end at the end. Links and images are absolute. Text that looks
/// like markdown or HTML is escaped, so that the only markup is what the page marks up. At most 48 MiB.
pub fn markdown(content: &Content, options: &MarkdownOptions) -> String {
    let mut writer = Writer {
        content,
        page: content.page(),
        options: *options,
        tables: table::data_tables(content),
        blocks: Blocks::default(),
        inline: Inline::default(),
        open: Vec::new(),
        lists: Vec::new(),
        ended: None,
        table: None,
        heading: false,
        link_bytes: 0,
    };
    content.walk(&mut writer);
    writer.flush();
    writer.blocks.finish()
}

/// What has to be done when an element ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Inline,
    Mark,
    Block,
    /// A block in bold: `<dt>`, `<summary>`.
    BoldBlock,
    Heading(usize),
    Quote,
    Item,
    List,
    /// A list that stands directly in another one, below its last item.
    InnerList,
    /// A container that was too deep to show.
    Flat,
    Table,
    Cell,
    Quotation,
}

struct Writer<'c> {
    content: &'c Content<'c>,
    page: &'c Page,
    options: MarkdownOptions,
    tables: HashMap<Index, bool>,
    blocks: Blocks,
    inline: Inline,
    open: Vec<Open>,
    lists: Vec<List>,
    ended: Option<Ended>,
    table: Option<Table>,
    heading: bool,
    link_bytes: usize,
}

impl Visitor for Writer<'_> {
    fn enter(&mut self, index: Index, name: &LocalName) -> bool {
        match self.start(index, name) {
            Some(open) => {
                self.open.push(open);
                true
            }
            None => false,
        }
    }

    fn text(&mut self, index: Index) {
        if let Some(text) = self.page.text(index) {
            self.inline.text(&text);
        }
    }

    fn leave(&mut self, _index: Index) {
        match self.open.pop() {
            Some(Open::Mark) => self.inline.close(),
            Some(Open::Block | Open::Flat) => self.boundary(),
            Some(Open::BoldBlock) => {
                self.boundary();
                self.inline.close();
            }
            Some(Open::Heading(level)) => self.end_heading(level),
            Some(Open::Quote | Open::Item) => {
                self.flush();
                self.blocks.close();
            }
            Some(Open::List) => self.end_list(),
            Some(Open::InnerList) => {
                self.end_list();
                self.blocks.close();
            }
            Some(Open::Table) => self.end_table(),
            Some(Open::Cell) => {
                self.flush();
                if let Some(table) = &mut self.table {
                    table.close_cell();
                }
            }
            Some(Open::Quotation) => self.inline.text("\""),
            Some(Open::Inline) | None => {}
        }
    }
}

impl Writer<'_> {
    /// What an element becomes; None leaves it out with all below it.
    fn start(&mut self, index: Index, name: &LocalName) -> Option<Open> {
        Some(match *name {
            local_name!("strong") | local_name!("b") => self.mark(Mark::Strong),
            local_name!("em") | local_name!("i") => self.mark(Mark::Emphasis),
            local_name!("del") | local_name!("s") | local_name!("strike") => self.mark(Mark::Strike),
            local_name!("sub") => self.mark(Mark::Subscript),
            local_name!("sup") => self.mark(Mark::Superscript),
            local_name!("code") | local_name!("kbd") | local_name!("samp") | local_name!("tt") => self.mark(Mark::Code),
            local_name!("a") => return self.start_link(index),
            local_name!("q") => {
                self.inline.text("\"");
                Open::Quotation
            }
            local_name!("h1") | local_name!("h2") | local_name!("h3") => self.start_heading(name),
            local_name!("h4") | local_name!("h5") | local_name!("h6") => self.start_heading(name),
            local_name!("ul") | local_name!("menu") => self.start_list(index, false),
            local_name!("ol") => self.start_list(index, true),
            local_name!("li") => self.start_item(index),
            local_name!("blockquote") if !self.is_flat() => {
                self.flush();
                if self.blocks.open_quote() { Open::Quote } else { Open::Flat }
            }
            local_name!("dt") | local_name!("summary") => {
                self.boundary();
                if self.inline.open(Mark::Strong) { Open::BoldBlock } else { Open::Block }
            }
            local_name!("table") if self.is_data_table(index) => {
                self.flush();
                self.table = Some(Table::default());
                Open::Table
            }
            local_name!("tr") | local_name!("td") | local_name!("th") => return self.start_table_part(index, name),
            _ => return self.start_other(index, name),
        })
    }

    /// Elements without text of their own, and those that only part blocks.
    fn start_other(&mut self, index: Index, name: &LocalName) -> Option<Open> {
        match *name {
            local_name!("br") => self.inline.line_break(),
            local_name!("hr") => self.rule(),
            local_name!("img") => self.image(index),
            local_name!("pre") | local_name!("listing") | local_name!("xmp") | local_name!("plaintext") => {
                self.code_block(index);
            }
            local_name!("input") => self.task_box(index),
            local_name!("math") => return self.formula(index),
            local_name!("iframe") | local_name!("video") | local_name!("audio") | local_name!("embed") => {
                self.embedded(index);
            }
            local_name!("object") => {
                self.embedded(index);
                return Some(Open::Inline);
            }
            local_name!("svg") | local_name!("canvas") | local_name!("select") | local_name!("datalist") => {}
            local_name!("textarea") | local_name!("title") | local_name!("rp") | local_name!("template") => {}
            local_name!("span") if media::is_drawn_formula(self.page, index) => {}
            _ if is_block(name) => {
                self.boundary();
                return Some(Open::Block);
            }
            _ => return Some(Open::Inline),
        }
        None
    }

    fn mark(&mut self, mark: Mark) -> Open {
        if self.inline.open(mark) { Open::Mark } else { Open::Inline }
    }

    fn start_heading(&mut self, name: &LocalName) -> Open {
        if self.heading || self.in_cell() {
            self.boundary();
            return Open::Block;
        }
        self.flush();
        self.heading = true;
        Open::Heading(name[1..].parse().unwrap_or(6))
    }

    fn end_heading(&mut self, level: usize) {
        self.heading = false;
        let text = self.inline.take(Place::Heading).join(" ");
        if !text.is_empty() {
            self.blocks.write(&format!("{} {text}", "#".repeat(level)));
        }
    }

    fn rule(&mut self) {
        if self.is_flat() {
            return self.boundary();
        }
        self.flush();
        let rule = if self.blocks.behind_star() { "---" } else { "* * *" };
        self.blocks.write(rule);
    }

    fn in_cell(&self) -> bool {
        self.table.as_ref().is_some_and(Table::in_cell)
    }

    /// Whether blocks cannot stand here: in headings and table cells.
    fn is_flat(&self) -> bool {
        self.heading || self.in_cell()
    }

    /// The start or end of a block. In headings and links it only parts words.
    fn boundary(&mut self) {
        if self.heading || self.inline.in_link() {
            self.inline.blank();
        } else {
            self.flush();
        }
    }

    /// Writes the paragraph that was read.
    fn flush(&mut self) {
        if let Some(cell) = self.table.as_mut().and_then(Table::cell) {
            for block in self.inline.take(Place::Cell) {
                cell.write(&block);
            }
            return;
        }
        for paragraph in self.inline.take(Place::Paragraph) {
            self.blocks.write(&paragraph);
        }
    }
}

/// Elements that begin a new line in a browser.
fn is_block(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("address")
            | local_name!("article")
            | local_name!("aside")
            | local_name!("blockquote")
            | local_name!("body")
            | local_name!("caption")
            | local_name!("center")
            | local_name!("dd")
            | local_name!("details")
            | local_name!("dialog")
            | local_name!("dir")
            | local_name!("div")
            | local_name!("dl")
            | local_name!("fieldset")
            | local_name!("figcaption")
            | local_name!("figure")
            | local_name!("footer")
            | local_name!("form")
            | local_name!("header")
            | local_name!("hgroup")
            | local_name!("html")
            | local_name!("legend")
            | local_name!("main")
            | local_name!("nav")
            | local_name!("noscript")
            | local_name!("optgroup")
            | local_name!("option")
            | local_name!("p")
            | local_name!("search")
            | local_name!("section")
            | local_name!("table")
            | local_name!("tbody")
            | local_name!("tfoot")
            | local_name!("thead")
    )
}
