//! Content-addressed bodies: stored once under their SHA-256, compressed, and verified when they are read.

use std::fmt;
use std::io::Read;
use std::str::FromStr;

use aws_lc_rs::digest::{SHA256, digest};
use bytes::Bytes;

use crate::{BlobError, Blobs, compress};

/// SHA-256 of an uncompressed body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Returns the digest of `body`.
    #[must_use]
    pub fn of(body: &[u8]) -> Self {
        // Every body is hashed when it is stored and when it is read. On a processor without SHA-256 instructions,
        // aws-lc-rs takes half the time of a portable implementation, and TLS depends on it anyway.
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest(&SHA256, body).as_ref());
        Self(bytes)
    }

    /// Returns the key of the body. The first byte is a folder, so that no folder grows too large.
    fn key(self) -> String {
        let digits = self.to_string();
        format!("content/{}/{}.zst", &digits[..2], &digits[2..])
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl FromStr for Digest {
    type Err = BlobError;

    /// Parses the format of `Display`: 64 hexadecimal digits in lower case.
    fn from_str(text: &str) -> Result<Self, BlobError> {
        let mut bytes = [0; 32];
        let plain = !text.bytes().any(|c| c.is_ascii_uppercase());
        match hex::decode_to_slice(text, &mut bytes) {
            Ok(()) if plain => Ok(Self(bytes)),
            _ => Err(BlobError::Digest(text.to_owned())),
        }
    }
}

/// Size up to which hashing and decompressing take less time than waking a blocking thread.
const SMALL: usize = 256 * 1024;
/// Size up to which compressing, which takes several times as long, does.
const SMALL_TO_PACK: usize = 32 * 1024;
/// zstd level: the default takes twice as long and saves only a tenth more.
const LEVEL: i32 = 1;

/// Body with its digest.
#[derive(Debug, Clone)]
pub struct Hashed {
    digest: Digest,
    body: Bytes,
}

impl Hashed {
    /// Computes the digest of a body.
    pub async fn of(body: Bytes) -> Self {
        let digest = if body.len() <= SMALL {
            Digest::of(&body)
        } else {
            let source = body.clone();
            off_thread(move || Digest::of(&source)).await
        };
        Self { digest, body }
    }

    /// Returns the digest.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Stores the body and returns its digest. A body that exists already is not written again.
    ///
    /// # Errors
    /// [`BlobError::Store`] and [`BlobError::Codec`].
    pub async fn put(self, blobs: &Blobs) -> Result<Digest, BlobError> {
        let Self { digest, body } = self;
        let key = digest.key();
        if blobs.exists(&key).await? {
            return Ok(digest);
        }
        blobs.put(&key, pack(&digest, body).await?.into()).await?;
        Ok(digest)
    }

    /// Returns the compressed body, for callers that store it themselves; [`open`] reverses it.
    ///
    /// # Errors
    /// [`BlobError::Codec`].
    pub async fn pack(&self) -> Result<Vec<u8>, BlobError> {
        pack(&self.digest, self.body.clone()).await
    }
}

/// Returns the body with this digest, or `None` if it does not exist.
///
/// A corrupt body, whose digest does not match any more (torn write, bad disk), is removed and counts as missing, so
/// that the next [`Hashed::put`] stores it again.
///
/// # Errors
/// [`BlobError::TooLarge`] as soon as the body exceeds `max_bytes`; no more than that is ever in memory.
/// [`BlobError::Store`] when the store fails.
pub async fn get(blobs: &Blobs, digest: &Digest, max_bytes: usize) -> Result<Option<Bytes>, BlobError> {
    let (key, wanted) = (digest.key(), *digest);
    let Some(packed) = blobs.get_up_to(&key, packed_limit(max_bytes)).await? else {
        return Ok(None);
    };
    match open(packed, &wanted, max_bytes).await {
        Ok(body) => Ok(Some(body)),
        Err(error @ BlobError::Codec { .. }) => {
            tracing::error!(error = &error as &dyn std::error::Error, "removed a corrupt body; it counts as missing");
            blobs.delete(&key).await?;
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Decompresses and verifies the result of [`Hashed::pack`].
///
/// # Errors
/// [`BlobError::Codec`] when the digest does not match; [`BlobError::TooLarge`] as soon as the body exceeds
/// `max_bytes`.
pub async fn open(packed: Bytes, digest: &Digest, max_bytes: usize) -> Result<Bytes, BlobError> {
    let wanted = *digest;
    let open = move || open_here(&packed, &wanted, max_bytes);
    if max_bytes <= SMALL { open() } else { off_thread(open).await }
}

/// Decompresses and verifies the result of [`Hashed::pack`] on this thread, which is busy for about a millisecond per
/// MiB.
///
/// # Errors
/// Those of [`open`].
pub fn open_here(packed: &[u8], digest: &Digest, max_bytes: usize) -> Result<Bytes, BlobError> {
    let source = match unpack(packed, max_bytes) {
        Ok(Some(body)) if Digest::of(&body) == *digest => return Ok(body),
        Ok(None) => return Err(BlobError::TooLarge { key: digest.key(), limit: max_bytes }),
        Ok(Some(_)) => std::io::Error::other("the content does not match its digest"),
        Err(source) => source,
    };
    Err(BlobError::Codec { action: "decompress", key: digest.key(), source })
}

async fn pack(digest: &Digest, body: Bytes) -> Result<Vec<u8>, BlobError> {
    let packed = if body.len() <= SMALL_TO_PACK {
        compress(&body, LEVEL)
    } else {
        off_thread(move || compress(&body, LEVEL)).await
    };
    packed.map_err(|source| BlobError::Codec { action: "compress", key: digest.key(), source })
}

/// Removes the body with this digest; succeeds if there is none.
///
/// # Errors
/// [`BlobError::Store`].
pub async fn delete(blobs: &Blobs, digest: &Digest) -> Result<(), BlobError> {
    blobs.delete(&digest.key()).await
}

/// Returns the longest zstd output for `len` bytes of input (`ZSTD_COMPRESSBOUND`): incompressible data grows a little.
fn packed_limit(len: usize) -> usize {
    len.saturating_add(len >> 8).saturating_add(1024)
}

/// Decompresses a body; `None` if it exceeds `max_bytes`.
fn unpack(packed: &[u8], max_bytes: usize) -> std::io::Result<Option<Bytes>> {
    let mut body = Vec::with_capacity(max_bytes.min(SMALL));
    let one_more = (max_bytes as u64).saturating_add(1);
    zstd::stream::read::Decoder::with_buffer(packed)?.take(one_more).read_to_end(&mut body)?;
    Ok((body.len() <= max_bytes).then(|| body.into()))
}

/// Runs CPU-bound work on a blocking thread: hashing megabytes would block all other tasks of the thread.
async fn off_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(value) => value,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // Blocking work is cancelled only when the runtime shuts down; nothing waits for the result then.
            Err(_) => std::future::pending().await,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_text_round_trips() {
        let digest = Digest::of(b"abc");
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest.to_string(), text);
        assert_eq!(text.parse::<Digest>().unwrap(), digest);
        for bad in ["", "ba", &text.to_uppercase(), &text.replace('b', "g"), &format!("{text}00")] {
            assert!(bad.parse::<Digest>().is_err(), "{bad}");
        }
    }

    #[test]
    fn unpacking_stops_at_the_limit() {
        let packed = zstd::bulk::compress(&vec![0; 50 << 20], LEVEL).unwrap();
        assert!(packed.len() < 10_000);
        assert!(unpack(&packed, 1000).unwrap().is_none());
        assert_eq!(unpack(&packed, 50 << 20).unwrap().map(|b| b.len()), Some(50 << 20));
        assert!(unpack(b"not zstd", 1000).is_err());
    }
}
