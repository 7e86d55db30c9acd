//! Text recognition (OCR) with tesseract, for the child processes of this program.

use std::path::PathBuf;

use documents::{Kind, Recognise, RecogniseError, RecognisedPage, RecognisedWord, Rect};
use ocr::{Area, Engine, Languages, Page, Pictures, Renderer};
use reader::Eyes;

/// Creates the text recognition for these languages; none means all that are installed.
pub(crate) fn make(languages: &[String]) -> Result<Box<dyn Eyes>, String> {
    let languages = Languages::find(None, languages).map_err(|error| error.to_string())?;
    Ok(Box::new(Tesseract { languages, engine: None }))
}

/// Recogniser with one engine, created for the first page and reused. Children that only parse documents never create
/// it.
struct Tesseract {
    languages: Languages,
    engine: Option<Engine>,
}

impl Eyes for Tesseract {
    fn languages(&self) -> Vec<String> {
        self.languages.names().to_vec()
    }

    fn files(&self) -> Vec<PathBuf> {
        vec![self.languages.folder().to_owned()]
    }

    fn count(&mut self, file: &[u8], _: Kind) -> Result<u32, RecogniseError> {
        Pictures::open(file).map(|pictures| pictures.count()).map_err(|error| failed(&error))
    }

    fn open<'a>(&'a mut self, file: &'a [u8], kind: Kind) -> Result<Box<dyn Recognise + 'a>, RecogniseError> {
        let source = match kind {
            Kind::Pdf => Source::Paper(Renderer::new(file.to_vec()).map_err(|error| failed(&error))?),
            _ => Source::Pictures(Pictures::open(file).map_err(|error| failed(&error))?),
        };
        let engine = match self.engine.take() {
            Some(engine) => engine,
            None => Engine::new(&self.languages).map_err(|error| failed(&error))?,
        };
        Ok(Box::new(Opened { source, engine: self.engine.insert(engine) }))
    }
}

/// Opened file whose pages are recognised.
struct Opened<'a> {
    source: Source<'a>,
    engine: &'a mut Engine,
}

enum Source<'a> {
    Paper(Renderer),
    Pictures(Pictures<'a>),
}

impl Recognise for Opened<'_> {
    fn page(&mut self, number: u32) -> Result<RecognisedPage, RecogniseError> {
        let frame = match &self.source {
            Source::Paper(renderer) => renderer.render(number),
            Source::Pictures(pictures) => pictures.frame(number),
        };
        let page = frame.and_then(|frame| self.engine.page(&frame)).map_err(|error| failed(&error))?;
        Ok(recognised(page))
    }
}

fn failed(error: &ocr::Error) -> RecogniseError {
    match error {
        ocr::Error::TooLarge => RecogniseError::Limit(error.to_string()),
        other => RecogniseError::Failed(other.to_string()),
    }
}

fn recognised(page: Page) -> RecognisedPage {
    let rects = |areas: Vec<Area>| areas.iter().map(rect).collect();
    let words = page.words.into_iter().map(|word| RecognisedWord {
        rect: rect(&word.area),
        text: word.text,
        baseline: word.baseline,
        size: word.size,
        weight: word.weight,
        confidence: word.confidence,
        line: word.line,
        block: word.block,
    });
    RecognisedPage {
        width: page.width,
        height: page.height,
        turned: page.turned,
        words: words.collect(),
        rules: rects(page.rules),
        fills: rects(page.shades),
        pictures: rects(page.pictures),
    }
}

fn rect(area: &Area) -> Rect {
    Rect { x0: area.x0, y0: area.y0, x1: area.x1, y1: area.y1 }
}
