//! Routing of incoming messages to the calls and listeners that wait for them.

use std::collections::HashMap;
use std::sync::Arc;

use base::json::MAX_VALUES;
use serde_json::Value;
use tokio::sync::oneshot;

use crate::error::CdpError;
use crate::events::{Event, EventSink};
use crate::message::{Message, Raw};
use crate::out::Lane;
use crate::passed::{Sink, What};
use crate::pending::{Pending, ReplyTo};
use crate::share::Share;

/// Estimated memory of a parsed JSON value in addition to its text, in bytes.
const VALUE: usize = 64;
/// Maximum depth of nested sessions.
const MAX_ABOVE: usize = 8;

/// Pending calls and listeners of events.
#[derive(Default)]
pub(crate) struct Routes {
    last_id: u64,
    pending: HashMap<u64, Pending>,
    listeners: Vec<Listener>,
    /// Sinks that receive everything of a session and of those below it.
    taps: Vec<(Arc<str>, Sink)>,
    /// Parent of each session: the one that it was attached by. Removed when the session ends.
    parents: HashMap<Arc<str>, Option<Arc<str>>>,
    crashed: Vec<Arc<str>>,
    /// Bandwidth limits by root session.
    shares: HashMap<Arc<str>, Arc<Share>>,
    closed: bool,
}

/// Lane and bandwidth limit of an outgoing call.
pub(crate) struct CallRoute {
    pub(crate) lane: Lane,
    /// Bandwidth limit; `None` if the browser is not shared.
    pub(crate) share: Option<Arc<Share>>,
}

struct Listener {
    session: Option<Arc<str>>,
    prefixes: &'static [&'static str],
    events: EventSink,
}

impl Listener {
    fn hears(&self, line: &[Option<Arc<str>>], method: &str) -> bool {
        line.contains(&self.session) && self.prefixes.iter().any(|prefix| method.starts_with(prefix))
    }
}

impl Routes {
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Returns the number of pending calls.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        self.pending.len()
    }

    /// Returns an id for a message without an answer.
    pub(crate) fn number(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// Registers a call. Returns its id and the receiver of the answer.
    pub(crate) fn expect(
        &mut self,
        session: Option<&Arc<str>>,
        method: &str,
    ) -> Result<(u64, oneshot::Receiver<Result<Raw, CdpError>>), CdpError> {
        if self.closed {
            return Err(CdpError::Closed);
        }
        if session.is_some_and(|id| self.crashed.contains(id)) {
            return Err(CdpError::Crashed);
        }
        let id = self.number();
        let (sender, receiver) = oneshot::channel();
        let answer = ReplyTo::Caller(sender, self.call_route(session).share);
        self.pending.insert(id, Pending { session: session.cloned(), method: method.to_owned(), answer });
        Ok((id, receiver))
    }

    /// Registers a call of a client. Returns its id.
    pub(crate) fn expect_for(
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
        let answer = ReplyTo::Client(call, sink.clone());
        self.pending.insert(id, Pending { session: Some(Arc::clone(session)), method: method.to_owned(), answer });
        Ok(id)
    }

    /// Returns how calls of a session are sent: in the lane of its root session.
    pub(crate) fn call_route(&self, session: Option<&Arc<str>>) -> CallRoute {
        let lane = self.line(session.cloned()).pop().unwrap_or_default();
        let share = lane.as_ref().and_then(|top| self.shares.get(top)).cloned();
        CallRoute { lane, share }
    }

    /// Sets the bandwidth limit of a root session.
    pub(crate) fn restrain(&mut self, session: &Arc<str>, share: Arc<Share>) {
        if !self.closed {
            self.shares.insert(Arc::clone(session), share);
        }
    }

    /// Returns a session and its ancestors, without the browser itself, which is above all.
    fn line(&self, session: Option<Arc<str>>) -> Vec<Option<Arc<str>>> {
        let mut line = vec![session];
        while let Some(Some(id)) = line.last()
            && let Some(Some(parent)) = self.parents.get(id)
            // Parents are what the browser says: a circle must not hang us.
            && line.len() < MAX_ABOVE
        {
            line.push(Some(Arc::clone(parent)));
        }
        line
    }

    pub(crate) fn tap(&mut self, session: &Arc<str>, sink: Sink) {
        self.taps.retain(|(_, sink)| !sink.is_closed());
        if !self.closed {
            self.taps.push((Arc::clone(session), sink));
        }
    }

    /// Removes a call whose caller has stopped waiting.
    pub(crate) fn forget(&mut self, id: u64) {
        self.pending.remove(&id);
    }

    /// Fails a call whose answer is larger than `limit` and was not read.
    pub(crate) fn refuse(&mut self, id: u64, limit: usize) {
        if let Some(pending) = self.pending.remove(&id) {
            pending.refuse_unread(limit);
        }
    }

    pub(crate) fn listen(&mut self, session: Option<&Arc<str>>, prefixes: &'static [&'static str], events: EventSink) {
        self.listeners.retain(|listener| !listener.events.is_closed());
        if !self.closed {
            self.listeners.push(Listener { session: session.cloned(), prefixes, events });
        }
    }

    /// Routes a message.
    pub(crate) fn take(&mut self, message: Message) {
        let Message { id, method, session, params, result, error, size } = message;
        if let Some(id) = id {
            // Unknown ids are those of abandoned calls, and of messages whose answer is not used.
            let Some(pending) = self.pending.remove(&id) else { return };
            let nothing = || Raw::from(Value::Null);
            pending.end(error.map_or_else(|| Ok(result.unwrap_or_else(nothing)), Err), size);
            return;
        }
        let Some(method) = method else { return };
        let session = session.map(|id| self.name(&id));
        // Told before the session is removed below, so that its listeners hear of its end.
        let line = self.line(session.clone());
        self.tell_listeners(&line, &method, params.as_ref());
        self.tell_taps(&line, &method, EventSize { params: params.as_ref(), size });
        match (method.as_str(), session) {
            ("Inspector.targetCrashed", Some(id)) => {
                self.fail(&id, &CdpError::Crashed);
                self.crashed.push(id);
            }
            ("Target.attachedToTarget", session) => {
                if let Some(id) = session_in(params.as_ref()) {
                    self.parents.insert(Arc::from(id), session);
                }
            }
            ("Target.detachedFromTarget", _) => {
                if let Some(id) = session_in(params.as_ref()) {
                    self.leave(&id);
                }
            }
            _ => {}
        }
    }

    /// Removes a session that has ended, and all sessions below it, which Chromium may not report.
    fn leave(&mut self, id: &str) {
        self.end(id, &CdpError::Closed);
        self.parents.remove(id);
        self.shares.remove(id);
        self.crashed.retain(|crashed| crashed.as_ref() != id);
        let below = self.parents.iter().filter(|(_, parent)| parent.as_deref() == Some(id));
        let below: Vec<_> = below.map(|(child, _)| Arc::clone(child)).collect();
        below.iter().for_each(|child| self.leave(child));
    }

    /// Returns the stored name of a session, so that many events share one copy.
    fn name(&self, id: &str) -> Arc<str> {
        self.parents.get_key_value(id).map_or_else(|| Arc::from(id), |(known, _)| Arc::clone(known))
    }

    /// Sends an event to the listeners of its session and of the sessions above it. Listeners of the browser itself
    /// only receive its own events. An event with too many values is discarded.
    fn tell_listeners(&self, line: &[Option<Arc<str>>], method: &str, params: Option<&Raw>) {
        let mut hear = self.listeners.iter().filter(|listener| listener.hears(line, method)).peekable();
        if hear.peek().is_none() {
            return;
        }
        // Read once for all listeners, and not at all if there are none: most events of a page have none.
        let Ok(read) = params.map_or(Ok(Value::Null), |params| params.read(MAX_VALUES)) else { return };
        let size = params.map_or(0, |params| params.size() + params.values() * VALUE);
        for listener in hear {
            let (session, method) = (line[0].clone(), method.to_owned());
            listener.events.put(Event { session, method, params: read.clone() }, size);
        }
    }

    fn tell_taps(&mut self, line: &[Option<Arc<str>>], method: &str, told: EventSize<'_>) {
        self.taps.retain(|(session, sink)| {
            if !line.iter().any(|of| of.as_ref() == Some(session)) {
                return true;
            }
            let event = What::Event { method: method.to_owned(), params: told.params.cloned() };
            sink.put(line[0].clone(), event, told.size)
        });
    }

    /// Fails the pending calls of a session.
    fn fail(&mut self, session: &str, error: &CdpError) {
        let theirs = |pending: &Pending| pending.session.as_deref() == Some(session);
        for (_, pending) in self.pending.extract_if(|_, pending| theirs(pending)) {
            pending.fail(error);
        }
    }

    /// Ends the calls, listeners and taps of a session.
    fn end(&mut self, session: &str, error: &CdpError) {
        self.fail(session, error);
        self.listeners.retain(|listener| listener.session.as_deref() != Some(session));
        self.taps.retain(|(of, _)| of.as_ref() != session);
    }

    /// Ends everything because the other end is gone.
    pub(crate) fn close(&mut self) {
        self.closed = true;
        for (_, pending) in self.pending.drain() {
            pending.fail(&CdpError::Closed);
        }
        self.listeners.clear();
        self.taps.clear();
        self.shares.clear();
    }
}

/// Parameters of an event, and the size of its message.
#[derive(Clone, Copy)]
struct EventSize<'a> {
    params: Option<&'a Raw>,
    size: usize,
}

/// Returns the session that an event of the domain `Target` concerns.
fn session_in(params: Option<&Raw>) -> Option<String> {
    let params: Value = params?.read(MAX_VALUES).ok()?;
    params["sessionId"].as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use serde_json::json;

    use super::*;
    use crate::events::events;
    use crate::share::MAX_HEARD;

    const ALL: &[&str] = &[""];

    #[expect(clippy::needless_pass_by_value, reason = "calls write it in place")]
    fn take(routes: &mut Routes, message: Value) {
        routes.take(Message::parse(&message.to_string().into()).unwrap());
    }

    fn attach(routes: &mut Routes, parent: Option<&str>, child: &str) {
        let mut message = json!({"method": "Target.attachedToTarget", "params": {"sessionId": child}});
        if let Some(parent) = parent {
            message["sessionId"] = parent.into();
        }
        take(routes, message);
    }

    #[test]
    fn answers_find_their_calls() {
        let mut routes = Routes::default();
        let (first, mut one) = routes.expect(None, "A.b").unwrap();
        let (second, mut two) = routes.expect(None, "A.c").unwrap();
        take(&mut routes, json!({"id": second, "error": {"message": "no"}}));
        take(&mut routes, json!({"id": first, "result": {"x": 1}}));
        assert_eq!(one.try_recv().unwrap(), Ok(json!({"x": 1}).into()));
        assert_eq!(two.try_recv().unwrap().unwrap_err().to_string(), "A.c: no");
    }

    #[test]
    fn events_go_up_to_the_page_and_not_beyond() {
        let mut routes = Routes::default();
        attach(&mut routes, None, "page");
        attach(&mut routes, Some("page"), "worker");
        attach(&mut routes, None, "other");
        let mut listen = |session: Option<&str>| {
            let (sink, events) = events();
            routes.listen(session.map(Arc::from).as_ref(), ALL, sink);
            events
        };
        let (mut page, mut other, mut browser) = (listen(Some("page")), listen(Some("other")), listen(None));
        take(&mut routes, json!({"method": "Network.x", "sessionId": "worker", "params": {}}));
        assert_eq!(page.next().now_or_never().flatten().unwrap().session.as_deref(), Some("worker"));
        assert!(other.next().now_or_never().is_none() && browser.next().now_or_never().is_none());
    }

    #[test]
    fn nothing_is_kept_of_sessions_that_are_gone() {
        let mut routes = Routes::default();
        attach(&mut routes, None, "page");
        attach(&mut routes, Some("page"), "worker");
        attach(&mut routes, Some("worker"), "below");
        let (sink, mut events) = events();
        routes.listen(Some(&Arc::from("page")), ALL, sink);
        routes.restrain(&Arc::from("page"), Arc::default());
        take(&mut routes, json!({"method": "Target.detachedFromTarget", "params": {"sessionId": "page"}}));
        assert!(routes.parents.is_empty() && routes.listeners.is_empty() && routes.pending.is_empty());
        assert!(routes.shares.is_empty());
        assert_eq!(events.next().now_or_never(), Some(None));
    }

    #[test]
    fn a_crash_ends_the_calls_of_its_session_only() {
        let mut routes = Routes::default();
        attach(&mut routes, None, "page");
        let page: Arc<str> = Arc::from("page");
        let (_, mut theirs) = routes.expect(Some(&page), "A.b").unwrap();
        let (_, mut others) = routes.expect(None, "A.b").unwrap();
        take(&mut routes, json!({"method": "Inspector.targetCrashed", "sessionId": "page", "params": {}}));
        assert_eq!(theirs.try_recv().unwrap(), Err(CdpError::Crashed));
        assert!(others.try_recv().is_err());
        assert_eq!(routes.expect(Some(&page), "A.b").unwrap_err(), CdpError::Crashed);
        routes.close();
        assert_eq!(others.try_recv().unwrap(), Err(CdpError::Closed));
        assert_eq!(routes.expect(None, "A.b").unwrap_err(), CdpError::Closed);
    }

    #[test]
    fn what_is_below_a_page_goes_with_it() {
        let mut routes = Routes::default();
        attach(&mut routes, None, "page");
        attach(&mut routes, Some("page"), "worker");
        attach(&mut routes, Some("worker"), "below");
        routes.restrain(&Arc::from("page"), Arc::default());
        let lane = |session: Option<&str>| routes.call_route(session.map(Arc::from).as_ref());
        for session in ["page", "worker", "below"] {
            assert_eq!(lane(Some(session)).lane.as_deref(), Some("page"), "{session}");
            assert!(lane(Some(session)).share.is_some(), "{session}");
        }
        assert_eq!(lane(Some("unknown")).lane.as_deref(), Some("unknown"));
        assert!(lane(Some("unknown")).share.is_none() && lane(None).lane.is_none());
    }

    #[test]
    fn an_event_with_too_many_values_is_told_to_taps_alone() {
        let mut routes = Routes::default();
        let (sink, mut events) = events();
        routes.listen(None, ALL, sink);
        take(&mut routes, json!({"method": "A.b", "params": vec![0; MAX_VALUES]}));
        take(&mut routes, json!({"method": "A.c", "params": vec![0; 10]}));
        assert_eq!(events.next().now_or_never().flatten().unwrap().method, "A.c");
    }

    #[test]
    fn events_that_nobody_reads_take_a_bounded_memory() {
        let mut routes = Routes::default();
        let (sink, mut events) = events();
        routes.listen(None, ALL, sink);
        let text = "x".repeat(4 << 20);
        for _ in 0..20 {
            take(&mut routes, json!({"method": "A.b", "params": text}));
        }
        let mut count = 0;
        while events.next().now_or_never().flatten().is_some() {
            count += 1;
        }
        assert_eq!(count, 8, "32 MiB");
        take(&mut routes, json!({"method": "A.b", "params": text}));
        assert!(events.next().now_or_never().flatten().is_some());
    }

    #[test]
    fn a_restrained_page_hears_no_large_answers() {
        let mut routes = Routes::default();
        let page: Arc<str> = Arc::from("page");
        routes.restrain(&page, Arc::default());
        for (session, hears) in [(Some(&page), false), (None, true)] {
            let (id, mut answer) = routes.expect(session, "A.b").unwrap();
            take(&mut routes, json!({"id": id, "result": "x".repeat(MAX_HEARD)}));
            let answer = answer.try_recv().unwrap();
            assert_eq!(answer.is_ok(), hears, "{session:?}");
            if let Err(error) = answer {
                assert_eq!(error.to_string(), "A.b: the answer is larger than 16 MiB");
            }
        }
    }
}
