//! Pages that are recognised from pictures of them.
//!
//! Who recognises is not known here: a [`Recognise`] answers with words and where they stand, and the layout is made from those
//! as from glyphs.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::Mode;
use crate::geometry::Rect;
use crate::layout::{self, PageLayout};

/// Recognises pages.
pub trait Recognise {
    /// Hears which pages will be asked for, in that order, before the first of them: time to begin with several at once.
    fn expect(&mut self, _pages: &[u32]) {}

    /// Recognises one page, counted from 1.
    ///
    /// # Errors
    ///
    /// [`RecogniseError`]. After [`RecogniseError::OutOfTime`] later pages are asked for still: they may be there already.
    fn page(&mut self, number: u32) -> Result<RecognisedPage, RecogniseError>;
}

/// Why a page could not be recognised.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
pub enum RecogniseError {
    /// No time was left for it.
    #[error("no time was left to recognise the page; allow more time or fewer pages")]
    OutOfTime,
    /// Anything else.
    #[error("the page could not be recognised: {0}")]
    Failed(String),
}

/// What was recognised on a page. All places are those of the upright page, in points from its top left corner.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RecognisedPage {
    /// Width of the upright page, in points.
    pub width: f32,
    /// Height of the upright page, in points.
    pub height: f32,
    /// Quarters by which the page, as it is shown, was turned clockwise to be upright: 0 to 3.
    pub turned: u8,
    /// Its words in the order in which they are read.
    pub words: Vec<RecognisedWord>,
    /// Straight lines along the axes.
    pub rules: Vec<Rect>,
    /// Shaded boxes.
    pub fills: Vec<Rect>,
    /// Pictures on it.
    pub pictures: Vec<Rect>,
}

/// A word.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RecognisedWord {
    /// Its text.
    pub text: String,
    /// The box around its ink.
    pub rect: Rect,
    /// The height at which it stands.
    pub baseline: f32,
    /// Height of the em.
    pub size: f32,
    /// How thick its strokes are, as a share of the em; 0 if that is not known.
    pub weight: f32,
    /// How sure the characters are, 0 to 1.
    pub confidence: f32,
    /// The line that it belongs to, counted through the page.
    pub line: u32,
    /// The block of text that it belongs to, counted through the page.
    pub block: u32,
}

/// The largest place or size that counts, in points: no page is larger.
const MAX_PLACE: f32 = 20_000.0;

impl RecognisedPage {
    /// The page without what cannot be: whoever recognises may run in another process, and is not believed.
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

/// The recognition of one document.
pub(crate) struct Reader<'a> {
    mode: Mode,
    recognise: Option<&'a mut dyn Recognise>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(mode: Mode, recognise: Option<&'a mut dyn Recognise>) -> Self {
        Self { mode, recognise }
    }

    /// The layouts of pages, recognised where that is wanted. What is embedded stays where nothing is recognised.
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
