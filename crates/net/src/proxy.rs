//! Forward proxies: address, credentials and the CONNECT tunnel (RFC 9110 section 9.3.6).

use std::fmt;
use std::net::SocketAddr;

use base64::Engine as _;
use http::HeaderValue;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use url::Url;

use crate::error::Error;
use crate::stream::Stream;

/// A forward proxy, `http://user:password@host:port` or `https://…`. The operator chooses its address, so the egress guard
/// does not check it.
///
/// The proxy gets the address that the guard has checked, for http and https: `CONNECT ip:port`. The name appears only
/// inside the tunnel (`Host`, SNI), so the proxy cannot resolve it to another address.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Proxy {
    /// Scheme, host, port and credentials; the path is ignored.
    pub url: Url,
    /// Whether the proxy gets names and resolves them itself. The locally resolved addresses are still checked, but the
    /// proxy may connect to others.
    pub resolves: bool,
}

impl Proxy {
    /// Creates a proxy that gets addresses.
    #[must_use]
    pub fn new(url: Url) -> Self {
        Self { url, resolves: false }
    }

    /// Returns whether the connection to the proxy itself uses TLS.
    ///
    /// # Errors
    /// Any scheme but http and https.
    pub(crate) fn is_tls(&self) -> Result<bool, Error> {
        match self.url.scheme() {
            "http" => Ok(false),
            "https" => Ok(true),
            other => Err(failed(format!("scheme {other} is not supported"))),
        }
    }

    /// Resolves the proxy with the system's resolver, since its name may come from the hosts file or a search domain.
    pub(crate) async fn addresses(&self) -> Result<Vec<SocketAddr>, Error> {
        let port = self.url.port_or_known_default().unwrap_or(80);
        let host = match self.url.host() {
            Some(url::Host::Domain(name)) => name,
            Some(url::Host::Ipv4(ip)) => return Ok(vec![(ip, port).into()]),
            Some(url::Host::Ipv6(ip)) => return Ok(vec![(ip, port).into()]),
            None => return Err(failed("its URL has no host")),
        };
        match tokio::net::lookup_host((host, port)).await {
            Ok(found) => Ok(found.collect()),
            Err(error) => Err(failed(format!("cannot resolve its name: {error}"))),
        }
    }

    /// Returns the value of `Proxy-Authorization` (RFC 7617), if the URL has credentials.
    pub(crate) fn authorization(&self) -> Option<HeaderValue> {
        // A password without a user name is common for tokens.
        let password = self.url.password().unwrap_or_default();
        if self.url.username().is_empty() && password.is_empty() {
            return None;
        }
        let mut pair = unescape(self.url.username());
        pair.push(b':');
        pair.extend(unescape(password));
        let encoded = base64::engine::general_purpose::STANDARD.encode(pair);
        let mut value = HeaderValue::from_str(&format!("Basic {encoded}")).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proxy({}://{})", self.url.scheme(), self.url.host_str().unwrap_or_default())
    }
}

/// Opens a tunnel through the proxy to `authority` (`host:port`).
///
/// # Errors
/// `Error::Proxy` unless the proxy answers 2xx.
pub(crate) async fn tunnel(stream: &mut Box<dyn Stream>, proxy: &Proxy, authority: &str) -> Result<(), Error> {
    let mut head = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n").into_bytes();
    if let Some(value) = proxy.authorization() {
        head.extend_from_slice(b"Proxy-Authorization: ");
        head.extend_from_slice(value.as_bytes());
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"\r\n");
    let io = |error: std::io::Error| failed(format!("tunnel: {error}"));
    stream.write_all(&head).await.map_err(io)?;
    stream.flush().await.map_err(io)?;
    let answer = read_head(stream).await?;
    match tunnel_status(&answer) {
        Some(200..=299) => Ok(()),
        Some(407) => Err(unauthorized()),
        Some(status) => Err(failed(format!("it answered CONNECT with {status}; it must allow CONNECT to this port"))),
        None => Err(failed("its response is not HTTP")),
    }
}

/// Reads up to the empty line and not a byte further: the following bytes belong to the target.
async fn read_head(stream: &mut Box<dyn Stream>) -> Result<Vec<u8>, Error> {
    const LIMIT: usize = 16 << 10;
    let mut head = Vec::with_capacity(256);
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= LIMIT {
            return Err(failed("its response header is too large"));
        }
        // Byte by byte: a buffered read could consume the first bytes of the target.
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(error) => return Err(failed(format!("tunnel: {error}"))),
        }
    }
    Ok(head)
}

fn tunnel_status(head: &[u8]) -> Option<u16> {
    let line = head.split(|byte| *byte == b'\r').next()?;
    let line = std::str::from_utf8(line).ok()?;
    let mut words = line.split(' ');
    words.next().filter(|version| version.starts_with("HTTP/1."))?;
    words.next().filter(|status| status.len() == 3)?.parse().ok()
}

/// Decodes percent-encoding, which the URL parser applies to user names and passwords.
fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let pair = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        let decoded = pair.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (first, decoded) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    bytes
}

/// Returns the error of a proxy that rejects the credentials.
pub(crate) fn unauthorized() -> Error {
    failed("it requires other credentials")
}

pub(crate) fn failed(reason: impl Into<String>) -> Error {
    Error::Proxy { reason: reason.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxy(url: &str) -> Proxy {
        Proxy::new(url.parse().unwrap())
    }

    #[test]
    fn credentials_are_decoded_and_never_printed() {
        let proxy = proxy("http://us%3Aer:p%40ss%zz@proxy.test:3128");
        let value = proxy.authorization().unwrap();
        assert_eq!(value, format!("Basic {}", base64::engine::general_purpose::STANDARD.encode("us:er:p@ss%zz")));
        assert!(value.is_sensitive());
        assert_eq!(format!("{proxy:?}"), "Proxy(http://proxy.test)");
        assert_eq!(self::proxy("http://proxy.test").authorization(), None);
    }

    #[test]
    fn status_of_a_tunnel_answer() {
        for (head, expect) in [
            ("HTTP/1.1 200 Connection established\r\n\r\n", Some(200)),
            ("HTTP/1.0 407 no\r\n\r\n", Some(407)),
            ("HTTP/1.1 200\r\n\r\n", Some(200)),
            ("HTTP/2 200\r\n\r\n", None),
            ("HTTP/1.1 2000 x\r\n\r\n", None),
            ("SSH-2.0\r\n\r\n", None),
        ] {
            assert_eq!(tunnel_status(head.as_bytes()), expect, "{head}");
        }
    }
}
