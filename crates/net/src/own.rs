//! Addresses of the deployment itself, which are always blocked.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

use parking_lot::RwLock;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use crate::address::classify;

/// Time for which looked-up addresses are fresh, short enough to follow a database that moves.
const MAX_AGE: Duration = Duration::from_secs(10);
/// Timeout of one lookup.
const PATIENCE: Duration = Duration::from_secs(2);
/// Maximum number of remembered addresses, including old ones of names that have moved; ordinary names have far fewer.
const MAX_ADDRESSES: usize = 256;

/// Blocked addresses, and names that resolve to further ones.
#[derive(Debug)]
pub(crate) struct OwnAddresses {
    listen: Vec<SocketAddr>,
    fixed: Vec<SocketAddr>,
    names: Vec<(String, u16)>,
    found: RwLock<BTreeSet<SocketAddr>>,
    /// Time of the last lookup. The mutex is held during a lookup.
    asked: Mutex<Option<Instant>>,
}

impl OwnAddresses {
    /// Creates the set from the listening addresses and from other hosts of the deployment, by name or IP.
    pub(crate) fn new(listen: &[SocketAddr], hosts: &[(String, u16)]) -> Self {
        let (mut fixed, mut names) = (Vec::new(), Vec::new());
        for (host, port) in hosts {
            match host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
                Ok(ip) => fixed.push(SocketAddr::new(ip.to_canonical(), *port)),
                Err(_) => names.push((plain(host), *port)),
            }
        }
        let listen = listen.iter().map(|own| SocketAddr::new(own.ip().to_canonical(), own.port())).collect();
        Self { listen, fixed, names, found: RwLock::default(), asked: Mutex::default() }
    }

    /// Returns the reason for blocking an address, if it belongs to the deployment.
    pub(crate) fn claims(&self, addr: SocketAddr) -> Option<&'static str> {
        let addr = SocketAddr::new(addr.ip().to_canonical(), addr.port());
        if self.listen.iter().any(|own| answers(*own, addr)) {
            return Some("own listen address");
        }
        let found = || self.found.read().iter().any(|own| answers(*own, addr));
        (self.fixed.iter().any(|own| answers(*own, addr)) || found()).then_some("address of this deployment")
    }

    /// Returns whether a name with its port belongs to the deployment, regardless of its addresses.
    pub(crate) fn names(&self, host: &str, port: u16) -> bool {
        !self.names.is_empty() && self.names.contains(&(plain(host), port))
    }

    /// Returns whether the service listens on this port of every address.
    pub(crate) fn is_everywhere(&self, port: u16) -> bool {
        self.listen.iter().any(|own| own.ip().is_unspecified() && own.port() == port)
    }

    /// Looks the names up with the system's resolver, as the database and the blob store do, unless that was done recently.
    /// Concurrent callers use the known addresses, except during the first lookup.
    pub(crate) async fn refresh(&self) {
        if self.names.is_empty() {
            return;
        }
        let is_known = || !self.found.read().is_empty();
        let mut asked = match self.asked.try_lock() {
            Ok(asked) => asked,
            Err(_) if is_known() => return,
            Err(_) => self.asked.lock().await,
        };
        if asked.is_some_and(|asked| asked.elapsed() < MAX_AGE) {
            return;
        }
        // A name whose lookup fails keeps its previous addresses.
        for (name, port) in &self.names {
            if let Ok(Ok(addresses)) = timeout(PATIENCE, tokio::net::lookup_host((name.as_str(), *port))).await {
                self.remember(addresses.take(MAX_ADDRESSES));
            }
        }
        *asked = Some(Instant::now());
    }

    /// Adds addresses. Old ones are kept: an incomplete DNS answer does not mean that an address is no longer in use.
    fn remember(&self, addresses: impl Iterator<Item = SocketAddr>) {
        let mut found = self.found.write();
        let addresses = addresses.map(|addr| SocketAddr::new(addr.ip().to_canonical(), addr.port()));
        for addr in addresses.filter(|addr| !is_shared(*addr)) {
            if found.len() >= MAX_ADDRESSES {
                found.clear();
            }
            found.insert(addr);
        }
    }
}

/// Returns whether an address may be shared with unrelated sites, such as those of a public storage service or a CDN. Only
/// its name is blocked then.
fn is_shared(addr: SocketAddr) -> bool {
    matches!(addr.port(), 80 | 443) && classify(addr.ip()).is_ok()
}

/// Returns whether a connection to `addr` reaches the listener `own`. Connecting to the unspecified address reaches
/// loopback.
fn answers(own: SocketAddr, addr: SocketAddr) -> bool {
    own.port() == addr.port()
        && (own.ip() == addr.ip()
            || (own.ip().is_unspecified() && is_local(addr.ip()))
            || (addr.ip().is_unspecified() && own.ip().is_loopback()))
}

/// Returns whether an address belongs to this machine: only then a socket can be bound to it.
fn is_local(ip: IpAddr) -> bool {
    ip.is_loopback() || ip.is_unspecified() || UdpSocket::bind((ip, 0)).is_ok()
}

fn plain(host: &str) -> String {
    host.trim_end_matches('.').to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(listen: &[&str], hosts: &[(&str, u16)]) -> OwnAddresses {
        let listen: Vec<_> = listen.iter().map(|addr| addr.parse().unwrap()).collect();
        let hosts: Vec<_> = hosts.iter().map(|(host, port)| ((*host).to_owned(), *port)).collect();
        OwnAddresses::new(&listen, &hosts)
    }

    fn check(own: &OwnAddresses, addr: &str, expect: bool) {
        assert_eq!(own.claims(addr.parse().unwrap()).is_some(), expect, "{addr}");
    }

    #[test]
    fn one_address_is_one_address() {
        let own = own(&["127.0.0.1:3002", "[::1]:3003"], &[("10.0.0.9", 9000), ("[fd00::1]", 9000)]);
        for addr in ["127.0.0.1:3002", "[::ffff:127.0.0.1]:3002", "0.0.0.0:3002", "[::]:3003", "[::1]:3003"] {
            check(&own, addr, true);
        }
        for addr in ["10.0.0.9:9000", "[::ffff:10.0.0.9]:9000", "[fd00::1]:9000"] {
            check(&own, addr, true);
        }
        for addr in ["127.0.0.1:3003", "127.0.0.2:3002", "10.0.0.9:9001", "10.0.0.8:9000", "93.184.216.34:3002"] {
            check(&own, addr, false);
        }
    }

    #[test]
    fn listening_everywhere_is_every_address_of_the_machine() {
        // The source address of a UDP socket is an address of an interface; connecting it sends no packet.
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        let interface = socket.connect("10.254.254.254:9").and_then(|()| socket.local_addr()).map(|addr| addr.ip());
        for wildcard in ["0.0.0.0:3002", "[::]:3002"] {
            let own = own(&[wildcard], &[]);
            for addr in ["127.0.0.1:3002", "127.8.8.8:3002", "[::1]:3002", "0.0.0.0:3002", "[::]:3002"] {
                check(&own, addr, true);
            }
            if let Ok(ip) = interface {
                check(&own, &SocketAddr::new(ip, 3002).to_string(), true);
            }
            check(&own, "127.0.0.1:3003", false);
            check(&own, "192.0.2.77:3002", false);
            assert!(own.is_everywhere(3002) && !own.is_everywhere(3003));
        }
    }

    #[tokio::test]
    async fn names_are_known_by_themselves_and_by_their_addresses() {
        let own = own(&[], &[("LocalHost", 9000), ("db.invalid", 5432)]);
        assert!(own.names("localhost", 9000) && own.names("localhost.", 9000) && own.names("DB.invalid.", 5432));
        assert!(!own.names("localhost", 9001) && !own.names("other", 9000));
        check(&own, "127.0.0.1:9000", false);
        own.refresh().await;
        check(&own, "127.0.0.1:9000", true);
        check(&own, "0.0.0.0:9000", true);
        check(&own, "127.0.0.1:5432", false);
    }

    #[test]
    fn addresses_that_many_share_are_not_taken_from_a_name() {
        let own = own(&[], &[("storage.example", 443)]);
        let found = ["93.184.216.34:443", "10.0.0.1:443", "93.184.216.34:9000"];
        own.remember(found.iter().map(|addr| addr.parse().unwrap()));
        check(&own, "93.184.216.34:443", false);
        check(&own, "10.0.0.1:443", true);
        check(&own, "93.184.216.34:9000", true);
    }
}
