//! Pages recognised by OCR.
//!
//! The OCR engine is not part of this crate: a [`Recognise`] returns words with their boxes, and the layout is made
//! from those as from glyphs.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::geometry::Rect;

/// Recogniser of pages (OCR).
pub trait Recognise {
    /// Announces the pages that will be requested, in that order, before the first of them, so that several can be
    /// started.
    fn expect(&mut self, _pages: &[u32]) {}

    /// Recognises one page, counted from 1.
    ///
    /// # Errors
    ///
    /// [`RecogniseError`]. After [`RecogniseError::OutOfTime`] later pages are still requested, as they may be ready
    /// already.
    fn page(&mut self, number: u32) -> Result<RecognisedPage, RecogniseError>;
}

/// Reason why a page could not be recognised.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
pub enum RecogniseError {
    /// No time left.
    #[error("the deadline passed before the page was recognised; allow more time or fewer pages")]
    OutOfTime,
    /// The page exceeds the limit of memory or work.
    #[error("the page could not be recognised: {0}")]
    Limit(String),
    /// Any other failure.
    #[error("the page could not be recognised: {0}")]
    Failed(String),
}

/// Recognised page. All coordinates refer to the upright page, in points from its top left corner.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RecognisedPage {
    /// Width of the upright page, in points.
    pub width: f32,
    /// Height of the upright page, in points.
    pub height: f32,
    /// Clockwise quarter turns from the visible page to the upright one, 0 to 3.
    pub turned: u8,
    /// Words in reading order.
    pub words: Vec<RecognisedWord>,
    /// Horizontal and vertical lines.
    pub rules: Vec<Rect>,
    /// Shaded boxes.
    pub fills: Vec<Rect>,
    /// Pictures.
    pub pictures: Vec<Rect>,
}

/// Recognised word.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RecognisedWord {
    /// Text.
    pub text: String,
    /// Bounding box.
    pub rect: Rect,
    /// Baseline.
    pub baseline: f32,
    /// Height of the em.
    pub size: f32,
    /// Stroke thickness as a share of the em; 0 if unknown.
    pub weight: f32,
    /// Confidence of the characters, 0 to 1.
    pub confidence: f32,
    /// Number of its line within the page.
    pub line: u32,
    /// Number of its block within the page.
    pub block: u32,
}

/// Largest valid coordinate or size, in points; no page is larger.
const MAX_PLACE: f32 = 20_000.0;

impl RecognisedPage {
    /// Returns the page without invalid values: the recogniser may be another process and is untrusted.
    pub(crate) fn sound(mut self) -> Self {
        let places = |rect: &Rect| [rect.x0, rect.y0, rect.x1, rect.y1].into_iter().all(is_place);
        self.words.retain(|word| {
            let measured = is_place(word.baseline) && (0.1..=MAX_PLACE).contains(&word.size) && word.weight.is_finite();
            measured && places(&word.rect) && word.confidence.is_finite() && !word.text.is_empty()
        });
        for rects in [&mut self.rules, &mut self.fills, &mut self.pictures] {
            rects.retain(places);
        }
        self.turned %= 4;
        self
    }
}

fn is_place(value: f32) -> bool {
    value.abs() <= MAX_PLACE
}
