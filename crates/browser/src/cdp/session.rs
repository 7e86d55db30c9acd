//! One target that is spoken to, and what it says by itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base::json::{JsonError, MAX_VALUES};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::error::CdpError;
use super::message::{LARGE, Raw};
use super::pipe::Wire;
use super::share::Share;
use super::tap::Tap;

/// How many events may wait for a listener. A page that makes more of them than we read loses some: what it asked for then
/// stays undone, which is its own harm.
const MAX_EVENTS: usize = 16_384;
/// What they may take in memory, in bytes. One event more may wait, so that a large one gets through.
const MAX_EVENT_BYTES: usize = 32 << 20;

/// A target, or the browser itself. Cheap to clone; any number of calls may run at the same time.
#[derive(Clone)]
pub(crate) struct Session {
    wire: Arc<Wire>,
    id: Option<Arc<str>>,
}

/// Something that a target says without being asked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    /// The session it comes from: that of the listener or one below it. None is the browser itself.
    pub(crate) session: Option<Arc<str>>,
    /// Such as `Page.loadEventFired`.
    pub(crate) method: String,
    /// What belongs to it.
    pub(crate) params: Value,
}

/// Events in the order in which they came, from the moment this was made.
pub(crate) struct Events {
    waiting: mpsc::Receiver<Waiting>,
    bytes: Arc<AtomicUsize>,
}

/// Where events of a listener are put.
pub(super) struct EventSink {
    waiting: mpsc::Sender<Waiting>,
    bytes: Arc<AtomicUsize>,
}

struct Waiting {
    event: Event,
    /// About how many bytes it takes in memory.
    size: usize,
}

/// A listener: where its events are put, and where it reads them.
pub(super) fn events() -> (EventSink, Events) {
    let (sender, waiting) = mpsc::channel(MAX_EVENTS);
    let bytes = Arc::<AtomicUsize>::default();
    (EventSink { waiting: sender, bytes: Arc::clone(&bytes) }, Events { waiting, bytes })
}

impl EventSink {
    /// Drops the event when too many wait already.
    pub(super) fn put(&self, event: Event, size: usize) {
        let before = self.bytes.fetch_add(size, Ordering::Relaxed);
        if before >= MAX_EVENT_BYTES || self.waiting.try_send(Waiting { event, size }).is_err() {
            self.bytes.fetch_sub(size, Ordering::Relaxed);
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.waiting.is_closed()
    }
}

impl Session {
    pub(super) fn new(wire: Arc<Wire>, id: Option<Arc<str>>) -> Self {
        Self { wire, id }
    }

    /// Another session of the same process.
    pub(crate) fn sibling(&self, id: impl Into<Arc<str>>) -> Self {
        Self { wire: Arc::clone(&self.wire), id: Some(id.into()) }
    }

    /// The browser itself, of the same process.
    pub(crate) fn browser(&self) -> Self {
        Self { wire: Arc::clone(&self.wire), id: None }
    }

    /// Calls a method and waits for its result, which may hold [`MAX_VALUES`] values.
    ///
    /// # Errors
    /// `Closed` within a second of the death of the process or the target, `Crashed` when its renderer died, `Refused` and
    /// `Navigated` when Chromium says no, `TooLarge` and `TooMany` when the result is larger than is read.
    pub(crate) async fn call(&self, method: &str, params: Value) -> Result<Value, CdpError> {
        self.call_as(method, params, MAX_VALUES).await
    }

    /// As [`Session::call`], for a result of a known shape and up to `most` values.
    ///
    /// # Errors
    /// As there, and `Malformed` when it has another shape.
    pub(crate) async fn call_as<T: DeserializeOwned + Send + 'static>(
        &self,
        method: &str,
        params: Value,
        most: usize,
    ) -> Result<T, CdpError> {
        let answer = self.wire.call(self.id.as_ref(), method, params).await?;
        let read = match answer.len() {
            ..=LARGE => answer.read(most),
            _ => read_apart(answer, most).await?,
        };
        read.map_err(|error| CdpError::unread(method, &error))
    }

    /// As [`Session::call`], with a deadline and without reading the result.
    ///
    /// # Errors
    /// As there, and `Timeout`.
    pub(crate) async fn text_by(&self, deadline: Instant, method: &str, params: Value) -> Result<Raw, CdpError> {
        let call = self.wire.call(self.id.as_ref(), method, params);
        tokio::time::timeout_at(deadline, call).await.unwrap_or(Err(CdpError::Timeout))
    }

    /// As [`Session::call`], with a deadline.
    ///
    /// # Errors
    /// As there, and `Timeout`.
    pub(crate) async fn call_by(&self, deadline: Instant, method: &str, params: Value) -> Result<Value, CdpError> {
        tokio::time::timeout_at(deadline, self.call(method, params)).await.unwrap_or(Err(CdpError::Timeout))
    }

    /// Sends a method whose result nobody wants. Waits only for room in the queue.
    pub(crate) async fn post(&self, method: &str, params: Value) {
        self.wire.post(self.id.as_ref(), method, &params).await;
    }

    /// As [`Session::post`], without waiting: what finds no room in the queue is dropped. For the end of things.
    pub(crate) fn post_now(&self, method: &str, params: &Value) {
        self.wire.post_now(self.id.as_ref(), method, params);
    }

    /// Events of this session and of those that Chromium attaches below it, whose method begins with one of the texts, such
    /// as `Fetch.`.
    pub(crate) fn events_of(&self, prefixes: &'static [&'static str]) -> Events {
        let (sink, events) = events();
        self.wire.listen(self.id.as_ref(), prefixes, sink);
        events
    }

    /// Everything that this session and those below it say from now on, for a client that speaks the protocol itself; none for
    /// the browser itself, where all clients are one. `share` is what the client may take of a pipe that others use too.
    pub(crate) fn tap(&self, share: Option<Arc<Share>>) -> Option<Tap> {
        Some(Tap::open(Arc::clone(&self.wire), Arc::clone(self.id.as_ref()?), share))
    }

    /// From now on calls of this session and of those below it take no more of the pipe than this.
    pub(crate) fn restrain(&self, share: Arc<Share>) {
        if let Some(id) = &self.id {
            self.wire.restrain(id, share);
        }
    }

    /// Whether the process at the other end is gone.
    pub(crate) fn is_closed(&self) -> bool {
        self.wire.is_closed()
    }
}

impl Events {
    /// The next event; none when the session or the process is gone.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        let waiting = self.waiting.recv().await?;
        self.bytes.fetch_sub(waiting.size, Ordering::Relaxed);
        Some(waiting.event)
    }

    /// Drops those that have come already.
    pub(crate) fn skip(&mut self) {
        while let Ok(waiting) = self.waiting.try_recv() {
            self.bytes.fetch_sub(waiting.size, Ordering::Relaxed);
        }
    }
}

/// Reads a large answer beside the network threads.
async fn read_apart<T: DeserializeOwned + Send + 'static>(
    answer: Raw,
    most: usize,
) -> Result<Result<T, JsonError>, CdpError> {
    tokio::task::spawn_blocking(move || answer.read(most)).await.map_err(|_| CdpError::Closed)
}
