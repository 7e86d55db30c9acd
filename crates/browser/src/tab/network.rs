//! Requests of a page in progress, for the wait.

use std::collections::HashMap;
use std::sync::Arc;

use cdp::Event;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::time::Instant;

use super::Address;

/// Maximum number of open requests that are tracked; real pages have fewer.
const MAX_OPEN: usize = 5000;

/// Media type of an endless answer (HTML, "Server-sent events").
pub(crate) const EVENT_STREAM: &str = "text/event-stream";

/// Resource type of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResourceKind {
    /// A page or a frame.
    Document,
    Script,
    Stylesheet,
    /// XMLHttpRequest.
    Xhr,
    Fetch,
    Image,
    Font,
    Media,
    EventSource,
    WebSocket,
    /// Beacons, reports, prefetches, icons, manifests.
    Other,
}

impl ResourceKind {
    /// Parses `Network.ResourceType`.
    pub(crate) fn of(text: &str) -> Self {
        match text {
            "Document" => Self::Document,
            "Script" => Self::Script,
            "Stylesheet" => Self::Stylesheet,
            "XHR" => Self::Xhr,
            "Fetch" => Self::Fetch,
            "Image" => Self::Image,
            "Font" => Self::Font,
            "Media" => Self::Media,
            "EventSource" => Self::EventSource,
            "WebSocket" => Self::WebSocket,
            _ => Self::Other,
        }
    }

    /// Whether the text of a page may depend on such a request.
    pub(crate) fn counts(self) -> bool {
        matches!(self, Self::Document | Self::Script | Self::Stylesheet | Self::Xhr | Self::Fetch)
    }
}

/// Key of a request: its session and its id, which is unique within the session only.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    session: Option<Arc<str>>,
    id: String,
}

impl Key {
    /// Returns the request that an event of the domain `Network` concerns.
    pub(crate) fn of(event: &Event) -> Option<Self> {
        Some(Self { session: event.session.clone(), id: event.params["requestId"].as_str()?.to_owned() })
    }
}

/// A request in progress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenRequest {
    pub(crate) key: Key,
    pub(crate) kind: ResourceKind,
    pub(crate) url: String,
    pub(crate) address: Address,
    /// Time of its start or last redirect.
    pub(crate) since: Instant,
    /// Time of the last byte of its answer; `None` before the headers.
    pub(crate) answered: Option<Instant>,
    /// Time of the answer's headers.
    pub(crate) began: Option<Instant>,
    /// Bytes of the answer so far.
    pub(crate) received: u64,
    /// Load of the document that it belongs to; empty for workers.
    loader: String,
}

impl OpenRequest {
    fn new(key: Key, kind: ResourceKind, url: &str) -> Self {
        Self {
            key,
            kind,
            url: url.to_owned(),
            address: Address::default(),
            since: Instant::now(),
            answered: None,
            began: None,
            received: 0,
            loader: String::new(),
        }
    }

    /// Whether the text of the page may depend on it.
    pub(crate) fn counts(&self) -> bool {
        self.kind.counts()
    }
}

/// Live view of the requests. Updated by events, so it lags behind by the delay of the pipe.
pub(crate) struct Network {
    open: Mutex<HashMap<Key, OpenRequest>>,
    last_change: Mutex<Instant>,
}

impl Network {
    pub(super) fn new() -> Self {
        Self { open: Mutex::default(), last_change: Mutex::new(Instant::now()) }
    }

    /// Returns the requests in progress, in no particular order.
    pub(crate) fn open(&self) -> Vec<OpenRequest> {
        self.open.lock().values().cloned().collect()
    }

    /// Returns the number of requests that count.
    pub(crate) fn open_that_count(&self) -> usize {
        self.open.lock().values().filter(|request| request.counts()).count()
    }

    /// Returns the time when a request that counts last began or ended.
    pub(crate) fn last_change(&self) -> Instant {
        *self.last_change.lock()
    }

    fn touch(&self) {
        *self.last_change.lock() = Instant::now();
    }

    /// Handles an event of the domain `Network`.
    pub(super) fn note(&self, event: &Event) {
        let Some(key) = Key::of(event) else { return };
        match event.method.as_str() {
            "Network.requestWillBeSent" => self.begin(key, &event.params),
            "Network.webSocketCreated" => self.begin_socket(key, &event.params),
            "Network.responseReceived" => self.answer(&key, event.params["response"]["mimeType"] == EVENT_STREAM),
            "Network.dataReceived" => self.receive(&key, event.params["dataLength"].as_u64().unwrap_or_default()),
            "Network.loadingFinished" | "Network.loadingFailed" | "Network.webSocketClosed" => {
                self.end(&key);
            }
            _ => {}
        }
    }

    fn begin(&self, key: Key, params: &Value) {
        let kind = ResourceKind::of(params["type"].as_str().unwrap_or_default());
        let url = params["request"]["url"].as_str().unwrap_or_default();
        // `data:` addresses cause no network request.
        if !url.starts_with("data:") {
            let loader = params["loaderId"].as_str().unwrap_or_default();
            let address = if kind.counts() { Address::of_event(kind, params) } else { Address::default() };
            self.insert(OpenRequest { loader: loader.to_owned(), address, ..OpenRequest::new(key, kind, url) });
        }
    }

    fn begin_socket(&self, key: Key, params: &Value) {
        let url = params["url"].as_str().unwrap_or_default();
        self.insert(OpenRequest::new(key, ResourceKind::WebSocket, url));
    }

    fn insert(&self, request: OpenRequest) {
        if request.counts() {
            self.touch();
        }
        let mut open = self.open.lock();
        if open.len() < MAX_OPEN || open.contains_key(&request.key) {
            open.insert(request.key.clone(), request);
        }
    }

    /// Records the headers of an answer. An event stream may also be read by `fetch`.
    fn answer(&self, key: &Key, is_stream: bool) {
        if let Some(request) = self.open.lock().get_mut(key) {
            let now = Instant::now();
            request.answered = Some(now);
            request.began.get_or_insert(now);
            if is_stream {
                request.kind = ResourceKind::EventSource;
            }
        }
    }

    fn receive(&self, key: &Key, bytes: u64) {
        if let Some(request) = self.open.lock().get_mut(key) {
            let now = Instant::now();
            request.answered = Some(now);
            request.began.get_or_insert(now);
            request.received += bytes;
        }
    }

    /// Removes the request for a worker's script once the worker runs: its end is never reported.
    pub(super) fn begin_worker(&self, url: &str) {
        self.open.lock().retain(|_, request| request.url != url);
    }

    fn end(&self, key: &Key) {
        let ended = self.open.lock().remove(key);
        if ended.is_some_and(|request| request.counts()) {
            self.touch();
        }
    }

    /// Removes the requests of the previous document.
    pub(super) fn begin_document(&self, loader: &str) {
        self.open.lock().retain(|_, request| request.loader.is_empty() || request.loader == loader);
    }

    /// Removes the requests of a worker or out-of-process frame that has ended.
    pub(super) fn end_session(&self, session: &str) {
        self.open.lock().retain(|key, _| key.session.as_deref() != Some(session));
    }
}
