//! Messages between a child and its parent, in the frames of [`children::frame`] over the child's standard input and
//! output. Some messages of the parent have a body: a file.

use documents::{Kind, RecogniseError, RecognisedPage};
use serde::{Deserialize, Serialize};

use crate::job::{Answer, Failure, Options};

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
