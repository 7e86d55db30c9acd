//! One page: its target, its frames, its document, its requests.

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

use crate::cdp::{CdpError, Event, Session};
use body::Bodies;
use document::Documents;
use frames::Frames;
use noise::Noise;

/// How many bytes of a document are kept.
const MAX_BODY: usize = 100 << 20;

/// How many polls of a document are remembered.
const MAX_POLLS: usize = 1000;

/// A page. What happens in it is followed by a task of its own, which ends with it.
pub(crate) struct Tab {
    session: Session,
    target: String,
    view: Arc<View>,
    watcher: AbortHandle,
}

/// How far the document of the main frame has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// It is being received, or there is none.
    #[default]
    Loading,
    /// `DOMContentLoaded`.
    Parsed,
    /// `load`.
    Loaded,
}

/// What is known about the page.
pub(crate) struct View {
    frames: Mutex<Frames>,
    documents: Mutex<Documents>,
    bodies: Mutex<Bodies>,
    network: Network,
    /// Number of the document, and how far it is.
    stage: channel::Sender<(u64, Stage)>,
    /// Why the page is no more.
    end: channel::Sender<Option<CdpError>>,
    /// Whether the main frame keeps the document that it has.
    is_fixed: AtomicBool,
    /// Where the windows were to go that the page has opened.
    windows: Mutex<Vec<String>>,
    /// Whether something belongs to the page, or did, that runs elsewhere: workers, frames of other processes.
    has_parts: AtomicBool,
    /// What the document asks again and again ([`Address::folded`]).
    polls: Mutex<HashSet<u64>>,
    /// Whether the text of the document never comes to rest.
    is_restless: AtomicBool,
    /// Workers that belong to the page, by the names of their sessions.
    workers: Mutex<HashMap<String, Session>>,
    children: Children,
    noise: Noise,
}

/// What becomes of what a page opens.
#[derive(Debug, Clone, Default)]
pub(crate) struct Children {
    /// Called in each session below the page before its scripts run.
    pub(crate) calls: Vec<(&'static str, Value)>,
    /// Whether windows of their own stay open; otherwise only their addresses are noted.
    pub(crate) keeps_popups: bool,
    /// How many visits' worth of requests, addresses and headers the page may make ([`CdpError::Noisy`]); 0 is no limit.
    pub(crate) visits: u64,
}

impl Tab {
    /// Takes over a page target that was attached as `session`, and begins to follow it. Workers and frames of other
    /// processes get the calls of `children` before they start.
    ///
    /// # Errors
    /// Those of the calls.
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
        // Sent together: the pipe keeps their order.
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

    /// The session of the page itself.
    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    /// Name of the target in the protocol.
    pub(crate) fn target(&self) -> &str {
        &self.target
    }

    /// All frames, the main frame first.
    pub(crate) fn frames(&self) -> Vec<Frame> {
        self.view.frames.lock().all()
    }

    /// The main frame; none once the page has closed itself.
    pub(crate) fn main_frame(&self) -> Option<FrameId> {
        self.view.frames.lock().main()
    }

    /// The document of the main frame as it is now.
    pub(crate) fn document(&self) -> Document {
        self.view.documents.lock().now.clone()
    }

    /// What the server sent for the document that is shown; none when no server sent it.
    pub(crate) fn body(&self) -> Option<Body> {
        let loader = self.document().loader;
        self.view.bodies.lock().of(&loader)
    }

    /// The last address that a document of the main frame was asked for at, also when none came.
    pub(crate) fn asked(&self) -> String {
        self.view.documents.lock().asked.clone()
    }

    /// Whether the document that is shown has no end: its answer broke off.
    pub(crate) fn is_cut_short(&self) -> bool {
        self.view.documents.lock().now.cut_short.is_some()
    }

    /// Whether all of the document that is shown has been received.
    pub(crate) fn is_received(&self) -> bool {
        let loader = self.document().loader;
        self.view.bodies.lock().has_ended(&loader)
    }

    /// Whether some of the document that is shown is still to come, as far as has been told.
    pub(crate) fn is_receiving(&self) -> bool {
        let loader = self.document().loader;
        self.view.bodies.lock().is_coming(&loader)
    }

    /// Lets the main frame go to another document, or not: then whatever it asks for, it stays where it is. It holds for
    /// requests that are looked at ([`Requests`](crate::requests::Requests)).
    pub(crate) fn let_move(&self, may_move: bool) {
        self.view.is_fixed.store(!may_move, Ordering::Relaxed);
    }

    /// Whether the main frame may go to another document.
    pub(crate) fn may_move(&self) -> bool {
        !self.view.is_fixed.load(Ordering::Relaxed)
    }

    /// The addresses of windows that the page wanted to open, each once.
    pub(crate) fn windows(&self) -> Vec<String> {
        self.view.windows.lock().clone()
    }

    /// Whether something belongs to the page, or did, that runs elsewhere: workers, frames of other processes.
    pub(crate) fn has_parts(&self) -> bool {
        self.view.has_parts.load(Ordering::Relaxed)
    }

    /// The sessions of the workers that belong to the page, by their names.
    pub(crate) fn workers(&self) -> HashMap<String, Session> {
        self.view.workers.lock().clone()
    }

    /// Waits until the page is no more, and says why.
    pub(crate) async fn ended(&self) -> CdpError {
        let mut end = self.view.end.subscribe();
        let why = end.wait_for(Option::is_some).await.ok().and_then(|why| why.clone());
        why.unwrap_or(CdpError::Closed)
    }

    /// The session that an event of this page came from.
    pub(crate) fn session_of(&self, event: &Event) -> Session {
        event.session.clone().map_or_else(|| self.session.clone(), |id| self.session.sibling(id))
    }

    /// Whether it has ended because it made too many requests, or too long addresses or headers.
    pub(crate) fn is_noisy(&self) -> bool {
        matches!(*self.view.end.borrow(), Some(CdpError::Noisy { .. }))
    }

    /// Lets it make as much as so many visits.
    pub(crate) fn allow(&self, visits: u64) {
        self.view.noise.allow(visits);
    }

    /// How far the document is, with its number ([`Document::number`]), as it changes.
    pub(crate) fn stage(&self) -> channel::Receiver<(u64, Stage)> {
        self.view.stage.subscribe()
    }

    /// The requests of the page, its frames and its workers.
    pub(crate) fn network(&self) -> &Network {
        &self.view.network
    }

    /// Remembers that the document goes on asking for something for ever.
    pub(crate) fn note_poll(&self, address: Address) {
        self.remember_poll(address.folded);
    }

    /// Remembers that a question of the document had no answer for long. Others that only look like it may have one.
    pub(crate) fn note_unanswered(&self, address: Address) {
        self.remember_poll(address.exact);
    }

    fn remember_poll(&self, hash: u64) {
        let mut polls = self.view.polls.lock();
        if polls.len() < MAX_POLLS {
            polls.insert(hash);
        }
    }

    /// Whether it is known to go on asking for something for ever.
    pub(crate) fn is_poll(&self, address: Address) -> bool {
        let polls = self.view.polls.lock();
        polls.contains(&address.folded) || polls.contains(&address.exact)
    }

    /// Remembers that the text of the document never comes to rest.
    pub(crate) fn note_restless(&self) {
        self.view.is_restless.store(true, Ordering::Relaxed);
    }

    /// Whether the text of the document is known never to come to rest.
    pub(crate) fn is_restless(&self) -> bool {
        self.view.is_restless.load(Ordering::Relaxed)
    }

    /// Forgets the documents so far, once the page shows nothing: the next one is the first.
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
