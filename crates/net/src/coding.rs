//! Content codings: parsing of `Content-Encoding`, and decoders with bounded memory.

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

/// A buffered reader in a chain of decoders.
pub(crate) type Reader<'a> = Pin<Box<dyn AsyncBufRead + Send + 'a>>;
/// An unbuffered reader of decoded bytes.
pub(crate) type Decoded<'a> = Pin<Box<dyn AsyncRead + Send + 'a>>;

/// Largest window of the zstd coding, 8 MiB, as an exponent (RFC 9659 section 3).
const ZSTD_WINDOW_LOG: u32 = 23;

/// Returns the codings of a response in the order in which they were applied. With an unknown name the header is not
/// credible and nothing is decoded, as in browsers.
///
/// # Errors
/// The number of codings, if more than `limit`.
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

/// Returns a decoder for a reader.
///
/// # Errors
/// When the first bytes cannot be read, or require too large a window.
pub(crate) async fn decoder(coding: Coding, mut reader: Reader<'_>) -> io::Result<Decoded<'_>> {
    match coding {
        // Data after the first member is ignored, as in browsers: some servers send padding.
        Coding::Gzip => Ok(Box::pin(GzipDecoder::new(reader))),
        Coding::Deflate => {
            let (first, reader) = peek(reader, 2).await?;
            // RFC 9110 defines `deflate` as zlib, but some servers send the raw deflate stream.
            if is_zlib(&first) {
                Ok(Box::pin(ZlibDecoder::new(reader)))
            } else {
                Ok(Box::pin(DeflateDecoder::new(reader)))
            }
        }
        Coding::Brotli => {
            let first;
            (first, reader) = peek(reader, 1).await?;
            // These bits mark large-window brotli, an extension with windows of up to 1 GiB that the decoder supports.
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

/// Peeks at up to `count` bytes.
async fn peek(mut reader: Reader<'_>, count: usize) -> io::Result<(Vec<u8>, Reader<'_>)> {
    let mut first = Vec::with_capacity(count);
    (&mut reader).take(count as u64).read_to_end(&mut first).await?;
    let back = Cursor::new(first.clone()).chain(reader);
    Ok((first, Box::pin(back)))
}

/// Returns whether the bytes are a zlib header (RFC 1950 section 2.2): method 8, window up to 32 KiB, check bits.
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
