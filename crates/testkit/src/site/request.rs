//! Strict parsing of requests, which reports violations of the standard.

use std::io;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt};

const HEAD_LIMIT: usize = 8 * 1024 * 1024;
const BODY_LIMIT: u64 = 64 * 1024 * 1024;

/// A received request.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// Method, such as GET.
    pub method: String,
    /// Target as sent, with its query.
    pub path: String,
    /// Valid header lines.
    pub headers: HeaderMap,
    /// Body without its framing.
    pub body: Bytes,
    /// Head as sent; empty for HTTP/2.
    pub head: Bytes,
    /// Violation of RFC 9112, if any.
    pub flaw: Option<String>,
}

impl Seen {
    /// Returns the first value of a header as text; empty when it is missing.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

/// Reads the next request of a connection; `None` when it is closed between two requests.
pub(super) async fn read(stream: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Seen>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read_until(b'\n', &mut head).await? == 0 {
            return if head.is_empty() { Ok(None) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
        }
        if head.len() > HEAD_LIMIT {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
    let mut seen = parse(head);
    seen.body = read_body(stream, &seen.headers).await?.into();
    Ok(Some(seen))
}

fn parse(head: Vec<u8>) -> Seen {
    let text = String::from_utf8_lossy(&head).into_owned();
    let mut lines = text.trim_end_matches("\r\n").split("\r\n");
    let first = lines.next().unwrap_or_default();
    let mut words = first.split(' ');
    let [method, path, version] = [(); 3].map(|()| words.next().unwrap_or_default().to_owned());
    let mut flaw = None;
    if version != "HTTP/1.1" || words.next().is_some() || path.is_empty() {
        flaw = Some(format!("the request line is {first:?}"));
    }
    let mut headers = HeaderMap::new();
    for line in lines {
        match field(line) {
            Some((name, value)) => {
                headers.append(name, value);
            }
            None => flaw = Some(format!("a header line is {:?}", line.chars().take(80).collect::<String>())),
        }
    }
    let flaw = flaw.or_else(|| framing_flaw(&headers));
    Seen { method, path, headers, body: Bytes::new(), head: head.into(), flaw }
}

/// Parses a header line. `None` for a blank before the colon, a continuation line or control characters.
fn field(line: &str) -> Option<(HeaderName, HeaderValue)> {
    let (name, value) = line.split_once(':')?;
    Some((name.parse().ok()?, HeaderValue::from_bytes(value.trim_matches([' ', '\t']).as_bytes()).ok()?))
}

fn framing_flaw(headers: &HeaderMap) -> Option<String> {
    let count = |name: &str| headers.get_all(name).iter().count();
    match (count("host"), count("content-length"), count("transfer-encoding")) {
        (1, 0 | 1, 0) | (1, 0, 1) => None,
        (hosts, lengths, codings) => {
            Some(format!("{hosts} Host, {lengths} Content-Length and {codings} Transfer-Encoding lines"))
        }
    }
}

async fn read_body(stream: &mut (impl AsyncBufRead + Unpin), headers: &HeaderMap) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    if headers.contains_key("transfer-encoding") {
        loop {
            let mut size = String::new();
            stream.read_line(&mut size).await?;
            let size = u64::from_str_radix(size.trim(), 16).map_err(|_| io::ErrorKind::InvalidData)?;
            (&mut *stream).take(size.min(BODY_LIMIT)).read_to_end(&mut body).await?;
            stream.read_line(&mut String::new()).await?;
            if size == 0 || body.len() as u64 > BODY_LIMIT {
                return Ok(body);
            }
        }
    }
    let length = headers.get("content-length").and_then(|value| value.to_str().ok()?.parse().ok()).unwrap_or(0);
    stream.take(BODY_LIMIT.min(length)).read_to_end(&mut body).await?;
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn check(request: &str, body: &str, flawed: bool) {
        let seen = read(&mut request.as_bytes()).await.unwrap().unwrap();
        assert_eq!(
            (seen.body.as_ref(), seen.flaw.is_some()),
            (body.as_bytes(), flawed),
            "{request:?}: {:?}",
            seen.flaw
        );
    }

    #[tokio::test]
    async fn reads_requests_and_their_flaws() {
        check("GET / HTTP/1.1\r\nHost: x\r\n\r\n", "", false).await;
        check("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nabc", "ab", false).await;
        check("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n", "ab", false)
            .await;
        check("GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", "", true).await;
        check("GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", "", true).await;
        check("GET / HTTP/1.1\r\nHost: x\r\nBad Name: 1\r\n\r\n", "", true).await;
        check("GET / HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n", "", true).await;
        check("GET / HTTP/1.1\r\n\r\n", "", true).await;
    }
}
