//! Selection of the program that reads documents.

use std::path::{Path, PathBuf};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::child::ROLE;
use crate::settings::StartError;

/// Name of the program with OCR, in the folder of the running program.
const NAME: &str = "quarry-reader";
/// The running program, which remains even if an update replaces its file.
const OWN: &str = "/proc/self/exe";
/// Time during which a program that did not start is not tried again.
const REST: Duration = Duration::from_secs(60);

/// Available programs.
pub(crate) struct Programs {
    reader: Option<PathBuf>,
    own: Option<PathBuf>,
    known: Mutex<Known>,
}

/// State of the reader.
#[derive(Default)]
struct Known {
    /// Time of its last failure to start.
    failed: Option<Instant>,
    /// Languages that it has reported.
    languages: Option<Vec<String>>,
}

/// Program to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    /// Whether it is `quarry-reader`, rather than the running program.
    pub(crate) is_reader: bool,
}

impl Programs {
    /// Finds the reader at the configured path, else beside the running program.
    ///
    /// # Errors
    /// [`StartError`] when it is not at the configured path.
    pub(crate) fn find(named: Option<&Path>) -> Result<Self, StartError> {
        let reader = match named {
            Some(path) if path.is_file() => Some(path.to_owned()),
            Some(path) => return Err(StartError::NoProgram(path.to_owned())),
            None => beside().filter(|path| path.is_file()),
        };
        let own = children::can_run(ROLE).then(|| OWN.into());
        Ok(Self { reader, own, known: Mutex::default() })
    }

    /// Returns the preferred program that may be tried now.
    pub(crate) fn best(&self) -> Option<Program> {
        let reader = self.reader.clone().filter(|_| !self.known.lock().rests());
        let reader = reader.map(|path| Program { path, is_reader: true });
        reader.or_else(|| self.own.clone().map(|path| Program { path, is_reader: false }))
    }

    /// Whether OCR is available, as far as is known.
    pub(crate) fn can_ocr(&self) -> bool {
        let known = self.known.lock();
        self.reader.is_some() && !known.rests() && known.languages.as_ref().is_none_or(|some| !some.is_empty())
    }

    /// Returns the languages of OCR, as far as is known.
    pub(crate) fn languages(&self) -> Vec<String> {
        self.known.lock().languages.clone().unwrap_or_default()
    }

    /// Records that a program did not start. Returns whether there is another one to try.
    pub(crate) fn failed(&self, program: &Program) -> bool {
        if program.is_reader {
            self.known.lock().failed = Some(Instant::now());
        }
        program.is_reader && self.own.is_some()
    }

    /// Records the languages that a started program has reported.
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
