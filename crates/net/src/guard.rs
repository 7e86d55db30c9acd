//! The egress guard: allows public addresses and those in `allow`, except the deployment itself and those in `deny`.

use std::net::SocketAddr;

use crate::address::classify;
use crate::config::{Allow, Egress};
use crate::own::OwnAddresses;

/// Access rule for destination addresses.
#[derive(Debug)]
pub(crate) struct Guard {
    allow: Vec<Allow>,
    deny: Vec<Allow>,
    own: OwnAddresses,
}

impl Guard {
    pub(crate) fn new(egress: &Egress) -> Self {
        let own = OwnAddresses::new(&egress.refuse, &egress.refuse_hosts);
        Self { allow: egress.allow.clone(), deny: egress.deny.clone(), own }
    }

    /// Refreshes the addresses of the deployment. Must be called before [`Guard::admit`].
    pub(crate) async fn prepare(&self) {
        self.own.refresh().await;
    }

    /// Checks whether a name may be requested, regardless of its addresses.
    pub(crate) fn admit_name(&self, host: &str, port: u16) -> Result<(), &'static str> {
        if self.own.names(host, port) { Err("address of this deployment") } else { Ok(()) }
    }

    /// Checks whether an address may be connected to.
    pub(crate) fn admit(&self, addr: SocketAddr) -> Result<(), &'static str> {
        if let Some(reason) = self.own.claims(addr) {
            return Err(reason);
        }
        let canonical = SocketAddr::new(addr.ip().to_canonical(), addr.port());
        if self.deny.iter().any(|rule| rule.admits(addr) || rule.admits(canonical)) {
            return Err("denied by the operator");
        }
        if self.allow.iter().any(|rule| rule.admits(addr)) {
            return Ok(());
        }
        classify(addr.ip())
    }

    /// Checks whether an open connection leads to this service. A service that listens on every address may not know all of
    /// them (such as its public one), but a connection to any of them has the same IP at both ends.
    pub(crate) fn admit_connected(&self, local: SocketAddr, peer: SocketAddr) -> Result<(), &'static str> {
        if self.own.is_everywhere(peer.port()) && local.ip() == peer.ip() { Err("own listen address") } else { Ok(()) }
    }

    /// Returns whether `allow` contains a network, so that names of private networks are meaningful.
    pub(crate) fn opens_a_network(&self) -> bool {
        self.allow.iter().any(|rule| matches!(rule, Allow::Network(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(allow: &[&str], refuse: &[&str]) -> Guard {
        Guard::new(&Egress {
            allow: allow.iter().map(|rule| rule.parse().unwrap()).collect(),
            refuse: refuse.iter().map(|addr| addr.parse().unwrap()).collect(),
            ..Egress::default()
        })
    }

    fn check(guard: &Guard, addr: &str, expect: Result<(), &str>) {
        assert_eq!(guard.admit(addr.parse().unwrap()), expect, "{addr}");
    }

    #[test]
    fn allow_adds_to_the_public_internet() {
        let guard = guard(&["127.0.0.1:18100", "10.0.0.0/8"], &[]);
        check(&guard, "93.184.216.34:80", Ok(()));
        check(&guard, "127.0.0.1:18100", Ok(()));
        check(&guard, "127.0.0.1:18101", Err("loopback"));
        check(&guard, "[::ffff:127.0.0.1]:18100", Err("IPv4-mapped address"));
        check(&guard, "10.2.3.4:5", Ok(()));
        check(&guard, "[::ffff:10.2.3.4]:5", Err("IPv4-mapped address"));
    }

    #[test]
    fn what_is_denied_stays_so() {
        let rules = |texts: &[&str]| texts.iter().map(|rule| rule.parse().unwrap()).collect();
        let (allow, deny) = (rules(&["10.0.0.0/8"]), rules(&["10.0.0.7", "10.9.0.0/16", "93.184.216.34:80"]));
        let guard = Guard::new(&Egress { allow, deny, ..Egress::default() });
        check(&guard, "10.0.0.6:80", Ok(()));
        for addr in ["10.0.0.7:80", "10.9.1.2:443", "93.184.216.34:80"] {
            check(&guard, addr, Err("denied by the operator"));
        }
        check(&guard, "93.184.216.34:443", Ok(()));
    }

    #[test]
    fn own_addresses_win_over_allow() {
        let guard = guard(&["127.0.0.0/8"], &["127.0.0.1:3002", "0.0.0.0:3003", "93.184.216.34:443"]);
        check(&guard, "127.0.0.1:3002", Err("own listen address"));
        check(&guard, "127.0.0.1:80", Ok(()));
        check(&guard, "127.9.9.9:3003", Err("own listen address"));
        check(&guard, "93.184.216.34:443", Err("own listen address"));
        check(&guard, "93.184.216.34:80", Ok(()));
        let connected = |local: &str, peer: &str| guard.admit_connected(local.parse().unwrap(), peer.parse().unwrap());
        assert_eq!(connected("93.184.216.35:50000", "93.184.216.35:3003"), Err("own listen address"));
        assert_eq!(connected("93.184.216.35:50000", "93.184.216.36:3003"), Ok(()));
    }
}
