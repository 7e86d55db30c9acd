//! The other side: the process that reads documents.

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

/// The argument that makes a program such a process.
pub(crate) const CHILD: &str = "read-documents-of-strangers";
/// What separates languages in the last argument.
pub(crate) const AND: char = '+';

/// This program asks [`is_child`] when it starts, so it can be started as a child.
static CAN_BE_CHILD: AtomicBool = AtomicBool::new(false);

/// What recognises text in pictures. It is made in the child, before the fence is up.
pub trait Eyes {
    /// The languages that it recognises, of those that were asked for and are installed.
    fn languages(&self) -> Vec<String>;

    /// Files and folders that it needs later.
    fn files(&self) -> Vec<PathBuf>;

    /// How many pages a file of pictures has.
    ///
    /// # Errors
    /// When the file is none that it knows.
    fn count(&mut self, file: &[u8], kind: Kind) -> Result<u32, RecogniseError>;

    /// Opens a file, a PDF or one of pictures, to recognise some of its pages.
    ///
    /// # Errors
    /// When the file is none that it knows.
    fn open<'a>(&'a mut self, file: &'a [u8], kind: Kind) -> Result<Box<dyn Recognise + 'a>, RecogniseError>;
}

/// Makes the eyes of a child, for the languages that were asked for; none means all that are installed.
pub type MakeEyes = fn(languages: &[String]) -> Result<Box<dyn Eyes>, String>;

/// Whether this process was started to read documents. To be asked before anything else is done.
#[must_use]
pub fn is_child(mut args: impl Iterator<Item = OsString>) -> bool {
    CAN_BE_CHILD.store(true, Ordering::Relaxed);
    args.nth(1).is_some_and(|arg| arg == CHILD)
}

/// Whether this program can be started again to read documents.
pub(crate) fn can_be_child() -> bool {
    CAN_BE_CHILD.load(Ordering::Relaxed)
}

/// What such a process does, until its standard input ends. It must have one thread still.
#[must_use]
pub fn child(eyes: Option<MakeEyes>) -> ExitCode {
    match run(eyes) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to tell when standard error is closed.
            let _ = writeln!(io::stderr().lock(), "{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(eyes: Option<MakeEyes>) -> io::Result<()> {
    let mut args = std::env::args().skip(2);
    let memory = args.next().and_then(|memory| memory.parse().ok());
    let memory = memory.ok_or_else(|| io::Error::other("the memory that it may take is not among the arguments"))?;
    let asked: Vec<String> = args.next().unwrap_or_default().split(AND).map(str::to_owned).collect();
    let asked: Vec<String> = asked.into_iter().filter(|language| !language.is_empty()).collect();
    let mut eyes = eyes.map(|make| make(&asked)).transpose().map_err(io::Error::other)?;
    // What a panic says may be words of the document. Where it happened is enough.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(io::stderr().lock(), "it panicked at {place}");
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
