//! Paths: the lines and boxes of tables, and the positions of other drawings.

use super::Interpreter;
use super::lexer::Lexer;
use super::page::Fill;
use crate::geometry::{Point, Rect};

/// Maximum thickness of a filled box that counts as a line, in points.
const MAX_RULE: f32 = 3.0;
/// Maximum deviation of a line's ends from an axis, in points.
const SLANT: f32 = 0.6;
/// Maximum number of corners that are kept; a part with more is a drawing.
const MAX_CORNERS: usize = 12;
/// Maximum number of parts of one path.
const MAX_PARTS: usize = 20_000;
/// Sides up to this length make a speck, in points.
const SPECK: f32 = 2.0;

/// Path under construction, in page space.
#[derive(Default)]
pub(super) struct Path {
    parts: Vec<Subpath>,
}

struct Subpath {
    corners: Vec<Point>,
    closed: bool,
    /// Whether it is curved, or has too many corners to keep.
    free: bool,
    around: Rect,
}

impl Subpath {
    fn new(start: Point) -> Self {
        Self { corners: vec![start], closed: false, free: false, around: Rect::between(start, start) }
    }

    fn go(&mut self, corner: Point, curved: bool) {
        self.around.include(corner);
        self.free |= curved || self.corners.len() >= MAX_CORNERS;
        if !self.free {
            self.corners.push(corner);
        }
    }

    /// Returns the part as a box, if its sides are horizontal and vertical.
    fn as_box(&self) -> Option<Rect> {
        let mut corners = self.corners.as_slice();
        if let [first, .., last] = corners
            && corners.len() == 5
            && near(*first, *last)
        {
            corners = &corners[..4];
        }
        let [a, b, c, d] = corners else { return None };
        let straight = [(a, b), (b, c), (c, d), (d, a)].iter().all(|(from, to)| along(**from, **to).is_some());
        (straight && !self.free).then_some(self.around)
    }
}

impl Interpreter<'_> {
    /// Runs a path operator; returns false for other operators.
    pub(super) fn path_operator(&mut self, operator: &[u8], lexer: &Lexer<'_>) -> bool {
        match operator {
            b"m" => self.begin(lexer),
            b"l" => self.go_on::<2>(lexer, false),
            b"c" => self.go_on::<6>(lexer, true),
            b"v" | b"y" => self.go_on::<4>(lexer, true),
            b"re" => self.add_box(lexer),
            b"h" => self.close(),
            b"S" => self.paint(true, false),
            b"s" => {
                self.close();
                self.paint(true, false);
            }
            b"f" | b"F" | b"f*" => self.paint(false, true),
            b"B" | b"B*" => self.paint(true, true),
            b"b" | b"b*" => {
                self.close();
                self.paint(true, true);
            }
            b"n" => self.path.parts.clear(),
            b"W" | b"W*" => {}
            _ => return false,
        }
        true
    }

    fn begin(&mut self, lexer: &Lexer<'_>) {
        if let Some([x, y]) = lexer.numbers::<2>()
            && self.path.parts.len() < MAX_PARTS
        {
            self.path.parts.push(Subpath::new(self.state.matrix.apply(x, y)));
        }
    }

    fn go_on<const N: usize>(&mut self, lexer: &Lexer<'_>, curved: bool) {
        let (Some(numbers), Some(part)) = (lexer.numbers::<N>(), self.path.parts.last_mut()) else { return };
        for pair in numbers.chunks_exact(2) {
            part.go(self.state.matrix.apply(pair[0], pair[1]), curved);
        }
    }

    fn add_box(&mut self, lexer: &Lexer<'_>) {
        let Some([x, y, width, height]) = lexer.numbers::<4>() else { return };
        if self.path.parts.len() >= MAX_PARTS {
            return;
        }
        let at = |x, y| self.state.matrix.apply(x, y);
        let mut part = Subpath::new(at(x, y));
        part.go(at(x + width, y), false);
        part.go(at(x + width, y + height), false);
        part.go(at(x, y + height), false);
        part.closed = true;
        self.path.parts.push(part);
    }

    fn close(&mut self) {
        if let Some(part) = self.path.parts.last_mut() {
            part.closed = true;
        }
    }

    fn paint(&mut self, stroke: bool, fill: bool) {
        let parts = std::mem::take(&mut self.path.parts);
        let shapes = self.page.rules.len() + self.page.fills.len() + self.page.drawings.len();
        if self.marks.hidden() || !self.budget.shapes(shapes) {
            return;
        }
        for part in &parts {
            let visible = part.around.overlap_x(&self.sheet()) >= 0.0 && part.around.overlap_y(&self.sheet()) >= 0.0;
            if !visible {
                continue;
            }
            if fill {
                self.fill(part);
            }
            if stroke {
                self.stroke(part);
            }
        }
        // Returns the buffer for the next path, to avoid an allocation.
        self.path.parts = parts;
        self.path.parts.clear();
    }

    fn sheet(&self) -> Rect {
        Rect { x0: 0.0, y0: 0.0, x1: self.page.width, y1: self.page.height }
    }

    fn fill(&mut self, part: &Subpath) {
        match part.as_box() {
            Some(rect) if rect.width().min(rect.height()) <= MAX_RULE => {
                let seen = !self.state.white && rect.width().max(rect.height()) > SPECK;
                self.page.rules.extend(seen.then_some(rect));
            }
            Some(rect) => self.page.fills.push(Fill { rect, white: self.state.white }),
            None if !self.state.white => self.draw_freely(part),
            None => {}
        }
    }

    fn stroke(&mut self, part: &Subpath) {
        if part.free {
            return self.draw_freely(part);
        }
        let back = part.closed.then(|| part.corners.first().copied()).flatten();
        let ends = part.corners.iter().copied().skip(1).chain(back);
        let mut slanted = false;
        for (from, to) in part.corners.iter().copied().zip(ends) {
            match along(from, to) {
                Some(rect) if rect.width().max(rect.height()) > SPECK => self.page.rules.push(rect),
                Some(_) => {}
                None => slanted = true,
            }
        }
        if slanted {
            self.draw_freely(part);
        }
    }

    fn draw_freely(&mut self, part: &Subpath) {
        if part.around.width() > SPECK || part.around.height() > SPECK {
            self.page.drawings.push(part.around);
        }
    }
}

fn near(a: Point, b: Point) -> bool {
    (a.x - b.x).abs() < SLANT && (a.y - b.y).abs() < SLANT
}

/// Returns the box of a line, if it is horizontal or vertical.
fn along(from: Point, to: Point) -> Option<Rect> {
    let straight = (from.x - to.x).abs() < SLANT || (from.y - to.y).abs() < SLANT;
    straight.then(|| Rect::between(from, to))
}
