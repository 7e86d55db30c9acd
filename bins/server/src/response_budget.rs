//! Memory limit for large results: only a few are in memory at a time, and each is freed piece by piece as the client reads
//! it, so that slow readers cost little.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use hyper::body::{Frame, SizeHint};
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::time::{Instant, timeout};
use wire::{Code, JobProgress};

use crate::error::Failure;
use crate::shares::{Share, Shares};

/// Number of results in memory for all readers together, about 10 MB each.
const AT_ONCE: usize = 16;
/// Number of results in memory of one reader, so that a slow reader delays only itself.
const OF_ONE: usize = 4;
/// Longest wait for a permit.
const PATIENCE: Duration = Duration::from_secs(10);
/// Size up to which results are sent without holding a permit.
const SMALL: usize = 256 * 1024;
/// Size of the pieces given to the connection.
const PIECE: usize = 64 * 1024;
/// Timeout for sending a larger result, plus one second for each [`BYTES_PER_SECOND`]. Slower readers are disconnected.
const TIME: Duration = Duration::from_secs(60);
/// Minimum rate of readers after [`TIME`].
const BYTES_PER_SECOND: usize = 32 * 1024;

/// Permits for results in memory.
#[derive(Debug)]
pub(crate) struct ResponseBudget(Shares);

/// Permit for one result in memory.
pub(crate) type Permit = Share;

impl Default for ResponseBudget {
    fn default() -> Self {
        Self(Shares::new(AT_ONCE, OF_ONE))
    }
}

impl ResponseBudget {
    /// Waits for a permit for this reader, at most for [`PATIENCE`].
    pub(crate) async fn permit(&self, reader: &str) -> Result<Permit, Failure> {
        let why = "too many large results are being read at the moment, try again later";
        let refused = |_| Failure::new(Code::ConcurrencyLimited, why).retry_after(2);
        timeout(PATIENCE, self.wait(reader)).await.map_err(refused)
    }

    /// Waits for a permit without a timeout, for watchers.
    pub(crate) async fn wait(&self, reader: &str) -> Permit {
        self.0.wait(reader).await
    }
}

/// Returns an answer serialised as one text, which holds the permit until it is sent.
pub(crate) fn whole(answer: &impl Serialize, permit: Permit) -> Response {
    match serde_json::to_vec(answer) {
        Ok(text) => respond(VecDeque::from([Bytes::from(text)]), permit),
        Err(error) => Failure::internal(&error).into_response(),
    }
}

/// Returns the answer with a job's documents, which are sent without being copied into one text.
pub(crate) fn answer(mut progress: JobProgress, permit: Permit) -> Response {
    let documents = std::mem::take(&mut progress.data);
    let Some(parts) = parts(&progress, documents) else {
        return Failure::new(Code::UnknownError, "unexpected error").into_response();
    };
    respond(parts, permit)
}

fn respond(parts: VecDeque<Bytes>, permit: Permit) -> Response {
    let left: usize = parts.iter().map(Bytes::len).sum();
    let permit = (left > SMALL).then_some(permit);
    let seconds = u64::try_from(left / BYTES_PER_SECOND).unwrap_or(u64::MAX);
    let until = Instant::now() + TIME + Duration::from_secs(seconds);
    let mut response = Body::new(Pieces { parts, left, permit, until }).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Returns the pieces of the answer. `data` is the last member and empty in `progress`: documents go before the final `]}`.
fn parts(progress: &JobProgress, documents: Vec<Box<RawValue>>) -> Option<VecDeque<Bytes>> {
    const END: &str = "]}";
    let mut head = serde_json::to_string(progress).ok()?;
    head.truncate(head.strip_suffix(END)?.len());
    let mut parts = VecDeque::from([Bytes::from(head)]);
    for (index, document) in documents.into_iter().enumerate() {
        if index > 0 {
            parts.push_back(Bytes::from_static(b","));
        }
        parts.push_back(Bytes::from(String::from(Box::<str>::from(document))));
    }
    parts.push_back(Bytes::from_static(END.as_bytes()));
    Some(parts)
}

/// A body read piece by piece, which releases its permit with the last piece.
struct Pieces {
    parts: VecDeque<Bytes>,
    left: usize,
    permit: Option<Permit>,
    /// Deadline for reading the whole body.
    until: Instant,
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.permit.is_some() && Instant::now() > self.until {
            self.parts.clear();
            self.permit = None;
            return Poll::Ready(Some(Err(io::Error::new(io::ErrorKind::TimedOut, "the client reads too slowly"))));
        }
        let Some(mut part) = self.parts.pop_front() else {
            return Poll::Ready(None);
        };
        let piece = part.split_to(part.len().min(PIECE));
        if !part.is_empty() {
            self.parts.push_front(part);
        }
        self.left -= piece.len();
        if self.left == 0 {
            self.permit = None;
        }
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.parts.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left as u64)
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;
    use serde_json::Value;
    use wire::JobStatus;

    use super::*;

    fn progress(documents: &[&str]) -> JobProgress {
        let time = base::Timestamp::UNIX_EPOCH;
        let raw = |text: &&str| RawValue::from_string((*text).to_owned()).unwrap();
        JobProgress {
            success: true,
            status: JobStatus::Completed,
            total: 1,
            completed: 1,
            credits_used: 1,
            created_at: time,
            completed_at: None,
            duration: 0,
            expires_at: time,
            next: Some("http://a.test/x?skip=1".to_owned()),
            warning: None,
            error: None,
            data: documents.iter().map(raw).collect(),
        }
    }

    #[tokio::test]
    async fn the_text_is_that_of_the_whole() {
        let large = format!("{{\"markdown\":\"{}\"}}", "x".repeat(3 * PIECE));
        for documents in [&[][..], &["{\"a\":1}"], &["{\"a\":1}", "{}", &large]] {
            let budget = ResponseBudget::default();
            let whole = serde_json::to_value(progress(documents)).unwrap();
            let answer = answer(progress(documents), budget.permit("a").await.unwrap());
            assert_eq!(answer.headers()["content-type"], "application/json");
            let length = answer.body().size_hint().exact().unwrap();
            let text = answer.into_body().collect().await.unwrap().to_bytes();
            assert_eq!(text.len() as u64, length);
            assert_eq!(serde_json::from_slice::<Value>(&text).unwrap(), whole);
        }
    }

    #[tokio::test]
    async fn one_who_reads_slowly_stands_in_nobodys_way() {
        let budget = ResponseBudget::default();
        let free = async |reader: &str| timeout(Duration::from_millis(20), budget.wait(reader)).await.is_ok();
        let large = format!("\"{}\"", "x".repeat(SMALL));
        let mut slow = Vec::new();
        for _ in 0..OF_ONE {
            slow.push(answer(progress(&[&large]), budget.permit("slow").await.unwrap()).into_body());
        }
        assert!(!free("slow").await);
        assert!(free("other").await);
        // The permit is released with the last piece, or with the connection.
        let first = slow.pop().unwrap();
        first.collect().await.unwrap();
        assert!(free("slow").await);
        drop(slow);
        let mut small = Vec::new();
        for _ in 0..OF_ONE {
            small.push(answer(progress(&["{}"]), budget.permit("slow").await.unwrap()).into_body());
        }
        assert!(free("slow").await, "small results take no permit");
    }

    #[tokio::test]
    async fn one_who_takes_too_long_is_cut() {
        let budget = ResponseBudget::default();
        let parts = VecDeque::from([Bytes::from(vec![b'x'; 3 * PIECE])]);
        let permit = Some(budget.permit("slow").await.unwrap());
        let mut body = Pieces { parts, left: 3 * PIECE, permit, until: Instant::now() + Duration::from_secs(60) };
        assert!(body.frame().await.unwrap().is_ok(), "there is time yet");
        body.until = Instant::now() - Duration::from_millis(1);
        assert!(body.frame().await.unwrap().is_err());
        assert!(body.frame().await.is_none() && body.permit.is_none());
    }
}
