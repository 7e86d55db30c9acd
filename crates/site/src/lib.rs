//! The files that a site publishes for robots (robots.txt, sitemaps and `llms.txt`), fetched through the address guard.
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
//!         // No answer: report the failure, as the site has not disallowed anything.
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
use robots::RobotsCache;
pub use robots::{RobotsFailure, SiteRules};
pub use sitemaps::{MAX_BYTES, MAX_REQUESTS, MAX_SITEMAP_TIME, Sink, SitemapPage, SitemapTotals, Terms};

/// Name of this service in `User-Agent` when it acts as a robot, which robots.txt may address.
pub const AGENT: &str = concat!("Quarry/", env!("CARGO_PKG_VERSION"));

/// Access to robots.txt, sitemaps and `llms.txt` of any site, with a cache. Cheap to clone; all clones share the cache.
#[derive(Clone)]
pub struct Site(Arc<Inner>);

struct Inner {
    client: net::Client,
    proxies: Vec<net::Proxy>,
    turn: AtomicUsize,
    store: Store,
    clock: Arc<dyn Clock>,
    cpu: Cpu,
    known: RobotsCache,
}

/// Terms of access to a site.
#[derive(Debug, Clone, Copy)]
pub struct Approach<'a> {
    /// Name of the robot, used for `User-Agent` and to select the group in robots.txt. [`AGENT`] unless the caller
    /// chose.
    pub agent: &'a str,
    /// Deadline of the whole request.
    pub deadline: Instant,
    /// Whether certificates are verified (`skipTlsVerification: false`).
    pub verify_tls: bool,
    /// Whether nothing about the site may be stored (zero data retention).
    pub private: bool,
}

impl Site {
    /// Creates an access over this client, through these proxies in turn; none means a direct connection. Answers are
    /// cached in `store`, by the time of `clock`; sitemaps are decompressed and parsed in CPU slots of `cpu`.
    #[must_use]
    pub fn new(client: net::Client, proxies: Vec<net::Proxy>, store: Store, clock: Arc<dyn Clock>, cpu: Cpu) -> Self {
        let (turn, known) = (AtomicUsize::new(0), RobotsCache::default());
        Self(Arc::new(Inner { client, proxies, turn, store, clock, cpu, known }))
    }

    /// Sends a GET request; the body is read from the answer piece by piece.
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
