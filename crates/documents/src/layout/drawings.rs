//! Drawings of a page that the layout of its text depends on.

use super::figures;
use super::words::{Direction, Rotation};
use crate::content::page::{Fill, PageContent};
use crate::geometry::{Rect, Size};
use crate::table::edges::Edges;

/// Drawings besides text, in reading space.
pub(crate) struct Drawings<'a> {
    pub(crate) content: &'a PageContent,
    pub(crate) size: Size,
    /// Whether reading space is turned against the page.
    pub(super) turned: bool,
    pub(crate) edges: Edges,
    pub(crate) fills: Vec<Fill>,
    pub(crate) figures: Vec<Rect>,
}

impl<'a> Drawings<'a> {
    /// Turns the drawings of a page into reading space; without them, only its text counts.
    pub(super) fn new(content: &'a PageContent, turn: &Rotation, with_drawings: bool) -> Self {
        let size = turn.size();
        let turned_text = turn.direction != Direction::Right;
        let turned = |rects: &[Rect]| -> Vec<Rect> { rects.iter().map(|rect| turn.rect_to(rect)).collect() };
        let fill = |fill: &Fill| Fill { rect: turn.rect_to(&fill.rect), white: fill.white };
        if !with_drawings {
            return Self {
                content,
                size,
                turned: turned_text,
                edges: Edges::default(),
                fills: Vec::new(),
                figures: Vec::new(),
            };
        }
        let images = turned(&content.images);
        let drawings = turned(&content.drawings);
        Self {
            content,
            size,
            turned: turned_text,
            edges: Edges::of(&turned(&content.rules)),
            fills: content.fills.iter().map(fill).collect(),
            figures: figures::find(&images, &drawings, size),
        }
    }

    /// Whether a style of the page is monospaced.
    pub(super) fn is_mono(&self, style: u16) -> bool {
        self.content.styles.get(usize::from(style)).is_some_and(|style| style.mono)
    }
}
