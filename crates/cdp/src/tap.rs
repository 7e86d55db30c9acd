//! Passes messages through to a client that speaks the protocol itself. Answers and events keep the order in which
//! Chromium sent them, which such clients rely on.

use std::sync::Arc;

use serde_json::value::RawValue;
use tokio::sync::mpsc;

use crate::error::CdpError;
use crate::passed::{Passed, Sink};
use crate::share::Share;
use crate::wire::Wire;

/// Receiver of a client's messages.
pub struct Tap {
    wire: Arc<Wire>,
    session: Arc<str>,
    waiting: mpsc::Receiver<Passed>,
    sink: Sink,
}

impl Tap {
    /// Starts to receive everything of this session and of those below it.
    pub(crate) fn open(wire: Arc<Wire>, session: Arc<str>, share: Option<Arc<Share>>) -> Self {
        let (sink, waiting) = Sink::open(share);
        wire.tap(&session, sink.clone());
        Self { wire, session, waiting, sink }
    }

    /// Returns the root session of the client.
    pub fn session(&self) -> &Arc<str> {
        &self.session
    }

    /// Sends a call; its answer arrives as a message.
    ///
    /// # Errors
    /// `Closed`; `TooLong` in a shared browser.
    pub async fn call(&self, session: &Arc<str>, id: u64, method: &str, params: &RawValue) -> Result<(), CdpError> {
        self.wire.pass(session, id, method, params, &self.sink).await
    }

    /// Returns the next message; `None` if the client is too slow or over its limit, or the session or process has
    /// ended.
    pub async fn next(&mut self) -> Option<Passed> {
        let passed = tokio::select! {
            biased;
            () = self.sink.dropped() => return None,
            passed = self.waiting.recv() => passed?,
        };
        self.sink.free(&passed);
        Some(passed)
    }
}
