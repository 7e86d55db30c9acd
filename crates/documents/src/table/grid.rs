//! Tables whose cells are boxes of rules.
//!
//! Rules that touch each other form a net, whose crossings define a grid of places. Adjacent places without a rule
//! between them form one cell, which gives spans. A row that has rules only between its columns is split at the lines
//! of its text.

use super::PlacedTable;
use super::edges::{Edge, Edges};
use super::judge;
use crate::content::page::LinkArea;
use crate::geometry::{Point, Rect};
use crate::layout::line::Line;
use crate::layout::lines::lines;
use crate::layout::text::inline;
use crate::layout::words::Word;
use crate::model::{Cell, Inline, Table};
use crate::table::groups;

// The distances are those of drawn rules, which do not depend on the size of the text. Programs draw rules of half a
// point to two points, and many end a rule at the edge, not in the middle, of the one that it meets. The values were
// set by hand; they must stay well below the height of a row of small print, about 8 points.

/// Maximum gap between rules that still touch, in points.
const TOUCH: f32 = 3.5;
/// Maximum distance of rules in a net that are treated as one, in points.
const CLOSE: f32 = 4.0;
/// Maximum number of places in one table: far more than a page can show. Each of them is compared with all
/// rules.
const MAX_PLACES: usize = 20_000;
/// Minimum share of a side that rules must cover to separate two places. Less than all, as dashed rules have gaps; more
/// than half, as a rule may reach some way into a merged cell.
const CLOSED: f32 = 0.55;

/// Net of rules, with the edges of its columns (`xs`) and rows (`ys`).
#[derive(Debug)]
pub(crate) struct Lattice {
    pub(crate) xs: Vec<f32>,
    pub(crate) ys: Vec<f32>,
    across: Vec<Edge>,
    down: Vec<Edge>,
}

impl Lattice {
    pub(crate) fn rect(&self) -> Rect {
        let ends = |values: &[f32]| (values.first().copied().unwrap_or(0.0), values.last().copied().unwrap_or(0.0));
        let ((x0, x1), (y0, y1)) = (ends(&self.xs), ends(&self.ys));
        Rect { x0, y0, x1, y1 }
    }
}

/// Returns the nets of a page that can contain a table.
pub(crate) fn nets(edges: &Edges) -> Vec<Lattice> {
    // Union-find over all rules: the horizontal ones come first, so vertical rule `n` has index `across.len() + n`.
    let mut groups = Groups::new(edges.across.len() + edges.down.len());
    for (place, across) in edges.across.iter().enumerate() {
        for (other, down) in edges.down.iter().enumerate() {
            let meets = |edge: &Edge, at: f32| edge.from - TOUCH <= at && at <= edge.to + TOUCH;
            if meets(across, down.at) && meets(down, across.at) {
                groups.join(place, edges.across.len() + other);
            }
        }
    }
    // One net for each root, in the order of their first rules, so that the result does not depend on a hash.
    let mut found: Vec<(usize, Vec<Edge>, Vec<Edge>)> = Vec::new();
    let all = edges.across.iter().map(|edge| (true, *edge)).chain(edges.down.iter().map(|edge| (false, *edge)));
    for (place, (is_across, edge)) in all.enumerate() {
        let root = groups.root(place);
        let at = found.iter().position(|group| group.0 == root).unwrap_or_else(|| {
            found.push((root, Vec::new(), Vec::new()));
            found.len() - 1
        });
        if is_across { found[at].1.push(edge) } else { found[at].2.push(edge) }
    }
    found.into_iter().filter_map(|(_, across, down)| net(across, down)).collect()
}

fn net(across: Vec<Edge>, down: Vec<Edge>) -> Option<Lattice> {
    if across.len() < 2 || down.is_empty() {
        return None;
    }
    // A side without a rule ends where the rules of the other direction end, as in tables without an outer frame.
    let mut xs: Vec<f32> = down.iter().map(|edge| edge.at).collect();
    let mut ys: Vec<f32> = across.iter().map(|edge| edge.at).collect();
    close_sides(&mut xs, &across);
    close_sides(&mut ys, &down);
    // At least two columns and one row; rows may still be split by their text.
    let enough = xs.len() >= 3 && ys.len() >= 3 || xs.len() >= 3 && ys.len() >= 2;
    (enough && (xs.len() - 1) * (ys.len() - 1) <= MAX_PLACES).then_some(Lattice { xs, ys, across, down })
}

fn close_sides(values: &mut Vec<f32>, others: &[Edge]) {
    let from = others.iter().map(|edge| edge.from).fold(f32::INFINITY, f32::min);
    let to = others.iter().map(|edge| edge.to).fold(f32::NEG_INFINITY, f32::max);
    values.sort_by(f32::total_cmp);
    // 8 points, the height of a row of small print: a shorter overhang is decoration, and no row or column fits in it.
    if values.first().is_some_and(|first| from < first - 8.0) {
        values.insert(0, from);
    }
    if values.last().is_some_and(|last| to > last + 8.0) {
        values.push(to);
    }
    values.dedup_by(|next, last| *next - *last < CLOSE);
}

/// Reads the table in a net, and removes its words from the list. If it is not a table, the words are put back.
pub(crate) fn read_table(net: &Lattice, words: &mut Vec<Word>, links: &[LinkArea]) -> Option<PlacedTable> {
    // By half of the width of a thick rule, so that a word that touches the frame still counts as inside.
    let rect = net.rect().grown(1.5);
    let (inside, outside): (Vec<Word>, Vec<Word>) = words.drain(..).partition(|word| rect.holds(word.rect.center()));
    *words = outside;
    match table(net, &inside, links) {
        Some(found) => Some(found),
        None => {
            words.extend(inside);
            words.sort_by_key(|word| word.order);
            None
        }
    }
}

fn table(net: &Lattice, words: &[Word], links: &[LinkArea]) -> Option<PlacedTable> {
    let (rows, columns) = (net.ys.len() - 1, net.xs.len() - 1);
    let areas = areas(net, rows, columns);
    // For each place, the index of the cell that covers it, so that a word finds its cell by its centre.
    let mut inside: Vec<Vec<Word>> = vec![Vec::new(); areas.len()];
    let mut holders = vec![0; rows * columns];
    for (place, area) in areas.iter().enumerate() {
        for row in area.row..area.row + area.row_span {
            holders[row * columns + area.column..row * columns + area.column + area.column_span].fill(place);
        }
    }
    // `partition_point` counts the edges up to the centre: one less is the index of the column. Words beside the outer
    // edges, which `grown` has let in, go into the first or last one.
    for word in words {
        let Point { x, y } = word.rect.center();
        let column = net.xs.partition_point(|edge| *edge <= x).saturating_sub(1).min(columns - 1);
        let row = net.ys.partition_point(|edge| *edge <= y).saturating_sub(1).min(rows - 1);
        inside[holders[row * columns + column]].push(word.clone());
    }
    // Words that lie across rules belong to a drawing, not to a table.
    if judge::crossed(&net.xs, words) {
        return None;
    }
    let read: Vec<(Area, Vec<Line>)> = areas.into_iter().zip(inside.into_iter().map(lines)).collect();
    // The table stands in the text where its first word was drawn.
    let order = words.iter().map(|word| word.order).min()?;
    if let Some(table) = groups::table(net, read.iter().map(|(_, lines)| lines.as_slice()), links) {
        return Some(PlacedTable { rect: net.rect(), table, order, confidence: 0.85 });
    }
    let mut split = split_rows(net, &read, rows);
    for cell in &mut split {
        cell.text = inline(&cell.lines.iter().collect::<Vec<_>>(), &[], links);
    }
    let table = compact(split, columns);
    judge::grid(&table).then(|| PlacedTable { rect: net.rect(), table, order, confidence: 0.95 })
}

/// Cell: the places that it covers.
#[derive(Debug, Clone, Copy)]
struct Area {
    row: usize,
    column: usize,
    row_span: usize,
    column_span: usize,
}

/// Returns the cells of a net: places without a rule between them are joined.
fn areas(net: &Lattice, rows: usize, columns: usize) -> Vec<Area> {
    let mut groups = Groups::new(rows * columns);
    // The rules of a net lie within `CLOSE` of a grid line. A side may consist of several pieces, so their lengths are
    // added.
    let covered = |edges: &[Edge], at: f32, from: f32, to: f32| {
        let on = edges.iter().filter(|edge| (edge.at - at).abs() <= CLOSE);
        let length: f32 = on.map(|edge| (edge.to.min(to) - edge.from.max(from)).max(0.0)).sum();
        length >= CLOSED * (to - from)
    };
    for row in 0..rows {
        for column in 0..columns {
            // Only the right and lower sides: the others were looked at from the places before.
            let (x0, x1, y0, y1) = (net.xs[column], net.xs[column + 1], net.ys[row], net.ys[row + 1]);
            if column + 1 < columns && !covered(&net.down, x1, y0, y1) {
                groups.join(row * columns + column, row * columns + column + 1);
            }
            if row + 1 < rows && !covered(&net.across, y1, x0, x1) {
                groups.join(row * columns + column, (row + 1) * columns + column);
            }
        }
    }
    rectangles(&mut groups, rows, columns)
}

/// Returns the groups that form rectangles as cells. Others (such as L shapes) are split into single places.
fn rectangles(groups: &mut Groups, rows: usize, columns: usize) -> Vec<Area> {
    // For each group its bounding box (top, left, bottom, right) and its number of places. The group is a rectangle if
    // it fills its box.
    let mut around: std::collections::BTreeMap<usize, (usize, usize, usize, usize, usize)> = Default::default();
    for place in 0..rows * columns {
        let (row, column) = (place / columns, place % columns);
        let entry = around.entry(groups.root(place)).or_insert((row, column, row, column, 0));
        *entry = (entry.0.min(row), entry.1.min(column), entry.2.max(row), entry.3.max(column), entry.4 + 1);
    }
    let mut areas = Vec::new();
    for place in 0..rows * columns {
        let (row, column) = (place / columns, place % columns);
        let Some((top, left, bottom, right, count)) = around.get(&groups.root(place)).copied() else { continue };
        let (row_span, column_span) = (bottom - top + 1, right - left + 1);
        if count != row_span * column_span {
            areas.push(Area { row, column, row_span: 1, column_span: 1 });
        } else if (row, column) == (top, left) {
            areas.push(Area { row, column, row_span, column_span });
        }
    }
    areas
}

/// Cell with its lines and the text of them.
struct CellText {
    area: Area,
    lines: Vec<Line>,
    text: Inline,
}

impl CellText {
    fn new(area: Area, lines: Vec<Line>) -> Self {
        Self { area, lines, text: Inline::new() }
    }
}

/// Splits rows that have rules only between their columns at the lines of their text.
fn split_rows(net: &Lattice, cells: &[(Area, Vec<Line>)], rows: usize) -> Vec<CellText> {
    let mut out = Vec::new();
    // `shift[n]` is the number of rows added before row `n`.
    let mut shift = vec![0; rows + 1];
    for row in 0..rows {
        let here: Vec<&(Area, Vec<Line>)> =
            cells.iter().filter(|(area, _)| area.row == row && area.row_span == 1).collect();
        let bands = bands_of(net, &here);
        let extra = bands.len().saturating_sub(1);
        shift[row + 1] = shift[row] + extra;
        for (area, lines) in here {
            if extra == 0 {
                out.push(CellText::new(Area { row: row + shift[row], ..*area }, lines.clone()));
                continue;
            }
            for (place, (top, bottom)) in bands.iter().enumerate() {
                let inside: Vec<Line> =
                    lines.iter().filter(|line| (*top..*bottom).contains(&line.baseline)).cloned().collect();
                let area = Area { row: row + shift[row] + place, ..*area };
                out.push(CellText::new(area, inside));
            }
        }
    }
    // Cells over several rows are not split themselves, but grow with the rows that they cover. They come last, when
    // all shifts are known; `compact` sorts the cells.
    for (area, lines) in cells.iter().filter(|(area, _)| area.row_span > 1) {
        let last = area.row + area.row_span;
        let row_span = area.row_span + shift[last] - shift[area.row];
        out.push(CellText::new(Area { row: area.row + shift[area.row], row_span, ..*area }, lines.clone()));
    }
    out
}

/// Returns the vertical ranges into which a row is split, or none if it is a single row.
fn bands_of(net: &Lattice, cells: &[&(Area, Vec<Line>)]) -> Vec<(f32, f32)> {
    let full: Vec<_> = cells.iter().filter(|(_, lines)| !lines.is_empty()).collect();
    // One cell or two lines give too little evidence of separate rows.
    let most = full.iter().map(|(_, lines)| lines.len()).max().unwrap_or(0);
    if full.len() < 2 || most < 3 {
        return Vec::new();
    }
    let Some((_, longest)) = full.iter().find(|(_, lines)| lines.len() == most) else { return Vec::new() };
    // 0.3 em: cells of one row may have fonts of different sizes, whose baselines differ by less than a third of a
    // line. Seven of ten lines: a cell of the row may be empty in some of the rows.
    let alike = |lines: &[Line]| {
        let near = |line: &Line| longest.iter().any(|other| (other.baseline - line.baseline).abs() < 0.3 * line.size);
        lines.len() * 10 >= most * 7 && lines.iter().all(near)
    };
    // Lines that fill their cell are a wrapped paragraph, not separate rows.
    let short = |(area, lines): &(Area, Vec<Line>)| {
        let width = net.xs[area.column + area.column_span] - net.xs[area.column];
        lines.iter().filter(|line| line.rect.width() > 0.75 * width).count() * 3 <= lines.len()
    };
    // Two thirds of the cells must have lines at the same heights as the longest one, and two thirds must have short
    // lines.
    let alike = full.iter().filter(|(_, lines)| alike(lines)).count();
    if alike * 3 < full.len() * 2 || alike < 2 || full.iter().filter(|cell| short(cell)).count() * 3 < full.len() * 2 {
        return Vec::new();
    }
    // A row begins 0.6 em above its baseline: above the small letters, and below the descenders of the row before.
    let mut tops: Vec<f32> = longest.iter().map(|line| line.baseline - 0.6 * line.size).collect();
    tops.sort_by(f32::total_cmp);
    let mut bands: Vec<(f32, f32)> = tops.windows(2).map(|pair| (pair[0], pair[1])).collect();
    bands.push((tops.last().copied().unwrap_or(0.0), f32::INFINITY));
    if let Some(first) = bands.first_mut() {
        first.0 = f32::NEG_INFINITY;
    }
    bands
}

/// Removes empty rows and columns, and adjusts the spans.
fn compact(cells: Vec<CellText>, columns: usize) -> Table {
    let rows = cells.iter().map(|cell| cell.area.row + cell.area.row_span).max().unwrap_or(0);
    let mut full_rows = vec![false; rows];
    let mut full_columns = vec![false; columns];
    for CellText { area, .. } in cells.iter().filter(|cell| !cell.lines.is_empty()) {
        full_rows[area.row] = true;
        full_columns[area.column] = true;
    }
    let before = |full: &[bool], place: usize| full[..place].iter().filter(|full| **full).count();
    let cells = cells.into_iter().filter_map(|CellText { area, text, .. }| {
        let (row, column) = (before(&full_rows, area.row), before(&full_columns, area.column));
        let row_span = before(&full_rows, area.row + area.row_span) - row;
        let column_span = before(&full_columns, area.column + area.column_span) - column;
        (row_span > 0 && column_span > 0).then_some(Cell { row, column, row_span, column_span, text })
    });
    let mut cells: Vec<Cell> = cells.collect();
    cells.sort_by_key(|cell| (cell.row, cell.column));
    Table { rows: before(&full_rows, rows), columns: before(&full_columns, columns), cells }
}

/// Disjoint sets (union-find).
struct Groups(Vec<usize>);

impl Groups {
    fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    fn root(&mut self, place: usize) -> usize {
        let mut root = place;
        while self.0[root] != root {
            // Path halving.
            self.0[root] = self.0[self.0[root]];
            root = self.0[root];
        }
        root
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        // The smaller index becomes the root, so that the order of roots is that of the first members.
        self.0[a.max(b)] = a.min(b);
    }
}
