//! Frames of a page.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use cdp::Session;
use serde_json::Value;

/// Maximum number of frames that are tracked; real pages have fewer.
const MAX_FRAMES: usize = 1000;

/// Id of a frame in the protocol.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct FrameId(pub(crate) Arc<str>);

impl fmt::Display for FrameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A frame of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) id: FrameId,
    /// Parent; `None` for the main frame.
    pub(crate) parent: Option<FrameId>,
    /// URL of its document, including `about:srcdoc` and similar.
    pub(crate) url: String,
}

/// All frames: the main frame first, the others in the order of their creation.
#[derive(Default)]
pub(super) struct Frames {
    list: Vec<Entry>,
}

struct Entry {
    frame: Frame,
    session: Session,
    /// Our isolated world in the current document.
    own_world: Option<i64>,
}

impl Frames {
    pub(super) fn all(&self) -> Vec<Frame> {
        self.list.iter().map(|entry| entry.frame.clone()).collect()
    }

    pub(super) fn main(&self) -> Option<FrameId> {
        self.list.first().map(|entry| entry.frame.id.clone())
    }

    pub(super) fn is_main(&self, id: &str) -> bool {
        self.list.first().is_some_and(|entry| entry.frame.id.0.as_ref() == id)
    }

    fn entry(&mut self, id: &str) -> Option<&mut Entry> {
        self.list.iter_mut().find(|entry| entry.frame.id.0.as_ref() == id)
    }

    /// Returns the session of a frame, and our world in it if there is one.
    pub(super) fn place(&mut self, id: &FrameId) -> Option<(Session, Option<i64>)> {
        self.entry(&id.0).map(|entry| (entry.session.clone(), entry.own_world))
    }

    pub(super) fn set_own_world(&mut self, id: &FrameId, world: Option<i64>) {
        if let Some(entry) = self.entry(&id.0) {
            entry.own_world = world;
        }
    }

    /// Handles a tree of `Page.getFrameTree`.
    pub(super) fn plant(&mut self, session: &Session, tree: &Value) {
        self.navigated(session, &tree["frame"]);
        for child in tree["childFrames"].as_array().into_iter().flatten() {
            self.plant(session, child);
        }
    }

    pub(super) fn attached(&mut self, session: &Session, id: &str, parent: &str) {
        self.put(session, id, Some(parent), String::new());
    }

    /// Records that a frame shows another document.
    pub(super) fn navigated(&mut self, session: &Session, frame: &Value) {
        let Some(id) = frame["id"].as_str() else { return };
        let fragment = frame["urlFragment"].as_str().unwrap_or_default();
        let url = format!("{}{fragment}", frame["url"].as_str().unwrap_or_default());
        self.put(session, id, frame["parentId"].as_str(), url);
    }

    /// Records that the URL changed within the same document.
    pub(super) fn renamed(&mut self, id: &str, url: &str) {
        if let Some(entry) = self.entry(id) {
            url.clone_into(&mut entry.frame.url);
        }
    }

    fn put(&mut self, session: &Session, id: &str, parent: Option<&str>, url: String) {
        if let Some(entry) = self.entry(id) {
            entry.session = session.clone();
            entry.own_world = None;
            entry.frame.url = url;
            return;
        }
        if self.list.len() < MAX_FRAMES {
            let name = |text: &str| FrameId(Arc::from(text));
            let frame = Frame { id: name(id), parent: parent.map(name), url };
            self.list.push(Entry { frame, session: session.clone(), own_world: None });
        }
    }

    /// Removes a frame and all frames below it.
    pub(super) fn detached(&mut self, id: &str) {
        let parents: HashMap<_, _> =
            self.list.iter().map(|entry| (entry.frame.id.clone(), entry.frame.parent.clone())).collect();
        let is_below = |frame: &FrameId| {
            let mut at = Some(frame);
            // Bounded by the number of frames, in case the parents form a cycle.
            for _ in 0..=parents.len() {
                match at {
                    Some(here) if here.0.as_ref() == id => return true,
                    Some(here) => at = parents.get(here).and_then(Option::as_ref),
                    None => return false,
                }
            }
            false
        };
        self.list.retain(|entry| !is_below(&entry.frame.id));
    }
}
