//! Classification of tables as data or layout.

use std::collections::HashMap;

use page::{Index, Page, local_name};

use super::Writer;
use super::code::is_gutter;
use crate::content::Content;

/// Classes of tables that wikis show as a box; with lists in them they are layout.
const BOXES: [&str; 7] =
    ["infobox", "navbox", "navbox-inner", "navbox-subgroup", "sidebar", "vertical-navbox", "ambox"];
/// Average bytes of text per cell from which on a table is layout.
const LONG_CELL: usize = 400;
/// Lower threshold, for tables of one row and tables with code.
const LONG_LONE_CELL: usize = 100;

impl Writer<'_> {
    pub(super) fn is_data_table(&mut self, index: Index) -> bool {
        if self.is_flat() || self.frames_callout(index) {
            return false;
        }
        if index >= self.tables_end {
            self.tables_end = self.page.end(index);
            self.tables = data_tables(self.content, index);
        }
        self.tables.get(&index).copied().unwrap_or(false)
    }
}

/// Whether a table lays out one list in columns (Sphinx). Wikis use the class together with that of a box.
pub(super) fn is_list_in_columns(class: &str) -> bool {
    let mut names = class.split_ascii_whitespace().filter(|name| *name != "docutils");
    names.next() == Some("hlist") && names.next().is_none()
}

/// Counts of one table, without the tables inside it.
#[derive(Debug, Default)]
struct Shape {
    end: Index,
    nested: bool,
    /// Whether it contains headings or quotes.
    blocks: bool,
    /// Whether it contains code of several lines.
    code: bool,
    /// Whether its first row is a header.
    headed: bool,
    head_end: Index,
    /// Whether a row differs from the first in its number of cells.
    uneven: bool,
    first_cells: usize,
    /// Whether cells contain paragraphs or definition lists.
    paragraphs: bool,
    code_end: Index,
    list_end: Index,
    items: usize,
    gutter: bool,
    /// Whether a wiki shows it as a box.
    boxed: bool,
    presentation: bool,
    headers: usize,
    rows: usize,
    cells: usize,
    row_cells: usize,
    widest: usize,
    /// Bytes of text outside lists.
    text: usize,
}

impl Shape {
    fn is_data(&self) -> bool {
        if self.gutter || self.presentation || self.boxed && self.items > 0 {
            return false;
        }
        // Headings and nested tables suggest layout, unless a header row shows that the columns have a meaning.
        let is_table = self.rows > 1 && self.widest > 1;
        if self.nested || self.blocks {
            return self.is_headed() && is_table && self.text < 2 * LONG_CELL * self.cells;
        }
        if self.code {
            let is_even = !self.uneven && self.row_cells == self.first_cells;
            return is_table && (self.is_headed() || is_even && self.text < LONG_LONE_CELL * self.cells);
        }
        let declared = self.headers > 0;
        match (self.rows, self.widest) {
            (_, 0) => false,
            // One row is data if it is a header, or has lists side by side.
            (0 | 1, 1) => false,
            (0 | 1, _) if self.is_headed() => true,
            (0 | 1, _) => self.headers == self.cells || self.items > 0 && self.text < LONG_LONE_CELL * self.cells,
            // One column of paragraphs reads better without a table.
            (_, 1) => declared && !self.paragraphs,
            _ => declared || self.text < LONG_CELL * self.cells,
        }
    }
}

impl Shape {
    /// Whether the first row is marked up as a header with several cells.
    fn is_headed(&self) -> bool {
        self.headed && self.first_cells > 1
    }

    fn row(&mut self) {
        self.uneven |= self.rows > 1 && self.row_cells != self.first_cells;
        self.rows += 1;
        self.row_cells = 0;
    }

    fn cell(&mut self, at: Index, is_header: bool) {
        self.headers += usize::from(is_header);
        self.cells += 1;
        self.row_cells += 1;
        self.widest = self.widest.max(self.row_cells);
        if self.rows == 1 {
            self.first_cells += 1;
            self.headed = at < self.head_end || is_header && self.headers == self.cells;
        }
    }
}

/// Returns whether each table in the subtree of `first`, including itself, is data.
fn data_tables(content: &Content, first: Index) -> HashMap<Index, bool> {
    let page = content.page();
    let mut done = HashMap::new();
    let mut open: Vec<(Index, Shape)> = Vec::new();
    let mut at = first;
    while at < page.end(first) {
        while let Some((index, shape)) = open.pop_if(|(_, shape)| shape.end <= at) {
            done.insert(index, shape.is_data());
        }
        if content.is_removed(at) {
            at = page.end(at);
            continue;
        }
        if page.is(at, &local_name!("table")) {
            if let Some((_, outer)) = open.last_mut() {
                outer.nested = true;
            }
            let role = page.attr(at, "role").unwrap_or_default();
            let presentation = role.eq_ignore_ascii_case("presentation") || role.eq_ignore_ascii_case("none");
            let class = page.attr(at, "class").unwrap_or_default();
            let presentation = presentation || is_list_in_columns(&class);
            let boxed = class.split_ascii_whitespace().any(|name| BOXES.contains(&name));
            open.push((at, Shape { end: page.end(at), presentation, boxed, ..Shape::default() }));
        } else if let Some((_, shape)) = open.last_mut() {
            count(page, at, shape);
        }
        at += 1;
    }
    done.extend(open.into_iter().map(|(index, shape)| (index, shape.is_data())));
    done
}

fn count(page: &Page, at: Index, shape: &mut Shape) {
    let Some(name) = page.name(at) else {
        let text = page.text(at).unwrap_or_default();
        let text = text.trim();
        shape.text += if at < shape.list_end { 0 } else { text.len() };
        shape.code |= at < shape.code_end && text.contains('\n');
        return;
    };
    match *name {
        local_name!("tr") => shape.row(),
        local_name!("thead") => shape.head_end = shape.head_end.max(page.end(at)),
        local_name!("td") | local_name!("th") => {
            shape.cell(at, *name == local_name!("th"));
            shape.gutter |= page.attr(at, "class").is_some_and(|class| is_gutter(&class));
        }
        local_name!("h1") | local_name!("h2") | local_name!("h3") | local_name!("h4") => shape.blocks = true,
        local_name!("blockquote") => shape.blocks = true,
        local_name!("p") | local_name!("dl") => shape.paragraphs = true,
        local_name!("pre") => shape.code_end = page.end(at),
        local_name!("ul") | local_name!("ol") => shape.list_end = shape.list_end.max(page.end(at)),
        local_name!("li") => shape.items += 1,
        _ => {}
    }
}
