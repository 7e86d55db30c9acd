//! Which requests of a page are under way: what the wait for a page looks at.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::time::Instant;

use super::Address;
use crate::cdp::Event;

/// More open requests than any honest page has; further ones are not kept.
const MAX_OPEN: usize = 5000;

/// The media type of an answer that goes on for ever (HTML, "Server-sent events").
pub(crate) const EVENT_STREAM: &str = "text/event-stream";

/// What a request is for.
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
    /// Reads `Network.ResourceType`.
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

    /// Whether the text of a page may still depend on it.
    pub(crate) fn counts(self) -> bool {
        matches!(self, Self::Document | Self::Script | Self::Stylesheet | Self::Xhr | Self::Fetch)
    }
}

/// Session and name of a request.
pub(crate) type Key = (Option<Arc<str>>, String);

/// A request that is under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenRequest {
    /// Session and name.
    pub(crate) key: Key,
    pub(crate) kind: ResourceKind,
    pub(crate) url: String,
    pub(crate) address: Address,
    /// When it began, or was last redirected.
    pub(crate) since: Instant,
    /// When the last byte of its answer arrived; none before the head.
    pub(crate) answered: Option<Instant>,
    /// When its head arrived.
    pub(crate) began: Option<Instant>,
    /// Bytes of its answer so far.
    pub(crate) received: u64,
    /// The document that it belongs to; empty for workers.
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

    /// Whether the text of the page may still depend on it.
    pub(crate) fn counts(&self) -> bool {
        self.kind.counts()
    }
}

/// A live view. All of it is told by events, so it lags by what the pipe takes.
pub(crate) struct Network {
    open: Mutex<HashMap<Key, OpenRequest>>,
    last_change: Mutex<Instant>,
}

impl Network {
    pub(super) fn new() -> Self {
        Self { open: Mutex::default(), last_change: Mutex::new(Instant::now()) }
    }

    /// The requests that are under way, in no order.
    pub(crate) fn open(&self) -> Vec<OpenRequest> {
        self.open.lock().values().cloned().collect()
    }

    /// How many of them count.
    pub(crate) fn open_that_count(&self) -> usize {
        self.open.lock().values().filter(|request| request.counts()).count()
    }

    /// When a request that counts last began or ended.
    pub(crate) fn last_change(&self) -> Instant {
        *self.last_change.lock()
    }

    fn touch(&self) {
        *self.last_change.lock() = Instant::now();
    }

    /// Reads one event of the domain `Network`.
    pub(super) fn note(&self, event: &Event) {
        let Some(id) = event.params["requestId"].as_str() else { return };
        let key = (event.session.clone(), id.to_owned());
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
        // What is in the page already is not a request.
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

    /// A part of the answer is there. A script may read an event stream by a fetch of its own.
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

    /// A worker runs: its script has come, whose end is told to nobody.
    pub(super) fn begin_worker(&self, url: &str) {
        self.open.lock().retain(|_, request| request.url != url);
    }

    fn end(&self, key: &Key) {
        let ended = self.open.lock().remove(key);
        if ended.is_some_and(|request| request.counts()) {
            self.touch();
        }
    }

    /// The main frame shows another document: what the old one asked for is nobody's any more.
    pub(super) fn begin_document(&self, loader: &str) {
        self.open.lock().retain(|_, request| request.loader.is_empty() || request.loader == loader);
    }

    /// A worker or a frame of another process is gone.
    pub(super) fn end_session(&self, session: &str) {
        self.open.lock().retain(|(of, _), _| of.as_deref() != Some(session));
    }
}
