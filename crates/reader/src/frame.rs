//! What a child and its parent say to each other, over the child's standard input and output.
//!
//! A frame is the length of its head and the length of its body, each in eight bytes, the lowest first; then the head, a message
//! in JSON; then the body, which only those have that bring a file.

use std::io;

use documents::{Kind, RecogniseError, RecognisedPage};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::job::{Answer, Failure, Options};

/// Bytes before the head.
pub(crate) const LENGTHS: usize = 16;
/// Longest message of a child. Above all this bounds the text of one document.
pub(crate) const MAX_SAID: usize = 64 << 20;

/// What a parent says.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Told {
    /// Read the document that is the body, after saying that it is open.
    Read {
        kind: Kind,
        options: Options,
        /// Pages can be asked for.
        can_ocr: bool,
    },
    /// Go on with it.
    Go,
    /// Let it be.
    Leave,
    /// The page that was asked for.
    Seen(Result<RecognisedPage, RecogniseError>),
    /// Open the file that is the body, whose pages will be asked for.
    Look { kind: Kind },
    /// Recognise this page of it.
    Page(u32),
}

/// What a child says.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Said {
    /// It is behind its fence.
    Ready {
        /// Walls that this system does not give.
        missing: Vec<String>,
        /// The languages that it recognises; none means that it recognises nothing.
        languages: Vec<String>,
    },
    /// The document is open, and so many pages of it will be read.
    Opened { pages: u32 },
    /// These pages will be asked for, in this order.
    Expect(Vec<u32>),
    /// This page has to be recognised.
    Wants(u32),
    /// The document is read.
    Read(Box<Answer>),
    /// The document cannot be read.
    Failed(Failure),
    /// The page that was to be recognised.
    Seen(Result<RecognisedPage, RecogniseError>),
}

/// What stands before the body of a message.
pub(crate) fn head(message: &impl Serialize, body: usize) -> io::Result<Vec<u8>> {
    let mut frame = vec![0; LENGTHS];
    serde_json::to_writer(&mut frame, message)?;
    let head = (frame.len() - LENGTHS) as u64;
    frame[..8].copy_from_slice(&head.to_le_bytes());
    frame[8..LENGTHS].copy_from_slice(&(body as u64).to_le_bytes());
    Ok(frame)
}

/// How long head and body are.
pub(crate) fn lengths(bytes: [u8; LENGTHS], max_head: usize, max_body: usize) -> io::Result<(usize, usize)> {
    let length = |at: usize, most: usize| {
        let bytes = bytes[at..at + 8].try_into().unwrap_or_default();
        let length = usize::try_from(u64::from_le_bytes(bytes)).ok().filter(|length| *length <= most);
        length.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "a message is too long"))
    };
    Ok((length(0, max_head)?, length(8, max_body)?))
}

/// A message from its head.
pub(crate) fn message<T: DeserializeOwned>(head: &[u8]) -> io::Result<T> {
    serde_json::from_slice(head).map_err(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_says_how_long_it_is() {
        let frame = head(&Told::Page(7), 300).unwrap();
        let first: [u8; LENGTHS] = frame[..LENGTHS].try_into().unwrap();
        let rest = frame.len() - LENGTHS;
        assert_eq!(lengths(first, rest, 300).unwrap(), (rest, 300));
        assert!(matches!(message(&frame[LENGTHS..]).unwrap(), Told::Page(7)));
        assert!(lengths(first, rest - 1, 300).is_err() && lengths(first, rest, 299).is_err());
        assert!(lengths([0xff; LENGTHS], MAX_SAID, usize::MAX).is_err());
    }
}
