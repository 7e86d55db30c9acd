//! Pages recognised by OCR.
//!
//! The OCR engine is not part of this crate: a [`Recognise`] returns words with their boxes, and the layout is made
//! from those as from glyphs.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::Mode;
use crate::geometry::Rect;
use crate::layout::{self, PageLayout};

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
    fn sound(mut self) -> Self {
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

/// OCR of one document.
pub(crate) struct Reader<'a> {
    mode: Mode,
    recognise: Option<&'a mut dyn Recognise>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(mode: Mode, recognise: Option<&'a mut dyn Recognise>) -> Self {
        Self { mode, recognise }
    }

    /// Returns the layouts of pages, recognised where wanted. The embedded text is kept where OCR finds nothing.
    pub(crate) fn pages(&mut self, embedded: Vec<PageLayout>) -> Vec<PageLayout> {
        let numbered = || (1..).zip(&embedded);
        let wanted: Vec<u32> = numbered().filter(|(_, page)| self.wants(page)).map(|(number, _)| number).collect();
        match self.recognise.as_deref_mut().filter(|_| !wanted.is_empty()) {
            Some(recognise) => recognise.expect(&wanted),
            None => return embedded,
        }
        (1..).zip(embedded).map(|(number, page)| self.page(number, page)).collect()
    }

    fn wants(&self, embedded: &PageLayout) -> bool {
        match self.mode {
            Mode::Fast => false,
            Mode::Auto => embedded.quality.needs_ocr(),
            Mode::Ocr => true,
        }
    }

    fn page(&mut self, number: u32, embedded: PageLayout) -> PageLayout {
        let wanted = self.wants(&embedded);
        let Some(recognise) = self.recognise.as_deref_mut().filter(|_| wanted) else { return embedded };
        match recognise.page(number).map(RecognisedPage::sound) {
            Ok(page) if !page.words.is_empty() || embedded.quality.characters == 0 => {
                layout::recognised(&page, embedded)
            }
            Ok(_) => embedded,
            Err(error) => PageLayout { failure: Some(error), ..embedded },
        }
    }
}
