//! What the content of a page is made of, in page space and in the order in which it is drawn.

use crate::geometry::Rect;

/// Where a run of glyphs goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Direction {
    Right,
    Down,
    Left,
    Up,
}

impl Direction {
    /// The direction nearest to a vector in page space.
    pub(crate) fn of((x, y): (f32, f32)) -> Self {
        match (x.abs() >= y.abs(), x >= 0.0, y >= 0.0) {
            (true, true, _) => Self::Right,
            (true, false, _) => Self::Left,
            (false, _, true) => Self::Down,
            (false, _, false) => Self::Up,
        }
    }
}

/// What is known of the text of a glyph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Flags(u8);

impl Flags {
    /// A space, which separates words.
    pub(crate) const SPACE: Self = Self(1);
    /// Drawn without ink, as the text of scans is.
    pub(crate) const HIDDEN: Self = Self(2);
    /// Marked as furniture of the page.
    pub(crate) const ARTIFACT: Self = Self(4);
    /// Its font does not say which character it is.
    pub(crate) const UNKNOWN: Self = Self(8);
    /// First of what one operator shows.
    pub(crate) const FIRST: Self = Self(16);
    /// Belongs to the glyph before, as the second letter of a ligature does.
    pub(crate) const JOINED: Self = Self(32);

    pub(crate) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn with(self, other: Self, on: bool) -> Self {
        if on { Self(self.0 | other.0) } else { self }
    }
}

/// One character where it is drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Glyph {
    pub(crate) text: char,
    /// Where its baseline begins and ends.
    pub(crate) start: (f32, f32),
    pub(crate) end: (f32, f32),
    /// Height of the em, in points.
    pub(crate) size: f32,
    /// Place in [`PageContent::styles`].
    pub(crate) style: u16,
    pub(crate) direction: Direction,
    pub(crate) flags: Flags,
}

/// How text looks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Style {
    /// The name of the font without its subset tag.
    pub(crate) font: String,
    pub(crate) bold: bool,
    pub(crate) italic: bool,
    pub(crate) mono: bool,
    /// Its glyphs are pictures, and nothing tells how bold it is.
    pub(crate) bitmap: bool,
}

/// A filled box that is no line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fill {
    pub(crate) rect: Rect,
    pub(crate) white: bool,
}

/// A link that lies on the page.
#[derive(Debug, Clone)]
pub(crate) struct LinkArea {
    pub(crate) rect: Rect,
    pub(crate) url: String,
}

/// The content of one page.
#[derive(Debug, Default)]
pub(crate) struct PageContent {
    pub(crate) width: f32,
    pub(crate) height: f32,
    pub(crate) glyphs: Vec<Glyph>,
    pub(crate) styles: Vec<Style>,
    /// Straight lines along the axes, as boxes of at least no width.
    pub(crate) rules: Vec<Rect>,
    pub(crate) fills: Vec<Fill>,
    pub(crate) images: Vec<Rect>,
    /// Boxes of other drawings.
    pub(crate) drawings: Vec<Rect>,
    pub(crate) links: Vec<LinkArea>,
    /// A budget ran out, so something is missing.
    pub(crate) cut: bool,
}
