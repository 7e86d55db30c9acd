//! Tesseract instances, kept for reuse.

use std::ffi::{CStr, CString};

use tesseract::PageSegMode;
use tesseract::plumbing::TessBaseApi;

use crate::hocr::{self, HocrPage};
use crate::{Error, Frame, Grey, Languages, Page, page};

/// Recogniser of pages, one at a time. Each language takes some tens of megabytes from its first use.
pub struct Engine {
    folder: CString,
    languages: Vec<Language>,
    /// Language of the last page.
    current: usize,
}

struct Language {
    name: CString,
    /// Instance, created on first use.
    warm: Option<TessBaseApi>,
}

impl Engine {
    /// Starts tesseract with the first language. The others are started when a page seems to be in none of those
    /// before.
    ///
    /// # Errors
    ///
    /// [`Error::Start`] if its language data is damaged.
    pub fn new(languages: &Languages) -> Result<Self, Error> {
        let bad = || Error::Start(languages.folder().display().to_string());
        let folder = CString::new(languages.folder().as_os_str().as_encoded_bytes()).map_err(|_| bad())?;
        let names: Result<Vec<_>, _> = languages.names().iter().map(|name| CString::new(name.as_str())).collect();
        let languages = names.map_err(|_| bad())?.into_iter().map(|name| Language { name, warm: None }).collect();
        let mut engine = Self { folder, languages, current: 0 };
        engine.warm(0)?;
        Ok(engine)
    }

    /// Recognises a page.
    ///
    /// # Errors
    ///
    /// [`Error::Recognise`] if tesseract fails.
    pub fn page(&mut self, frame: &Frame) -> Result<Page, Error> {
        page::recognise(self, frame)
    }

    pub(crate) fn current(&self) -> usize {
        self.current
    }

    pub(crate) fn set_current(&mut self, language: usize) {
        self.current = language;
    }

    /// Returns the number of languages.
    pub(crate) fn count(&self) -> usize {
        self.languages.len()
    }

    /// Reads an image in one of the languages.
    pub(crate) fn recognise(
        &mut self,
        language: usize,
        picture: &Grey,
        dpi: f32,
        mode: PageSegMode,
    ) -> Result<HocrPage, Error> {
        let length = |edge: usize| i32::try_from(edge).map_err(|_| Error::TooLarge);
        let (width, height) = (length(picture.width())?, length(picture.height())?);
        let engine = self.warm(language)?;
        engine.set_page_seg_mode(mode.as_tess_page_seg_mode());
        engine.set_image(picture.pixels(), width, height, 1, width).map_err(|_| Error::TooLarge)?;
        engine.set_source_resolution(dpi.round() as i32);
        engine.recognize().map_err(|_| Error::Recognise)?;
        let text = engine.get_hocr_text(0).map_err(|_| Error::Recognise)?;
        Ok(hocr::parse_hocr(&text.as_ref().to_string_lossy()))
    }

    fn warm(&mut self, language: usize) -> Result<&mut TessBaseApi, Error> {
        let language = self.languages.get_mut(language).ok_or(Error::Recognise)?;
        let engine = match language.warm.take() {
            Some(engine) => engine,
            None => start(&self.folder, &language.name)?,
        };
        Ok(language.warm.insert(engine))
    }
}

fn start(folder: &CStr, name: &CStr) -> Result<TessBaseApi, Error> {
    let mut engine = TessBaseApi::create();
    let bad = || Error::Start(name.to_string_lossy().into_owned());
    engine.init_2(Some(folder), Some(name)).map_err(|_| bad())?;
    engine.set_variable(c"debug_file", c"/dev/null").map_err(|_| bad())?;
    Ok(engine)
}
