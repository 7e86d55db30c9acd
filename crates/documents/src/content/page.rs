//! Content of a page, in page space and drawing order.

use crate::geometry::{Point, Rect};

/// Direction of a run of glyphs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Direction {
    Right,
    Down,
    Left,
    Up,
}

impl Direction {
    /// Returns the direction nearest to a vector in page space.
    pub(crate) fn of(vector: Point) -> Self {
        let Point { x, y } = vector;
        match (x.abs() >= y.abs(), x >= 0.0, y >= 0.0) {
            (true, true, _) => Self::Right,
            (true, false, _) => Self::Left,
            (false, _, true) => Self::Down,
            (false, _, false) => Self::Up,
        }
    }
}

/// Flags of a glyph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Flags(u8);

impl Flags {
    /// Space, which separates words.
    pub(crate) const SPACE: Self = Self(1);
    /// Invisible, like the text layer of scans.
    pub(crate) const HIDDEN: Self = Self(2);
    /// Marked as page furniture.
    pub(crate) const ARTIFACT: Self = Self(4);
    /// Without a known character in its font.
    pub(crate) const UNKNOWN: Self = Self(8);
    /// First glyph of a show operator.
    pub(crate) const FIRST: Self = Self(16);
    /// Part of the glyph before, such as the second letter of a ligature.
    pub(crate) const JOINED: Self = Self(32);
    /// Tagged as a heading.
    pub(crate) const HEADING: Self = Self(64);
    /// Part of a field of a form, which is drawn after everything else.
    pub(crate) const FIELD: Self = Self(128);

    pub(crate) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn with(self, other: Self, on: bool) -> Self {
        if on { Self(self.0 | other.0) } else { self }
    }
}

/// One character with its position.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Glyph {
    pub(crate) text: char,
    /// Start and end of its advance on the baseline.
    pub(crate) start: Point,
    pub(crate) end: Point,
    /// Height of the em, in points.
    pub(crate) size: f32,
    /// Index in [`PageContent::styles`].
    pub(crate) style: u16,
    pub(crate) direction: Direction,
    pub(crate) flags: Flags,
}

/// Text style.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Style {
    /// Font name without its subset tag.
    pub(crate) font: String,
    pub(crate) bold: bool,
    pub(crate) italic: bool,
    pub(crate) mono: bool,
    /// Whether the glyphs are bitmaps (Type 3), so that the weight is unknown.
    pub(crate) bitmap: bool,
}

/// Filled box that is not a line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fill {
    pub(crate) rect: Rect,
    pub(crate) white: bool,
}

/// Area of a link on the page.
#[derive(Debug, Clone)]
pub(crate) struct LinkArea {
    pub(crate) rect: Rect,
    pub(crate) url: String,
}

/// Content of one page.
#[derive(Debug, Default)]
pub(crate) struct PageContent {
    pub(crate) width: f32,
    pub(crate) height: f32,
    pub(crate) glyphs: Vec<Glyph>,
    pub(crate) styles: Vec<Style>,
    /// Horizontal and vertical lines, as boxes that may have no width or height.
    pub(crate) rules: Vec<Rect>,
    pub(crate) fills: Vec<Fill>,
    pub(crate) images: Vec<Rect>,
    /// Bounding boxes of other drawings.
    pub(crate) drawings: Vec<Rect>,
    pub(crate) links: Vec<LinkArea>,
    /// Whether a budget was spent, so that something is missing.
    pub(crate) cut: bool,
}
