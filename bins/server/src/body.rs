//! Request bodies with a byte limit, a timeout and, for uploads, a minimum rate.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, header};
use boot::config;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use tokio::time::{Instant, timeout_at};
use wire::Code;

use crate::error::Failure;
use crate::shares::Shares;

/// Size up to which bodies are read without a permit.
const SMALL: usize = 64 * 1024;
/// Number of larger bodies that are read at the same time: bounds the memory of all bodies together.
const LARGE_AT_ONCE: usize = 16;
/// Number of large bodies of one caller at the same time, so that a slow sender does not block the others.
const LARGE_OF_ONE: usize = 4;
/// Time limit for discarding the rest of a body that is too large ([`discard`]).
const DISCARD_FOR: Duration = Duration::from_secs(5);
/// Byte limit for discarding the rest of a body that is too large.
const DISCARD_BYTES: usize = 128 * 1024 * 1024;

/// Number of concurrent uploads, in total and of one caller.
const UPLOADS_AT_ONCE: usize = 4;
const UPLOADS_OF_ONE: usize = 2;

/// Returns the permits for concurrent uploads.
pub(crate) fn uploads() -> Shares {
    Shares::new(UPLOADS_AT_ONCE, UPLOADS_OF_ONE)
}

/// Returns the permits for large bodies that are read at the same time.
pub(crate) fn large_bodies() -> Shares {
    Shares::new(LARGE_AT_ONCE, LARGE_OF_ONE)
}

/// Limits of one request body.
pub(crate) struct BodyLimits<'a> {
    pub(crate) bytes: usize,
    /// Deadline for the whole body.
    pub(crate) until: Instant,
    pub(crate) large: &'a Shares,
    /// The sender, to whom permits are counted.
    pub(crate) owner: &'a str,
    /// Minimum rate, if any.
    pub(crate) pace: Option<UploadRate>,
}

/// Minimum rate of a body, so that a slow or stalled sender releases its permit soon.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UploadRate {
    kib_per_s: u32,
    /// Longest time that a sender may be behind the rate.
    grace: Duration,
}

impl UploadRate {
    /// Returns the minimum rate of uploads; `None` when `server.upload_min_kib_per_s` is 0.
    pub(crate) fn of_uploads(settings: &config::Server) -> Option<Self> {
        let kib_per_s = settings.upload_min_kib_per_s;
        (kib_per_s > 0).then_some(Self { kib_per_s, grace: settings.upload_grace })
    }

    /// Returns the next deadline after `bytes` more have arrived by `now`. It is at most `grace` from now, so that a fast
    /// start does not pay for a long stall.
    fn next(self, due: Instant, now: Instant, bytes: usize) -> Instant {
        let earned = Duration::from_secs_f64(bytes as f64 / (f64::from(self.kib_per_s) * 1024.0));
        (due + earned).min(now + self.grace)
    }

    fn refusal(self, bytes: usize) -> Failure {
        let Self { kib_per_s, grace } = self;
        let why = format!(
            "the upload is too slow: {} KiB so far; server.upload_min_kib_per_s requires {kib_per_s} KiB per second after \
             the first {} s",
            bytes / 1024,
            grace.as_secs()
        );
        Failure::new(Code::UploadTooSlow, why)
    }
}

impl BodyLimits<'_> {
    /// Reads the whole body.
    pub(crate) async fn read(&self, headers: &HeaderMap, mut body: Body) -> Result<Bytes, Failure> {
        let announced = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
        if announced.is_some_and(|length| length > self.bytes as u64) {
            // A client that waits for 100 Continue has sent no body to discard.
            if !headers.contains_key(header::EXPECT) {
                discard(body).await;
            }
            return Err(self.too_large());
        }
        let mut read = BytesMut::new();
        let mut permit = None;
        let mut due = self.pace.map(|pace| Instant::now() + pace.grace);
        while let Some(chunk) = self.chunk_of(&mut body, due, read.len()).await? {
            if read.len() + chunk.len() > self.bytes {
                read = BytesMut::new();
                drop((chunk, read, permit));
                discard(body).await;
                return Err(self.too_large());
            }
            if read.len() + chunk.len() > SMALL && permit.is_none() {
                let waits = Instant::now();
                permit = Some(timeout_at(self.until, self.large.wait(self.owner)).await.map_err(|_| Self::no_place())?);
                // The sender was not read from during the wait, so the wait does not count against its rate.
                due = due.map(|due| due + waits.elapsed());
            }
            due = self.pace.zip(due).map(|(pace, due)| pace.next(due, Instant::now(), chunk.len()));
            read.extend_from_slice(&chunk);
        }
        Ok(read.freeze())
    }

    /// Reads the next chunk, which must arrive by `due`; `None` at the end. `bytes` have arrived so far.
    async fn chunk_of(&self, body: &mut Body, due: Option<Instant>, bytes: usize) -> Result<Option<Bytes>, Failure> {
        match self.pace.zip(due.filter(|due| *due < self.until)) {
            Some((pace, due)) => timeout_at(due, self.chunk(body)).await.unwrap_or_else(|_| Err(pace.refusal(bytes))),
            None => self.chunk(body).await,
        }
    }

    /// Reads the next chunk; `None` at the end of the body.
    pub(crate) async fn chunk(&self, body: &mut Body) -> Result<Option<Bytes>, Failure> {
        loop {
            match timeout_at(self.until, body.frame()).await {
                Ok(Some(Ok(frame))) => {
                    if let Ok(data) = frame.into_data() {
                        return Ok(Some(data));
                    }
                }
                Ok(None) => return Ok(None),
                Ok(Some(Err(_))) => return Err(Failure::new(Code::BadRequest, "the request body is incomplete")),
                Err(_) => return Err(self.too_slow()),
            }
        }
    }

    pub(crate) fn too_large(&self) -> Failure {
        let mib = self.bytes / (1024 * 1024);
        Failure::new(Code::PayloadTooLarge, format!("the request body is larger than {mib} MiB"))
    }

    fn no_place() -> Failure {
        let why = "too many large request bodies are being received, try again later";
        Failure::new(Code::ConcurrencyLimited, why).retry_after(2)
    }

    pub(crate) fn too_slow(&self) -> Failure {
        Failure::new(Code::BadRequest, "the request body took too long to arrive")
    }
}

/// Reads and discards the rest of a body. Closing a connection with unread bytes resets it, and the reset can reach the
/// client before the answer.
pub(crate) async fn discard(mut body: Body) {
    let until = Instant::now() + DISCARD_FOR;
    let mut left = DISCARD_BYTES;
    while let Ok(Some(Ok(frame))) = timeout_at(until, body.frame()).await {
        let length = frame.data_ref().map_or(0, Bytes::len);
        let Some(rest) = left.checked_sub(length) else { return };
        left = rest;
    }
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse as _;
    use futures_util::stream;

    use super::*;

    async fn read(limit: usize, chunks: Vec<&'static [u8]>, large: &Shares) -> Result<usize, u16> {
        let limits = BodyLimits {
            bytes: limit,
            until: Instant::now() + Duration::from_millis(50),
            large,
            owner: "a",
            pace: None,
        };
        let frames = chunks.into_iter().map(Ok::<_, std::io::Error>);
        let body = Body::from_stream(stream::iter(frames));
        let read = limits.read(&HeaderMap::new(), body).await;
        read.map(|bytes| bytes.len()).map_err(|failure| failure.into_response().status().as_u16())
    }

    #[tokio::test]
    async fn bodies_are_bounded() {
        let large = Shares::new(2, 1);
        assert_eq!(read(10, vec![b"12345", b"67890"], &large).await, Ok(10));
        assert_eq!(read(10, vec![b"12345", b"678901"], &large).await, Err(413));
        static CHUNK: [u8; SMALL] = [0; SMALL];
        assert_eq!(read(SMALL * 2, vec![&CHUNK, &CHUNK], &large).await, Ok(SMALL * 2));
        let other = large.wait("b").await;
        assert_eq!(read(SMALL * 2, vec![&CHUNK, &CHUNK], &large).await, Ok(SMALL * 2), "another's slow body");
        drop(other);
        let _taken = large.wait("a").await;
        assert_eq!(read(SMALL * 2, vec![&CHUNK], &large).await, Ok(SMALL));
        assert_eq!(read(SMALL * 2, vec![&CHUNK, &CHUNK], &large).await, Err(429));
    }

    #[test]
    fn a_body_is_due_by_its_bytes() {
        let (pace, began) = (UploadRate { kib_per_s: 16, grace: Duration::from_secs(10) }, Instant::now());
        let after = |seconds| began + Duration::from_secs(seconds);
        assert_eq!(pace.next(after(10), after(4), 16 << 10), after(11), "a second's worth of bytes");
        assert_eq!(pace.next(after(10), after(4), 160 << 10), after(14), "no further away than the grace time");
        let none = config::Server { upload_min_kib_per_s: 0, ..config::Config::default().server };
        assert!(UploadRate::of_uploads(&none).is_none());
    }

    #[tokio::test]
    async fn a_file_that_stops_is_ended() {
        let large = Shares::new(1, 1);
        // So slow a rate would give 160 s for the first chunk.
        let pace = Some(UploadRate { kib_per_s: 1, grace: Duration::from_millis(10) });
        let until = Instant::now() + Duration::from_secs(300);
        let limits = BodyLimits { bytes: 1 << 20, until, large: &large, owner: "a", pace };
        let first = || stream::iter([Ok::<_, std::io::Error>(vec![0_u8; 160 * 1024])]);
        let whole = limits.read(&HeaderMap::new(), Body::from_stream(first())).await;
        assert_eq!(whole.unwrap().len(), 160 * 1024);
        let stops = Body::from_stream(futures_util::StreamExt::chain(first(), stream::pending()));
        let refused = limits.read(&HeaderMap::new(), stops).await.unwrap_err();
        let text = refused.to_string();
        assert!(text.starts_with("UPLOAD_TOO_SLOW: the upload is too slow: 160 KiB so far; server."), "{text}");
        assert_eq!(refused.into_response().status().as_u16(), 408);
        assert!(large.get("a").is_some(), "the place is free again");
    }

    #[tokio::test]
    async fn a_body_that_is_announced_too_large_is_not_kept() {
        let large = Shares::new(1, 1);
        let until = Instant::now() + Duration::from_secs(5);
        let limits = BodyLimits { bytes: 10, until, large: &large, owner: "a", pace: None };
        let headers = [(header::CONTENT_LENGTH, "11".parse().unwrap())].into_iter().collect();
        let failure = limits.read(&headers, Body::from("12345678901")).await.unwrap_err();
        assert_eq!(failure.into_response().status(), 413);
    }
}
