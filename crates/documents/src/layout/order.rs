//! Reading order of the parts of a page.
//!
//! Two rules (Breuel, "High Performance Document Layout Analysis", 2003) give a partial order: a part above is read
//! before a part below it if they overlap horizontally; and a part to the left is read before a part to the right,
//! unless a part that overlaps both lies between them. Drawing order completes it. If the drawing order as a whole
//! violates no rule of the first kind and has no more jumps, it is used unchanged, as it probably is the author's
//! order.

use crate::geometry::Rect;

/// Maximum number of lines of a short part, and maximum number of words of one of its lines.
const SHORT_LINES: usize = 5;
const SHORT_WORDS: usize = 6;
/// Minimum number of parts with the same left edge that show a column.
const COLUMN_ROWS: usize = 3;
/// Maximum distance of the left edges of a column, in points.
const SAME_EDGE: f32 = 3.0;
/// Maximum number of parts that are compared with each other.
const MAX_PARTS: usize = 220;
/// Maximum height of a row at the top or bottom of a page, in points.
const MAX_ROW: f32 = 30.0;

/// Part of a page with what its place in the order depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    pub(crate) rect: Rect,
    /// Position in drawing order.
    pub(crate) order: u32,
    /// Whether it is short text or a figure, which give no evidence of a column.
    pub(crate) short: bool,
}

impl Part {
    pub(crate) fn is_short(lines: usize, words: usize) -> bool {
        lines <= SHORT_LINES && words <= SHORT_WORDS
    }
}

/// Returns the indices of parts in reading order.
///
/// Short parts side by side, with nothing beside them that reaches above or below, are a row of their own: names of
/// authors, labels of a form, the address and the date of a letter. A column needs longer text, or several such rows.
pub(crate) fn page_order(parts: &[Part]) -> Vec<usize> {
    let sections = sections(parts);
    let mut order = Vec::with_capacity(parts.len());
    let mut open: Vec<usize> = Vec::new();
    for section in &sections {
        if is_sparse(parts, section) && !is_column_row(parts, section) {
            order.extend(ordered(parts, &std::mem::take(&mut open)));
            order.extend(ordered(parts, section));
        } else {
            open.extend(section);
        }
    }
    order.extend(ordered(parts, &open));
    order
}

/// Returns some of the parts in reading order.
fn ordered(parts: &[Part], some: &[usize]) -> Vec<usize> {
    let boxes: Vec<(Rect, u32)> = some.iter().map(|place| (parts[*place].rect, parts[*place].order)).collect();
    reading_order(&boxes).into_iter().map(|place| some[place]).collect()
}

/// Splits the parts where a blank runs across the whole page, from top to bottom.
fn sections(parts: &[Part]) -> Vec<Vec<usize>> {
    let mut places: Vec<usize> = (0..parts.len()).collect();
    places.sort_by(|a, b| parts[*a].rect.y0.total_cmp(&parts[*b].rect.y0));
    let mut sections: Vec<Vec<usize>> = Vec::new();
    let mut bottom = f32::NEG_INFINITY;
    for place in places {
        let rect = &parts[place].rect;
        match sections.last_mut().filter(|_| rect.y0 < bottom) {
            Some(section) => section.push(place),
            None => sections.push(vec![place]),
        }
        bottom = bottom.max(rect.y1);
    }
    sections
}

fn is_sparse(parts: &[Part], section: &[usize]) -> bool {
    section.len() > 1 && section.iter().all(|place| parts[*place].short)
}

/// Whether a row is part of columns: other parts begin at the left edges of two of its parts or more, and at one of
/// them longer text or several parts.
fn is_column_row(parts: &[Part], section: &[usize]) -> bool {
    let edges = section.iter().map(|place| {
        let others = (0..parts.len()).filter(|other| !section.contains(other));
        let same = others.filter(|other| (parts[*other].rect.x0 - parts[*place].rect.x0).abs() < SAME_EDGE);
        same.fold((0, false), |(count, long), other| (count + 1, long || !parts[other].short))
    });
    let edges: Vec<(usize, bool)> = edges.filter(|(count, _)| *count > 0).collect();
    (edges.len() >= 2 && edges.iter().any(|(count, long)| *long || *count + 1 >= COLUMN_ROWS))
        || is_between_columns(parts, section)
}

/// Whether columns of longer text have begun above a row: some lie on either side of a gap in it, and one above it.
fn is_between_columns(parts: &[Part], section: &[usize]) -> bool {
    let mut row: Vec<&Rect> = section.iter().map(|place| &parts[*place].rect).collect();
    row.sort_by(|a, b| a.x0.total_cmp(&b.x0));
    let top = row.iter().map(|rect| rect.y0).fold(f32::INFINITY, f32::min);
    let long = || parts.iter().filter(|part| !part.short).map(|part| &part.rect);
    row.windows(2).filter(|pair| pair[0].x1 < pair[1].x0).any(|pair| {
        let mut left = long().filter(|rect| rect.x1 < pair[1].x0).peekable();
        let mut right = long().filter(|rect| rect.x0 > pair[0].x1).peekable();
        left.peek().is_some() && right.peek().is_some() && left.chain(right).any(|rect| rect.y1 <= top)
    })
}

/// Returns the indices of boxes in reading order. Each box comes with its position in drawing order.
pub(crate) fn reading_order(boxes: &[(Rect, u32)]) -> Vec<usize> {
    let mut drawn: Vec<usize> = (0..boxes.len()).collect();
    drawn.sort_by_key(|place| boxes[*place].1);
    if boxes.len() < 2 {
        return drawn;
    }
    let rects: Vec<Rect> = boxes.iter().map(|(rect, _)| *rect).collect();
    let undrawn = boxes.iter().any(|(_, order)| *order == u32::MAX);
    let geometric = if rects.len() > MAX_PARTS { by_height(&rects) } else { by_rules(&rects, &drawn) };
    let makes_sense =
        |order: &Vec<usize>| !contradicts(&rects, order) && jumps(&rects, order) <= jumps(&rects, &geometric);
    // Drawing order is preferred, then drawing order with moved header and footer. Parts without a drawing order (OCR)
    // leave only the geometric order.
    let found = if undrawn { None } else { [framed(&rects, &drawn), drawn].into_iter().rev().find(makes_sense) };
    found.unwrap_or(geometric)
}

/// Returns the drawing order with the rows at the top and the bottom of the page moved to its ends, as many programs
/// draw them last.
fn framed(rects: &[Rect], drawn: &[usize]) -> Vec<usize> {
    let upwards = |rect: &Rect| Rect { y0: -rect.y1, y1: -rect.y0, ..*rect };
    let top = first_row(rects);
    let bottom = first_row(&rects.iter().map(upwards).collect::<Vec<_>>());
    let mut order = drawn.to_vec();
    order.sort_by_key(|place| (bottom.contains(place) && !top.contains(place), !top.contains(place)));
    order
}

/// Returns the parts of the top row, if it is low and no other part reaches into it.
fn first_row(rects: &[Rect]) -> Vec<usize> {
    let Some(first) = rects.iter().min_by(|a, b| a.y0.total_cmp(&b.y0)) else { return Vec::new() };
    let row: Vec<usize> = (0..rects.len()).filter(|place| rects[*place].center().y < first.y1).collect();
    let end = row.iter().map(|place| rects[*place].y1).fold(first.y1, f32::max);
    let apart = (0..rects.len()).all(|place| row.contains(&place) || rects[place].y0 >= end);
    if apart && end - first.y0 < MAX_ROW { row } else { Vec::new() }
}

fn by_height(rects: &[Rect]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..rects.len()).collect();
    places.sort_by(|a, b| rects[*a].y0.total_cmp(&rects[*b].y0).then(rects[*a].x0.total_cmp(&rects[*b].x0)));
    places
}

fn by_rules(rects: &[Rect], drawn: &[usize]) -> Vec<usize> {
    let mut sorter = Sorter { rects, first: drawn.to_vec(), done: vec![false; rects.len()], out: Vec::new() };
    sorter.first.sort_by(|a, b| rects[*a].y0.total_cmp(&rects[*b].y0).then(rects[*a].x0.total_cmp(&rects[*b].x0)));
    for place in sorter.first.clone() {
        sorter.visit(place);
    }
    sorter.out
}

struct Sorter<'a> {
    rects: &'a [Rect],
    first: Vec<usize>,
    done: Vec<bool>,
    out: Vec<usize>,
}

impl Sorter<'_> {
    /// Outputs all parts that come before a part, then the part: a depth-first topological sort that tolerates cycles.
    fn visit(&mut self, place: usize) {
        if std::mem::replace(&mut self.done[place], true) {
            return;
        }
        for index in 0..self.first.len() {
            let other = self.first[index];
            if !self.done[other] && is_before(self.rects, other, place) {
                self.visit(other);
            }
        }
        self.out.push(place);
    }
}

fn is_before(rects: &[Rect], a: usize, b: usize) -> bool {
    let (first, second) = (&rects[a], &rects[b]);
    if share_width(first, second) {
        return is_above(first, second);
    }
    if first.x0 >= second.x0 {
        return false;
    }
    let (top, bottom) = (first.center().y.min(second.center().y), first.center().y.max(second.center().y));
    let parts = |other: &Rect| {
        let middle = other.center().y;
        top < middle && middle < bottom && share_width(other, first) && share_width(other, second)
    };
    !rects.iter().enumerate().any(|(place, other)| place != a && place != b && parts(other))
}

fn is_above(first: &Rect, second: &Rect) -> bool {
    first.center().y < second.center().y
}

fn share_width(a: &Rect, b: &Rect) -> bool {
    a.overlap_x(b) > (0.08 * a.width().min(b.width())).max(0.5)
}

/// Whether a part is drawn before one that lies above it.
fn contradicts(rects: &[Rect], order: &[usize]) -> bool {
    if order.len() > 4 * MAX_PARTS {
        return true;
    }
    let wrong = |early: usize, late: usize| {
        share_width(&rects[early], &rects[late]) && rects[late].y1 <= rects[early].y0 + 0.3 * rects[late].height()
    };
    (0..order.len()).any(|place| order[place + 1..].iter().any(|late| wrong(order[place], *late)))
}

/// Counts the steps of an order that do not lead downwards.
fn jumps(rects: &[Rect], order: &[usize]) -> usize {
    let on = |pair: &&[usize]| {
        let (a, b) = (&rects[pair[0]], &rects[pair[1]]);
        share_width(a, b) && is_above(a, b)
    };
    order.windows(2).filter(|pair| !on(pair)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rect(x0: f32, y0: f32, x1: f32, y1: f32) -> Rect {
        Rect { x0, y0, x1, y1 }
    }

    #[test]
    fn columns_are_read_one_after_the_other() {
        let title = rect(50.0, 40.0, 550.0, 60.0);
        let (left, right) = (rect(50.0, 80.0, 290.0, 400.0), rect(310.0, 80.0, 550.0, 400.0));
        let (left2, right2) = (rect(50.0, 410.0, 290.0, 700.0), rect(310.0, 410.0, 550.0, 700.0));
        // One in an order that contradicts the layout, one in reverse.
        for drawn in [[0, 1, 3, 2, 4], [4, 3, 2, 1, 0]] {
            let boxes: Vec<_> = [title, left, left2, right, right2].into_iter().zip(drawn).collect();
            assert_eq!(reading_order(&boxes), [0, 1, 2, 3, 4]);
        }
    }

    #[test]
    fn what_reaches_over_both_columns_parts_them() {
        let (left, right) = (rect(50.0, 80.0, 290.0, 200.0), rect(310.0, 80.0, 550.0, 200.0));
        let wide = rect(50.0, 220.0, 550.0, 240.0);
        let (left2, right2) = (rect(50.0, 260.0, 290.0, 400.0), rect(310.0, 260.0, 550.0, 400.0));
        let boxes: Vec<_> = [left, right, wide, left2, right2].into_iter().zip([9, 3, 7, 1, 5]).collect();
        assert_eq!(reading_order(&boxes), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn what_is_drawn_last_around_the_page_does_not_upset_its_order() {
        let (head, title) = (rect(50.0, 20.0, 550.0, 32.0), rect(200.0, 60.0, 400.0, 80.0));
        let (section, text) = (rect(50.0, 90.0, 180.0, 104.0), rect(50.0, 110.0, 550.0, 700.0));
        let number = rect(280.0, 760.0, 320.0, 772.0);
        for drawn in [[3, 0, 1, 2, 4], [1, 2, 3, 4, 0], [4, 1, 2, 3, 0]] {
            let boxes: Vec<_> = [head, title, section, text, number].into_iter().zip(drawn).collect();
            assert_eq!(reading_order(&boxes), [0, 1, 2, 3, 4], "{drawn:?}");
        }
    }

    #[test]
    fn names_side_by_side_come_before_the_columns_below_them() {
        let part = |rect, order, short| Part { rect, order, short };
        let parts = [
            part(rect(100.0, 80.0, 180.0, 92.0), 0, true),
            part(rect(70.0, 140.0, 290.0, 600.0), 1, false),
            part(rect(400.0, 80.0, 480.0, 92.0), 2, true),
            part(rect(310.0, 140.0, 530.0, 600.0), 3, false),
        ];
        assert_eq!(page_order(&parts), [0, 2, 1, 3]);
    }

    #[test]
    fn several_rows_with_the_same_edges_are_columns() {
        let parts: Vec<Part> = (0..4)
            .flat_map(|row| {
                let y = 100.0 + 30.0 * row as f32;
                let part = |x: f32, order| Part { rect: rect(x, y, x + 100.0, y + 12.0), order, short: true };
                [part(70.0, row), part(320.0, 10 + row)]
            })
            .collect();
        assert_eq!(page_order(&parts), [0, 2, 4, 6, 1, 3, 5, 7]);
    }

    #[test]
    fn short_lines_in_the_middle_of_columns_are_no_row() {
        let part = |rect, order, short| Part { rect, order, short };
        let parts = [
            part(rect(70.0, 80.0, 290.0, 200.0), 0, false),
            // The end of a paragraph at the left, an indented label at the right.
            part(rect(84.0, 206.0, 120.0, 218.0), 1, true),
            part(rect(330.0, 206.0, 380.0, 218.0), 4, true),
            part(rect(70.0, 224.0, 290.0, 400.0), 2, false),
            part(rect(310.0, 80.0, 530.0, 200.0), 3, false),
            part(rect(310.0, 224.0, 530.0, 400.0), 5, false),
        ];
        assert_eq!(page_order(&parts), [0, 1, 3, 4, 2, 5]);
    }

    #[test]
    fn the_order_of_drawing_counts_when_it_makes_sense() {
        // A box at the side that belongs after the text.
        let (text, side) = (rect(200.0, 50.0, 550.0, 700.0), rect(50.0, 300.0, 180.0, 400.0));
        assert_eq!(reading_order(&[(text, 0), (side, 1)]), [0, 1]);
    }
}
