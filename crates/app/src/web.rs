//! What the operations fetch besides pages: robots.txt and sitemaps, always through the guarded client.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::HeaderValue;
use http::header::{ACCEPT, USER_AGENT};
use tokio::time::Instant;
use url::Url;

use crate::robots::Memory;

/// The name that this service gives itself in `User-Agent` where it asks as a robot, and that robots.txt may address.
pub const AGENT: &str = concat!("Quarry/", env!("CARGO_PKG_VERSION"));

/// The way to such files, and what is remembered of them. Cheap to clone; all clones share the memory.
#[derive(Clone)]
pub struct Web(Arc<Inner>);

struct Inner {
    client: net::Client,
    proxies: Vec<net::Proxy>,
    turn: AtomicUsize,
    robots: Memory,
}

/// How a site is approached.
#[derive(Debug, Clone, Copy)]
pub struct Manner<'a> {
    /// The robot's name: what `User-Agent` says, and whose group of robots.txt holds. [`AGENT`] unless the caller chose.
    pub agent: &'a str,
    /// When everything that is asked for has to be there.
    pub deadline: Instant,
    /// Whether the certificate of the site has to be valid (`skipTlsVerification: false`).
    pub verify_tls: bool,
    /// Whether no trace of the site may be written (zero data retention).
    pub private: bool,
}

impl Web {
    /// A way over this client, through these proxies in turn; none means directly.
    #[must_use]
    pub fn new(client: net::Client, proxies: Vec<net::Proxy>) -> Self {
        Self(Arc::new(Inner { client, proxies, turn: AtomicUsize::new(0), robots: Memory::default() }))
    }

    /// The way without proxies.
    pub(crate) fn client(&self) -> net::Client {
        self.0.client.clone()
    }

    /// The budget for bodies in memory.
    pub(crate) fn in_flight(&self) -> &net::InFlight {
        self.0.client.in_flight()
    }

    pub(crate) fn robots(&self) -> &Memory {
        &self.0.robots
    }

    /// Sends a GET; the body is read from the answer piece by piece.
    pub(crate) async fn open(
        &self,
        url: Url,
        manner: Manner<'_>,
        deadline: Instant,
        redirects: usize,
    ) -> Result<net::Download, net::Error> {
        let mut request = net::Request::get(url);
        let agent = HeaderValue::try_from(manner.agent).unwrap_or(HeaderValue::from_static(AGENT));
        request.headers.insert(USER_AGENT, agent);
        request.headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
        request.proxy = self.proxy();
        request.verify_tls = manner.verify_tls;
        request.deadline = deadline.min(manner.deadline);
        request.redirects = redirects;
        self.0.client.open(request).await
    }

    fn proxy(&self) -> Option<net::Proxy> {
        let turn = self.0.turn.fetch_add(1, Ordering::Relaxed);
        self.0.proxies.get(turn.checked_rem(self.0.proxies.len())?).cloned()
    }
}

impl fmt::Debug for Web {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Web")
    }
}
