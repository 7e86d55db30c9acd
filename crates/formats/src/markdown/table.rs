//! Tables: which ones are data, and how their cells become rows of equal columns.

use std::collections::HashMap;

use dom_query::{LocalName, local_name};

use super::code::is_gutter;
use super::{Open, Writer};
use crate::content::Content;
use crate::page::{Index, Page};

/// Empty cells that spans may add, on top of four for every real cell.
const SPARE_CELLS: usize = 64;
/// Columns in which cells may reach down into further rows.
const MAX_SPANNED_COLUMNS: usize = 256;

/// A cell with what the page says about it.
#[derive(Debug, Default)]
pub(super) struct Cell {
    /// Markdown on one line.
    pub(super) text: String,
    columns: usize,
    rows: usize,
    align: Align,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Align {
    #[default]
    None,
    Left,
    Center,
    Right,
}

/// A data table that is being read.
#[derive(Debug, Default)]
pub(super) struct Table {
    rows: Vec<Vec<Cell>>,
    /// The cell that is open.
    cell: Option<Cell>,
}

impl Table {
    pub(super) fn open_row(&mut self) {
        self.rows.push(Vec::new());
    }

    pub(super) fn open_cell(&mut self, page: &Page, index: Index) {
        let span = |name| page.attr(index, name).and_then(|n| n.trim().parse().ok()).unwrap_or(1_usize).max(1);
        let align = align(page, index);
        self.cell = Some(Cell { text: String::new(), columns: span("colspan"), rows: span("rowspan"), align });
    }

    pub(super) fn close_cell(&mut self) {
        if self.rows.is_empty() {
            self.open_row();
        }
        if let (Some(cell), Some(row)) = (self.cell.take(), self.rows.last_mut()) {
            row.push(cell);
        }
    }

    pub(super) fn in_cell(&self) -> bool {
        self.cell.is_some()
    }

    /// The open cell, if there is one: what is read belongs into it.
    pub(super) fn cell(&mut self) -> Option<&mut Cell> {
        self.cell.as_mut()
    }

    /// The table as lines, or None without any text. The first row becomes the header that markdown demands.
    pub(super) fn finish(self) -> Option<String> {
        let rows: Vec<Vec<Cell>> = self.rows.into_iter().filter(|row| !row.is_empty()).collect();
        if rows.iter().flatten().all(|cell| cell.text.is_empty()) {
            return None;
        }
        let grid = spread(&rows);
        let width = grid.iter().map(Vec::len).max().unwrap_or(0);
        let mut lines = String::new();
        for (n, row) in grid.iter().enumerate() {
            // Short rows are legal, a short header is not.
            let missing = if n == 0 { width - row.len() } else { 0 };
            push_row(
                &mut lines,
                row.iter().map(|cell| cell.map_or("", |cell| &cell.text)).chain(std::iter::repeat_n("", missing)),
            );
            if n == 0 {
                let rules = row.iter().map(|cell| cell.map_or(Align::None, |cell| cell.align).rule());
                push_row(&mut lines, rules.chain(std::iter::repeat_n("---", missing)));
            }
        }
        lines.truncate(lines.trim_end().len());
        Some(lines)
    }
}

impl Cell {
    /// Adds a block; blocks in a cell are parted by `<br>`.
    pub(super) fn write(&mut self, block: &str) {
        if !self.text.is_empty() {
            self.text.push_str("<br>");
        }
        self.text.push_str(block);
    }
}

impl Align {
    fn rule(self) -> &'static str {
        match self {
            Align::None => "---",
            Align::Left => ":---",
            Align::Center => ":---:",
            Align::Right => "---:",
        }
    }
}

fn push_row<'c>(lines: &mut String, cells: impl Iterator<Item = &'c str>) {
    lines.push('|');
    for cell in cells {
        lines.push(' ');
        lines.push_str(cell);
        lines.push_str(if cell.is_empty() { "|" } else { " |" });
    }
    lines.push('\n');
}

/// Puts every cell into its column. Columns that a span covers are None; no span reaches past the widest row.
fn spread(rows: &[Vec<Cell>]) -> Vec<Vec<Option<&Cell>>> {
    let mut spare = SPARE_CELLS + 4 * rows.iter().map(Vec::len).sum::<usize>();
    let widest = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut covered: Vec<usize> = Vec::new();
    let mut grid = Vec::with_capacity(rows.len());
    for row in rows {
        let mut line: Vec<Option<&Cell>> = Vec::with_capacity(row.len());
        let mut below = std::mem::take(&mut covered);
        for cell in row {
            while below.get(line.len()).is_some_and(|rows| *rows > 0) && spare > 0 {
                line.push(None);
                spare -= 1;
            }
            let first = line.len();
            line.push(Some(cell));
            let extra = cell.columns.min(widest).saturating_sub(1).min(widest.saturating_sub(line.len())).min(spare);
            line.extend(std::iter::repeat_n(None, extra));
            spare -= extra;
            if cell.rows > 1 && line.len() <= MAX_SPANNED_COLUMNS {
                below.resize(below.len().max(line.len()), 0);
                below[first..line.len()].fill(cell.rows.min(rows.len()));
            }
        }
        covered = below.into_iter().map(|rows| rows.saturating_sub(1)).collect();
        grid.push(line);
    }
    grid
}

fn align(page: &Page, index: Index) -> Align {
    let style = page.attr(index, "style").unwrap_or_default().to_ascii_lowercase();
    let declared = style.split(';').find_map(|rule| {
        let (name, value) = rule.split_once(':')?;
        (name.trim() == "text-align").then(|| value.trim().to_owned())
    });
    let value = declared.or_else(|| page.attr(index, "align").map(|v| v.trim().to_ascii_lowercase()));
    match value.as_deref() {
        Some("left") => Align::Left,
        Some("center") => Align::Center,
        Some("right") => Align::Right,
        _ => Align::None,
    }
}

impl Writer<'_> {
    pub(super) fn start_table_part(&mut self, index: Index, name: &LocalName) -> Option<Open> {
        if self.page.attr(index, "class").is_some_and(|class| is_gutter(&class)) {
            return None;
        }
        // Cells of layout tables, and parts without a table, are ordinary blocks.
        if self.table.is_none() || self.in_cell() {
            self.boundary();
            return Some(Open::Block);
        }
        self.flush();
        let Some(table) = &mut self.table else {
            return Some(Open::Block);
        };
        if *name == local_name!("tr") {
            table.open_row();
            return Some(Open::Inline);
        }
        table.open_cell(self.page, index);
        Some(Open::Cell)
    }

    pub(super) fn end_table(&mut self) {
        self.flush();
        if let Some(lines) = self.table.take().and_then(Table::finish) {
            self.blocks.write(&lines);
        }
    }

    pub(super) fn is_data_table(&self, index: Index) -> bool {
        !self.is_flat() && self.tables.get(&index).copied().unwrap_or(false)
    }
}

/// What was counted in one table, tables inside it apart.
#[derive(Debug, Default)]
struct Shape {
    end: Index,
    nested: bool,
    blocks: bool,
    /// Where the last `<pre>` ends; several lines of code do not fit into a cell.
    code_end: Index,
    gutter: bool,
    presentation: bool,
    headers: usize,
    rows: usize,
    cells: usize,
    row_cells: usize,
    widest: usize,
    text: usize,
}

impl Shape {
    fn is_data(&self) -> bool {
        let short = self.text < 400 * self.cells;
        let several = self.widest >= 2 && (self.rows >= 2 || self.text < 100 * self.cells);
        let declared = self.headers > 0 && (self.rows >= 2 || self.cells >= 2);
        !self.nested
            && !self.gutter
            && !self.presentation
            && (declared && !self.blocks || several && short && !self.blocks)
    }
}

/// Every table of the content, and whether it holds data rather than layout.
pub(super) fn data_tables(content: &Content) -> HashMap<Index, bool> {
    let page = content.page();
    let mut done = HashMap::new();
    let mut open: Vec<(Index, Shape)> = Vec::new();
    let mut at = 0;
    while at < page.len() {
        while open.last().is_some_and(|(_, shape)| shape.end <= at) {
            done.extend(open.pop().map(|(index, shape)| (index, shape.is_data())));
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
            open.push((at, Shape { end: page.end(at), presentation, ..Shape::default() }));
        } else if let Some((_, shape)) = open.last_mut() {
            count(page, at, shape);
        }
        at += 1;
    }
    done.extend(open.into_iter().map(|(index, shape)| (index, shape.is_data())));
    done
}

fn count(page: &Page, at: Index, shape: &mut Shape) {
    match page.name(at) {
        None => {
            let text = page.text(at).unwrap_or_default();
            shape.text += text.trim().len();
            shape.blocks |= at < shape.code_end && text.trim().contains('\n');
        }
        Some(&local_name!("tr")) => {
            shape.rows += 1;
            shape.row_cells = 0;
        }
        Some(name @ &(local_name!("td") | local_name!("th"))) => {
            shape.headers += usize::from(*name == local_name!("th"));
            shape.cells += 1;
            shape.row_cells += 1;
            shape.widest = shape.widest.max(shape.row_cells);
            shape.gutter |= page.attr(at, "class").is_some_and(|class| is_gutter(&class));
        }
        Some(
            &(local_name!("h1")
            | local_name!("h2")
            | local_name!("h3")
            | local_name!("h4")
            | local_name!("blockquote")),
        ) => {
            shape.blocks = true;
        }
        Some(&local_name!("pre")) => shape.code_end = page.end(at),
        _ => {}
    }
}
