//! OCR of one document: which of its pages are recognised, and what becomes of them.

use crate::Mode;
use crate::layout::PageLayout;
use crate::layout::recognised::recognised;
use crate::layout::stamped::with_own_text;
use crate::model::Quality;
use crate::recognised::{Recognise, RecognisedPage};

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
                // In the mode `ocr` what is recognised replaces the text, which the caller does not trust.
                let keeps = self.mode == Mode::Auto && embedded.quality.counts();
                if keeps { with_own_text(&page, embedded) } else { recognised(&page, embedded) }
            }
            Ok(_) => {
                let quality = Quality { looked: true, ..embedded.quality };
                PageLayout { quality, ..embedded }
            }
            Err(error) => PageLayout { failure: Some(error), ..embedded },
        }
    }
}
