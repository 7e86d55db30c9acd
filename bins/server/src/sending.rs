//! Large answers of single calls that are being sent. Their work is done and billed, so no client waits for a permit.
//! When the unsent answers exceed the memory limit, slow readers lose theirs, beginning with the owner of most bytes.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use hyper::body::{Frame, SizeHint};
use parking_lot::{Mutex, MutexGuard};
use serde::Serialize;
use wire::Document;

use crate::error::Failure;
use crate::unsent::StreamedJson;

/// Memory limit for the unsent answers of all clients, in bytes.
const MAX_BYTES: usize = 256 * 1024 * 1024;
/// Age from which an unsent answer may be discarded.
const SLOW_AFTER: Duration = Duration::from_secs(10);
/// Size up to which answers are not counted.
const SMALL: usize = 256 * 1024;

/// Answers that are not fully sent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outbox(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    bytes: usize,
    next: u64,
    /// Oldest first.
    answers: BTreeMap<u64, PendingResponse>,
}

#[derive(Debug)]
struct PendingResponse {
    owner: String,
    since: Instant,
    unsent: StreamedJson,
}

impl Outbox {
    /// Returns an answer as JSON. Unsent bytes are counted to `owner`.
    pub(crate) fn json(&self, owner: &str, answer: &impl Serialize) -> Response {
        self.response(owner, StreamedJson::json(answer))
    }

    /// Returns the answer with a document. `room` is the document's share of the memory budget for bodies.
    pub(crate) fn document(&self, owner: &str, data: Document, room: net::Room) -> Response {
        self.response(owner, StreamedJson::document(data, room))
    }

    fn response(&self, owner: &str, unsent: serde_json::Result<StreamedJson>) -> Response {
        let unsent = match unsent {
            Ok(unsent) => unsent,
            Err(error) => return Failure::internal(&error).into_response(),
        };
        let mut response = Body::new(self.put(owner, unsent, Instant::now())).into_response();
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }

    fn put(&self, owner: &str, unsent: StreamedJson, now: Instant) -> AnswerBody {
        let (left, exact) = (unsent.left(), unsent.exact());
        if left <= SMALL {
            return AnswerBody { exact, ended: false, small: unsent, large: None };
        }
        let mut state = self.lock();
        let number = state.next;
        state.next += 1;
        state.bytes += left;
        state.answers.insert(number, PendingResponse { owner: owner.to_owned(), since: now, unsent });
        while state.bytes > MAX_BYTES
            && let Some(slow) = state.slowest(now)
        {
            state.forget(slow);
        }
        AnswerBody { exact, ended: false, small: StreamedJson::default(), large: Some((self.clone(), number)) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock()
    }
}

impl State {
    /// Returns the oldest answer of the owner with most bytes, among answers older than [`SLOW_AFTER`].
    fn slowest(&self, now: Instant) -> Option<u64> {
        let slow = || {
            let old = move |answer: &PendingResponse| now.saturating_duration_since(answer.since) >= SLOW_AFTER;
            self.answers.iter().filter(move |(_, answer)| old(answer))
        };
        let mut held: HashMap<&str, usize> = HashMap::new();
        slow().for_each(|(_, answer)| *held.entry(&answer.owner).or_default() += answer.unsent.left());
        let (largest, _) = held.into_iter().max_by_key(|(_, bytes)| *bytes)?;
        slow().find(|(_, answer)| answer.owner == largest).map(|(number, _)| *number)
    }

    fn forget(&mut self, number: u64) {
        if let Some(answer) = self.answers.remove(&number) {
            self.bytes -= answer.unsent.left();
        }
    }
}

/// The body of an answer.
struct AnswerBody {
    /// Bytes left to send, where known.
    exact: Option<usize>,
    ended: bool,
    small: StreamedJson,
    large: Option<(Outbox, u64)>,
}

impl AnswerBody {
    fn take(&mut self) -> io::Result<Option<Bytes>> {
        let Some((outbox, number)) = &self.large else {
            return Ok(self.small.next());
        };
        let mut state = outbox.lock();
        let Some(answer) = state.answers.get_mut(number) else {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "the client reads too slowly"));
        };
        let before = answer.unsent.left();
        let piece = answer.unsent.next();
        let taken = before - answer.unsent.left();
        state.bytes -= taken;
        Ok(piece)
    }
}

impl HttpBody for AnswerBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.is_end_stream() {
            return Poll::Ready(None);
        }
        let taken = self.take().transpose();
        match &taken {
            Some(Ok(piece)) => self.exact = self.exact.map(|left| left.saturating_sub(piece.len())),
            Some(Err(_)) => {}
            None => self.ended = true,
        }
        Poll::Ready(taken.map(|piece| piece.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.ended || self.exact == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        self.exact.map_or_else(SizeHint::default, |left| SizeHint::with_exact(left as u64))
    }
}

impl Drop for AnswerBody {
    fn drop(&mut self) {
        if let Some((outbox, number)) = &self.large {
            outbox.lock().forget(*number);
        }
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;
    use crate::unsent::PIECE;

    /// Creates an answer of the given size that shares its memory with all others of the test.
    fn parcel(outbox: &Outbox, owner: &str, bytes: usize, now: Instant) -> AnswerBody {
        static ZEROS: [u8; PIECE] = [0; PIECE];
        outbox.put(owner, StreamedJson::ready((0..bytes / PIECE).map(|_| Bytes::from_static(&ZEROS))), now)
    }

    #[tokio::test]
    async fn the_text_is_that_of_the_whole() {
        let outbox = Outbox::default();
        for length in [0, 5, PIECE, SMALL, 3 * SMALL + 7] {
            let answer = serde_json::json!({"a": "x".repeat(length), "b": [1, 2]});
            let response = outbox.json("one", &answer);
            assert_eq!(response.headers()["content-type"], "application/json");
            assert_eq!(response.body().size_hint().exact(), Some(answer.to_string().len() as u64));
            assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), answer.to_string());
            assert_eq!(outbox.lock().bytes, 0);
        }
        assert!(outbox.lock().answers.is_empty());
    }

    #[tokio::test]
    async fn who_reads_slowly_loses_when_there_is_no_room() {
        let (outbox, start) = (Outbox::default(), Instant::now());
        let later = start + SLOW_AFTER;
        let third = MAX_BYTES / 3;
        let mut small = parcel(&outbox, "few", 2 * SMALL, start);
        let mut slow: Vec<_> = (0..4).map(|_| parcel(&outbox, "many", third, start)).collect();
        assert!(outbox.lock().bytes > MAX_BYTES, "no client is slow yet");
        let mut new = parcel(&outbox, "many", third, later);
        assert!(outbox.lock().bytes <= MAX_BYTES);
        for lost in &mut slow[..2] {
            assert!(lost.frame().await.unwrap().is_err());
        }
        for kept in [&mut small, &mut new] {
            assert!(kept.frame().await.unwrap().is_ok());
        }
        drop((small, slow, new));
        assert_eq!(outbox.lock().bytes, 0);
    }
}
