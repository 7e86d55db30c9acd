//! Messages that are passed on to a client, and the queue of those that it has yet to receive.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::message::Raw;
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
    /// Creates the sender and the receiver of a client's messages. `share` is its bandwidth limit.
    pub(crate) fn open(share: Option<Arc<Share>>) -> (Self, mpsc::Receiver<Passed>) {
        let (waiting, receiver) = mpsc::channel(MAX_MESSAGES);
        (Self { waiting, bytes: Arc::default(), share, full: CancellationToken::new() }, receiver)
    }

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

    /// Waits until a message was dropped.
    pub(crate) async fn dropped(&self) {
        self.full.cancelled().await;
    }

    /// Frees the memory of a message that the client has received.
    pub(crate) fn free(&self, passed: &Passed) {
        self.bytes.fetch_sub(passed.size, Ordering::Relaxed);
    }
}
