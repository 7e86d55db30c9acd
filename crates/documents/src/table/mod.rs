//! Tables, found from what is drawn.
//!
//! Three kinds of evidence are tried, the strongest first: a grid of lines ([`grid`]), horizontal lines or shaded bands that are
//! equally wide ([`bands`]), and nothing but text that stands in columns ([`columns`]). The last two place their cells by
//! [`cells`], and everything that was found must pass [`judge`], which rejects inventions: an invented table costs a reader more
//! than a missed one.

pub(crate) mod bands;
pub(crate) mod cells;
pub(crate) mod columns;
pub(crate) mod edges;
pub(crate) mod grid;
pub(crate) mod judge;

use crate::geometry::Rect;
use crate::model::Table;

/// A table and where it is, in reading space.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) rect: Rect,
    pub(crate) table: Table,
    /// The earliest word in the order of drawing.
    pub(crate) order: u32,
    pub(crate) confidence: f32,
}
