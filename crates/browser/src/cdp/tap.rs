//! Messages passed on as they are: for a client of ours that speaks the protocol itself. Answers and events come in the order
//! in which Chromium sent them, which such clients rely on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::error::CdpError;
use super::message::Raw;
use super::pipe::Wire;
use super::share::Share;

/// Messages that may wait for a client.
const MAX_MESSAGES: usize = 8192;
/// Their bytes. One message more may wait, so that a large one gets through.
const MAX_BYTES: usize = 32 << 20;

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
        params: Option<Raw>,
    },
    /// It answers a call.
    Answer {
        /// The client's number of the call.
        id: u64,
        /// What was called.
        method: String,
        /// `result`, or else `error`.
        outcome: Result<Raw, Raw>,
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
    /// None in a process that nobody else uses.
    share: Option<Arc<Share>>,
    /// A message was left out.
    full: CancellationToken,
}

impl Sink {
    /// False when nobody reads them, or not fast enough, or when they are too many for a pipe of many: then everything ends, as
    /// none may be left out.
    pub(super) fn put(&self, session: Option<Arc<str>>, what: What, size: usize) -> bool {
        let before = self.bytes.fetch_add(size, Ordering::Relaxed);
        let pays = self.share.as_ref().is_none_or(|share| share.hear(size));
        let put = pays && before < MAX_BYTES && self.waiting.try_send(Passed { session, what, size }).is_ok();
        if !put {
            self.full.cancel();
        }
        put
    }

    /// None in a process that nobody else uses.
    pub(super) fn share(&self) -> Option<&Arc<Share>> {
        self.share.as_ref()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.waiting.is_closed()
    }
}

impl Tap {
    /// Everything that concerns this session and those below it, from now on.
    pub(super) fn open(wire: Arc<Wire>, session: Arc<str>, share: Option<Arc<Share>>) -> Self {
        let (sender, waiting) = mpsc::channel(MAX_MESSAGES);
        let sink = Sink { waiting: sender, bytes: Arc::default(), share, full: CancellationToken::new() };
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
    /// `Closed`; `TooLong` over a pipe that others use too.
    pub(crate) async fn call(
        &self,
        session: &Arc<str>,
        id: u64,
        method: &str,
        params: &RawValue,
    ) -> Result<(), CdpError> {
        self.wire.pass(session, id, method, params, &self.sink).await
    }

    /// The next message; none when the client hears too much or is too slow, or session or process are gone.
    pub(crate) async fn next(&mut self) -> Option<Passed> {
        let passed = tokio::select! {
            biased;
            () = self.sink.full.cancelled() => return None,
            passed = self.waiting.recv() => passed?,
        };
        self.sink.bytes.fetch_sub(passed.size, Ordering::Relaxed);
        Some(passed)
    }
}
