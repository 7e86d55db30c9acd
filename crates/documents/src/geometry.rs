//! Points, rectangles and matrices.
//!
//! Everything after the content interpreter uses *page space*: points (1/72 inch), the origin at the top left corner of
//! the visible crop box (after `/Rotate`), x to the right, y **down**. A baseline is therefore a y, and higher text has
//! a smaller one.

use serde::{Deserialize, Serialize};

/// Point, or a vector.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f32,
    pub(crate) y: f32,
}

impl Point {
    /// Returns the distance to the origin.
    pub(crate) fn length(self) -> f32 {
        // Faster than `hypot`, which also spares numbers near the limits of the type.
        (self.x * self.x + self.y * self.y).sqrt()
    }
}

/// Size of a page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Size {
    pub(crate) width: f32,
    pub(crate) height: f32,
}

impl Size {
    /// Returns the size after a quarter turn.
    pub(crate) fn turned(self) -> Self {
        Self { width: self.height, height: self.width }
    }
}

/// Rectangle in page space, `x0 <= x1` and `y0 <= y1`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Rect {
    /// Left edge.
    pub x0: f32,
    /// Top edge.
    pub y0: f32,
    /// Right edge.
    pub x1: f32,
    /// Bottom edge.
    pub y1: f32,
}

impl Rect {
    /// Empty rectangle, the neutral element of `union`.
    pub(crate) const EMPTY: Self =
        Self { x0: f32::INFINITY, y0: f32::INFINITY, x1: f32::NEG_INFINITY, y1: f32::NEG_INFINITY };

    /// Returns the rectangle between two corners.
    pub(crate) fn between(a: Point, b: Point) -> Self {
        Self { x0: a.x.min(b.x), y0: a.y.min(b.y), x1: a.x.max(b.x), y1: a.y.max(b.y) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        !(self.x0 <= self.x1 && self.y0 <= self.y1)
    }

    /// Returns the width.
    #[must_use]
    pub fn width(&self) -> f32 {
        (self.x1 - self.x0).max(0.0)
    }

    /// Returns the height.
    #[must_use]
    pub fn height(&self) -> f32 {
        (self.y1 - self.y0).max(0.0)
    }

    pub(crate) fn area(&self) -> f32 {
        self.width() * self.height()
    }

    pub(crate) fn center(&self) -> Point {
        Point { x: f32::midpoint(self.x0, self.x1), y: f32::midpoint(self.y0, self.y1) }
    }

    /// Returns the upper left and the lower right corner.
    pub(crate) fn corners(&self) -> (Point, Point) {
        (Point { x: self.x0, y: self.y0 }, Point { x: self.x1, y: self.y1 })
    }

    /// Returns the smallest rectangle around both.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self {
            x0: self.x0.min(other.x0),
            y0: self.y0.min(other.y0),
            x1: self.x1.max(other.x1),
            y1: self.y1.max(other.y1),
        }
    }

    pub(crate) fn include(&mut self, point: Point) {
        self.x0 = self.x0.min(point.x);
        self.y0 = self.y0.min(point.y);
        self.x1 = self.x1.max(point.x);
        self.y1 = self.y1.max(point.y);
    }

    /// Returns the horizontal overlap of two rectangles; a negative value is the gap between them.
    pub(crate) fn overlap_x(&self, other: &Self) -> f32 {
        self.x1.min(other.x1) - self.x0.max(other.x0)
    }

    /// Returns the vertical overlap of two rectangles; a negative value is the gap between them.
    pub(crate) fn overlap_y(&self, other: &Self) -> f32 {
        self.y1.min(other.y1) - self.y0.max(other.y0)
    }

    /// Returns the area of the intersection.
    pub(crate) fn shared(&self, other: &Self) -> f32 {
        self.overlap_x(other).max(0.0) * self.overlap_y(other).max(0.0)
    }

    pub(crate) fn holds(&self, point: Point) -> bool {
        self.x0 <= point.x && point.x <= self.x1 && self.y0 <= point.y && point.y <= self.y1
    }

    pub(crate) fn grown(&self, by: f32) -> Self {
        Self { x0: self.x0 - by, y0: self.y0 - by, x1: self.x1 + by, y1: self.y1 + by }
    }

    /// Returns each edge as a share of the page, 0 to 1.
    pub(crate) fn share_of(&self, width: f32, height: f32) -> Option<[f64; 4]> {
        if self.is_empty() || !(width > 0.0 && height > 0.0) {
            return None;
        }
        let share = |value: f32, of: f32| (f64::from((value / of).clamp(0.0, 1.0)) * 1e5).round() / 1e5;
        Some([share(self.x0, width), share(self.y0, height), share(self.x1, width), share(self.y1, height)])
    }
}

/// Affine transform, `[a b c d e f]` as in the PDF operator `cm`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Matrix(pub(crate) [f32; 6]);

impl Matrix {
    pub(crate) const IDENTITY: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    /// Returns the transform that applies `self`, then `next`.
    pub(crate) fn then(&self, next: &Self) -> Self {
        let ([a, b, c, d, e, f], [na, nb, nc, nd, ne, nf]) = (self.0, next.0);
        Self([
            a * na + b * nc,
            a * nb + b * nd,
            c * na + d * nc,
            c * nb + d * nd,
            e * na + f * nc + ne,
            e * nb + f * nd + nf,
        ])
    }

    pub(crate) fn apply(&self, x: f32, y: f32) -> Point {
        let [a, b, c, d, e, f] = self.0;
        Point { x: a * x + c * y + e, y: b * x + d * y + f }
    }

    /// Transforms a vector, without the translation.
    pub(crate) fn turn(&self, x: f32, y: f32) -> Point {
        let [a, b, c, d, ..] = self.0;
        Point { x: a * x + c * y, y: b * x + d * y }
    }

    /// Returns the bounding box of a transformed rectangle.
    pub(crate) fn map(&self, rect: &Rect) -> Rect {
        let mut out = Rect::EMPTY;
        for (x, y) in [(rect.x0, rect.y0), (rect.x1, rect.y0), (rect.x0, rect.y1), (rect.x1, rect.y1)] {
            out.include(self.apply(x, y));
        }
        out
    }

    pub(crate) fn is_finite(&self) -> bool {
        self.0.iter().all(|value| value.is_finite())
    }
}
