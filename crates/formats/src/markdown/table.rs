//! Tables: cells are arranged in rows and columns.

use page::{Index, LocalName, Page, local_name};

use super::code::is_gutter;
use super::{Open, Writer};

/// Budget of empty cells that spans may add, in addition to four for every real cell.
const SPARE_CELLS: usize = 64;
/// Limit on the columns in which cells may span rows.
const MAX_SPANNED_COLUMNS: usize = 256;
/// Limit on the nodes of a header cell; a larger one contains a section of the page.
const MAX_HEADER_NODES: usize = 40;

/// Nesting limit of tables that are written as such.
const MAX_INNER_TABLES: usize = 3;
/// Tags after which a block needs no `<br>`.
const INNER_TAGS: [&str; 4] = ["<td>", "<th>", "</table>", "<br>"];

/// A table cell.
#[derive(Debug, Default)]
pub(super) struct Cell {
    /// Content as markdown on one line.
    text: String,
    columns: usize,
    rows: usize,
    align: Align,
    header: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Align {
    #[default]
    None,
    Left,
    Center,
    Right,
}

/// The current data table.
#[derive(Debug, Default)]
pub(super) struct Table {
    rows: Vec<Vec<Cell>>,
    /// The open cell.
    cell: Option<Cell>,
    /// Whether the first row is marked up as header.
    head: bool,
}

impl Table {
    pub(super) fn open_row(&mut self, in_head: bool) {
        self.head |= in_head && self.rows.iter().all(Vec::is_empty);
        self.rows.push(Vec::new());
    }

    pub(super) fn open_cell(&mut self, page: &Page, index: Index) {
        let span = |name| page.attr(index, name).and_then(|n| n.trim().parse().ok()).unwrap_or(1_usize).max(1);
        let align = align(page, index);
        let role = || page.attr(index, "role").is_some_and(|role| role.trim().ends_with("header"));
        let header = page.is(index, &local_name!("th")) || role();
        self.cell = Some(Cell { text: String::new(), columns: span("colspan"), rows: span("rowspan"), align, header });
    }

    pub(super) fn close_cell(&mut self) {
        if self.rows.is_empty() {
            self.open_row(false);
        }
        if let (Some(cell), Some(row)) = (self.cell.take(), self.rows.last_mut()) {
            row.push(cell);
        }
    }

    pub(super) fn in_cell(&self) -> bool {
        self.cell.is_some()
    }

    /// The open cell, to which all content is written.
    pub(super) fn cell(&mut self) -> Option<&mut Cell> {
        self.cell.as_mut()
    }

    /// Writes the table as lines; `None` if it has no text. The first row becomes the header that markdown requires,
    /// unless it is a row of data with a row header; then the header is empty.
    fn finish(self) -> Option<String> {
        let mut rows: Vec<Vec<Cell>> = self.rows.into_iter().filter(|row| !row.is_empty()).collect();
        if rows.iter().flatten().all(|cell| cell.text.is_empty()) {
            return None;
        }
        let headed = self.head || !rows.first().is_some_and(|row| begins_with_header(row));
        let first_data = usize::from(headed);
        // Markdown has no row headers; they are written in bold.
        rows.iter_mut().skip(first_data).filter(|row| begins_with_header(row)).for_each(|row| row[0].strengthen());
        let grid = spread(&rows);
        let width = grid.iter().map(Vec::len).max().unwrap_or(0);
        let mut lines = String::new();
        let empty = Vec::new();
        let header = if headed { &grid[0] } else { &empty };
        let missing = || std::iter::repeat_n("", width - header.len());
        push_row(&mut lines, header.iter().map(|cell| cell.map_or("", |cell| &cell.text)).chain(missing()));
        let align = |column: usize| {
            // Pages often align only the data cells, so the first data row counts as well.
            let cells = grid.iter().take(2).filter_map(|row| *row.get(column)?);
            cells.map(|cell| cell.align).find(|align| *align != Align::None).unwrap_or_default()
        };
        push_row(&mut lines, (0..width).map(|column| align(column).rule()));
        for row in &grid[first_data..] {
            push_row(&mut lines, row.iter().map(|cell| cell.map_or("", |cell| &cell.text)));
        }
        lines.truncate(lines.trim_end().len());
        Some(lines)
    }
}

/// Whether the first cell is the header of the row.
fn begins_with_header(row: &[Cell]) -> bool {
    row.first().is_some_and(|cell| cell.header) && row[1..].iter().any(|cell| !cell.header && !cell.text.is_empty())
}

impl Cell {
    /// Adds a block; blocks in a cell are separated by `<br>`.
    pub(super) fn write(&mut self, block: &str) {
        let is_parted = self.text.is_empty() || INNER_TAGS.iter().any(|tag| self.text.ends_with(tag));
        if !is_parted {
            self.text.push_str("<br>");
        }
        self.text.push_str(block);
    }

    /// Adds a tag of a table in the cell.
    fn tag(&mut self, tag: &str) {
        self.text.push_str(tag);
    }

    fn strengthen(&mut self) {
        let has_blocks = ["**", "<br>", "<table>"].iter().any(|mark| self.text.contains(mark));
        if !self.text.is_empty() && !has_blocks {
            self.text.insert_str(0, "**");
            self.text.push_str("**");
        }
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

/// Puts every cell into its column. Positions that a span covers are `None`; no span reaches past the widest row.
fn spread(rows: &[Vec<Cell>]) -> Vec<Vec<Option<&Cell>>> {
    // A few bytes of markup can span thousands of cells, so the budget is proportional to the real cells.
    let mut spare = SPARE_CELLS + 4 * rows.iter().map(Vec::len).sum::<usize>();
    let widest = rows.iter().map(Vec::len).max().unwrap_or(0);
    // For each column, the number of further rows that a cell above covers.
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
        // Columns after the last cell that are covered from above.
        while below.get(line.len()).is_some_and(|rows| *rows > 0) && spare > 0 {
            line.push(None);
            spare -= 1;
        }
        covered = below.into_iter().map(|rows| rows.saturating_sub(1)).collect();
        grid.push(line);
    }
    grid
}

fn align(page: &Page, index: Index) -> Align {
    let Some(element) = page.element(index).filter(|element| !element.attrs.is_empty()) else {
        return Align::None;
    };
    let style = element.attr("style").unwrap_or_default().to_ascii_lowercase();
    let declared = style.split(';').find_map(|rule| {
        let (name, value) = rule.split_once(':')?;
        (name.trim() == "text-align").then(|| value.trim().to_owned())
    });
    let value = declared.or_else(|| element.attr("align").map(|v| v.trim().to_ascii_lowercase()));
    match value.as_deref() {
        Some("left") => Align::Left,
        Some("center") => Align::Center,
        Some("right") => Align::Right,
        _ => Align::None,
    }
}

impl Writer<'_> {
    pub(super) fn start_table_part(&mut self, index: Index, name: &LocalName) -> Option<Open> {
        if let Some(class) = self.page.attr(index, "class") {
            if is_gutter(&class) {
                return None;
            }
            self.look_for_row_lists(index, &class);
        }
        if self.inner_tables.last() == Some(&true) {
            return Some(self.start_inner_part(name));
        }
        let page = self.page;
        // Cells of layout tables, and rows or cells outside a table, are ordinary blocks.
        if self.table.is_none() || self.in_cell() {
            let short = page.end(index) - index < MAX_HEADER_NODES;
            if *name == local_name!("th") && short && !self.is_flat() {
                return Some(self.start_bold_block());
            }
            self.boundary();
            return Some(Open::Block);
        }
        self.flush();
        let Some(table) = &mut self.table else {
            return Some(Open::Block);
        };
        if *name == local_name!("tr") {
            table.open_row(page.parent(index).is_some_and(|above| page.is(above, &local_name!("thead"))));
            return Some(Open::Inline);
        }
        table.open_cell(page, index);
        Some(Open::Cell)
    }

    /// Starts a table inside a cell. GFM has no such tables, so it is written as HTML on the line of the cell.
    pub(super) fn start_inner_table(&mut self, index: Index) -> Option<Open> {
        if !self.in_cell() {
            return None;
        }
        self.flush();
        let is_data = self.tables.get(&index).copied().unwrap_or(false);
        let is_written = is_data && self.inner_tables.len() < MAX_INNER_TABLES;
        self.inner_tables.push(is_written);
        self.inner_tag(if is_written { "<table>" } else { "" });
        Some(Open::InnerTable)
    }

    pub(super) fn end_inner_table(&mut self) {
        self.flush();
        if self.inner_tables.pop() == Some(true) {
            self.inner_tag("</table>");
        }
    }

    fn start_inner_part(&mut self, name: &LocalName) -> Open {
        self.flush();
        let (start, end) = match *name {
            local_name!("tr") => ("<tr>", "</tr>"),
            local_name!("th") => ("<th>", "</th>"),
            _ => ("<td>", "</td>"),
        };
        self.inner_tag(start);
        Open::InnerPart(end)
    }

    pub(super) fn end_inner_part(&mut self, tag: &str) {
        self.flush();
        self.inner_tag(tag);
    }

    fn inner_tag(&mut self, tag: &str) {
        if let Some(cell) = self.table.as_mut().and_then(Table::cell) {
            cell.tag(tag);
        }
    }

    pub(super) fn end_table(&mut self) {
        self.flush();
        self.grid = None;
        if let Some(lines) = self.table.take().and_then(Table::finish) {
            self.blocks.write(&lines);
            self.blocks.want_blank_line();
        }
    }
}
