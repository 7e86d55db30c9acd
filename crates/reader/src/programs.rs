//! Which program is started to read documents.

use std::path::{Path, PathBuf};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::child::can_be_child;
use crate::settings::StartError;

/// The program that can recognise text, beside the one that runs.
const NAME: &str = "quarry-reader";
/// The program that runs, which no update takes away.
const OWN: &str = "/proc/self/exe";
/// How long a program that did not start is not tried again.
const REST: Duration = Duration::from_secs(60);

/// The programs that there are.
pub(crate) struct Programs {
    reader: Option<PathBuf>,
    own: Option<PathBuf>,
    known: Mutex<Known>,
}

/// What is known of the reader.
#[derive(Default)]
struct Known {
    /// When it did not start.
    failed: Option<Instant>,
    /// The languages that it said it recognises.
    languages: Option<Vec<String>>,
}

/// A program to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    /// It is the one of the settings, or beside the one that runs.
    pub(crate) is_reader: bool,
}

impl Programs {
    /// Looks for the reader where the settings name it, else beside the program that runs.
    ///
    /// # Errors
    /// [`StartError`] when it is not where the settings name it.
    pub(crate) fn find(named: Option<&Path>) -> Result<Self, StartError> {
        let reader = match named {
            Some(path) if path.is_file() => Some(path.to_owned()),
            Some(path) => return Err(StartError::NoProgram(path.to_owned())),
            None => beside().filter(|path| path.is_file()),
        };
        let own = can_be_child().then(|| OWN.into());
        Ok(Self { reader, own, known: Mutex::default() })
    }

    /// The best program at this moment.
    pub(crate) fn best(&self) -> Option<Program> {
        let reader = self.reader.clone().filter(|_| !self.known.lock().rests());
        let reader = reader.map(|path| Program { path, is_reader: true });
        reader.or_else(|| self.own.clone().map(|path| Program { path, is_reader: false }))
    }

    /// Whether text can be recognised, as far as is known.
    pub(crate) fn can_ocr(&self) -> bool {
        let known = self.known.lock();
        self.reader.is_some() && !known.rests() && known.languages.as_ref().is_none_or(|some| !some.is_empty())
    }

    /// The languages that are recognised, as far as is known.
    pub(crate) fn languages(&self) -> Vec<String> {
        self.known.lock().languages.clone().unwrap_or_default()
    }

    /// Writes down that a program did not start. Whether there is another one to try.
    pub(crate) fn failed(&self, program: &Program) -> bool {
        if program.is_reader {
            self.known.lock().failed = Some(Instant::now());
        }
        program.is_reader && self.own.is_some()
    }

    /// Writes down what a program said of itself when it started.
    pub(crate) fn started(&self, program: &Program, languages: &[String]) {
        if program.is_reader {
            *self.known.lock() = Known { failed: None, languages: Some(languages.to_owned()) };
        }
    }
}

impl Known {
    fn rests(&self) -> bool {
        self.failed.is_some_and(|failed| failed.elapsed() < REST)
    }
}

fn beside() -> Option<PathBuf> {
    Some(std::env::current_exe().ok()?.parent()?.join(NAME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_does_not_start_rests() {
        let mut programs = Programs::find(Some(Path::new("/bin/true"))).unwrap();
        let reader = Program { path: "/bin/true".into(), is_reader: true };
        assert_eq!(programs.best(), Some(reader.clone()));
        assert!(programs.can_ocr());
        assert!(!programs.failed(&reader));
        assert_eq!((programs.best(), programs.can_ocr()), (None, false));
        programs.own = Some(OWN.into());
        assert!(programs.failed(&reader));
        assert_eq!(programs.best(), Some(Program { path: OWN.into(), is_reader: false }));
        programs.known.lock().failed = Instant::now().checked_sub(REST);
        assert_eq!(programs.best(), Some(reader.clone()));
        programs.started(&reader, &["eng".to_owned()]);
        assert_eq!((programs.can_ocr(), programs.languages()), (true, vec!["eng".to_owned()]));
        programs.started(&reader, &[]);
        assert!(!programs.can_ocr());
    }

    #[test]
    fn a_named_reader_must_be_there() {
        assert!(Programs::find(Some(Path::new("/nowhere/quarry-reader"))).is_err());
        assert!(Programs::find(Some(Path::new("/tmp"))).is_err());
    }
}
