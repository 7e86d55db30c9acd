//! Response bodies: fixed bytes, or generated while sending, so that gigabytes need no memory.

use std::io::{self, Write};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc;

/// Size of the pieces that are generated and compressed.
const PIECE: usize = 64 * 1024;

/// A response body.
#[derive(Debug, Clone)]
pub enum Body {
    /// Exactly these bytes.
    Bytes(Bytes),
    /// `prefix`, then `unit` repeated up to `bytes` bytes (`None`: without end), then `suffix`.
    Repeat {
        /// Beginning of the body.
        prefix: Bytes,
        /// Repeated bytes; the last repetition may be truncated.
        unit: Bytes,
        /// Total size of the repetitions; `None` for an endless body.
        bytes: Option<u64>,
        /// End of the body.
        suffix: Bytes,
    },
    /// Zero bytes, compressed by the codings in order.
    Zeros {
        /// Length before compression.
        bytes: u64,
        /// Codings in the order in which they are applied.
        encodings: Vec<Encoding>,
    },
    /// Single bytes without end.
    Drip {
        /// Pause between two bytes.
        every: Duration,
    },
    /// Pieces with a pause before each, such as an event stream or a slow page.
    Steps {
        /// Pieces with the pause before each.
        steps: Vec<(Duration, Bytes)>,
        /// Piece repeated until the client disconnects; `None` for a finite body.
        then: Option<(Duration, Bytes)>,
    },
}

/// A content coding (RFC 9110 section 8.4.1, RFC 7932, RFC 8878).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// gzip.
    Gzip,
    /// zlib, which HTTP calls deflate.
    Deflate,
    /// Brotli.
    Br,
    /// Zstandard.
    Zstd,
}

impl Body {
    /// Creates a body of `unit` repeated `count` times between `prefix` and `suffix`.
    #[must_use]
    pub fn repeat(prefix: &str, unit: &str, count: u64, suffix: &str) -> Self {
        let [prefix, unit, suffix] = [prefix, unit, suffix].map(|text| Bytes::copy_from_slice(text.as_bytes()));
        let bytes = Some(count * unit.len() as u64);
        Self::Repeat { prefix, unit, bytes, suffix }
    }

    /// Returns the length, if it is known in advance.
    #[must_use]
    pub fn length(&self) -> Option<u64> {
        match self {
            Self::Bytes(bytes) => Some(bytes.len() as u64),
            Self::Repeat { prefix, bytes, suffix, .. } => bytes.map(|n| n + (prefix.len() + suffix.len()) as u64),
            Self::Zeros { bytes, encodings } if encodings.is_empty() => Some(*bytes),
            Self::Zeros { .. } | Self::Drip { .. } | Self::Steps { .. } => None,
        }
    }

    /// Returns the pieces of the body, generated on demand until the receiver is dropped.
    pub fn pieces(self) -> mpsc::Receiver<Bytes> {
        let (sender, receiver) = mpsc::channel(4);
        match self {
            Self::Bytes(bytes) => {
                tokio::spawn(async move { sender.send(bytes).await });
            }
            Self::Drip { every } => {
                let byte = Bytes::from_static(b".");
                tokio::spawn(step_by_step(sender, vec![(Duration::ZERO, byte.clone())], Some((every, byte))));
            }
            Self::Steps { steps, then } => {
                tokio::spawn(step_by_step(sender, steps, then));
            }
            made => {
                tokio::task::spawn_blocking(move || made.write_to(Pieces(sender)));
            }
        }
        receiver
    }

    fn write_to(self, mut out: Pieces) -> io::Result<()> {
        match self {
            Self::Repeat { prefix, unit, bytes, suffix } => {
                out.write_all(&prefix)?;
                write_units(&mut out, &unit, bytes)?;
                out.write_all(&suffix)
            }
            Self::Zeros { bytes, encodings } => {
                let mut encoder: Box<dyn Finish> = Box::new(out);
                for encoding in encodings.into_iter().rev() {
                    encoder = encoding.encoder(encoder)?;
                }
                write_units(&mut encoder, &[0], Some(bytes))?;
                encoder.finish()
            }
            Self::Bytes(_) | Self::Drip { .. } | Self::Steps { .. } => Ok(()),
        }
    }
}

impl Default for Body {
    fn default() -> Self {
        Self::Bytes(Bytes::new())
    }
}

impl<T: Into<Bytes>> From<T> for Body {
    fn from(bytes: T) -> Self {
        Self::Bytes(bytes.into())
    }
}

async fn step_by_step(sender: mpsc::Sender<Bytes>, steps: Vec<(Duration, Bytes)>, then: Option<(Duration, Bytes)>) {
    for (pause, piece) in steps.into_iter().chain(std::iter::repeat_with(|| then.clone()).map_while(|step| step)) {
        // Ends at once when the client disconnects during a pause.
        tokio::select! {
            () = sender.closed() => return,
            () = tokio::time::sleep(pause) => {}
        }
        if sender.send(piece).await.is_err() {
            return;
        }
    }
}

fn write_units(out: &mut dyn Write, unit: &[u8], bytes: Option<u64>) -> io::Result<()> {
    let block = unit.repeat((PIECE / unit.len().max(1)).max(1));
    let mut left = bytes.unwrap_or(u64::MAX);
    while left > 0 && !block.is_empty() {
        let take = usize::try_from(left).unwrap_or(usize::MAX).min(block.len());
        out.write_all(&block[..take])?;
        left -= take as u64;
    }
    Ok(())
}

/// The sending end as a writer for a blocking thread.
struct Pieces(mpsc::Sender<Bytes>);

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let piece = Bytes::copy_from_slice(bytes);
        self.0.blocking_send(piece).map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A writer with a trailer that must be written at the end.
trait Finish: Write {
    fn finish(self: Box<Self>) -> io::Result<()>;
}

impl Finish for Pieces {
    fn finish(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

impl Finish for flate2::write::GzEncoder<Box<dyn Finish>> {
    fn finish(self: Box<Self>) -> io::Result<()> {
        (*self).finish()?.finish()
    }
}

impl Finish for flate2::write::ZlibEncoder<Box<dyn Finish>> {
    fn finish(self: Box<Self>) -> io::Result<()> {
        (*self).finish()?.finish()
    }
}

impl Finish for zstd::stream::write::Encoder<'static, Box<dyn Finish>> {
    fn finish(self: Box<Self>) -> io::Result<()> {
        (*self).finish()?.finish()
    }
}

impl Finish for brotli::CompressorWriter<Box<dyn Finish>> {
    fn finish(self: Box<Self>) -> io::Result<()> {
        self.into_inner().finish()
    }
}

impl Encoding {
    fn encoder(self, to: Box<dyn Finish>) -> io::Result<Box<dyn Finish>> {
        let level = flate2::Compression::best();
        Ok(match self {
            Self::Gzip => Box::new(flate2::write::GzEncoder::new(to, level)),
            Self::Deflate => Box::new(flate2::write::ZlibEncoder::new(to, level)),
            Self::Br => Box::new(brotli::CompressorWriter::new(to, 4096, 5, 22)),
            Self::Zstd => Box::new(zstd::stream::write::Encoder::new(to, 3)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    async fn whole(body: Body) -> Vec<u8> {
        let (mut pieces, mut out) = (body.pieces(), Vec::new());
        while let Some(piece) = pieces.recv().await {
            out.extend_from_slice(&piece);
        }
        out
    }

    fn decode(bytes: &[u8], encoding: Encoding) -> Vec<u8> {
        let mut out = Vec::new();
        match encoding {
            Encoding::Gzip => flate2::read::GzDecoder::new(bytes).read_to_end(&mut out),
            Encoding::Deflate => flate2::read::ZlibDecoder::new(bytes).read_to_end(&mut out),
            Encoding::Br => brotli::Decompressor::new(bytes, 4096).read_to_end(&mut out),
            Encoding::Zstd => zstd::stream::read::Decoder::new(bytes).unwrap().read_to_end(&mut out),
        }
        .unwrap();
        out
    }

    #[tokio::test]
    async fn repeats_between_prefix_and_suffix() {
        let body = Body::repeat("<p ", "a=1 ", 3, ">");
        assert_eq!(body.length(), Some(16));
        assert_eq!(whole(body).await, b"<p a=1 a=1 a=1 >");
        let cut = Body::Repeat { prefix: Bytes::new(), unit: "abc".into(), bytes: Some(5), suffix: Bytes::new() };
        assert_eq!(whole(cut).await, b"abcab");
    }

    #[tokio::test]
    async fn steps_come_in_their_time_and_the_last_one_again_and_again() {
        let step = |ms, text: &'static str| (Duration::from_millis(ms), Bytes::from_static(text.as_bytes()));
        let started = std::time::Instant::now();
        let body = Body::Steps { steps: vec![step(0, "a"), step(30, "b")], then: None };
        assert_eq!((body.length(), whole(body).await.as_slice()), (None, b"ab".as_slice()));
        assert!(started.elapsed() >= Duration::from_millis(30));
        let mut pieces = Body::Steps { steps: vec![step(0, "a")], then: Some(step(1, "z")) }.pieces();
        for expect in ["a", "z", "z", "z"] {
            assert_eq!(pieces.recv().await.unwrap(), expect);
        }
    }

    #[tokio::test]
    async fn zeros_come_back_from_every_coding() {
        for encoding in [Encoding::Gzip, Encoding::Deflate, Encoding::Br, Encoding::Zstd] {
            let packed = whole(Body::Zeros { bytes: 1_000_000, encodings: vec![encoding] }).await;
            assert!(packed.len() < 10_000, "{encoding:?} made {}", packed.len());
            assert_eq!(decode(&packed, encoding), vec![0; 1_000_000], "{encoding:?}");
        }
    }

    #[tokio::test]
    async fn codings_nest() {
        let packed = whole(Body::Zeros { bytes: 100_000, encodings: vec![Encoding::Gzip; 3] }).await;
        let inner = decode(&decode(&decode(&packed, Encoding::Gzip), Encoding::Gzip), Encoding::Gzip);
        assert_eq!(inner, vec![0; 100_000]);
    }

    #[tokio::test]
    async fn an_endless_body_stops_when_nobody_reads() {
        let unit = Bytes::from_static(b"x");
        let body = Body::Repeat { prefix: Bytes::new(), unit, bytes: None, suffix: Bytes::new() };
        assert_eq!(body.length(), None);
        let mut pieces = body.pieces();
        assert!(pieces.recv().await.is_some_and(|piece| piece.iter().all(|byte| *byte == b'x')));
    }
}
