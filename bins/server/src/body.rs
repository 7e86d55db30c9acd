//! Bodies of requests, bounded in size, in time and, for files, in how slowly they may come.

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

/// Bodies up to this size are read without a permit.
const SMALL: usize = 64 * 1024;
/// Larger bodies that are read at the same time: bounds the memory that all bodies together take.
const LARGE_AT_ONCE: usize = 16;
/// Most large bodies of one caller at a time, so that a slow sender does not block the others.
const LARGE_OF_ONE: usize = 4;
/// How long a body that is too large is read on, so that the client gets to see the answer.
const DISCARD_FOR: Duration = Duration::from_secs(5);
/// See [`DISCARD_FOR`].
const DISCARD_BYTES: usize = 128 * 1024 * 1024;

/// Files that are taken at the same time, and how many of them one caller may send.
const UPLOADS_AT_ONCE: usize = 4;
const UPLOADS_OF_ONE: usize = 2;

/// Bounds how many files are taken at the same time.
pub(crate) fn uploads() -> Shares {
    Shares::new(UPLOADS_AT_ONCE, UPLOADS_OF_ONE)
}

/// Bounds how many large bodies are read at the same time.
pub(crate) fn large_bodies() -> Shares {
    Shares::new(LARGE_AT_ONCE, LARGE_OF_ONE)
}

/// What a body may take.
pub(crate) struct BodyLimits<'a> {
    pub(crate) bytes: usize,
    /// When it must have arrived.
    pub(crate) until: Instant,
    pub(crate) large: &'a Shares,
    /// Who sends.
    pub(crate) owner: &'a str,
    /// How fast it must arrive, if that matters.
    pub(crate) pace: Option<Pace>,
}

/// The least speed of a body, so that one who sends slowly, or stops, does not keep its place for long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    kib_per_s: u32,
    /// How late it may be.
    grace: Duration,
}

impl Pace {
    /// The one of files that are sent to be read; none where the operator wants none.
    pub(crate) fn of_uploads(settings: &config::Server) -> Option<Self> {
        let kib_per_s = settings.upload_min_kib_per_s;
        (kib_per_s > 0).then_some(Self { kib_per_s, grace: settings.upload_grace })
    }

    /// The next deadline, after `bytes` more have arrived by `now`. Never later than the grace time from now, so that bytes
    /// that came early buy no time to stop.
    fn next(self, due: Instant, now: Instant, bytes: usize) -> Instant {
        let earned = Duration::from_secs_f64(bytes as f64 / (f64::from(self.kib_per_s) * 1024.0));
        (due + earned).min(now + self.grace)
    }

    fn refusal(self, bytes: usize) -> Failure {
        let Self { kib_per_s, grace } = self;
        let why = format!(
            "the file arrives too slowly: {} KiB so far, and server.upload_min_kib_per_s asks for {kib_per_s} KiB a second \
             after the first {} s",
            bytes / 1024,
            grace.as_secs()
        );
        Failure::new(Code::UploadTooSlow, why)
    }
}

impl BodyLimits<'_> {
    /// Reads all of it.
    pub(crate) async fn read(&self, headers: &HeaderMap, mut body: Body) -> Result<Bytes, Failure> {
        let announced = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
        if announced.is_some_and(|length| length > self.bytes as u64) {
            // A client that waits for 100 Continue has sent nothing that would be in the way of the answer.
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
                // Meanwhile nothing was taken from the sender.
                due = due.map(|due| due + waits.elapsed());
            }
            due = self.pace.zip(due).map(|(pace, due)| pace.next(due, Instant::now(), chunk.len()));
            read.extend_from_slice(&chunk);
        }
        Ok(read.freeze())
    }

    /// The next chunk of a body that has sent `bytes` bytes, which must come by `due`; `None` at its end.
    async fn chunk_of(&self, body: &mut Body, due: Option<Instant>, bytes: usize) -> Result<Option<Bytes>, Failure> {
        match self.pace.zip(due.filter(|due| *due < self.until)) {
            Some((pace, due)) => timeout_at(due, self.chunk(body)).await.unwrap_or_else(|_| Err(pace.refusal(bytes))),
            None => self.chunk(body).await,
        }
    }

    /// The next piece of it; `None` at its end.
    pub(crate) async fn chunk(&self, body: &mut Body) -> Result<Option<Bytes>, Failure> {
        loop {
            match timeout_at(self.until, body.frame()).await {
                Ok(Some(Ok(frame))) => {
                    if let Ok(data) = frame.into_data() {
                        return Ok(Some(data));
                    }
                }
                Ok(None) => return Ok(None),
                Ok(Some(Err(_))) => return Err(Failure::new(Code::BadRequest, "the body of the request broke off")),
                Err(_) => return Err(self.too_slow()),
            }
        }
    }

    pub(crate) fn too_large(&self) -> Failure {
        let mib = self.bytes / (1024 * 1024);
        Failure::new(Code::PayloadTooLarge, format!("the body of the request is larger than {mib} MiB"))
    }

    fn no_place() -> Failure {
        let why = "too many large bodies are on their way at the same moment, try again later";
        Failure::new(Code::ConcurrencyLimited, why).retry_after(2)
    }

    pub(crate) fn too_slow(&self) -> Failure {
        Failure::new(Code::BadRequest, "the body of the request took too long to arrive")
    }
}

/// Reads and forgets. A connection that is closed with unread bytes is reset, and the reset can overtake the answer.
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
        let (pace, began) = (Pace { kib_per_s: 16, grace: Duration::from_secs(10) }, Instant::now());
        let after = |seconds| began + Duration::from_secs(seconds);
        assert_eq!(pace.next(after(10), after(4), 16 << 10), after(11), "a second's worth of bytes");
        assert_eq!(pace.next(after(10), after(4), 160 << 10), after(14), "no further away than the grace time");
        let none = config::Server { upload_min_kib_per_s: 0, ..config::Config::default().server };
        assert!(Pace::of_uploads(&none).is_none());
    }

    #[tokio::test]
    async fn a_file_that_stops_is_ended() {
        let large = Shares::new(1, 1);
        // So slow a rate would give 160 s for the first chunk.
        let pace = Some(Pace { kib_per_s: 1, grace: Duration::from_millis(10) });
        let until = Instant::now() + Duration::from_secs(300);
        let limits = BodyLimits { bytes: 1 << 20, until, large: &large, owner: "a", pace };
        let first = || stream::iter([Ok::<_, std::io::Error>(vec![0_u8; 160 * 1024])]);
        let whole = limits.read(&HeaderMap::new(), Body::from_stream(first())).await;
        assert_eq!(whole.unwrap().len(), 160 * 1024);
        let stops = Body::from_stream(futures_util::StreamExt::chain(first(), stream::pending()));
        let refused = limits.read(&HeaderMap::new(), stops).await.unwrap_err();
        let text = refused.to_string();
        assert!(
            text.starts_with("UPLOAD_TOO_SLOW: the file arrives too slowly: 160 KiB so far, and server."),
            "{text}"
        );
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
