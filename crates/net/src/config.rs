//! What the operator sets.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;
use std::time::Duration;

use ipnet::IpNet;

/// What `localhost` and the names below it stand for (RFC 6761 section 6.3), whatever a DNS says.
pub(crate) const LOCALHOST: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];

/// Everything the client needs to know.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// Where connections may go.
    pub egress: Egress,
    /// How much of everything.
    pub limits: Limits,
}

/// Where connections may go.
#[derive(Debug, Clone, Default)]
pub struct Egress {
    /// Admitted in addition to the public internet.
    pub allow: Vec<Allow>,
    /// DNS servers, asked over UDP and TCP. Empty: the system's, and its hosts file.
    pub resolvers: Vec<SocketAddr>,
    /// Our own listen addresses: refused even when `allow` admits them. An unspecified IP means every local address.
    pub refuse: Vec<SocketAddr>,
    /// Other servers of the deployment, such as its database, by name or IP and with their port: refused as well, by that
    /// name and by every address that it leads to.
    pub refuse_hosts: Vec<(String, u16)>,
    /// Refused even when `allow` admits it or it is public.
    pub deny: Vec<Allow>,
}

/// An address or a network that is admitted in addition to the public internet.
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
    /// 127.0.0.1 and ::1, which are what `localhost` stands for: every port, or one.
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

/// How much of everything. The defaults are the project's promises.
#[derive(Debug, Clone)]
pub struct Limits {
    /// One DNS look-up, both address families together: 5 s.
    pub dns: Duration,
    /// One connection: TCP over all addresses, proxy tunnel and TLS together: 10 s.
    pub connect: Duration,
    /// Response head, and the trailers of a chunked body, in bytes: 64 KiB. At least 8 KiB.
    pub head_bytes: usize,
    /// Header lines of a response: 200.
    pub head_lines: usize,
    /// Body in bytes as it came: 50 MiB.
    pub body_raw: u64,
    /// Body in bytes after every content coding: 100 MiB.
    pub body_decoded: u64,
    /// All bodies that are in memory at the same moment, in bytes, with what is made of them: 512 MiB. Four times
    /// `body_decoded` of it is kept for the largest one.
    pub in_flight: u64,
    /// How many times larger the decoded body may be than the raw one, once it is over 1 MiB: 200.
    pub ratio: u64,
    /// Content codings on one body: 2.
    pub encodings: usize,
    /// Redirects of one request, whatever it asks for: 20.
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

/// A setting that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// Not an address, not a network.
    #[error("`{0}` is neither ip:port nor ip nor a network such as 10.0.0.0/8, nor localhost or localhost:port")]
    Allow(String),
    /// Below what HTTP/1 parsing needs.
    #[error("head_bytes {0} is below {MIN_HEAD_BYTES}")]
    HeadBytes(usize),
    /// The TLS library refused its own defaults.
    #[error("set up tls: {0}")]
    Tls(#[from] rustls::Error),
    /// The resolver could not be built.
    #[error("set up the dns resolver: {0}")]
    Resolver(String),
}

/// The smallest buffer that hyper accepts.
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
