//! Protocol between a child and its parent, over the child's standard input and output.
//!
//! A frame is the length of its head and the length of its body, each in eight bytes, little-endian; then the head, a
//! message in JSON; then the body, a file, which only some messages have.

use std::io;

use documents::{Kind, RecogniseError, RecognisedPage};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::job::{Answer, Failure, Options};

/// Bytes before the head.
pub(crate) const LENGTHS: usize = 16;
/// Longest message of a child, in bytes. In effect this limits the text of one document.
pub(crate) const MAX_SAID: usize = 64 << 20;

/// Message from the parent.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Told {
    /// Read the document in the body, after reporting its pages.
    Read {
        kind: Kind,
        options: Options,
        /// Whether pages may be sent for recognition.
        can_ocr: bool,
    },
    /// Continue with the document.
    Go,
    /// Drop the document.
    Leave,
    /// Recognised page that the child asked for.
    Seen(Result<RecognisedPage, RecogniseError>),
    /// Open the file in the body, whose pages will be requested.
    Look { kind: Kind },
    /// Recognise this page of the file.
    Page(u32),
}

/// Message from the child.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Said {
    /// The sandbox is active.
    Ready {
        /// Restrictions that this system does not support.
        missing: Vec<String>,
        /// Languages of text recognition; empty if it has none.
        languages: Vec<String>,
    },
    /// The document is open, and this many pages will be read.
    Opened { pages: u32 },
    /// These pages will be requested, in this order.
    Expect(Vec<u32>),
    /// This page must be recognised.
    Wants(u32),
    /// The document has been read.
    Read(Box<Answer>),
    /// The document could not be read.
    Failed(Failure),
    /// Recognised page that the parent asked for.
    Seen(Result<RecognisedPage, RecogniseError>),
}

/// Returns lengths and head of a message, to be followed by the body.
pub(crate) fn head(message: &impl Serialize, body: usize) -> io::Result<Vec<u8>> {
    let mut frame = vec![0; LENGTHS];
    serde_json::to_writer(&mut frame, message)?;
    let head = (frame.len() - LENGTHS) as u64;
    frame[..8].copy_from_slice(&head.to_le_bytes());
    frame[8..LENGTHS].copy_from_slice(&(body as u64).to_le_bytes());
    Ok(frame)
}

/// Returns the lengths of head and body, checked against the limits.
pub(crate) fn lengths(bytes: [u8; LENGTHS], max_head: usize, max_body: usize) -> io::Result<(usize, usize)> {
    let length = |at: usize, most: usize| {
        let bytes = bytes[at..at + 8].try_into().unwrap_or_default();
        let length = usize::try_from(u64::from_le_bytes(bytes)).ok().filter(|length| *length <= most);
        length.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the message is too long"))
    };
    Ok((length(0, max_head)?, length(8, max_body)?))
}

/// Parses a message from its head.
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
