//! What a site says of itself to robots, robots.txt, sitemaps and `llms.txt`, always fetched through the guarded client.
//!
//! ```no_run
//! # async fn page(parts: (net::Client, store::Store)) -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//! use std::time::Duration;
//! use site::{AGENT, Approach, Site};
//!
//! let (client, store) = parts;
//! let site = Site::new(client, vec![], store, Arc::new(base::SystemClock), cpu::Cpu::new(2));
//!
//! let url = "https://example.com/page".parse()?;
//! let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
//! let approach = Approach { agent: AGENT, deadline, verify_tls: false, private: false };
//! let rules = site.rules(&url, approach).await?;
//! if !rules.rules.allows_url(&url) {
//!     match rules.failure {
//!         // Nobody answered: say why, it is not the site's wish.
//!         Some(failure) => return Err(failure.error(&url).into()),
//!         None => println!("the site does not want robots there"),
//!     }
//! }
//! println!("wait {:?} between pages; sitemaps: {:?}", rules.crawl_delay, rules.sitemaps);
//! # Ok(())
//! # }
//! ```

/// Boxes the future of an async function, so that its code is compiled once, in this crate.
pub(crate) use async_recursion::async_recursion as boxed;

mod error;
mod llms;
mod robots;
mod sitemaps;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base::{Clock, Timestamp};
use cpu::Cpu;
use http::HeaderValue;
use http::header::{ACCEPT, USER_AGENT};
use store::Store;
use tokio::time::Instant;
use url::Url;

pub use error::SiteError;
use robots::Known;
pub use robots::{RobotsFailure, SiteRules};
pub use sitemaps::{MAX_BYTES, MAX_REQUESTS, MAX_SITEMAP_TIME, Sink, SitemapPage, SitemapTotals, Terms};

/// The name that this service gives itself in `User-Agent` where it asks as a robot, and that robots.txt may address.
pub const AGENT: &str = concat!("Quarry/", env!("CARGO_PKG_VERSION"));

/// The way to robots.txt and sitemaps of any site, and what is remembered of them. Cheap to clone; all clones share the
/// memory.
#[derive(Clone)]
pub struct Site(Arc<Inner>);

struct Inner {
    client: net::Client,
    proxies: Vec<net::Proxy>,
    turn: AtomicUsize,
    store: Store,
    clock: Arc<dyn Clock>,
    cpu: Cpu,
    known: Known,
}

/// How a site is approached.
#[derive(Debug, Clone, Copy)]
pub struct Approach<'a> {
    /// The robot's name: what `User-Agent` says, and whose group of robots.txt holds. [`AGENT`] unless the caller chose.
    pub agent: &'a str,
    /// When everything that is asked for has to be there.
    pub deadline: Instant,
    /// Whether the certificate of the site has to be valid (`skipTlsVerification: false`).
    pub verify_tls: bool,
    /// Whether no trace of the site may be written (zero data retention).
    pub private: bool,
}

impl Site {
    /// A way over this client, through these proxies in turn; none means directly. Answers are kept in `store`, by the
    /// time of `clock`; sitemaps are unpacked and parsed in places of `cpu`.
    #[must_use]
    pub fn new(client: net::Client, proxies: Vec<net::Proxy>, store: Store, clock: Arc<dyn Clock>, cpu: Cpu) -> Self {
        let (turn, known) = (AtomicUsize::new(0), Known::default());
        Self(Arc::new(Inner { client, proxies, turn, store, clock, cpu, known }))
    }

    /// Sends a GET; the body is read from the answer piece by piece.
    async fn open(&self, url: Url, approach: Approach<'_>, redirects: usize) -> Result<net::Download, net::Error> {
        let mut request = net::Request::get(url);
        let agent = HeaderValue::try_from(approach.agent).unwrap_or(HeaderValue::from_static(AGENT));
        request.headers.insert(USER_AGENT, agent);
        request.headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
        request.proxy = self.proxy();
        request.verify_tls = approach.verify_tls;
        request.deadline = approach.deadline;
        request.redirects = redirects;
        self.0.client.open(request).await
    }

    fn proxy(&self) -> Option<net::Proxy> {
        let turn = self.0.turn.fetch_add(1, Ordering::Relaxed);
        self.0.proxies.get(turn.checked_rem(self.0.proxies.len())?).cloned()
    }

    fn now(&self) -> Timestamp {
        self.0.clock.now()
    }
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Site")
    }
}
