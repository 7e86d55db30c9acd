//! Sessions of the protocol: calls to one target, and its events.

use std::sync::Arc;

use base::json::{JsonError, MAX_VALUES};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::Instant;

use crate::error::CdpError;
use crate::events::{Events, events};
use crate::message::{LARGE, Raw};
use crate::share::Share;
use crate::tap::Tap;
use crate::wire::Wire;

/// Session with a target or with the browser itself. Cheap to clone; calls may run concurrently.
#[derive(Clone)]
pub struct Session {
    wire: Arc<Wire>,
    id: Option<Arc<str>>,
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

/// Deserializes a large answer on a blocking thread.
async fn read_apart<T: DeserializeOwned + Send + 'static>(
    answer: Raw,
    most: usize,
) -> Result<Result<T, JsonError>, CdpError> {
    tokio::task::spawn_blocking(move || answer.read(most)).await.map_err(|_| CdpError::Closed)
}
