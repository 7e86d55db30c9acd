//! Response bodies of documents.

use std::collections::VecDeque;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::{Bytes, BytesMut};
use cdp::Session;
use serde_json::{Value, json};

use super::View;

/// Number of documents whose bodies are kept: the current one, and one that may be shown next.
const MAX_BODIES: usize = 2;

/// Body of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Body {
    /// Decoded bytes.
    pub(crate) bytes: Bytes,
    /// Whether Chromium has converted it to UTF-8, regardless of the declared charset.
    pub(crate) is_text: bool,
    /// Whether the end is missing: it is over the size limit or has not arrived yet.
    pub(crate) is_cut: bool,
}

/// Bodies of the latest documents.
pub(super) struct Bodies {
    list: VecDeque<Part>,
    limit: usize,
}

struct Part {
    loader: String,
    /// Bytes from before the streaming began; `None` until Chromium has returned them.
    head: Option<Bytes>,
    /// Bytes streamed since then.
    tail: BytesMut,
    is_text: bool,
    is_cut: bool,
    is_done: bool,
}

impl Bodies {
    pub(super) fn new(limit: usize) -> Self {
        Self { list: VecDeque::new(), limit }
    }

    fn part(&mut self, loader: &str) -> Option<&mut Part> {
        self.list.iter_mut().find(|part| part.loader == loader)
    }

    fn begin(&mut self, loader: &str) {
        let part = Part {
            loader: loader.to_owned(),
            head: None,
            tail: BytesMut::new(),
            is_text: false,
            is_cut: false,
            is_done: false,
        };
        self.list.push_front(part);
        self.list.truncate(MAX_BODIES);
    }

    /// Handles `Network.dataReceived`, which has the bytes once streaming is enabled.
    pub(super) fn more(&mut self, params: &Value) {
        let limit = self.limit;
        let Some(data) = params["data"].as_str() else { return };
        let Some(part) = self.part(params["requestId"].as_str().unwrap_or_default()) else { return };
        let bytes = STANDARD.decode(data).unwrap_or_default();
        let room = limit.saturating_sub(part.tail.len() + part.head.as_ref().map_or(0, Bytes::len));
        part.is_cut |= bytes.len() > room;
        part.tail.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Marks a body as complete or broken off.
    pub(super) fn end(&mut self, loader: &str) {
        if let Some(part) = self.part(loader) {
            part.is_done = true;
        }
    }

    /// Whether a body is complete or broken off.
    pub(super) fn has_ended(&self, loader: &str) -> bool {
        self.list.iter().any(|part| part.loader == loader && part.is_done)
    }

    /// Whether a body has begun to arrive and is not complete.
    pub(super) fn is_coming(&self, loader: &str) -> bool {
        self.list.iter().any(|part| part.loader == loader && !part.is_done)
    }

    fn set_head(&mut self, loader: &str, head: Vec<u8>, is_text: bool) {
        let limit = self.limit;
        if let Some(part) = self.part(loader) {
            let mut head = Bytes::from(head);
            part.is_cut |= head.len() > limit;
            head.truncate(limit);
            (part.head, part.is_text) = (Some(head), is_text);
        }
    }

    /// Returns the body of a document, if it is known.
    pub(super) fn of(&self, loader: &str) -> Option<Body> {
        let part = self.list.iter().find(|part| part.loader == loader)?;
        let head = part.head.as_ref()?;
        let bytes = match part.tail.is_empty() {
            true => head.clone(),
            false => [head.as_ref(), part.tail.as_ref()].concat().into(),
        };
        Some(Body { bytes, is_text: part.is_text, is_cut: part.is_cut || !(part.is_done || part.is_text) })
    }
}

/// Starts to collect the body of a document whose headers have arrived. The request of a document has the id of its
/// load.
pub(super) fn follow(view: &Arc<View>, session: &Session, loader: &str) {
    view.bodies.lock().begin(loader);
    let (view, session, loader) = (Arc::clone(view), session.clone(), loader.to_owned());
    // In a task of its own: a page that hangs does not answer.
    tokio::spawn(async move {
        if let Some((head, is_text)) = ask(&session, &loader).await {
            view.bodies.lock().set_head(&loader, head, is_text);
        }
    });
}

async fn ask(session: &Session, loader: &str) -> Option<(Vec<u8>, bool)> {
    let id = json!({ "requestId": loader });
    if let Ok(answer) = session.call("Network.streamResourceContent", id.clone()).await {
        return Some((STANDARD.decode(answer["bufferedData"].as_str()?).ok()?, false));
    }
    // A short body is complete before it can be streamed.
    let answer = session.call("Network.getResponseBody", id).await.ok()?;
    let text = answer["body"].as_str()?;
    if answer["base64Encoded"] == true {
        return Some((STANDARD.decode(text).ok()?, false));
    }
    Some((text.as_bytes().to_vec(), true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_coming_until_its_end_is_told() {
        let mut bodies = Bodies::new(1000);
        assert!(!bodies.is_coming("load"), "nobody has told of it");
        bodies.begin("load");
        assert!(bodies.is_coming("load") && !bodies.has_ended("load"));
        bodies.begin("next");
        bodies.end("load");
        assert!(!bodies.is_coming("load") && bodies.is_coming("next"));
    }
}
