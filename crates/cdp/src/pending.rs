//! Calls that wait for their answer.

use std::sync::Arc;

use base::json::MAX_VALUES;
use serde_json::json;
use tokio::sync::oneshot;

use crate::error::CdpError;
use crate::message::Raw;
use crate::passed::{Sink, What};
use crate::share::{MAX_HEARD, Share};

/// A call that has not been answered.
pub(crate) struct Pending {
    /// Session that was called; `None` is the browser itself.
    pub(crate) session: Option<Arc<str>>,
    /// Called method.
    pub(crate) method: String,
    pub(crate) answer: ReplyTo,
}

/// Destination of an answer.
pub(crate) enum ReplyTo {
    /// One of our own callers, and its bandwidth limit.
    Caller(oneshot::Sender<Result<Raw, CdpError>>, Option<Arc<Share>>),
    /// A client, with its own id of the call.
    Client(u64, Sink),
}

impl Pending {
    /// Returns the bandwidth limit of the page or client; `None` if the browser is not shared.
    fn share(&self) -> Option<&Arc<Share>> {
        match &self.answer {
            ReplyTo::Caller(_, share) => share.as_ref(),
            ReplyTo::Client(_, sink) => sink.share(),
        }
    }

    /// Answers the call. An answer over the limit of a shared browser fails it instead.
    pub(crate) fn end(self, outcome: Result<Raw, Raw>, size: usize) {
        match self.share().filter(|_| size > MAX_HEARD) {
            Some(share) => {
                share.count_received(size);
                self.refuse(MAX_HEARD);
            }
            None => self.answer(outcome, size),
        }
    }

    fn answer(self, outcome: Result<Raw, Raw>, size: usize) {
        let Self { session, method, answer } = self;
        match answer {
            ReplyTo::Caller(caller, share) => {
                if let Some(share) = share {
                    share.count_received(size);
                }
                let refused = |error: Raw| CdpError::from_answer(&method, &error.read(MAX_VALUES).unwrap_or_default());
                let _ = caller.send(outcome.map_err(refused));
            }
            ReplyTo::Client(id, sink) => {
                sink.put(session, What::Answer { id, method, outcome }, size);
            }
        }
    }

    /// Fails the call because its answer is larger than `limit` and was not read.
    pub(crate) fn refuse_unread(self, limit: usize) {
        if let Some(share) = self.share() {
            share.count_received(limit);
        }
        self.refuse(limit);
    }

    /// Fails the call because its answer exceeds the limit.
    fn refuse(self, limit: usize) {
        let error = CdpError::TooLarge { method: self.method.clone(), limit };
        self.fail(&error);
    }

    /// Fails the call.
    pub(crate) fn fail(self, error: &CdpError) {
        match self.answer {
            ReplyTo::Caller(caller, _) => {
                let _ = caller.send(Err(error.clone()));
            }
            // The code with which Chromium answers calls of a session that has ended.
            ReplyTo::Client(..) => self.answer(Err(json!({ "code": -32001, "message": error.to_string() }).into()), 0),
        }
    }
}
