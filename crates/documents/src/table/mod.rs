//! Tables, recognised from what is drawn.
//!
//! Three kinds of evidence are tried, the strongest first: a grid of rules ([`grid`]), horizontal rules or shaded bands
//! of equal width ([`bands`]), and text in columns alone ([`columns`]). The last two use [`cells`] to place their
//! cells. Every result must pass [`judge`], which rejects false tables: a false table costs a reader more than a missed
//! one.

pub(crate) mod bands;
pub(crate) mod cells;
pub(crate) mod columns;
pub(crate) mod edges;
pub(crate) mod grid;
mod groups;
pub(crate) mod judge;

use crate::geometry::Rect;
use crate::model::Table;

/// Table with its position, in reading space.
#[derive(Debug)]
pub(crate) struct PlacedTable {
    pub(crate) rect: Rect,
    pub(crate) table: Table,
    /// Position of its earliest word in drawing order.
    pub(crate) order: u32,
    pub(crate) confidence: f32,
}
