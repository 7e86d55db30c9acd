//! Pictures and drawings, and the text inside them.

use super::lines::Line;
use crate::content::page::Fill;
use crate::geometry::Rect;
use crate::table::Found;

/// The smallest side of a figure, in points.
const MIN_SIDE: f32 = 24.0;
/// A picture that covers more of the page is its background.
const BACKGROUND: f32 = 0.85;
/// Drawings that are so near belong together.
const NEAR: f32 = 10.0;
/// Bars that are so near belong to one chart.
const NEAR_BARS: f32 = 40.0;
/// Filled boxes of a page that may be bars.
const MAX_BARS: usize = 600;
/// Pieces that a drawing has at least.
const MIN_PIECES: usize = 4;
/// With more pieces the page is one drawing.
const MAX_PIECES: usize = 3000;

/// The figures of a page, the largest first.
pub(crate) fn find(images: &[Rect], drawings: &[Rect], (width, height): (f32, f32)) -> Vec<Rect> {
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

/// Drawings that lie near each other.
fn clusters(pieces: &[Rect], near: f32) -> Vec<Vec<Rect>> {
    let mut groups: Vec<(Rect, Vec<Rect>)> = Vec::new();
    for piece in pieces.iter().take(MAX_PIECES) {
        let mut group = (*piece, vec![*piece]);
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

/// Charts: bars of different lengths side by side, without text in them, and the labels around them.
pub(crate) fn charts(fills: &[Fill], tables: &[Found], lines: &[Line], (width, height): (f32, f32)) -> Vec<Rect> {
    let is_bar = |fill: &&Fill| {
        let rect = &fill.rect;
        let holds_text = || lines.iter().any(|line| line.words.len() >= 3 && rect.holds(line.rect.center()));
        let free = || !tables.iter().any(|table| table.rect.grown(3.0).shared(rect) > 0.3 * rect.area());
        !fill.white && rect.area() > 12.0 && rect.area() < 0.2 * width * height && free() && !holds_text()
    };
    let bars: Vec<Rect> = fills.iter().take(MAX_BARS).filter(is_bar).map(|fill| fill.rect).collect();
    let mut found = Vec::new();
    for group in clusters(&bars, NEAR_BARS) {
        let uneven = |length: fn(&Rect) -> f32| {
            let (least, most) =
                group.iter().map(length).fold((f32::INFINITY, 0.0_f32), |(a, b), x| (a.min(x), b.max(x)));
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

/// A chart with the short lines around it: what its axes and bars say.
fn with_labels(chart: Rect, lines: &[Line]) -> Rect {
    let mut rect = chart;
    for _ in 0..4 {
        let near = rect.grown(NEAR);
        let label = |line: &&Line| {
            let short = line.words.len() <= 4 && line.letters() <= 24;
            short && near.shared(&line.rect) > 0.0 && !super::blocks::is_caption(line)
        };
        let grown = lines.iter().filter(label).fold(rect, |rect, line| rect.union(&line.rect));
        if grown == rect {
            break;
        }
        rect = grown;
    }
    // Labels that lead away from the chart are the text around it.
    if rect.area() > 3.0 * chart.area() { chart } else { rect }
}

/// Figures that lie over each other are one.
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

/// The lines inside figures, and all others.
pub(crate) fn take(figures: &[Rect], tables: &[Found], lines: Vec<Line>) -> (Vec<(Rect, Vec<Line>)>, Vec<Line>) {
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
    // A box with much text is a box of text, and not a figure.
    inside.retain_mut(|(_, held)| {
        let letters: usize = held.iter().map(Line::letters).sum();
        let text = held.len() > 40 || letters > 900;
        if text {
            outside.append(held);
        }
        !text
    });
    outside.sort_by(|a, b| a.baseline.total_cmp(&b.baseline));
    (inside, outside)
}
