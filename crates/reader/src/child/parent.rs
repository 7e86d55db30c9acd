//! The connection of a child to its parent.

use std::io::{self, Read as _, StdinLock, StdoutLock, Write as _};

use crate::frame::{self, LENGTHS, MAX_SAID, Said, Told};
use crate::job::Failure;

/// Connection over standard input and output.
pub(super) struct Parent {
    input: StdinLock<'static>,
    output: StdoutLock<'static>,
}

/// Message from the parent.
pub(super) struct Heard {
    pub(super) told: Told,
    pub(super) body: Vec<u8>,
}

impl Parent {
    pub(super) fn new() -> Self {
        Self { input: io::stdin().lock(), output: io::stdout().lock() }
    }

    /// Reads the next message; `None` when the parent has closed the connection.
    pub(super) fn hear(&mut self) -> io::Result<Option<Heard>> {
        let mut lengths = [0; LENGTHS];
        match self.input.read_exact(&mut lengths) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let (head, body) = frame::lengths(lengths, usize::MAX, usize::MAX)?;
        let told = frame::message(&self.bytes(head)?)?;
        Ok(Some(Heard { told, body: self.bytes(body)? }))
    }

    fn bytes(&mut self, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.input.read_exact(&mut bytes)?;
        Ok(bytes)
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
