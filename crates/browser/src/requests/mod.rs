//! Interception of a page's requests before they are sent, and of documents before they are shown.

mod download;
mod lines;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use cdp::{CdpError, Event, Events, Session};
use parking_lot::Mutex;
use serde_json::{Value, json};
use url::Url;

use crate::tab::{ResourceKind, Tab};
use crate::visited::HeadersFor;
use lines::Lines;

pub(crate) use download::Download;

/// Schemes that a page may request. Requests that are not intercepted (`data:`, `blob:`, WebSocket) need no network or
/// use the proxy.
const SCHEMES: &[&str] = &["http", "https", "data", "blob", "about", "ws", "wss"];

/// Function that decides whether a request is blocked, given its address, the address of the page, and the resource
/// type.
pub(crate) type Blocker = dyn Fn(&str, &str, ResourceKind) -> bool + Send + Sync;

/// Interceptor of the requests of one visit.
pub(crate) struct Requests<'a> {
    lines: Lines<'a>,
    blocker: Option<&'a Blocker>,
    max_body: u64,
    download: Mutex<Option<Download>>,
    /// Number of the document that was shown before the visit navigated.
    before: AtomicU64,
    /// Whether any answer to the first document is treated as a file.
    takes_all: AtomicBool,
}

impl<'a> Requests<'a> {
    /// Creates the interceptor for a visit to `url`.
    pub(crate) fn new(url: &Url, headers: &'a HeadersFor<'a>, blocker: Option<&'a Blocker>, max_body: u64) -> Self {
        let (lines, download) = (Lines::new(url, headers), Mutex::default());
        let (before, takes_all) = (AtomicU64::new(0), AtomicBool::new(false));
        Self { lines, blocker, max_body, download, before, takes_all }
    }

    /// Returns the call that enables interception, for the page and for each session below it. Only documents are
    /// intercepted if that suffices: every interception costs a round trip.
    pub(crate) fn enable(&self) -> (&'static str, Value) {
        let all = !self.lines.is_empty() || self.blocker.is_some();
        let asked =
            if all { json!({"urlPattern": "*"}) } else { json!({"urlPattern": "*", "resourceType": "Document"}) };
        let answered = json!({"urlPattern": "*", "resourceType": "Document", "requestStage": "Response"});
        ("Fetch.enable", json!({"patterns": [asked, answered]}))
    }

    /// Returns the size limit of a file, in bytes.
    pub(crate) fn max_body(&self) -> u64 {
        self.max_body
    }

    /// Returns the file if the URL turned out to be one.
    pub(crate) fn take_download(&self) -> Option<Download> {
        self.download.lock().take()
    }

    /// Declares the next document to be the first one of the visit; `number` is that of the current document.
    pub(crate) fn begin(&self, number: u64) {
        self.before.store(number, Ordering::Relaxed);
    }

    /// Treats any answer to the first document as a file from now on.
    pub(crate) fn take_all(&self) {
        self.takes_all.store(true, Ordering::Relaxed);
    }

    /// Handles requests until the session ends.
    pub(crate) async fn serve(&self, tab: &Tab, mut events: Events) {
        while let Some(event) = events.next().await {
            if event.method == "Fetch.requestPaused" {
                let session = tab.session_of(&event);
                // Fails only if the request is gone meanwhile.
                let _ = self.decide(tab, &session, &event).await;
            }
        }
    }

    async fn decide(&self, tab: &Tab, session: &Session, event: &Event) -> Result<(), CdpError> {
        let params = &event.params;
        let id = &params["requestId"];
        if params["responseStatusCode"].is_u64() || params["responseErrorReason"].is_string() {
            return self.answered(tab, session, params).await;
        }
        let url = params["request"]["url"].as_str().unwrap_or_default();
        if !SCHEMES.iter().any(|scheme| url.split(':').next() == Some(scheme)) || self.is_kept_out(tab, url, params) {
            session.post("Fetch.failRequest", json!({"requestId": id, "errorReason": "BlockedByClient"})).await;
            return Ok(());
        }
        if is_page(tab, params) && !tab.may_move() {
            session.post("Fetch.failRequest", json!({"requestId": id, "errorReason": "Aborted"})).await;
            return Ok(());
        }
        let Some(lines) = self.lines.of(url, params) else {
            session.post("Fetch.continueRequest", json!({ "requestId": id })).await;
            return Ok(());
        };
        session.post("Fetch.continueRequest", json!({"requestId": id, "headers": lines})).await;
        Ok(())
    }

    fn is_kept_out(&self, tab: &Tab, url: &str, params: &Value) -> bool {
        let kind = ResourceKind::of(params["resourceType"].as_str().unwrap_or_default());
        !is_page(tab, params) && self.blocker.is_some_and(|blocks| blocks(url, &tab.document().url, kind))
    }

    /// Handles the answer to a document: shown, unless it is a file that the visit is about.
    async fn answered(&self, tab: &Tab, session: &Session, params: &Value) -> Result<(), CdpError> {
        let is_main = is_page(tab, params);
        let is_first = is_main && tab.document().number == self.before.load(Ordering::Relaxed);
        let by_force = self.takes_all.load(Ordering::Relaxed);
        if is_first && download::is_file(params, by_force) {
            let file = download::take(session, params, self.max_body).await?;
            *self.download.lock() = Some(file);
            let abort = json!({"requestId": params["requestId"], "errorReason": "Aborted"});
            session.post("Fetch.failRequest", abort).await;
            return Ok(());
        }
        // A later navigation to a file or a blocked address is aborted, so that the page stays.
        let leads_nowhere = || download::is_file(params, false) || is_refused(params) || !tab.may_move();
        if is_main && !is_first && leads_nowhere() {
            let abort = json!({"requestId": params["requestId"], "errorReason": "Aborted"});
            session.post("Fetch.failRequest", abort).await;
            return Ok(());
        }
        session.post("Fetch.continueRequest", json!({"requestId": params["requestId"]})).await;
        Ok(())
    }
}

/// Whether the request is for a document of the main frame.
fn is_page(tab: &Tab, params: &Value) -> bool {
    params["resourceType"] == "Document" && tab.main_frame().is_some_and(|main| params["frameId"] == main.0.as_ref())
}

/// Whether the answer does not come from the site: a network error, or an error page of our proxy.
fn is_refused(params: &Value) -> bool {
    let mut lines = params["responseHeaders"].as_array().into_iter().flatten();
    params["responseErrorReason"].is_string()
        || lines.any(|line| {
            line["name"].as_str().is_some_and(|name| name.eq_ignore_ascii_case("proxy-status"))
                && line["value"].as_str().is_some_and(|value| value.starts_with("quarry;"))
        })
}
