//! The egress rule: public addresses, plus what the operator opened, minus ourselves.

use std::net::{IpAddr, SocketAddr};

use crate::address::classify;
use crate::config::{Allow, Egress};

/// The rule for addresses that are about to be dialled.
#[derive(Debug)]
pub(crate) struct Guard {
    allow: Vec<Allow>,
    own: Vec<SocketAddr>,
}

impl Guard {
    pub(crate) fn new(egress: &Egress) -> Self {
        Self { allow: egress.allow.clone(), own: egress.refuse.clone() }
    }

    /// Whether one address may be dialled.
    pub(crate) fn admit(&self, addr: SocketAddr) -> Result<(), &'static str> {
        let is_local = |ip: IpAddr| ip.is_loopback() || ip.is_unspecified();
        if self.own.iter().any(|own| {
            own.port() == addr.port() && (own.ip() == addr.ip() || (own.ip().is_unspecified() && is_local(addr.ip())))
        }) {
            return Err("own listen address");
        }
        if self.allow.iter().any(|rule| rule.admits(addr)) {
            return Ok(());
        }
        classify(addr.ip())
    }

    /// Whether an open connection leads to ourselves. A service that listens on every address has addresses that it
    /// does not know (its public one), but a connection to any of them has the same IP at both ends.
    pub(crate) fn admit_connected(&self, local: SocketAddr, peer: SocketAddr) -> Result<(), &'static str> {
        let own = self.own.iter().any(|own| own.ip().is_unspecified() && own.port() == peer.port());
        if own && local.ip() == peer.ip() { Err("own listen address") } else { Ok(()) }
    }

    /// Whether the operator opened a network, so that names of private networks make sense.
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
            resolvers: vec![],
            refuse: refuse.iter().map(|addr| addr.parse().unwrap()).collect(),
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
