//! One target that is spoken to, and what it says by itself.

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::error::CdpError;
use super::pipe::Wire;
use super::tap::Tap;

/// How many events may wait for a listener. A page that makes more of them than we read loses some: what it asked for then
/// stays undone, which is its own harm.
const MAX_EVENTS: usize = 16_384;

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
pub(crate) struct Events(mpsc::Receiver<Event>);

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

    /// Calls a method and waits for its result.
    ///
    /// # Errors
    /// `Closed` within a second of the death of the process or the target, `Crashed` when its renderer died, `Refused` and
    /// `Navigated` when Chromium says no.
    pub(crate) async fn call(&self, method: &str, params: Value) -> Result<Value, CdpError> {
        self.wire.call(self.id.as_ref(), method, params).await
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
        self.wire.post(self.id.as_ref(), method, params).await;
    }

    /// As [`Session::post`], without waiting: what finds no room in the queue is dropped. For the end of things.
    pub(crate) fn post_now(&self, method: &str, params: Value) {
        self.wire.post_now(self.id.as_ref(), method, params);
    }

    /// Events of this session and of those that Chromium attaches below it, whose method begins with one of the texts, such
    /// as `Fetch.`.
    pub(crate) fn events_of(&self, prefixes: &'static [&'static str]) -> Events {
        let (sender, receiver) = mpsc::channel(MAX_EVENTS);
        self.wire.listen(self.id.as_ref(), prefixes, sender);
        Events(receiver)
    }

    /// Everything that this session and those below it say from now on, for a client that speaks the protocol itself; none for
    /// the browser itself, where all clients are one.
    pub(crate) fn tap(&self) -> Option<Tap> {
        Some(Tap::open(Arc::clone(&self.wire), Arc::clone(self.id.as_ref()?)))
    }

    /// Whether the process at the other end is gone.
    pub(crate) fn is_closed(&self) -> bool {
        self.wire.is_closed()
    }
}

impl Events {
    /// The next event; none when the session or the process is gone.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        self.0.recv().await
    }

    /// Drops those that have come already.
    pub(crate) fn skip(&mut self) {
        while self.0.try_recv().is_ok() {}
    }
}
