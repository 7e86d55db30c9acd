//! Content codings: which ones a response names, and a decoder for each that works in bounded memory.

use std::io::{self, Cursor};
use std::pin::Pin;

use async_compression::tokio::bufread::{BrotliDecoder, DeflateDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder};
use async_compression::zstd::DParameter;
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use tokio::io::{AsyncBufRead, AsyncRead, AsyncReadExt};

/// One content coding (RFC 9110 section 8.4.1, RFC 7932, RFC 9659).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

/// A reader on its way through the decoders.
pub(crate) type Reader<'a> = Pin<Box<dyn AsyncBufRead + Send + 'a>>;
/// The same, decoded, not yet buffered.
pub(crate) type Decoded<'a> = Pin<Box<dyn AsyncRead + Send + 'a>>;

/// The largest window of the zstd coding, 8 MiB, as an exponent (RFC 9659 section 3).
const ZSTD_WINDOW_LOG: u32 = 23;

/// The codings of a response in the order they were applied. A name that nobody registered means that the field
/// cannot be believed, so nothing is decoded, as browsers do.
///
/// # Errors
/// With more than `limit` codings: how many.
pub(crate) fn applied(headers: &HeaderMap, limit: usize) -> Result<Vec<Coding>, usize> {
    let values = headers.get_all(CONTENT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let names: Vec<String> = values
        .flat_map(|value| value.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .filter(|name| !name.is_empty() && name != "identity")
        .collect();
    if names.len() > limit {
        return Err(names.len());
    }
    let codings: Option<Vec<Coding>> = names.iter().map(|name| named(name)).collect();
    Ok(codings.unwrap_or_default())
}

fn named(name: &str) -> Option<Coding> {
    match name {
        "gzip" | "x-gzip" => Some(Coding::Gzip),
        "deflate" => Some(Coding::Deflate),
        "br" => Some(Coding::Brotli),
        "zstd" => Some(Coding::Zstd),
        _ => None,
    }
}

/// Puts a decoder after a reader.
///
/// # Errors
/// When the first bytes cannot be read, or ask for a window that is too large.
pub(crate) async fn decoder(coding: Coding, mut reader: Reader<'_>) -> io::Result<Decoded<'_>> {
    match coding {
        // What follows the first member is ignored, as browsers do: some servers send padding.
        Coding::Gzip => Ok(Box::pin(GzipDecoder::new(reader))),
        Coding::Deflate => {
            let (first, reader) = peek(reader, 2).await?;
            // RFC 9110 means zlib, some servers send the bare stream.
            if is_zlib(&first) {
                Ok(Box::pin(ZlibDecoder::new(reader)))
            } else {
                Ok(Box::pin(DeflateDecoder::new(reader)))
            }
        }
        Coding::Brotli => {
            let first;
            (first, reader) = peek(reader, 1).await?;
            // The decoder knows an extension of the format with windows of up to 1 GiB, which starts with these bits.
            if first.first().is_some_and(|byte| byte & 0x7f == 0x11) {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "brotli window too large"));
            }
            Ok(Box::pin(BrotliDecoder::new(reader)))
        }
        Coding::Zstd => {
            let mut decoder = ZstdDecoder::with_params(reader, &[DParameter::window_log_max(ZSTD_WINDOW_LOG)]);
            decoder.multiple_members(true);
            Ok(Box::pin(decoder))
        }
    }
}

/// Reads up to `count` bytes and puts them back.
async fn peek(mut reader: Reader<'_>, count: usize) -> io::Result<(Vec<u8>, Reader<'_>)> {
    let mut first = Vec::with_capacity(count);
    (&mut reader).take(count as u64).read_to_end(&mut first).await?;
    let back = Cursor::new(first.clone()).chain(reader);
    Ok((first, Box::pin(back)))
}

/// RFC 1950 section 2.2: method 8, window up to 32 KiB, check bits.
fn is_zlib(first: &[u8]) -> bool {
    matches!(first, [cmf, flags] if cmf & 0x0f == 8 && cmf >> 4 <= 7 && u16::from_be_bytes([*cmf, *flags]) % 31 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn check(values: &[&'static str], expect: Result<&[Coding], usize>) {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(CONTENT_ENCODING, HeaderValue::from_static(value));
        }
        assert_eq!(applied(&headers, 2).as_deref(), expect.as_ref().map(|codings| &**codings), "{values:?}");
    }

    #[test]
    fn codings_of_a_response() {
        check(&[], Ok(&[]));
        check(&["identity"], Ok(&[]));
        check(&["GZip"], Ok(&[Coding::Gzip]));
        check(&["deflate, br"], Ok(&[Coding::Deflate, Coding::Brotli]));
        check(&["x-gzip", "zstd,"], Ok(&[Coding::Gzip, Coding::Zstd]));
        check(&["gzip, gzip", "gzip"], Err(3));
        check(&["utf-8"], Ok(&[]));
        check(&["gzip, aws-chunked"], Ok(&[]));
    }

    #[test]
    fn zlib_is_told_from_a_bare_stream() {
        assert!(is_zlib(&[0x78, 0x9c]) && is_zlib(&[0x78, 0x01]) && is_zlib(&[0x08, 0x1d]));
        assert!(!is_zlib(&[0x78, 0x9d]) && !is_zlib(&[0x4b, 0x4c]) && !is_zlib(&[0x78]) && !is_zlib(&[]));
    }
}
