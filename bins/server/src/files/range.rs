//! Byte ranges (RFC 9110 section 14), one per request. Multiple ranges and malformed headers are answered with the whole
//! file, as section 14.2 allows.
//!
//! Files have neither `ETag` nor `Last-Modified`, so `If-Range` never matches and the range is ignored (section 13.1.5).
//! The file behind a URL never changes.

use std::ops::Range;

use axum::http::{HeaderMap, header};

/// The part of a file that a request asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RequestedBytes {
    /// The whole file.
    All,
    /// A range that is non-empty and within the file.
    Part(Range<u64>),
    /// An unsatisfiable range.
    Nothing,
}

/// Returns the part that the headers of a GET ask for of a file of `bytes` bytes.
pub(super) fn wanted(headers: &HeaderMap, bytes: u64) -> RequestedBytes {
    let mut lines = headers.get_all(header::RANGE).iter();
    let (Some(line), None, false) = (lines.next(), lines.next(), headers.contains_key(header::IF_RANGE)) else {
        return RequestedBytes::All;
    };
    line.to_str().ok().and_then(|line| part(line, bytes)).unwrap_or(RequestedBytes::All)
}

/// Parses a `Range` header; `None` when it is malformed, or has another unit or several ranges.
fn part(line: &str, bytes: u64) -> Option<RequestedBytes> {
    let (unit, range) = line.split_once('=')?;
    let (first, last) = range.trim().split_once('-')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return None;
    }
    let range = match (first, last) {
        // The last `last` bytes. For an empty file that is the whole file, but no `Content-Range` can express it.
        ("", last) if bytes == 0 => (number(last)? == 0).then_some(0..0)?,
        ("", last) => bytes.saturating_sub(number(last)?)..bytes,
        (first, "") => number(first)?..bytes,
        (first, last) => {
            let (first, last) = (number(first)?, number(last)?);
            if last < first {
                return None;
            }
            first..last.saturating_add(1).min(bytes)
        }
    };
    Some(if range.is_empty() { RequestedBytes::Nothing } else { RequestedBytes::Part(range) })
}

/// Parses digits; numbers beyond `u64` become `u64::MAX`, which is larger than every file.
fn number(text: &str) -> Option<u64> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn requested(lines: &[&str], bytes: u64) -> RequestedBytes {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(header::RANGE, line.parse().unwrap());
        }
        wanted(&headers, bytes)
    }

    #[test]
    fn one_range() {
        let check = |line: &str, bytes: u64, range: Range<u64>| {
            assert_eq!(requested(&[line], bytes), RequestedBytes::Part(range), "{line} of {bytes}");
        };
        check("bytes=0-0", 10, 0..1);
        check("bytes=0-9", 10, 0..10);
        check("bytes=2-5", 10, 2..6);
        check("bytes=9-", 10, 9..10);
        check("bytes=0-", 10, 0..10);
        check("bytes=5-999", 10, 5..10);
        check("bytes=5-99999999999999999999999", 10, 5..10);
        check("bytes=-1", 10, 9..10);
        check("bytes=-10", 10, 0..10);
        check("bytes=-999", 10, 0..10);
        check("Bytes= 1-2 ", 10, 1..3);
        check(&format!("bytes=0-{}", u64::MAX), 10, 0..10);
    }

    #[test]
    fn none_that_the_file_has() {
        for (line, bytes) in [
            ("bytes=10-", 10),
            ("bytes=10-20", 10),
            ("bytes=99999999999999999999999-", 10),
            ("bytes=-0", 10),
            ("bytes=0-", 0),
            ("bytes=0-0", 0),
            ("bytes=-0", 0),
        ] {
            assert_eq!(requested(&[line], bytes), RequestedBytes::Nothing, "{line} of {bytes}");
        }
    }

    #[test]
    fn what_has_no_effect() {
        for line in [
            "bytes=5-2",
            "bytes=",
            "bytes=-",
            "bytes",
            "bytes=a-b",
            "bytes=1-b",
            "bytes=+1-2",
            "bytes=--1",
            "bytes=1-2-3",
            "bytes=0-0,2-3",
            "bytes=0-0, -1",
            "items=0-1",
            "bytes=0x1-2",
            "bytes 0-1/2",
            "",
        ] {
            assert_eq!(requested(&[line], 10), RequestedBytes::All, "{line}");
        }
        assert_eq!(requested(&[], 10), RequestedBytes::All);
        assert_eq!(requested(&["bytes=0-1", "bytes=2-3"], 10), RequestedBytes::All);
        assert_eq!(requested(&["bytes=-5"], 0), RequestedBytes::All);
        let mut headers = HeaderMap::new();
        headers.insert(header::RANGE, HeaderValue::from_static("bytes=0-1"));
        headers.insert(header::IF_RANGE, HeaderValue::from_static("\"1\""));
        assert_eq!(wanted(&headers, 10), RequestedBytes::All);
    }
}
