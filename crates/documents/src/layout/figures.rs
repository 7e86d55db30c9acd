//! Images and drawings, and the text inside them.

use super::line::Line;
use crate::content::page::Fill;
use crate::geometry::{Rect, Size};
use crate::structure::signs::is_caption;
use crate::table::PlacedTable;

// All distances are in points, as figures do not scale with the text: 24 points are a third of an inch, less is an icon
// or a rule. The values were set by hand.

/// Minimum side of a figure, in points.
const MIN_SIDE: f32 = 24.0;
/// Maximum share of the page; a larger image is the background.
const BACKGROUND: f32 = 0.85;
/// Maximum distance between the pieces of a drawing, in points.
const NEAR: f32 = 10.0;
/// Maximum distance between the bars of a chart, in points.
const NEAR_BARS: f32 = 40.0;
/// Maximum number of filled boxes that are considered as bars.
const MAX_BARS: usize = 600;
/// Minimum number of pieces of a drawing.
const MIN_PIECES: usize = 4;
/// Maximum number of pieces that are considered.
const MAX_PIECES: usize = 3000;

/// Returns the figures of a page, the largest first.
pub(crate) fn find(images: &[Rect], drawings: &[Rect], page: Size) -> Vec<Rect> {
    let Size { width, height } = page;
    let sheet = Rect { x0: 0.0, y0: 0.0, x1: width, y1: height };
    let clipped = |rect: &Rect| Rect {
        x0: rect.x0.max(0.0),
        y0: rect.y0.max(0.0),
        x1: rect.x1.min(width),
        y1: rect.y1.min(height),
    };
    let shown = |rect: &Rect| rect.width() >= MIN_SIDE && rect.height() >= MIN_SIDE;
    let mut found: Vec<Rect> = images.iter().map(clipped).filter(shown).collect();
    found.truncate(MAX_PIECES);
    let inside: Vec<Rect> = drawings.iter().map(clipped).filter(|rect| rect.area() < 0.5 * sheet.area()).collect();
    let drawn = clusters(&inside, NEAR).into_iter().filter(|group| group.len() >= MIN_PIECES);
    found.extend(drawn.map(|group| around(&group)).filter(shown));
    found.retain(|rect| rect.area() < BACKGROUND * sheet.area());
    let mut found = merged(found);
    found.sort_by(|a, b| b.area().total_cmp(&a.area()));
    found
}

/// Groups pieces that are near each other.
fn clusters(pieces: &[Rect], near: f32) -> Vec<Vec<Rect>> {
    let mut groups: Vec<(Rect, Vec<Rect>)> = Vec::new();
    for piece in pieces.iter().take(MAX_PIECES) {
        let mut group = (*piece, vec![*piece]);
        // A new piece may connect several groups: those near it are absorbed, and the box grows on the way. A group
        // that was passed before the box reached it stays apart until another piece connects them.
        groups.retain_mut(|(rect, held)| {
            let apart = rect.overlap_x(&group.0) < -near || rect.overlap_y(&group.0) < -near;
            if !apart {
                group.0 = group.0.union(rect);
                group.1.append(held);
            }
            apart
        });
        groups.push(group);
    }
    groups.into_iter().map(|(_, pieces)| pieces).collect()
}

fn around(pieces: &[Rect]) -> Rect {
    pieces.iter().fold(Rect::EMPTY, |rect, piece| rect.union(piece))
}

/// Returns charts with their labels: groups of bars of different lengths, without text inside.
pub(crate) fn charts(fills: &[Fill], tables: &[PlacedTable], lines: &[Line], page: Size) -> Vec<Rect> {
    let is_bar = |fill: &&Fill| {
        let rect = &fill.rect;
        let holds_text = || lines.iter().any(|line| line.words.len() >= 3 && rect.holds(line.rect.center()));
        let free = || !tables.iter().any(|table| table.rect.grown(3.0).shared(rect) > 0.3 * rect.area());
        !fill.white && rect.area() > 12.0 && rect.area() < 0.2 * page.width * page.height && free() && !holds_text()
    };
    let bars: Vec<Rect> = fills.iter().take(MAX_BARS).filter(is_bar).map(|fill| fill.rect).collect();
    let mut found = Vec::new();
    for group in clusters(&bars, NEAR_BARS) {
        let uneven = |length: fn(&Rect) -> f32| {
            let (least, most) =
                group.iter().map(length).fold((f32::INFINITY, 0.0_f32), |(a, b), x| (a.min(x), b.max(x)));
            // Cells of a shaded table have one size, bars of a chart do not.
            most > 1.15 * least
        };
        let rect = around(&group);
        let large = rect.width() >= 2.0 * MIN_SIDE && rect.height() >= 2.0 * MIN_SIDE;
        if group.len() >= 3 && large && (uneven(Rect::width) || uneven(Rect::height)) {
            found.push(with_labels(rect, lines));
        }
    }
    found
}

/// Extends a chart by the short lines around it, the labels of its axes and bars.
fn with_labels(chart: Rect, lines: &[Line]) -> Rect {
    let mut rect = chart;
    // Numbers of the axis, its title and a legend stand one outside of the other: four rounds.
    for _ in 0..4 {
        let near = rect.grown(NEAR);
        let label = |line: &&Line| {
            let short = line.words.len() <= 4 && line.letters() <= 24;
            short && near.shared(&line.rect) > 0.0 && !is_caption(&line.text())
        };
        let grown = lines.iter().filter(label).fold(rect, |rect, line| rect.union(&line.rect));
        if grown == rect {
            break;
        }
        rect = grown;
    }
    // If the labels lead far away from the chart, they are surrounding text.
    if rect.area() > 3.0 * chart.area() { chart } else { rect }
}

/// Merges overlapping figures.
pub(crate) fn merged(figures: Vec<Rect>) -> Vec<Rect> {
    let mut out: Vec<Rect> = Vec::new();
    for mut figure in figures {
        out.retain(|other| {
            let over = other.shared(&figure) > 0.5 * other.area().min(figure.area());
            if over {
                figure = figure.union(other);
            }
            !over
        });
        out.push(figure);
    }
    out
}

/// Splits lines into those inside figures and all others.
pub(crate) fn take(figures: &[Rect], tables: &[PlacedTable], lines: Vec<Line>) -> (Vec<(Rect, Vec<Line>)>, Vec<Line>) {
    let free = |figure: &&Rect| !tables.iter().any(|table| table.rect.shared(figure) > 0.3 * figure.area());
    let mut inside: Vec<(Rect, Vec<Line>)> = figures.iter().filter(free).map(|rect| (*rect, Vec::new())).collect();
    let mut outside = Vec::new();
    for line in lines {
        let holder = inside.iter_mut().find(|(rect, _)| rect.holds(line.rect.center()) && line.words.len() <= 12);
        match holder {
            Some((_, held)) => held.push(line),
            None => outside.push(line),
        }
    }
    // A box with much text is a text box rather than a figure.
    inside.retain_mut(|(_, held)| {
        let letters: usize = held.iter().map(Line::letters).sum();
        // Half a page of text.
        let text = held.len() > 40 || letters > 900;
        if text {
            outside.append(held);
        }
        !text
    });
    outside.sort_by(|a, b| a.baseline.total_cmp(&b.baseline));
    (inside, outside)
}
