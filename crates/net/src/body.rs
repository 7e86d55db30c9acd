//! Reading of bodies with limits on raw size, decoded size, compression ratio and codings. Decompression bombs are stopped
//! while they stream.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_util::StreamExt;
use http_body_util::BodyExt;
use parking_lot::Mutex;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader, ReadBuf};
use tokio_util::io::StreamReader;

use crate::coding::{Coding, Reader, decoder};
use crate::config::Limits;
use crate::error::{Error, chain};
use crate::in_flight::Room;

/// Decoded size from which the compression ratio is checked; small bodies may compress extremely well.
const RATIO_FROM: u64 = 1 << 20;
/// Buffer size for decoding.
const STEP: usize = 64 << 10;

/// Error while reading a body.
#[derive(Debug)]
pub(crate) enum BodyError {
    TooLarge { what: &'static str, limit: u64 },
    Broken(String),
}

impl BodyError {
    /// Converts it into the error of a request to `host`.
    pub(crate) fn at(self, host: &str) -> Error {
        match self {
            Self::TooLarge { what, limit } => Error::TooLarge { what, limit },
            Self::Broken(reason) => Error::Protocol { host: host.to_owned(), reason },
        }
    }
}

/// Reads a body to its end and decodes `codings`, the last one first. Waits when the memory budget (`room`) is used up.
///
/// # Errors
/// `TooLarge` at the first byte over a limit; `Broken` when the body was cut short or cannot be decoded.
pub(crate) async fn read_decoded<B>(
    body: B,
    codings: &[Coding],
    limits: &Limits,
    room: &Room,
) -> Result<Bytes, BodyError>
where
    B: http_body::Body<Data = Bytes> + Send + Unpin,
    B::Error: std::error::Error + Send + Sync + 'static,
{
    if body.size_hint().lower() > limits.body_raw {
        return Err(BodyError::TooLarge { what: "raw body", limit: limits.body_raw });
    }
    let seen = Arc::default();
    let mut raw = counted(body, &seen, limits.body_raw);
    let decoded = decode(Box::pin(&mut raw), codings, &seen, limits, room).await;
    // A decoder stops at the end of its format; the rest of the body must still arrive completely.
    match decoded {
        Ok(bytes) => drain(&mut raw).await.map(|()| bytes),
        Err(error) => Err(error),
    }
    .map_err(|error| explain(&error))
}

/// A body that is read and decoded in pieces.
pub(crate) struct Pieces {
    reader: Reader<'static>,
    /// Body before decoding.
    raw: Shared,
    /// Bytes returned so far, and their limit.
    passed: u64,
    limit: u64,
}

/// Starts reading a body and decoding `codings`, the last one first.
///
/// # Errors
/// `Broken` when the beginning cannot be decoded.
pub(crate) async fn pieces<B>(body: B, codings: &[Coding], limits: &Limits) -> Result<Pieces, BodyError>
where
    B: http_body::Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: std::error::Error + Send + Sync + 'static,
{
    let seen = Arc::default();
    let raw = Shared(Arc::new(Mutex::new(Box::pin(counted(body, &seen, limits.body_raw)))));
    let reader = Box::pin(BufReader::with_capacity(STEP, raw.clone()));
    let reader = decoded(reader, codings, &seen, limits).await.map_err(|error| explain(&error))?;
    Ok(Pieces { reader, raw, passed: 0, limit: limits.body_decoded })
}

impl Pieces {
    /// Returns the next piece, of at most 64 KiB or as received; `None` at the end.
    ///
    /// # Errors
    /// Those of [`read_decoded`].
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
        let piece = self.reader.fill_buf().await.map(Bytes::copy_from_slice).map_err(|error| explain(&error))?;
        self.reader.consume(piece.len());
        self.passed += piece.len() as u64;
        if self.passed > self.limit {
            return Err(BodyError::TooLarge { what: "decoded body", limit: self.limit });
        }
        Ok(Some(piece).filter(|piece| !piece.is_empty()))
    }

    /// Reads the rest after the end of the decoded body, so that the connection can be reused. Returns whether it ended.
    pub(crate) async fn drain(self) -> bool {
        let Self { reader, mut raw, .. } = self;
        drop(reader);
        let mut rest = [0; 1024];
        loop {
            match raw.read(&mut rest).await {
                Ok(0) => return true,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
    }
}

/// A shared reader that is still usable after the decoder on top of it has ended.
#[derive(Clone)]
struct Shared(Arc<Mutex<Reader<'static>>>);

impl AsyncRead for Shared {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.0.lock().as_mut().poll_read(cx, buf)
    }
}

/// Returns the raw bytes of a body, counted in `seen`, with an error at `limit`.
fn counted<B>(body: B, seen: &Arc<AtomicU64>, limit: u64) -> impl AsyncBufRead + Send + Unpin + use<B>
where
    B: http_body::Body<Data = Bytes> + Send + Unpin,
    B::Error: std::error::Error + Send + Sync + 'static,
{
    let count = Arc::clone(seen);
    StreamReader::new(body.into_data_stream().map(move |frame| {
        let frame = frame.map_err(io::Error::other)?;
        let total = count.fetch_add(frame.len() as u64, Ordering::Relaxed) + frame.len() as u64;
        if total > limit { Err(exceeded("raw body", limit)) } else { Ok(frame) }
    }))
}

/// Chains a decoder for every coding after the raw bytes.
async fn decoded<'a>(
    mut reader: Reader<'a>,
    codings: &[Coding],
    seen: &Arc<AtomicU64>,
    limits: &Limits,
) -> io::Result<Reader<'a>> {
    // An empty body needs no decoding, even if the header names a coding: answers to HEAD, 204, 304.
    if !codings.is_empty() && reader.fill_buf().await?.is_empty() {
        return Ok(reader);
    }
    for coding in codings.iter().rev() {
        // Every layer is metered. Otherwise a bomb in an inner layer could shrink again in an outer one and use CPU unseen.
        let inner = decoder(*coding, reader).await?;
        let (limit, raw) = (limits.body_decoded, Arc::clone(seen));
        let metered = MeteredReader { inner, passed: 0, limit, ratio: limits.ratio, raw };
        reader = Box::pin(BufReader::with_capacity(STEP, metered));
    }
    Ok(reader)
}

async fn decode(
    reader: Reader<'_>,
    codings: &[Coding],
    seen: &Arc<AtomicU64>,
    limits: &Limits,
    room: &Room,
) -> io::Result<Bytes> {
    let mut reader = decoded(reader, codings, seen, limits).await?;
    let mut out = Vec::new();
    loop {
        if out.capacity() - out.len() < STEP / 2 {
            room.grow((out.len() + STEP) as u64).await;
            out.reserve(STEP);
        }
        let before = out.len();
        if reader.read_buf(&mut out).await? == 0 {
            return Ok(Bytes::from(out));
        }
        if codings.is_empty() && out.len() as u64 > limits.body_decoded {
            return Err(exceeded("decoded body", limits.body_decoded));
        }
        // Decoding is CPU-bound and never awaits: yield once per MiB for the deadline and other tasks.
        if out.len() / (1 << 20) != before / (1 << 20) {
            tokio::task::yield_now().await;
        }
    }
}

async fn drain<R: tokio::io::AsyncBufRead + Unpin>(raw: &mut R) -> io::Result<()> {
    loop {
        let length = raw.fill_buf().await?.len();
        if length == 0 {
            return Ok(());
        }
        raw.consume(length);
    }
}

/// A reader that counts bytes and fails at the limits.
struct MeteredReader<R> {
    inner: R,
    passed: u64,
    limit: u64,
    ratio: u64,
    raw: Arc<AtomicU64>,
}

impl<R: AsyncRead + Unpin> AsyncRead for MeteredReader<R> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buf))?;
        self.passed += (buf.filled().len() - before) as u64;
        if self.passed > self.limit {
            return Poll::Ready(Err(exceeded("decoded body", self.limit)));
        }
        let raw = self.raw.load(Ordering::Relaxed);
        if self.passed > RATIO_FROM && self.passed > raw.saturating_mul(self.ratio) {
            return Poll::Ready(Err(exceeded("compression ratio", self.ratio)));
        }
        Poll::Ready(Ok(()))
    }
}

/// An exceeded limit, carried inside `io::Error`.
#[derive(Debug, thiserror::Error)]
#[error("{what} exceeds the limit of {limit}")]
struct Exceeded {
    what: &'static str,
    limit: u64,
}

fn exceeded(what: &'static str, limit: u64) -> io::Error {
    io::Error::other(Exceeded { what, limit })
}

fn explain(error: &io::Error) -> BodyError {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Exceeded>()) {
        Some(Exceeded { what, limit }) => BodyError::TooLarge { what, limit: *limit },
        None => BodyError::Broken(chain(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use async_compression::tokio::bufread as encode;
    use http_body_util::Full;

    async fn pack(plain: &[u8], codings: &[Coding]) -> Vec<u8> {
        let mut bytes = plain.to_vec();
        for coding in codings {
            let mut packed = Vec::new();
            let input = bytes.as_slice();
            match coding {
                Coding::Gzip => encode::GzipEncoder::new(input).read_to_end(&mut packed).await,
                Coding::Deflate => encode::ZlibEncoder::new(input).read_to_end(&mut packed).await,
                Coding::Brotli => encode::BrotliEncoder::new(input).read_to_end(&mut packed).await,
                Coding::Zstd => encode::ZstdEncoder::new(input).read_to_end(&mut packed).await,
            }
            .unwrap();
            bytes = packed;
        }
        bytes
    }

    async fn unpack(bytes: Vec<u8>, codings: &[Coding], limits: &Limits) -> Result<Bytes, Error> {
        read_decoded(Full::new(Bytes::from(bytes)), codings, limits, &Room::default())
            .await
            .map_err(|error| error.at("a.test"))
    }

    const ALL: [Coding; 4] = [Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd];

    #[tokio::test]
    async fn every_coding_and_every_pair_comes_back() {
        let plain: Vec<u8> =
            (0..200_000_u32).flat_map(|n| (n.wrapping_mul(2_654_435_761) >> 7).to_le_bytes()).collect();
        let limits = Limits::default();
        for first in ALL {
            assert_eq!(unpack(pack(&plain, &[first]).await, &[first], &limits).await.unwrap(), plain);
            for second in ALL {
                let codings = [first, second];
                assert_eq!(
                    unpack(pack(&plain[..9000], &codings).await, &codings, &limits).await.unwrap(),
                    plain[..9000]
                );
            }
        }
        assert_eq!(unpack(plain.clone(), &[], &limits).await.unwrap(), plain);
    }

    #[tokio::test]
    async fn bare_deflate_and_padding_are_read() {
        let mut bare = Vec::new();
        encode::DeflateEncoder::new(&b"hello hello"[..]).read_to_end(&mut bare).await.unwrap();
        assert_eq!(unpack(bare, &[Coding::Deflate], &Limits::default()).await.unwrap(), "hello hello");
        let mut padded = pack(b"hello", &[Coding::Gzip]).await;
        padded.extend([0; 100]);
        assert_eq!(unpack(padded, &[Coding::Gzip], &Limits::default()).await.unwrap(), "hello");
        assert_eq!(unpack(vec![], &[Coding::Brotli], &Limits::default()).await.unwrap(), "");
    }

    #[tokio::test]
    async fn cut_and_false_streams_are_errors() {
        let plain = vec![b'x'; 5000];
        for coding in ALL {
            let whole = pack(&plain, &[coding]).await;
            for cut in [1, whole.len() / 2, whole.len() - 1] {
                let result = unpack(whole[..cut].to_vec(), &[coding], &Limits::default()).await;
                assert!(matches!(result, Err(Error::Protocol { .. })), "{coding:?} {cut} {result:?}");
            }
            let result = unpack(b"<p>not packed at all</p>".to_vec(), &[coding], &Limits::default()).await;
            assert!(matches!(result, Err(Error::Protocol { .. })), "{coding:?} {result:?}");
        }
    }

    #[tokio::test]
    async fn bombs_are_cut_by_ratio_and_size() {
        let zeros = vec![0; 16 << 20];
        let tight = Limits { body_decoded: 2 << 20, ratio: u64::MAX, ..Limits::default() };
        for coding in ALL {
            let bomb = pack(&zeros, &[coding]).await;
            let too_large = |what, limit| Err(Error::TooLarge { what, limit });
            assert_eq!(unpack(bomb.clone(), &[coding], &Limits::default()).await, too_large("compression ratio", 200));
            assert_eq!(unpack(bomb.clone(), &[coding], &tight).await, too_large("decoded body", 2 << 20));
            let twice = pack(&bomb, &[Coding::Gzip]).await;
            let codings = [coding, Coding::Gzip];
            assert_eq!(unpack(twice, &codings, &Limits::default()).await, too_large("compression ratio", 200));
        }
        let small = Limits { body_raw: 100, ..Limits::default() };
        let result = unpack(vec![b'x'; 101], &[], &small).await;
        assert_eq!(result, Err(Error::TooLarge { what: "raw body", limit: 100 }));
    }

    #[tokio::test]
    async fn windows_are_bounded() {
        let wide = async_compression::zstd::CParameter::window_log(27);
        let mut packed = Vec::new();
        let plain = vec![b'x'; 100];
        let input = plain.as_slice();
        let mut encoder =
            encode::ZstdEncoder::with_quality_and_params(input, async_compression::Level::Default, &[wide]);
        encoder.read_to_end(&mut packed).await.unwrap();
        let result = unpack(packed, &[Coding::Zstd], &Limits::default()).await;
        assert!(matches!(result, Err(Error::Protocol { .. })), "{result:?}");
        // Large-window brotli: the marker, then a window of 30 bits.
        let result = unpack(vec![0x11, 0x1e, 0, 0], &[Coding::Brotli], &Limits::default()).await;
        assert!(matches!(result, Err(Error::Protocol { ref reason, .. }) if reason.contains("window")), "{result:?}");
    }
}
