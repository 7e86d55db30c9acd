//! Reading of one document, from the file to the answer.

use std::io;

use documents::{Document, Error, Kind, Mode, Office, Opened, ReadOptions, Recognise, RecogniseError, RecognisedPage};
use wire::PdfMode;

use super::parent::{Heard, Parent, unexpected};
use super::{Eyes, convert};
use crate::job::{Answer, Failure, Options};
use crate::message::{Said, Told};

/// Error where OCR is needed but not available.
const NO_OCR: &str = "this server has no text recognition; install quarry-reader and tesseract-ocr on it";

/// Document to read.
pub(super) struct Order {
    pub(super) file: Vec<u8>,
    pub(super) kind: Kind,
    pub(super) options: Options,
    pub(super) can_ocr: bool,
}

/// Reads a document; returns the message for the parent, or `None` if the parent has declined the document.
///
/// # Errors
/// When the connection to the parent fails.
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

/// Reason why there is no answer.
enum Stop {
    /// The document cannot be read.
    Failed(Failure),
    /// The parent has declined it.
    Left,
    /// The connection to the parent failed.
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
    let count = eyes.count(&order.file, order.kind).map_err(|error| match error {
        RecogniseError::Limit(why) => Failure::Limit(why),
        other => Failure::Broken(other.to_string()),
    })?;
    let options = ReadOptions { max_pages: order.options.max_pages, mode: Mode::Ocr };
    afford(parent, options.pages_of(count))?;
    let mut asking = Asking { parent, lost: None };
    let document = documents::read_pictures(count, &options, &mut asking);
    asking.answer(&document, order)
}

fn office(parent: &mut Parent, order: &Order) -> Result<Answer, Stop> {
    afford(parent, 1)?;
    let Office { markdown, html, links, metadata, warnings } = documents::office(&order.file, order.kind)?;
    let html = order.options.wants.html.then_some(html);
    Ok(Answer { markdown, html, links, metadata, warnings, pages_read: 1, ..Answer::default() })
}

/// Asks the parent whether to go on with a document of this many pages.
fn afford(parent: &mut Parent, pages: u32) -> Result<(), Stop> {
    parent.say(&Said::Opened { pages })?;
    match parent.hear()? {
        Some(Heard { message: Told::Go, .. }) => Ok(()),
        Some(Heard { message: Told::Leave, .. }) => Err(Stop::Left),
        other => Err(out_of_turn(other).into()),
    }
}

/// Recogniser that asks the parent for the pages.
struct Asking<'a> {
    parent: &'a mut Parent,
    /// Error of the connection to the parent, after which nothing more is asked.
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
            Some(Heard { message: Told::Seen(seen), .. }) => Ok(seen),
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
    heard.map_or_else(|| io::ErrorKind::UnexpectedEof.into(), |heard| unexpected(&heard.message))
}
