//! A child process that reads documents with text recognition, for tests: a page says something else each time that it is
//! recognised.

use std::path::PathBuf;
use std::process::ExitCode;

use base::Clock as _;
use documents::{Kind, Recognise, RecogniseError, RecognisedPage, RecognisedWord, Rect};
use reader::Eyes;

fn main() -> ExitCode {
    children::run([reader::role(Some(|_| Ok(Box::new(Unsteady))))]).unwrap_or(ExitCode::FAILURE)
}

struct Unsteady;

impl Eyes for Unsteady {
    fn languages(&self) -> Vec<String> {
        vec!["eng".to_owned()]
    }

    fn files(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    fn count(&mut self, _: &[u8], _: Kind) -> Result<u32, RecogniseError> {
        Ok(1)
    }

    fn open<'a>(&'a mut self, _: &'a [u8], _: Kind) -> Result<Box<dyn Recognise + 'a>, RecogniseError> {
        Ok(Box::new(Self))
    }
}

impl Recognise for Unsteady {
    fn page(&mut self, _: u32) -> Result<RecognisedPage, RecogniseError> {
        let word = |(text, x0): (&str, f32)| RecognisedWord {
            text: text.to_owned(),
            rect: Rect { x0, y0: 100.0, x1: x0 + 60.0, y1: 110.0 },
            baseline: 110.0,
            size: 10.0,
            weight: 0.0,
            confidence: 0.9,
            line: 0,
            block: 0,
        };
        let at = format!("at{}", base::SystemClock.now().timestamp_micros());
        let words = [("Recognised", 72.0), (at.as_str(), 140.0)].map(word);
        Ok(RecognisedPage { width: 612.0, height: 792.0, words: words.into(), ..RecognisedPage::default() })
    }
}
