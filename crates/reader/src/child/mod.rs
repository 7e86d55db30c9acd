//! The child process that reads documents.

mod convert;
mod look;
mod parent;
mod read;
mod watch;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use documents::{Kind, Recognise, RecogniseError};
use fence::Enclosure;

use crate::frame::{Said, Told};
use parent::{Heard, Parent};

/// Argument that starts a program as such a process.
pub(crate) const CHILD: &str = "read-documents-of-strangers";
/// Separator of the languages in the last argument.
pub(crate) const AND: char = '+';

/// Whether this program calls [`is_child`] at its start, so that it can be started as a child.
static CAN_BE_CHILD: AtomicBool = AtomicBool::new(false);

/// Text recognition (OCR). Created in the child, before the sandbox is active.
pub trait Eyes {
    /// Returns the languages in use: those requested that are installed.
    fn languages(&self) -> Vec<String>;

    /// Returns the files and folders that must stay readable in the sandbox.
    fn files(&self) -> Vec<PathBuf>;

    /// Counts the pages of an image file.
    ///
    /// # Errors
    /// When the file format is not supported.
    fn count(&mut self, file: &[u8], kind: Kind) -> Result<u32, RecogniseError>;

    /// Opens a PDF or image file to recognise some of its pages.
    ///
    /// # Errors
    /// When the file format is not supported.
    fn open<'a>(&'a mut self, file: &'a [u8], kind: Kind) -> Result<Box<dyn Recognise + 'a>, RecogniseError>;
}

/// Creates the text recognition of a child for these languages; none means all that are installed.
pub type MakeEyes = fn(languages: &[String]) -> Result<Box<dyn Eyes>, String>;

/// Whether this process was started to read documents. Must be called before anything else in `main`.
#[must_use]
pub fn is_child(mut args: impl Iterator<Item = OsString>) -> bool {
    CAN_BE_CHILD.store(true, Ordering::Relaxed);
    args.nth(1).is_some_and(|arg| arg == CHILD)
}

/// Whether this program can be started again as a child.
pub(crate) fn can_be_child() -> bool {
    CAN_BE_CHILD.load(Ordering::Relaxed)
}

/// Runs the child process until its standard input ends. The process must still be single-threaded.
#[must_use]
pub fn child(eyes: Option<MakeEyes>) -> ExitCode {
    match run(eyes) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // A closed standard error cannot be reported anywhere.
            let _ = writeln!(io::stderr().lock(), "{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(eyes: Option<MakeEyes>) -> io::Result<()> {
    let mut args = std::env::args().skip(2);
    let memory = args.next().and_then(|memory| memory.parse().ok());
    let memory = memory.ok_or_else(|| io::Error::other("the argument with the memory limit is not a number"))?;
    let asked: Vec<String> = args.next().unwrap_or_default().split(AND).map(str::to_owned).collect();
    let asked: Vec<String> = asked.into_iter().filter(|language| !language.is_empty()).collect();
    let mut eyes = eyes.map(|make| make(&asked)).transpose().map_err(io::Error::other)?;
    // The message of a panic may contain words of the document, so only its location is logged.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(io::stderr().lock(), "panicked at {place}");
    }));
    let reads = eyes.as_ref().map(|eyes| eyes.files()).unwrap_or_default();
    let missing = Enclosure { reads, memory }.put_up().map_err(io::Error::other)?;
    watch::parent()?;
    let missing = missing.iter().map(ToString::to_string).collect();
    let languages = eyes.as_ref().map(|eyes| eyes.languages()).unwrap_or_default();
    let mut parent = Parent::new();
    parent.say(&Said::Ready { missing, languages })?;
    serve(&mut parent, eyes.as_deref_mut())
}

fn serve<'e>(parent: &mut Parent, mut eyes: Option<&mut (dyn Eyes + 'e)>) -> io::Result<()> {
    let mut next = parent.hear()?;
    while let Some(Heard { told, body }) = next {
        next = match told {
            Told::Read { kind, options, can_ocr } => {
                let order = read::Order { file: body, kind, options, can_ocr };
                if let Some(said) = read::document(parent, &order, eyes.as_deref_mut())? {
                    parent.say(&said)?;
                }
                parent.hear()?
            }
            Told::Look { kind } => look::pages(parent, &body, kind, eyes.as_deref_mut())?,
            other => return Err(parent::unexpected(&other)),
        };
    }
    Ok(())
}
