//! The child process that reads documents.

mod convert;
mod look;
mod parent;
mod read;
mod watch;

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use children::Role;
use documents::{Kind, Recognise, RecogniseError};
use fence::Enclosure;

use crate::message::{Said, Told};
use parent::{Heard, Parent};

/// Name of the role of a child.
pub(crate) const ROLE: &str = "read-documents-of-strangers";
/// Separator of the languages in the last argument.
pub(crate) const AND: char = '+';

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

/// Returns the role of a child, which reads documents until its standard input ends.
#[must_use]
pub fn role(eyes: Option<MakeEyes>) -> Role {
    Role::new(ROLE, move || run(eyes).map(|()| ExitCode::SUCCESS))
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
    while let Some(Heard { message, body }) = next {
        next = match message {
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
