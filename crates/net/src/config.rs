//! Configuration of the client.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;
use std::time::Duration;

use ipnet::IpNet;
use url::Url;

/// Addresses of `localhost` and its subdomains (RFC 6761 section 6.3), regardless of DNS.
pub(crate) const LOCALHOST: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];

/// Configuration of the client.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// Allowed and blocked destinations.
    pub egress: Egress,
    /// Time, byte and count limits.
    pub limits: Limits,
}

/// Allowed and blocked destinations of connections.
#[derive(Debug, Clone, Default)]
pub struct Egress {
    /// Addresses allowed in addition to the public internet.
    pub allow: Vec<Allow>,
    /// DNS servers, queried over UDP and TCP. Empty: those of the system, with its hosts file.
    pub resolvers: Vec<SocketAddr>,
    /// Listening addresses of this deployment: blocked even if in `allow`. An unspecified IP means every local address.
    pub refuse: Vec<SocketAddr>,
    /// Other servers of the deployment, such as its database, by name or IP and with their port: blocked by that name and
    /// by every address that it resolves to, even if in `allow`.
    pub refuse_hosts: Vec<(String, u16)>,
    /// Addresses blocked even if public or in `allow`.
    pub deny: Vec<Allow>,
    /// The only destination, for a client of one server that the operator has configured. It need not be public, and
    /// `allow` and `deny` do not apply. `None`: every destination that the other rules allow.
    pub only: Option<Destination>,
}

/// A server by name or IP, with its port.
///
/// ```
/// let url = "https://models.example/v1".parse().unwrap();
/// let expect = net::Destination { host: "models.example".to_owned(), port: 443 };
/// assert_eq!(net::Destination::of(&url), Some(expect));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// Host as in a URL: a name in lower case, or an IP, an IPv6 one in brackets.
    pub host: String,
    /// Port.
    pub port: u16,
}

impl Destination {
    /// Returns the server of a URL; `None` when the URL has no host, or its scheme has no default port.
    #[must_use]
    pub fn of(url: &Url) -> Option<Self> {
        Some(Self { host: url.host_str()?.to_owned(), port: url.port_or_known_default()? })
    }

    pub(crate) fn is(&self, host: &str, port: u16) -> bool {
        self.host.eq_ignore_ascii_case(host) && self.port == port
    }
}

/// An address or network in the lists `allow` and `deny`.
///
/// ```
/// use net::Allow;
///
/// assert!(matches!("127.0.0.1:18100".parse(), Ok(Allow::Address(_))));
/// assert!(matches!("10.0.0.0/8".parse(), Ok(Allow::Network(_))));
/// assert!(matches!("localhost:8080".parse(), Ok(Allow::Localhost(Some(8080)))));
/// assert!("example.com".parse::<Allow>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allow {
    /// One port of one IP: `127.0.0.1:18100`, `[::1]:80`.
    Address(SocketAddr),
    /// Every port of a network or of one IP: `10.0.0.0/8`, `10.1.2.3`.
    Network(IpNet),
    /// The addresses of `localhost`, 127.0.0.1 and ::1: every port, or one.
    Localhost(Option<u16>),
}

impl Allow {
    pub(crate) fn admits(&self, addr: SocketAddr) -> bool {
        match self {
            Self::Address(allowed) => allowed.ip() == addr.ip() && allowed.port() == addr.port(),
            Self::Network(net) => net.contains(&addr.ip()),
            Self::Localhost(port) => LOCALHOST.contains(&addr.ip()) && port.is_none_or(|port| port == addr.port()),
        }
    }

    fn localhost(text: &str) -> Option<Self> {
        match text.split_once(':') {
            None => text.eq_ignore_ascii_case("localhost").then_some(Self::Localhost(None)),
            Some((name, port)) if name.eq_ignore_ascii_case("localhost") => {
                Some(Self::Localhost(Some(port.parse().ok()?)))
            }
            Some(_) => None,
        }
    }
}

impl FromStr for Allow {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let text = text.trim();
        if let Ok(addr) = text.parse::<SocketAddr>() {
            return Ok(Self::Address(addr));
        }
        if let Ok(ip) = text.parse::<IpAddr>() {
            return Ok(Self::Network(ip.into()));
        }
        if let Some(localhost) = Self::localhost(text) {
            return Ok(localhost);
        }
        text.parse::<IpNet>().map(Self::Network).map_err(|_| ConfigError::Allow(text.to_owned()))
    }
}

/// Time, byte and count limits. The defaults are documented guarantees of the project.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Timeout of a DNS lookup, both address families together: 5 s.
    pub dns: Duration,
    /// Timeout of a connection, with TCP over all addresses, proxy tunnel and TLS together: 10 s.
    pub connect: Duration,
    /// Byte limit of the response header, and of the trailers of a chunked body: 64 KiB. At least 8 KiB.
    pub head_bytes: usize,
    /// Maximum number of header lines of a response: 200.
    pub head_lines: usize,
    /// Byte limit of a body as transferred: 50 MiB.
    pub body_raw: u64,
    /// Byte limit of a body after decoding: 100 MiB.
    pub body_decoded: u64,
    /// Memory limit in bytes for all bodies at the same time, with everything derived from them: 512 MiB. Four times
    /// `body_decoded` of it is reserved for the largest body.
    pub in_flight: u64,
    /// Largest ratio of decoded to raw size, for decoded bodies over 1 MiB: 200.
    pub ratio: u64,
    /// Maximum number of content codings of a body: 2.
    pub encodings: usize,
    /// Maximum number of redirects of a request: 20.
    pub redirects: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            dns: Duration::from_secs(5),
            connect: Duration::from_secs(10),
            head_bytes: 64 << 10,
            head_lines: 200,
            body_raw: 50 << 20,
            body_decoded: 100 << 20,
            in_flight: 512 << 20,
            ratio: 200,
            encodings: 2,
            redirects: 20,
        }
    }
}

/// An invalid setting.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The text is neither an address nor a network.
    #[error("`{0}` is not an address: expected ip:port, ip, a network such as 10.0.0.0/8, localhost or localhost:port")]
    Allow(String),
    /// The header limit is below the minimum of the HTTP/1 parser.
    #[error("head_bytes {0} is below {MIN_HEAD_BYTES}")]
    HeadBytes(usize),
    /// The TLS library cannot be set up.
    #[error("cannot set up TLS: {0}")]
    Tls(#[from] rustls::Error),
    /// The DNS resolver cannot be set up.
    #[error("cannot set up the DNS resolver: {0}")]
    Resolver(String),
}

/// Smallest buffer that hyper accepts.
pub(crate) const MIN_HEAD_BYTES: usize = 8192;

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rule: &str, addr: &str, admitted: bool) {
        let rule: Allow = rule.parse().unwrap();
        assert_eq!(rule.admits(addr.parse().unwrap()), admitted, "{rule:?} {addr}");
    }

    #[test]
    fn rules_admit_what_they_say() {
        check("127.0.0.1:18100", "127.0.0.1:18100", true);
        check("127.0.0.1:18100", "127.0.0.1:18101", false);
        check("127.0.0.1:18100", "[::ffff:127.0.0.1]:18100", false);
        check("[::1]:80", "[::1]:80", true);
        check("10.0.0.0/8", "10.200.1.1:9", true);
        check("10.0.0.0/8", "11.0.0.0:9", false);
        check(" 10.1.2.3 ", "10.1.2.3:443", true);
        check("fd00::/8", "[fd12::1]:443", true);
        check("0.0.0.0/0", "[::1]:80", false);
        check("localhost", "127.0.0.1:1", true);
        check("LocalHost", "[::1]:1", true);
        check("localhost", "127.0.0.2:1", false);
        check("localhost", "[::ffff:127.0.0.1]:1", false);
        check("localhost:80", "127.0.0.1:80", true);
        check("localhost:80", "127.0.0.1:81", false);
    }

    #[test]
    fn nonsense_is_refused_by_name() {
        for text in ["", "localhost:x", "localhosts", "a.localhost", "10.0.0.0/33", "1.2.3.4:99999", "*"] {
            let error = text.parse::<Allow>().unwrap_err();
            assert!(error.to_string().contains(&format!("`{text}`")), "{error}");
        }
    }
}
