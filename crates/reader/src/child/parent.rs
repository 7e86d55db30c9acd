//! The connection of a child to its parent.

use std::io::{self, StdinLock, StdoutLock, Write as _};

use children::frame::{self, Frame};

use crate::job::Failure;
use crate::message::{MAX_SAID, Said, Told};

/// Connection over standard input and output.
pub(super) struct Parent {
    input: StdinLock<'static>,
    output: StdoutLock<'static>,
}

/// Message from the parent.
pub(super) type Heard = Frame<Told>;

impl Parent {
    pub(super) fn new() -> Self {
        Self { input: io::stdin().lock(), output: io::stdout().lock() }
    }

    /// Reads the next message; `None` when the parent has closed the connection.
    pub(super) fn hear(&mut self) -> io::Result<Option<Heard>> {
        frame::from_parent(&mut self.input)
    }

    /// Sends a message. One above the limit is replaced by a failure that says so.
    pub(super) fn say(&mut self, said: &Said) -> io::Result<()> {
        let mut frame = frame::head(said, 0)?;
        if frame.len() > MAX_SAID {
            let why = format!("the text of the document exceeds {} MiB; split it and try again", MAX_SAID >> 20);
            frame = frame::head(&Said::Failed(Failure::Limit(why)), 0)?;
        }
        self.output.write_all(&frame)?;
        self.output.flush()
    }
}

/// Returns the error for an unexpected message.
pub(super) fn unexpected(told: &Told) -> io::Error {
    let kind = match told {
        Told::Read { .. } => "Read",
        Told::Go => "Go",
        Told::Leave => "Leave",
        Told::Seen(_) => "Seen",
        Told::Look { .. } => "Look",
        Told::Page(_) => "Page",
    };
    io::Error::other(format!("unexpected message {kind}"))
}
