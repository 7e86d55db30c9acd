//! Who waits for which message.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use super::error::CdpError;
use super::session::Event;
use super::tap::{Sink, What};

/// The calls that wait for their answers and the listeners of events.
#[derive(Default)]
pub(super) struct Routes {
    last_id: u64,
    pending: HashMap<u64, Pending>,
    listeners: Vec<Listener>,
    /// Who is told everything of a session and of those below it.
    taps: Vec<(Arc<str>, Sink)>,
    /// Session to the session that it was attached by. One that ended has no entry.
    parents: HashMap<Arc<str>, Option<Arc<str>>>,
    crashed: Vec<Arc<str>>,
    closed: bool,
}

struct Pending {
    session: Option<Arc<str>>,
    method: String,
    answer: Answer,
}

/// Where an answer goes.
enum Answer {
    Caller(oneshot::Sender<Result<Value, CdpError>>),
    /// To a client, which has a number of its own for the call.
    Client(u64, Sink),
}

struct Listener {
    session: Option<Arc<str>>,
    prefixes: &'static [&'static str],
    events: mpsc::Sender<Event>,
}

impl Routes {
    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// How many calls wait for their answers.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.pending.len()
    }

    /// A number for a message that nobody waits for.
    pub(super) fn number(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// A number for a call, and where its answer arrives.
    pub(super) fn expect(
        &mut self,
        session: Option<&Arc<str>>,
        method: &str,
    ) -> Result<(u64, oneshot::Receiver<Result<Value, CdpError>>), CdpError> {
        if self.closed {
            return Err(CdpError::Closed);
        }
        if session.is_some_and(|id| self.crashed.contains(id)) {
            return Err(CdpError::Crashed);
        }
        let id = self.number();
        let (sender, receiver) = oneshot::channel();
        let answer = Answer::Caller(sender);
        self.pending.insert(id, Pending { session: session.cloned(), method: method.to_owned(), answer });
        Ok((id, receiver))
    }

    /// A number for a call of a client.
    pub(super) fn expect_for(
        &mut self,
        session: &Arc<str>,
        method: &str,
        call: u64,
        sink: &Sink,
    ) -> Result<u64, CdpError> {
        if self.closed {
            return Err(CdpError::Closed);
        }
        let id = self.number();
        let answer = Answer::Client(call, sink.clone());
        self.pending.insert(id, Pending { session: Some(Arc::clone(session)), method: method.to_owned(), answer });
        Ok(id)
    }

    pub(super) fn tap(&mut self, session: &Arc<str>, sink: Sink) {
        self.taps.retain(|(_, sink)| !sink.is_closed());
        if !self.closed {
            self.taps.push((Arc::clone(session), sink));
        }
    }

    /// Forgets a call that nobody waits for any more.
    pub(super) fn forget(&mut self, id: u64) {
        self.pending.remove(&id);
    }

    /// The answer to a call is too large to be read.
    pub(super) fn refuse(&mut self, id: u64) {
        if let Some(pending) = self.pending.remove(&id) {
            let error = CdpError::TooLarge { method: pending.method.clone() };
            pending.fail(&error);
        }
    }

    pub(super) fn listen(
        &mut self,
        session: Option<&Arc<str>>,
        prefixes: &'static [&'static str],
        events: mpsc::Sender<Event>,
    ) {
        self.listeners.retain(|listener| !listener.events.is_closed());
        if !self.closed {
            self.listeners.push(Listener { session: session.cloned(), prefixes, events });
        }
    }

    /// Hands a message of so many bytes to whom it concerns.
    pub(super) fn take(&mut self, mut message: Value, size: usize) {
        if let Some(id) = message["id"].as_u64() {
            let Some(pending) = self.pending.remove(&id) else { return };
            let outcome = match message.get_mut("error") {
                Some(error) => Err(error.take()),
                None => Ok(message["result"].take()),
            };
            pending.end(outcome, size);
            return;
        }
        let Some(method) = message["method"].as_str().map(str::to_owned) else { return };
        let session = message["sessionId"].as_str().map(|id| self.name(id));
        let event = Event { session, method, params: message["params"].take() };
        self.note(&event);
        self.tell(&event, size);
        if event.method == "Target.detachedFromTarget"
            && let Some(id) = event.params["sessionId"].as_str()
        {
            self.leave(id);
        }
    }

    /// A session is gone, and with it all below it, of which Chromium may say nothing.
    fn leave(&mut self, id: &str) {
        self.end(id, &CdpError::Closed);
        self.parents.remove(id);
        self.crashed.retain(|crashed| crashed.as_ref() != id);
        let below = self.parents.iter().filter(|(_, parent)| parent.as_deref() == Some(id));
        let below: Vec<_> = below.map(|(child, _)| Arc::clone(child)).collect();
        below.iter().for_each(|child| self.leave(child));
    }

    /// The name of a session as it is kept already, so that a million events need not a million copies.
    fn name(&self, id: &str) -> Arc<str> {
        self.parents.get_key_value(id).map_or_else(|| Arc::from(id), |(known, _)| Arc::clone(known))
    }

    fn note(&mut self, event: &Event) {
        match event.method.as_str() {
            "Target.attachedToTarget" => {
                if let Some(id) = event.params["sessionId"].as_str() {
                    self.parents.insert(Arc::from(id), event.session.clone());
                }
            }
            "Inspector.targetCrashed" => {
                if let Some(id) = event.session.clone() {
                    self.fail(&id, &CdpError::Crashed);
                    self.crashed.push(id);
                }
            }
            _ => {}
        }
    }

    /// Tells the listeners of the session and of those above it. The browser itself hears only what is its own.
    fn tell(&mut self, event: &Event, size: usize) {
        let mut line = vec![event.session.clone()];
        while let Some(Some(id)) = line.last()
            && let Some(Some(parent)) = self.parents.get(id)
            && line.len() < 8
        {
            line.push(Some(Arc::clone(parent)));
        }
        for listener in &self.listeners {
            let wants = listener.prefixes.iter().any(|prefix| event.method.starts_with(prefix));
            if wants && line.contains(&listener.session) {
                let _ = listener.events.try_send(event.clone());
            }
        }
        self.taps.retain(|(session, sink)| {
            if !line.iter().any(|of| of.as_ref() == Some(session)) {
                return true;
            }
            let (method, params) = (event.method.clone(), event.params.clone());
            sink.put(event.session.clone(), What::Event { method, params }, size)
        });
    }

    /// Ends the calls of a session.
    fn fail(&mut self, session: &str, error: &CdpError) {
        let theirs = |pending: &Pending| pending.session.as_deref() == Some(session);
        for (_, pending) in self.pending.extract_if(|_, pending| theirs(pending)) {
            pending.fail(error);
        }
    }

    /// Ends the calls and the listeners of a session.
    fn end(&mut self, session: &str, error: &CdpError) {
        self.fail(session, error);
        self.listeners.retain(|listener| listener.session.as_deref() != Some(session));
        self.taps.retain(|(of, _)| of.as_ref() != session);
    }

    /// Ends everything: the other end is gone.
    pub(super) fn close(&mut self) {
        self.closed = true;
        for (_, pending) in self.pending.drain() {
            pending.fail(&CdpError::Closed);
        }
        self.listeners.clear();
        self.taps.clear();
    }
}

impl Pending {
    fn end(self, outcome: Result<Value, Value>, size: usize) {
        let Self { session, method, answer } = self;
        match answer {
            Answer::Caller(caller) => {
                let _ = caller.send(outcome.map_err(|error| CdpError::of(&method, &error)));
            }
            Answer::Client(id, sink) => {
                sink.put(session, What::Answer { id, method, outcome }, size);
            }
        }
    }

    fn fail(self, error: &CdpError) {
        match self.answer {
            Answer::Caller(caller) => {
                let _ = caller.send(Err(error.clone()));
            }
            Answer::Client(..) => self.end(Err(json!({ "code": -32001, "message": error.to_string() })), 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &[&str] = &[""];

    fn attach(routes: &mut Routes, parent: Option<&str>, child: &str) {
        let mut message = json!({"method": "Target.attachedToTarget", "params": {"sessionId": child}});
        if let Some(parent) = parent {
            message["sessionId"] = parent.into();
        }
        routes.take(message, 0);
    }

    #[test]
    fn answers_find_their_calls() {
        let mut routes = Routes::default();
        let (first, mut one) = routes.expect(None, "A.b").unwrap();
        let (second, mut two) = routes.expect(None, "A.c").unwrap();
        routes.take(json!({"id": second, "error": {"message": "no"}}), 0);
        routes.take(json!({"id": first, "result": {"x": 1}}), 0);
        assert_eq!(one.try_recv().unwrap(), Ok(json!({"x": 1})));
        assert_eq!(two.try_recv().unwrap().unwrap_err().to_string(), "A.c: no");
    }

    #[test]
    fn events_go_up_to_the_page_and_not_beyond() {
        let mut routes = Routes::default();
        attach(&mut routes, None, "page");
        attach(&mut routes, Some("page"), "worker");
        attach(&mut routes, None, "other");
        let mut listen = |session: Option<&str>| {
            let (sender, receiver) = mpsc::channel(8);
            routes.listen(session.map(Arc::from).as_ref(), ALL, sender);
            receiver
        };
        let (mut page, mut other, mut browser) = (listen(Some("page")), listen(Some("other")), listen(None));
        routes.take(json!({"method": "Network.x", "sessionId": "worker", "params": {}}), 0);
        assert_eq!(page.try_recv().unwrap().session.as_deref(), Some("worker"));
        assert!(other.try_recv().is_err() && browser.try_recv().is_err());
    }

    #[test]
    fn nothing_is_kept_of_sessions_that_are_gone() {
        let mut routes = Routes::default();
        attach(&mut routes, None, "page");
        attach(&mut routes, Some("page"), "worker");
        attach(&mut routes, Some("worker"), "below");
        let (sender, mut events) = mpsc::channel(8);
        routes.listen(Some(&Arc::from("page")), ALL, sender);
        routes.take(json!({"method": "Target.detachedFromTarget", "params": {"sessionId": "page"}}), 0);
        assert!(routes.parents.is_empty() && routes.listeners.is_empty() && routes.pending.is_empty());
        assert!(matches!(events.try_recv(), Err(mpsc::error::TryRecvError::Disconnected)));
    }

    #[test]
    fn a_crash_ends_the_calls_of_its_session_only() {
        let mut routes = Routes::default();
        attach(&mut routes, None, "page");
        let page: Arc<str> = Arc::from("page");
        let (_, mut theirs) = routes.expect(Some(&page), "A.b").unwrap();
        let (_, mut others) = routes.expect(None, "A.b").unwrap();
        routes.take(json!({"method": "Inspector.targetCrashed", "sessionId": "page", "params": {}}), 0);
        assert_eq!(theirs.try_recv().unwrap(), Err(CdpError::Crashed));
        assert!(others.try_recv().is_err());
        assert_eq!(routes.expect(Some(&page), "A.b").unwrap_err(), CdpError::Crashed);
        routes.close();
        assert_eq!(others.try_recv().unwrap(), Err(CdpError::Closed));
        assert_eq!(routes.expect(None, "A.b").unwrap_err(), CdpError::Closed);
    }
}
