//! A page: its target, frames, document and requests.

mod address;
mod body;
mod document;
mod evaluate;
mod frames;
mod network;
mod noise;
mod watch;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cdp::{CdpError, Event, Session};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::watch as channel;
use tokio::task::AbortHandle;

pub(crate) use address::Address;
pub(crate) use body::Body;
pub(crate) use document::Document;
pub(crate) use evaluate::World;
pub(crate) use frames::{Frame, FrameId};
pub(crate) use network::{EVENT_STREAM, Key, Network, OpenRequest, ResourceKind};

use body::Bodies;
use document::Documents;
use frames::Frames;
use noise::Noise;

/// Size limit of a document's body, in bytes.
const MAX_BODY: usize = 100 << 20;

/// Maximum number of polls that are remembered of a document.
const MAX_POLLS: usize = 1000;

/// A page. A task of its own follows its events and ends with it.
pub(crate) struct Tab {
    session: Session,
    target: String,
    view: Arc<View>,
    watcher: AbortHandle,
}

/// Load stage of the main frame's document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// The document is arriving, or there is none.
    #[default]
    Loading,
    /// `DOMContentLoaded` has fired.
    Parsed,
    /// `load` has fired.
    Loaded,
}

/// State of the page, updated by its events.
pub(crate) struct View {
    frames: Mutex<Frames>,
    documents: Mutex<Documents>,
    bodies: Mutex<Bodies>,
    network: Network,
    /// Number and stage of the current document.
    stage: channel::Sender<(u64, Stage)>,
    /// Reason why the page has ended.
    end: channel::Sender<Option<CdpError>>,
    /// Whether navigation of the main frame is blocked.
    is_fixed: AtomicBool,
    /// Addresses of windows that the page tried to open.
    windows: Mutex<Vec<String>>,
    /// Whether the page has had workers or out-of-process frames.
    has_parts: AtomicBool,
    /// Requests that the document repeats endlessly ([`Address::folded`]), or that got no answer ([`Address::exact`]).
    polls: Mutex<HashSet<u64>>,
    /// Whether the text of the document never stops changing.
    is_restless: AtomicBool,
    /// Workers of the page, by session id.
    workers: Mutex<HashMap<String, Session>>,
    children: Children,
    noise: Noise,
}

/// Handling of windows, workers and frames that a page opens.
#[derive(Debug, Clone, Default)]
pub(crate) struct Children {
    /// Calls made in each session below the page before its scripts run.
    pub(crate) calls: Vec<(&'static str, Value)>,
    /// Whether pop-up windows stay open; otherwise only their addresses are recorded.
    pub(crate) keeps_popups: bool,
    /// Limit on requests, addresses and headers, in visits ([`CdpError::Noisy`]); 0 means no limit.
    pub(crate) visits: u64,
}

impl Tab {
    /// Takes over a page target that was attached as `session`, and starts to follow its events. Workers and
    /// out-of-process frames receive the calls of `children` before they start.
    ///
    /// # Errors
    /// Errors of the protocol calls.
    pub(crate) async fn open(session: Session, target: String, children: Children) -> Result<Self, CdpError> {
        let view = Arc::new(View {
            frames: Mutex::default(),
            documents: Mutex::default(),
            bodies: Mutex::new(Bodies::new(MAX_BODY)),
            network: Network::new(),
            stage: channel::Sender::new((0, Stage::Loading)),
            end: channel::Sender::new(None),
            is_fixed: AtomicBool::new(false),
            windows: Mutex::default(),
            has_parts: AtomicBool::new(false),
            polls: Mutex::default(),
            is_restless: AtomicBool::new(false),
            workers: Mutex::default(),
            children,
            noise: Noise::default(),
        });
        view.noise.allow(view.children.visits);
        let events = session.events_of(watch::DOMAINS);
        let watcher = tokio::spawn(watch::follow(events, session.clone(), Arc::clone(&view))).abort_handle();
        let tab = Self { session, target, view, watcher };
        tab.enable().await?;
        Ok(tab)
    }

    async fn enable(&self) -> Result<(), CdpError> {
        let call = |method: &'static str, params| self.session.call(method, params);
        let attach = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
        // Sent concurrently: the pipe keeps their order.
        let (_, _, _, _, tree) = tokio::try_join!(
            call("Page.enable", json!({})),
            call("Network.enable", watch::network()),
            call("Inspector.enable", json!({})),
            call("Target.setAutoAttach", attach),
            call("Page.getFrameTree", json!({})),
        )?;
        self.view.frames.lock().plant(&self.session, &tree["frameTree"]);
        Ok(())
    }

    /// Returns the session of the page.
    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    /// Returns the id of the target in the protocol.
    pub(crate) fn target(&self) -> &str {
        &self.target
    }

    /// Returns all frames, the main frame first.
    pub(crate) fn frames(&self) -> Vec<Frame> {
        self.view.frames.lock().all()
    }

    /// Returns the main frame; `None` once the page has closed itself.
    pub(crate) fn main_frame(&self) -> Option<FrameId> {
        self.view.frames.lock().main()
    }

    /// Returns the current document of the main frame.
    pub(crate) fn document(&self) -> Document {
        self.view.documents.lock().now.clone()
    }

    /// Returns the body of the current document; `None` if it came from no server.
    pub(crate) fn body(&self) -> Option<Body> {
        let loader = self.document().loader;
        self.view.bodies.lock().of(&loader)
    }

    /// Returns the URL of the last request for a document of the main frame, even if it failed.
    pub(crate) fn asked(&self) -> String {
        self.view.documents.lock().asked.clone()
    }

    /// Whether the current document is truncated because its answer broke off.
    pub(crate) fn is_cut_short(&self) -> bool {
        self.view.documents.lock().now.cut_short.is_some()
    }

    /// Whether the current document has been received completely.
    pub(crate) fn is_received(&self) -> bool {
        let loader = self.document().loader;
        self.view.bodies.lock().has_ended(&loader)
    }

    /// Whether more of the current document is known to arrive.
    pub(crate) fn is_receiving(&self) -> bool {
        let loader = self.document().loader;
        self.view.bodies.lock().is_coming(&loader)
    }

    /// Allows or blocks navigation of the main frame. Only intercepted requests can be blocked
    /// ([`Requests`](crate::requests::Requests)).
    pub(crate) fn let_move(&self, may_move: bool) {
        self.view.is_fixed.store(!may_move, Ordering::Relaxed);
    }

    /// Whether the main frame may navigate.
    pub(crate) fn may_move(&self) -> bool {
        !self.view.is_fixed.load(Ordering::Relaxed)
    }

    /// Returns the addresses of windows that the page tried to open, without duplicates.
    pub(crate) fn windows(&self) -> Vec<String> {
        self.view.windows.lock().clone()
    }

    /// Whether the page has had workers or out-of-process frames.
    pub(crate) fn has_parts(&self) -> bool {
        self.view.has_parts.load(Ordering::Relaxed)
    }

    /// Returns the sessions of the page's workers, by session id.
    pub(crate) fn workers(&self) -> HashMap<String, Session> {
        self.view.workers.lock().clone()
    }

    /// Waits until the page ends, and returns the reason.
    pub(crate) async fn ended(&self) -> CdpError {
        let mut end = self.view.end.subscribe();
        let why = end.wait_for(Option::is_some).await.ok().and_then(|why| why.clone());
        why.unwrap_or(CdpError::Closed)
    }

    /// Returns the session of an event of this page.
    pub(crate) fn session_of(&self, event: &Event) -> Session {
        event.session.clone().map_or_else(|| self.session.clone(), |id| self.session.sibling(id))
    }

    /// Whether the page was ended for too many requests, or too long addresses or headers.
    pub(crate) fn is_noisy(&self) -> bool {
        matches!(*self.view.end.borrow(), Some(CdpError::Noisy { .. }))
    }

    /// Sets the limit on its requests, addresses and headers, in visits.
    pub(crate) fn allow(&self, visits: u64) {
        self.view.noise.allow(visits);
    }

    /// Returns a receiver of the document's number ([`Document::number`]) and load stage.
    pub(crate) fn stage(&self) -> channel::Receiver<(u64, Stage)> {
        self.view.stage.subscribe()
    }

    /// Returns the requests of the page, its frames and its workers.
    pub(crate) fn network(&self) -> &Network {
        &self.view.network
    }

    /// Remembers that the document repeats a request endlessly.
    pub(crate) fn note_poll(&self, address: Address) {
        self.remember_poll(address.folded);
    }

    /// Remembers a request that got no answer for long. Only exact repetitions are affected: similar ones may be
    /// answered.
    pub(crate) fn note_unanswered(&self, address: Address) {
        self.remember_poll(address.exact);
    }

    fn remember_poll(&self, hash: u64) {
        let mut polls = self.view.polls.lock();
        if polls.len() < MAX_POLLS {
            polls.insert(hash);
        }
    }

    /// Whether a request is known as an endless repetition or as unanswered.
    pub(crate) fn is_poll(&self, address: Address) -> bool {
        let polls = self.view.polls.lock();
        polls.contains(&address.folded) || polls.contains(&address.exact)
    }

    /// Remembers that the text of the document never stops changing.
    pub(crate) fn note_restless(&self) {
        self.view.is_restless.store(true, Ordering::Relaxed);
    }

    /// Whether the text of the document is known never to stop changing.
    pub(crate) fn is_restless(&self) -> bool {
        self.view.is_restless.load(Ordering::Relaxed)
    }

    /// Resets the document count while the page is blank, so that the next document is the first.
    pub(crate) fn begin_anew(&self) {
        *self.view.documents.lock() = Documents::default();
        self.view.stage.send_replace((0, Stage::Loading));
    }

    fn place(&self, frame: &FrameId) -> Option<(Session, Option<i64>)> {
        self.view.frames.lock().place(frame)
    }

    fn keep_own_world(&self, frame: &FrameId, world: i64) {
        self.view.frames.lock().set_own_world(frame, Some(world));
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        self.watcher.abort();
    }
}
