//! Recognition of single pages, for the child that reads their document.

use std::io;

use documents::{Kind, RecogniseError};

use super::Eyes;
use super::parent::{Heard, Parent};
use crate::message::{Said, Told};

/// Recognises the pages that the parent asks for. Returns the first message about something else.
pub(super) fn pages<'e>(
    parent: &mut Parent,
    file: &[u8],
    kind: Kind,
    eyes: Option<&mut (dyn Eyes + 'e)>,
) -> io::Result<Option<Heard>> {
    let blind = || RecogniseError::Failed("this program has no text recognition".to_owned());
    let mut opened = match eyes {
        Some(eyes) => eyes.open(file, kind),
        None => Err(blind()),
    };
    loop {
        let heard = parent.hear()?;
        let Some(Heard { message: Told::Page(number), .. }) = heard else { return Ok(heard) };
        let seen = match &mut opened {
            Ok(pages) => pages.page(number),
            Err(error) => Err(error.clone()),
        };
        parent.say(&Said::Seen(seen))?;
    }
}
