//! Passes messages through to a client that speaks the protocol itself. Answers and events keep the order in which
//! Chromium sent them, which such clients rely on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::error::CdpError;
use crate::message::Raw;
use crate::pipe::Wire;
use crate::share::Share;

/// Number of messages that may wait for a client.
const MAX_MESSAGES: usize = 8192;
/// Bytes that may wait for a client, plus one message, so that a large one gets through.
const MAX_BYTES: usize = 32 << 20;

/// Message from Chromium to a client.
#[derive(Debug)]
pub struct Passed {
    /// Session of the message.
    pub session: Option<Arc<str>>,
    /// Content.
    pub what: What,
    size: usize,
}

/// Content of a [`Passed`] message.
#[derive(Debug)]
pub enum What {
    /// An event.
    Event {
        /// Name, such as `Page.loadEventFired`.
        method: String,
        /// Parameters, if it has any.
        params: Option<Raw>,
    },
    /// The answer to a call.
    Answer {
        /// Id of the call, as chosen by the client.
        id: u64,
        /// Called method.
        method: String,
        /// `result` or `error`.
        outcome: Result<Raw, Raw>,
    },
}

/// Receiver of a client's messages.
pub struct Tap {
    wire: Arc<Wire>,
    session: Arc<str>,
    waiting: mpsc::Receiver<Passed>,
    sink: Sink,
}

/// Sender of a client's messages.
#[derive(Clone)]
pub(crate) struct Sink {
    waiting: mpsc::Sender<Passed>,
    bytes: Arc<AtomicUsize>,
    /// Bandwidth limit; `None` if the browser is not shared.
    share: Option<Arc<Share>>,
    /// Cancelled when a message was dropped.
    full: CancellationToken,
}

impl Sink {
    /// Sends a message. Returns false, and ends the tap, if the client is gone, too slow or over its bandwidth limit:
    /// no message may be missing from the stream.
    pub(crate) fn put(&self, session: Option<Arc<str>>, what: What, size: usize) -> bool {
        let before = self.bytes.fetch_add(size, Ordering::Relaxed);
        let pays = self.share.as_ref().is_none_or(|share| share.count_received(size));
        let put = pays && before < MAX_BYTES && self.waiting.try_send(Passed { session, what, size }).is_ok();
        if !put {
            self.full.cancel();
        }
        put
    }

    /// Returns the bandwidth limit; `None` if the browser is not shared.
    pub(crate) fn share(&self) -> Option<&Arc<Share>> {
        self.share.as_ref()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.waiting.is_closed()
    }
}

impl Tap {
    /// Starts to receive everything of this session and of those below it.
    pub(crate) fn open(wire: Arc<Wire>, session: Arc<str>, share: Option<Arc<Share>>) -> Self {
        let (sender, waiting) = mpsc::channel(MAX_MESSAGES);
        let sink = Sink { waiting: sender, bytes: Arc::default(), share, full: CancellationToken::new() };
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
            () = self.sink.full.cancelled() => return None,
            passed = self.waiting.recv() => passed?,
        };
        self.sink.bytes.fetch_sub(passed.size, Ordering::Relaxed);
        Some(passed)
    }
}
