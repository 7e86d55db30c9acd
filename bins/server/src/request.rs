//! Context of a request: its id, the client's address and, after authentication, the team.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};

use app::auth::Caller;
use axum::http::{HeaderMap, HeaderName};
use ipnet::IpNet;
use wire::RequestId;

use crate::limits::network;

/// Header that carries the id of a request in both directions.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Header in which proxies name the client.
pub(crate) const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Address of the other end of the connection, in the extensions of every request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// Address of this end of the connection, in the extensions of every request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Local(pub(crate) SocketAddr);

/// Context of one request, in its extensions. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct RequestContext(Arc<Facts>);

#[derive(Debug)]
struct Facts {
    id: String,
    given: GivenId,
    address: IpAddr,
    by_proxy: bool,
    team: OnceLock<String>,
}

/// Validity of the client's `x-request-id`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GivenId {
    /// No id was sent.
    Absent,
    /// A valid id, used as it is.
    Usable,
    /// An invalid id (docs/CONTRACT.md, "Ids and idempotency").
    Unusable,
}

impl RequestContext {
    /// Reads the head of a request.
    pub(crate) fn new(headers: &HeaderMap, peer: Peer, trusted: &[IpNet]) -> Self {
        let (given, id) = request_id(headers);
        Self(Arc::new(Facts {
            id: id.unwrap_or_else(|| base::new_id().to_string()),
            given,
            address: client_address(headers, peer.0.ip(), trusted),
            by_proxy: is_trusted(peer.0.ip().to_canonical(), trusted),
            team: OnceLock::new(),
        }))
    }

    /// Returns the id of the request: the client's, or a generated one.
    pub(crate) fn id(&self) -> &str {
        &self.0.id
    }

    /// Returns the validity of the id that the client sent.
    pub(crate) fn given_id(&self) -> GivenId {
        self.0.given
    }

    /// Returns the client's address, behind trusted proxies.
    pub(crate) fn address(&self) -> IpAddr {
        self.0.address
    }

    /// Returns whether the request comes from a trusted proxy, whose `X-Forwarded-*` headers then count.
    pub(crate) fn is_by_proxy(&self) -> bool {
        self.0.by_proxy
    }

    /// Returns the id of the calling team, once authenticated.
    pub(crate) fn team(&self) -> Option<&str> {
        self.0.team.get().map(String::as_str)
    }

    /// Records the calling team.
    pub(crate) fn set_team(&self, id: &str) {
        self.0.team.get_or_init(|| id.to_owned());
    }
}

/// Returns the identity to which permits are counted: the team, with the client's network for callers without a key.
pub(crate) fn reader(caller: Option<&Caller>, context: Option<&RequestContext>) -> String {
    let address = || context.map(|context| network(context.address()).to_string()).unwrap_or_default();
    match caller {
        Some(Caller { team, key: Some(_), .. }) => team.id.clone(),
        Some(Caller { team, key: None, .. }) => format!("{} {}", team.id, address()),
        None => address(),
    }
}

/// Parses the id of a request: valid only when sent exactly once.
fn request_id(headers: &HeaderMap) -> (GivenId, Option<String>) {
    let mut values = headers.get_all(REQUEST_ID).iter();
    match (values.next(), values.next()) {
        (None, _) => (GivenId::Absent, None),
        (Some(value), None) => match RequestId::parse(value.as_bytes()) {
            Ok(id) => (GivenId::Usable, Some(id.as_str().to_owned())),
            Err(_) => (GivenId::Unusable, None),
        },
        (Some(_), Some(_)) => (GivenId::Unusable, None),
    }
}

/// Returns the last address in `X-Forwarded-For` that is not a trusted proxy; earlier entries can be forged by the client.
fn client_address(headers: &HeaderMap, peer: IpAddr, trusted: &[IpNet]) -> IpAddr {
    let peer = peer.to_canonical();
    if !is_trusted(peer, trusted) {
        return peer;
    }
    let lines: Vec<&str> = headers.get_all(FORWARDED_FOR).iter().filter_map(|value| value.to_str().ok()).collect();
    let hops = lines.iter().rev().flat_map(|line| line.rsplit(','));
    let mut nearest = peer;
    for hop in hops {
        let Ok(address) = hop.trim().parse::<IpAddr>() else {
            break;
        };
        nearest = address.to_canonical();
        if !is_trusted(nearest, trusted) {
            break;
        }
    }
    nearest
}

fn is_trusted(address: IpAddr, trusted: &[IpNet]) -> bool {
    trusted.iter().any(|network| network.contains(&address))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &HeaderName, values: &[&[u8]]) -> HeaderMap {
        values.iter().map(|value| (name.clone(), value[..].try_into().unwrap())).collect()
    }

    #[test]
    fn request_ids() {
        let check = |values: &[&[u8]], expect| assert_eq!(request_id(&headers(&REQUEST_ID, values)).0, expect);
        check(&[], GivenId::Absent);
        check(&[b"ok:1._-Z"], GivenId::Usable);
        check(&[&[b'x'; 128]], GivenId::Usable);
        check(&[&[b'x'; 129]], GivenId::Unusable);
        for bad in [&b""[..], b"a b", b"a/b", "é".as_bytes(), b"\xff"] {
            check(&[bad], GivenId::Unusable);
        }
        check(&[b"a", b"b"], GivenId::Unusable);
    }

    #[test]
    fn only_trusted_proxies_name_the_client() {
        let trusted: Vec<IpNet> = vec!["10.0.0.0/8".parse().unwrap()];
        let check = |peer: &str, lines: &[&[u8]], expect: &str| {
            let found = client_address(&headers(&FORWARDED_FOR, lines), peer.parse().unwrap(), &trusted);
            assert_eq!(found.to_string(), expect, "{peer}");
        };
        check("192.0.2.1", &[b"203.0.113.9"], "192.0.2.1");
        check("10.0.0.1", &[], "10.0.0.1");
        check("10.0.0.1", &[b"203.0.113.9"], "203.0.113.9");
        check("::ffff:10.0.0.1", &[b"203.0.113.9"], "203.0.113.9");
        check("10.0.0.1", &[b"6.6.6.6, 203.0.113.9, 10.0.0.2"], "203.0.113.9");
        check("10.0.0.1", &[b"6.6.6.6", b"203.0.113.9"], "203.0.113.9");
        check("10.0.0.1", &[b"203.0.113.9, unknown"], "10.0.0.1");
    }
}
