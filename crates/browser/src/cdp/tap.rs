//! Messages passed on as they are: for a client of ours that speaks the protocol itself. Answers and events come in the order
//! in which Chromium sent them, which such clients rely on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use tokio::sync::mpsc;

use super::error::CdpError;
use super::pipe::Wire;

/// Messages that may wait for a client.
const MAX_MESSAGES: usize = 8192;
/// Their bytes. One message more may wait, so that a large one gets through.
const MAX_BYTES: usize = 64 << 20;

/// What Chromium says to the client.
#[derive(Debug)]
pub(crate) struct Passed {
    /// The session that it is about.
    pub(crate) session: Option<Arc<str>>,
    pub(crate) what: What,
    size: usize,
}

/// See [`Passed`].
#[derive(Debug)]
pub(crate) enum What {
    /// It says so by itself.
    Event {
        /// Such as `Page.loadEventFired`.
        method: String,
        params: Value,
    },
    /// It answers a call.
    Answer {
        /// The client's number of the call.
        id: u64,
        /// What was called.
        method: String,
        /// `result`, or else `error`.
        outcome: Result<Value, Value>,
    },
}

/// The place where they are read.
pub(crate) struct Tap {
    wire: Arc<Wire>,
    session: Arc<str>,
    waiting: mpsc::Receiver<Passed>,
    sink: Sink,
}

/// The place where they are put.
#[derive(Clone)]
pub(super) struct Sink {
    waiting: mpsc::Sender<Passed>,
    bytes: Arc<AtomicUsize>,
}

impl Sink {
    /// False when nobody reads them, or not fast enough: then everything has to end, as none may be left out.
    pub(super) fn put(&self, session: Option<Arc<str>>, what: What, size: usize) -> bool {
        let before = self.bytes.fetch_add(size, Ordering::Relaxed);
        before < MAX_BYTES && self.waiting.try_send(Passed { session, what, size }).is_ok()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.waiting.is_closed()
    }
}

impl Tap {
    /// Everything that concerns this session and those below it, from now on.
    pub(super) fn open(wire: Arc<Wire>, session: Arc<str>) -> Self {
        let (sender, waiting) = mpsc::channel(MAX_MESSAGES);
        let sink = Sink { waiting: sender, bytes: Arc::default() };
        wire.tap(&session, sink.clone());
        Self { wire, session, waiting, sink }
    }

    /// The session of the client itself.
    pub(crate) fn session(&self) -> &Arc<str> {
        &self.session
    }

    /// Sends a call whose answer comes with the others.
    ///
    /// # Errors
    /// `Closed`.
    pub(crate) async fn call(&self, session: &Arc<str>, id: u64, method: &str, params: Value) -> Result<(), CdpError> {
        self.wire.pass(session, id, method, params, &self.sink).await
    }

    /// The next message; none when the client is too slow, or session or process are gone.
    pub(crate) async fn next(&mut self) -> Option<Passed> {
        let passed = self.waiting.recv().await?;
        self.sink.bytes.fetch_sub(passed.size, Ordering::Relaxed);
        Some(passed)
    }
}
