//! What a page asks for is looked at before it is sent, and the answers that are documents before they are shown.

mod download;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;
use serde_json::{Value, json};
use url::Url;

use crate::cdp::{CdpError, Event, Events, Session};
use crate::tab::{ResourceKind, Tab};
use crate::visit::HeadersFor;

pub(crate) use download::Download;

/// Schemes that a page may ask for. What Chromium does not show to us (`data:`, `blob:`, WebSocket) needs no network or
/// goes through the proxy.
const SCHEMES: &[&str] = &["http", "https", "data", "blob", "about", "ws", "wss"];

/// Fields that are Chromium's, or that are set by other means than header lines.
const NOT_HERE: &[&str] = &[
    "accept-charset",
    "accept-encoding",
    "connection",
    "content-length",
    "cookie",
    "date",
    "expect",
    "host",
    "keep-alive",
    "origin",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "via",
];

/// How many requests are remembered for their redirects.
const MAX_REMEMBERED: usize = 10_000;

/// Says whether a request is kept out: its address, the address of the page, what it is for.
pub(crate) type Blocker = dyn Fn(&str, &str, ResourceKind) -> bool + Send + Sync;

/// Who looks at the requests of one visit.
pub(crate) struct Requests<'a> {
    headers: &'a HeadersFor<'a>,
    adds_headers: bool,
    blocker: Option<&'a Blocker>,
    max_body: u64,
    /// Names of the lines that were added to a request, which Chromium would take along when it is redirected.
    added: Mutex<HashMap<String, Vec<String>>>,
    download: Mutex<Option<Download>>,
    /// Number of the document that was shown before the visit went anywhere.
    before: AtomicU64,
    /// Whether any answer to the first document is taken as a file.
    takes_all: AtomicBool,
}

impl<'a> Requests<'a> {
    /// For a visit to `url`.
    pub(crate) fn new(url: &Url, headers: &'a HeadersFor<'a>, blocker: Option<&'a Blocker>, max_body: u64) -> Self {
        let adds_headers = headers(url).iter().any(|(name, _)| is_line(name));
        let (added, download) = (Mutex::default(), Mutex::default());
        let (before, takes_all) = (AtomicU64::new(0), AtomicBool::new(false));
        Self { headers, adds_headers, blocker, max_body, added, download, before, takes_all }
    }

    /// The call that makes Chromium ask, for the page and for each session below it. Only documents are asked about when
    /// nothing else needs it: every question costs a trip to us and back.
    pub(crate) fn enable(&self) -> (&'static str, Value) {
        let all = self.adds_headers || self.blocker.is_some();
        let asked =
            if all { json!({"urlPattern": "*"}) } else { json!({"urlPattern": "*", "resourceType": "Document"}) };
        let answered = json!({"urlPattern": "*", "resourceType": "Document", "requestStage": "Response"});
        ("Fetch.enable", json!({"patterns": [asked, answered]}))
    }

    /// Most bytes of a file.
    pub(crate) fn max_body(&self) -> u64 {
        self.max_body
    }

    /// The file, when the page turned out to be one.
    pub(crate) fn take_download(&self) -> Option<Download> {
        self.download.lock().take()
    }

    /// The next document is what the visit is about; `number` is that of the one that is shown now.
    pub(crate) fn begin(&self, number: u64) {
        self.before.store(number, Ordering::Relaxed);
    }

    /// From now on the answer to the first document is a file, whatever it says.
    pub(crate) fn take_all(&self) {
        self.takes_all.store(true, Ordering::Relaxed);
    }

    /// Answers until the session ends.
    pub(crate) async fn serve(&self, tab: &Tab, mut events: Events) {
        while let Some(event) = events.next().await {
            if event.method == "Fetch.requestPaused" {
                let session = tab.session_of(&event);
                // A request that is gone meanwhile is nobody's concern.
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
        let Some(lines) = self.lines(url, params) else {
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

    /// All header lines of a request when they are to differ from what Chromium would send.
    fn lines(&self, url: &str, params: &Value) -> Option<Vec<Value>> {
        if !self.adds_headers {
            return None;
        }
        let name = params["networkId"].as_str().or(params["requestId"].as_str()).unwrap_or_default();
        let mut added = self.added.lock();
        let before = added.remove(name).unwrap_or_default();
        let is_document = params["resourceType"] == "Document";
        let given = url.parse().map(|url| (self.headers)(&url)).unwrap_or_default();
        let wanted =
            |(name, _): &(String, String)| is_line(name) && (is_document || !name.eq_ignore_ascii_case("accept"));
        let given: Vec<_> = given.into_iter().filter(wanted).collect();
        if given.is_empty() && before.is_empty() {
            return None;
        }
        let is_ours = |name: &str| {
            before.iter().chain(given.iter().map(|(name, _)| name)).any(|known| known.eq_ignore_ascii_case(name))
        };
        let kept = params["request"]["headers"].as_object().into_iter().flatten();
        let kept = kept.filter(|(name, _)| !is_ours(name)).map(|(name, value)| json!({"name": name, "value": value}));
        let lines = kept.chain(given.iter().map(|(name, value)| json!({"name": name, "value": value}))).collect();
        if !given.is_empty() && added.len() < MAX_REMEMBERED {
            added.insert(name.to_owned(), given.into_iter().map(|(name, _)| name).collect());
        }
        Some(lines)
    }

    /// A document is there: it is shown unless it is a file that the visit is about.
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
        // A script that leads to a file, or to where nobody may go, leads nowhere: the page stays as it is.
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

/// Whether it is about a document of the main frame.
fn is_page(tab: &Tab, params: &Value) -> bool {
    params["resourceType"] == "Document" && tab.main_frame().is_some_and(|main| params["frameId"] == main.0.as_ref())
}

/// Whether there is no answer of the site, but one of our proxy or none.
fn is_refused(params: &Value) -> bool {
    let mut lines = params["responseHeaders"].as_array().into_iter().flatten();
    params["responseErrorReason"].is_string()
        || lines.any(|line| {
            line["name"].as_str().is_some_and(|name| name.eq_ignore_ascii_case("proxy-status"))
                && line["value"].as_str().is_some_and(|value| value.starts_with("quarry;"))
        })
}

/// Whether a header of the caller is sent as a line.
fn is_line(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    !NOT_HERE.contains(&name.as_str()) && !name.starts_with("proxy-") && !name.starts_with("sec-")
}
