//! One document, from the file to the answer.

use std::io;

use documents::{Document, Error, Kind, Mode, Office, Opened, ReadOptions, Recognise, RecogniseError, RecognisedPage};
use wire::PdfMode;

use super::parent::{Heard, Parent, unexpected};
use super::{Eyes, convert};
use crate::frame::{Said, Told};
use crate::job::{Answer, Failure, Options};

/// What to say where text would have to be recognised and cannot be.
const NO_OCR: &str = "this server cannot recognise text in pictures; install quarry-reader and tesseract-ocr on it";

/// What is to be read.
pub(super) struct Order {
    pub(super) file: Vec<u8>,
    pub(super) kind: Kind,
    pub(super) options: Options,
    pub(super) can_ocr: bool,
}

/// Reads a document; returns what the parent has to hear, and nothing when it wants the document no more.
///
/// # Errors
/// When the parent cannot be heard or told any more.
pub(super) fn document<'e>(
    parent: &mut Parent,
    order: &Order,
    eyes: Option<&mut (dyn Eyes + 'e)>,
) -> io::Result<Option<Said>> {
    let read = match order.kind {
        Kind::Pdf => pdf(parent, order),
        Kind::Image(_) => pictures(parent, order, eyes),
        _ => office(parent, order),
    };
    match read {
        Ok(answer) => Ok(Some(Said::Read(Box::new(answer)))),
        Err(Stop::Failed(failure)) => Ok(Some(Said::Failed(failure))),
        Err(Stop::Left) => Ok(None),
        Err(Stop::Lost(error)) => Err(error),
    }
}

/// Why there is no answer.
enum Stop {
    /// It cannot be read.
    Failed(Failure),
    /// The parent does not want it.
    Left,
    /// The parent cannot be heard or told any more.
    Lost(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Lost(error)
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(match error {
            Error::Encrypted => Failure::Encrypted,
            Error::NoText => Failure::OcrRequired,
            broken @ Error::Broken(_) => Failure::Broken(broken.to_string()),
            limit @ Error::Limit(_) => Failure::Limit(limit.to_string()),
        })
    }
}

fn pdf(parent: &mut Parent, order: &Order) -> Result<Answer, Stop> {
    let Options { mode, max_pages, .. } = order.options;
    if mode == PdfMode::Ocr && !order.can_ocr {
        return Err(Failure::OcrMissing(NO_OCR.to_owned()).into());
    }
    let opened = Opened::new(&order.file)?;
    let mode = match mode {
        PdfMode::Fast => Mode::Fast,
        PdfMode::Auto => Mode::Auto,
        PdfMode::Ocr => Mode::Ocr,
    };
    let options = ReadOptions { max_pages, mode };
    afford(parent, options.pages_of(opened.pages()))?;
    if !order.can_ocr {
        return Ok(convert::answer(&opened.read(&options, None), &order.options, Some(NO_OCR))?);
    }
    let mut asking = Asking { parent, lost: None };
    let document = opened.read(&options, Some(&mut asking));
    asking.answer(&document, order)
}

fn pictures<'e>(parent: &mut Parent, order: &Order, eyes: Option<&mut (dyn Eyes + 'e)>) -> Result<Answer, Stop> {
    let missing = || Failure::OcrMissing(NO_OCR.to_owned());
    let eyes = eyes.filter(|_| order.can_ocr).ok_or_else(missing)?;
    let count = eyes.count(&order.file, order.kind).map_err(|error| Failure::Broken(error.to_string()))?;
    let options = ReadOptions { max_pages: order.options.max_pages, mode: Mode::Ocr };
    afford(parent, options.pages_of(count))?;
    let mut asking = Asking { parent, lost: None };
    let document = documents::read_pictures(count, &options, &mut asking);
    asking.answer(&document, order)
}

fn office(parent: &mut Parent, order: &Order) -> Result<Answer, Stop> {
    afford(parent, 1)?;
    let Office { markdown, html, links, metadata } = documents::office(&order.file, order.kind)?;
    let html = order.options.wants.html.then_some(html);
    Ok(Answer { markdown, html, links, metadata, pages_read: 1, ..Answer::default() })
}

/// Asks the parent whether to go on with a document of so many pages.
fn afford(parent: &mut Parent, pages: u32) -> Result<(), Stop> {
    parent.say(&Said::Opened { pages })?;
    match parent.hear()? {
        Some(Heard { told: Told::Go, .. }) => Ok(()),
        Some(Heard { told: Told::Leave, .. }) => Err(Stop::Left),
        other => Err(out_of_turn(other).into()),
    }
}

/// Has pages recognised by asking the parent for them.
struct Asking<'a> {
    parent: &'a mut Parent,
    /// Why the parent cannot be asked any more.
    lost: Option<io::Error>,
}

impl Asking<'_> {
    fn answer(self, document: &Document, order: &Order) -> Result<Answer, Stop> {
        self.lost.map_or(Ok(()), Err)?;
        Ok(convert::answer(document, &order.options, None)?)
    }

    fn ask(&mut self, said: &Said) -> io::Result<Result<RecognisedPage, RecogniseError>> {
        self.parent.say(said)?;
        match self.parent.hear()? {
            Some(Heard { told: Told::Seen(seen), .. }) => Ok(seen),
            other => Err(out_of_turn(other)),
        }
    }
}

impl Recognise for Asking<'_> {
    fn expect(&mut self, pages: &[u32]) {
        self.lost = self.parent.say(&Said::Expect(pages.to_vec())).err();
    }

    fn page(&mut self, number: u32) -> Result<RecognisedPage, RecogniseError> {
        if self.lost.is_some() {
            return Err(RecogniseError::OutOfTime);
        }
        self.ask(&Said::Wants(number)).unwrap_or_else(|error| {
            self.lost = Some(error);
            Err(RecogniseError::OutOfTime)
        })
    }
}

fn out_of_turn(heard: Option<Heard>) -> io::Error {
    heard.map_or_else(|| io::ErrorKind::UnexpectedEof.into(), |heard| unexpected(&heard.told))
}
