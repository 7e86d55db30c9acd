//! Sessions of the protocol: calls to one target, and its events.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base::json::{JsonError, MAX_VALUES};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::error::CdpError;
use crate::message::{LARGE, Raw};
use crate::pipe::Wire;
use crate::share::Share;
use crate::tap::Tap;

/// Number of events that may wait for a listener. Further ones are dropped, which affects only the page that sends them.
const MAX_EVENTS: usize = 16_384;
/// Memory of waiting events in bytes, plus one event, so that a large one gets through.
const MAX_EVENT_BYTES: usize = 32 << 20;

/// Session with a target or with the browser itself. Cheap to clone; calls may run concurrently.
#[derive(Clone)]
pub struct Session {
    wire: Arc<Wire>,
    id: Option<Arc<str>>,
}

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

impl Session {
    pub(crate) fn new(wire: Arc<Wire>, id: Option<Arc<str>>) -> Self {
        Self { wire, id }
    }

    /// Returns another session of the same process.
    pub fn sibling(&self, id: impl Into<Arc<str>>) -> Self {
        Self { wire: Arc::clone(&self.wire), id: Some(id.into()) }
    }

    /// Returns the session of the browser itself.
    pub fn browser(&self) -> Self {
        Self { wire: Arc::clone(&self.wire), id: None }
    }

    /// Calls a method and waits for its result, which may hold [`MAX_VALUES`] values.
    ///
    /// # Errors
    /// `Closed` within a second after the process or target has ended, `Crashed` if its renderer crashed, `Refused` and
    /// `Navigated` if Chromium refuses, `TooLarge` and `TooMany` if the result exceeds a limit.
    pub async fn call(&self, method: &str, params: Value) -> Result<Value, CdpError> {
        self.call_as(method, params, MAX_VALUES).await
    }

    /// Calls a method like [`Session::call`] and deserializes the result, which may hold `most` values.
    ///
    /// # Errors
    /// Errors of [`Session::call`], and `Malformed` if the result has another shape.
    pub async fn call_as<T: DeserializeOwned + Send + 'static>(
        &self,
        method: &str,
        params: Value,
        most: usize,
    ) -> Result<T, CdpError> {
        let answer = self.wire.call(self.id.as_ref(), method, params).await?;
        let read = match answer.size() {
            ..=LARGE => answer.read(most),
            _ => read_apart(answer, most).await?,
        };
        read.map_err(|error| CdpError::unread(method, &error))
    }

    /// Calls a method with a deadline and returns the unparsed result.
    ///
    /// # Errors
    /// Errors of [`Session::call`], and `Timeout`.
    pub async fn text_by(&self, deadline: Instant, method: &str, params: Value) -> Result<Raw, CdpError> {
        let call = self.wire.call(self.id.as_ref(), method, params);
        tokio::time::timeout_at(deadline, call).await.unwrap_or(Err(CdpError::Timeout))
    }

    /// Calls a method like [`Session::call`], with a deadline.
    ///
    /// # Errors
    /// Errors of [`Session::call`], and `Timeout`.
    pub async fn call_by(&self, deadline: Instant, method: &str, params: Value) -> Result<Value, CdpError> {
        tokio::time::timeout_at(deadline, self.call(method, params)).await.unwrap_or(Err(CdpError::Timeout))
    }

    /// Sends a call and ignores its result. Waits only for room in the queue.
    pub async fn post(&self, method: &str, params: Value) {
        self.wire.post(self.id.as_ref(), method, &params).await;
    }

    /// Sends a call without waiting; it may be dropped if the queue is full. For cleaning up.
    pub fn post_now(&self, method: &str, params: &Value) {
        self.wire.post_now(self.id.as_ref(), method, params);
    }

    /// Subscribes to the events of this session and of those below it whose names begin with one of the prefixes, such
    /// as `Fetch.`.
    pub fn events_of(&self, prefixes: &'static [&'static str]) -> Events {
        let (sink, events) = events();
        self.wire.listen(self.id.as_ref(), prefixes, sink);
        events
    }

    /// Passes on all messages of this session and of those below it, for a client that speaks the protocol itself.
    /// `None` for the browser's own session, which all clients would share. `share` is the client's bandwidth limit in
    /// a shared browser.
    pub fn tap(&self, share: Option<Arc<Share>>) -> Option<Tap> {
        Some(Tap::open(Arc::clone(&self.wire), Arc::clone(self.id.as_ref()?), share))
    }

    /// Limits the bandwidth of this session and of those below it.
    pub fn restrain(&self, share: Arc<Share>) {
        if let Some(id) = &self.id {
            self.wire.restrain(id, share);
        }
    }

    /// Whether the process at the other end has ended.
    pub fn is_closed(&self) -> bool {
        self.wire.is_closed()
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

/// Deserializes a large answer on a blocking thread.
async fn read_apart<T: DeserializeOwned + Send + 'static>(
    answer: Raw,
    most: usize,
) -> Result<Result<T, JsonError>, CdpError> {
    tokio::task::spawn_blocking(move || answer.read(most)).await.map_err(|_| CdpError::Closed)
}
