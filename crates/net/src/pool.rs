//! Keep-alive pool of idle connections.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::time::Instant;
use url::Url;

use crate::link::Link;
use crate::proxy::Proxy;

const PER_KEY: usize = 8;
const TOTAL: usize = 256;
const IDLE: Duration = Duration::from_secs(30);

/// Properties that two requests must share to use the same connection; the address is checked separately.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    origin: String,
    verify: bool,
    proxy: Option<Proxy>,
}

impl Key {
    pub(crate) fn new(url: &Url, verify: bool, proxy: Option<&Proxy>) -> Self {
        Self { origin: url.origin().ascii_serialization(), verify, proxy: proxy.cloned() }
    }
}

/// Pool of at most 8 idle connections per key and 256 in total, none older than 30 s.
#[derive(Default)]
pub(crate) struct Pool {
    idle: Mutex<IdleLinks>,
}

#[derive(Default)]
struct IdleLinks {
    links: HashMap<Key, Vec<(Link, Instant)>>,
    count: usize,
    sweeping: bool,
}

impl Pool {
    /// Removes and returns the most recently used live connection for the key. Its peer must be one of the addresses that
    /// were resolved and checked for this request, unless it is a proxy that resolves names itself.
    pub(crate) fn take(&self, key: &Key, addresses: &[SocketAddr]) -> Option<Link> {
        let mut idle = self.lock();
        let links = idle.links.get_mut(key)?;
        let before = links.len();
        links.retain(|(link, since)| link.is_ready() && since.elapsed() < IDLE);
        let resolves = key.proxy.as_ref().is_some_and(|proxy| proxy.resolves);
        let fits = |(link, _): &(Link, Instant)| resolves || addresses.contains(&link.peer());
        // From the end: the most recently used connection is the least likely to have been closed by the server.
        let found = links.iter().rposition(fits).map(|index| links.remove(index).0);
        let gone = before - links.len();
        if links.is_empty() {
            idle.links.remove(key);
        }
        idle.count -= gone;
        found
    }

    /// Adds a connection whose response was read completely, unless it is closing.
    pub(crate) async fn keep(self: &Arc<Self>, key: Key, mut link: Link) {
        const PATIENCE: Duration = Duration::from_millis(50);
        if tokio::time::timeout(PATIENCE, link.ready()).await == Ok(true) {
            self.put(key, link);
        }
    }

    /// Adds a connection, unless the pool is full.
    fn put(self: &Arc<Self>, key: Key, link: Link) {
        let mut idle = self.lock();
        if idle.count >= TOTAL {
            return;
        }
        let links = idle.links.entry(key).or_default();
        if links.len() >= PER_KEY {
            return;
        }
        links.push((link, Instant::now()));
        idle.count += 1;
        if !std::mem::replace(&mut idle.sweeping, true) {
            tokio::spawn(sweep(Arc::downgrade(self)));
        }
    }

    /// Removes expired connections; false when the pool is empty.
    fn expire(&self, now: Instant) -> bool {
        let mut idle = self.lock();
        idle.links.retain(|_, links| {
            links.retain(|(_, since)| now.duration_since(*since) < IDLE);
            !links.is_empty()
        });
        // Recounted, so that an error in the incremental count cannot close the pool permanently.
        idle.count = idle.links.values().map(Vec::len).sum();
        idle.sweeping = idle.count > 0;
        idle.sweeping
    }

    fn lock(&self) -> MutexGuard<'_, IdleLinks> {
        self.idle.lock()
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.lock().count
    }
}

/// Expires connections until the pool is empty or dropped.
async fn sweep(pool: Weak<Pool>) {
    loop {
        tokio::time::sleep(IDLE / 2).await;
        if !pool.upgrade().is_some_and(|pool| pool.expire(Instant::now())) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Limits;
    use crate::dial::Dialled;

    fn key(url: &str) -> Key {
        Key::new(&url.parse().unwrap(), true, None)
    }

    fn peer(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    /// Returns a link to a silent server; the other end is leaked so that it stays open.
    async fn link(at: &str) -> Link {
        let (ours, theirs) = tokio::io::duplex(64);
        std::mem::forget(theirs);
        let dialled = Dialled { stream: Box::new(ours), peer: peer(at), http2: false };
        let link = Link::start(dialled, &Limits::default()).await.unwrap();
        while !link.is_ready() {
            tokio::task::yield_now().await;
        }
        link
    }

    #[tokio::test]
    async fn a_link_is_found_by_key_and_checked_address() {
        let pool = Arc::new(Pool::default());
        pool.put(key("http://a.test/x"), link("127.0.0.1:1").await);
        assert!(pool.take(&key("http://b.test/"), &[peer("127.0.0.1:1")]).is_none());
        assert!(pool.take(&key("https://a.test/"), &[peer("127.0.0.1:1")]).is_none());
        assert!(pool.take(&key("http://a.test/"), &[peer("127.0.0.2:1")]).is_none());
        assert!(pool.take(&key("http://a.test/y"), &[peer("127.0.0.2:1"), peer("127.0.0.1:1")]).is_some());
        assert_eq!(pool.len(), 0);
    }

    #[tokio::test]
    async fn the_pool_is_bounded() {
        let pool = Arc::new(Pool::default());
        for _ in 0..PER_KEY + 3 {
            pool.put(key("http://a.test/"), link("127.0.0.1:1").await);
        }
        assert_eq!(pool.len(), PER_KEY);
        for number in 0..TOTAL {
            pool.put(key(&format!("http://{number}.test/")), link("127.0.0.1:1").await);
        }
        assert_eq!(pool.len(), TOTAL);
    }

    #[tokio::test]
    async fn idle_links_expire() {
        let pool = Arc::new(Pool::default());
        pool.put(key("http://a.test/"), link("127.0.0.1:1").await);
        assert!(pool.expire(Instant::now()));
        assert!(!pool.expire(Instant::now() + IDLE));
        assert_eq!(pool.len(), 0);
    }
}
