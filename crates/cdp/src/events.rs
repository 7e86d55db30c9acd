//! Events of a target, and the queue of those that a listener has yet to read.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use tokio::sync::mpsc;

/// Number of events that may wait for a listener. Further ones are dropped, which affects only the page that sends them.
const MAX_EVENTS: usize = 16_384;
/// Memory of waiting events in bytes, plus one event, so that a large one gets through.
const MAX_EVENT_BYTES: usize = 32 << 20;

/// Event of a target.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Session of the event: the listener's or one below it. `None` is the browser itself.
    pub session: Option<Arc<str>>,
    /// Name, such as `Page.loadEventFired`.
    pub method: String,
    /// Parameters.
    pub params: Value,
}

/// Receiver of events in the order of their arrival, starting from its creation.
pub struct Events {
    waiting: mpsc::Receiver<Waiting>,
    bytes: Arc<AtomicUsize>,
}

/// Sender of events to a listener.
pub(crate) struct EventSink {
    waiting: mpsc::Sender<Waiting>,
    bytes: Arc<AtomicUsize>,
}

struct Waiting {
    event: Event,
    /// Estimated memory, in bytes.
    size: usize,
}

/// Creates a listener: sender and receiver of its events.
pub(crate) fn events() -> (EventSink, Events) {
    let (sender, waiting) = mpsc::channel(MAX_EVENTS);
    let bytes = Arc::<AtomicUsize>::default();
    (EventSink { waiting: sender, bytes: Arc::clone(&bytes) }, Events { waiting, bytes })
}

impl EventSink {
    /// Sends an event; drops it if too many are waiting.
    pub(crate) fn put(&self, event: Event, size: usize) {
        let before = self.bytes.fetch_add(size, Ordering::Relaxed);
        if before >= MAX_EVENT_BYTES || self.waiting.try_send(Waiting { event, size }).is_err() {
            self.bytes.fetch_sub(size, Ordering::Relaxed);
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.waiting.is_closed()
    }
}

impl Events {
    /// Returns the next event; `None` once the session or the process has ended.
    pub async fn next(&mut self) -> Option<Event> {
        let waiting = self.waiting.recv().await?;
        self.bytes.fetch_sub(waiting.size, Ordering::Relaxed);
        Some(waiting.event)
    }

    /// Discards the events that have arrived already.
    pub fn skip(&mut self) {
        while let Ok(waiting) = self.waiting.try_recv() {
            self.bytes.fetch_sub(waiting.size, Ordering::Relaxed);
        }
    }
}
