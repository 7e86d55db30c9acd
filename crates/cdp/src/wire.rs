//! State shared by all sessions of a pipe: the calls that wait, the listeners, and the messages to send.

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::CdpError;
use crate::events::EventSink;
use crate::message::Raw;
use crate::out::{Lane, OutgoingLanes};
use crate::passed::Sink;
use crate::routes::{CallRoute, Routes};
use crate::share::{MAX_SAID, Share};

/// State shared by all sessions of a pipe.
#[derive(Default)]
pub(crate) struct Wire {
    pub(crate) routes: Mutex<Routes>,
    pub(crate) out: OutgoingLanes,
}

impl Wire {
    pub(crate) async fn call(&self, session: Option<&Arc<str>>, method: &str, params: Value) -> Result<Raw, CdpError> {
        let (way, (id, answer)) = {
            let mut routes = self.routes.lock();
            (routes.call_route(session), routes.expect(session, method)?)
        };
        // Registered before it is sent, as the answer may come at once. Removes the entry if the caller stops waiting.
        let _forget = ForgetOnDrop { wire: self, id };
        let message = encode(id, session, method, &params.to_string());
        // The text is as large again, and the wait for a turn may be long.
        drop(params);
        let CallRoute { lane, share } = way;
        if let Some(share) = share {
            if message.len() > MAX_SAID {
                return Err(CdpError::TooLong { method: method.to_owned(), limit: MAX_SAID });
            }
            share.send_in_turn(message.len()).await;
        }
        self.out.put(&lane, message).await?;
        answer.await.unwrap_or(Err(CdpError::Closed))
    }

    pub(crate) async fn post(&self, session: Option<&Arc<str>>, method: &str, params: &Value) {
        let (lane, message) = self.unanswered(session, method, params);
        let _ = self.out.put(&lane, message).await;
    }

    pub(crate) fn post_now(&self, session: Option<&Arc<str>>, method: &str, params: &Value) {
        let (lane, message) = self.unanswered(session, method, params);
        self.out.put_now(&lane, message);
    }

    fn unanswered(&self, session: Option<&Arc<str>>, method: &str, params: &Value) -> (Lane, Vec<u8>) {
        let (lane, id) = {
            let mut routes = self.routes.lock();
            (routes.call_route(session).lane, routes.number())
        };
        (lane, encode(id, session, method, &params.to_string()))
    }

    /// Sends a call of a client; the answer goes to its sink.
    #[expect(clippy::too_many_arguments, reason = "a call, and where its answer goes")]
    pub(crate) async fn pass(
        &self,
        session: &Arc<str>,
        call: u64,
        method: &str,
        params: &RawValue,
        sink: &Sink,
    ) -> Result<(), CdpError> {
        if let Some(share) = sink.share() {
            if params.get().len() > MAX_SAID {
                return Err(CdpError::TooLong { method: method.to_owned(), limit: MAX_SAID });
            }
            share.count_sent(params.get().len());
        }
        let (lane, id) = {
            let mut routes = self.routes.lock();
            (routes.call_route(Some(session)).lane, routes.expect_for(session, method, call, sink)?)
        };
        self.out.put(&lane, encode(id, Some(session), method, params.get())).await
    }

    pub(crate) fn restrain(&self, session: &Arc<str>, share: Arc<Share>) {
        self.routes.lock().restrain(session, share);
    }

    /// Fails all calls, ends all events and sends nothing more.
    pub(crate) fn close(&self) {
        self.routes.lock().close();
        self.out.close();
    }

    pub(crate) fn tap(&self, session: &Arc<str>, sink: Sink) {
        self.routes.lock().tap(session, sink);
    }

    pub(crate) fn listen(&self, session: Option<&Arc<str>>, prefixes: &'static [&'static str], events: EventSink) {
        self.routes.lock().listen(session, prefixes, events);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.routes.lock().is_closed()
    }
}

struct ForgetOnDrop<'a> {
    wire: &'a Wire,
    id: u64,
}

impl Drop for ForgetOnDrop<'_> {
    fn drop(&mut self) {
        self.wire.routes.lock().forget(self.id);
    }
}

/// Encodes a message. `params` is JSON.
fn encode(id: u64, session: Option<&Arc<str>>, method: &str, params: &str) -> Vec<u8> {
    let session =
        session.map(|session| format!(r#","sessionId":{}"#, Value::from(session.as_ref()))).unwrap_or_default();
    // Written by hand, as `params` is JSON already and may have megabytes. A zero byte ends each message.
    let mut message = format!(r#"{{"id":{id},"method":{},"params":"#, Value::from(method)).into_bytes();
    message.reserve_exact(params.len() + session.len() + 2);
    message.extend_from_slice(params.as_bytes());
    message.extend_from_slice(session.as_bytes());
    message.extend_from_slice(b"}\0");
    message
}
