//! Requests and responses.

use std::net::SocketAddr;
use std::time::Duration;

use base::Owner;
use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use tokio::time::Instant;
use url::Url;

use crate::in_flight::Room;
use crate::proxy::Proxy;

/// A request without a body.
#[derive(Debug, Clone)]
pub struct Request {
    /// Method, such as GET or HEAD; it becomes GET after a 301, 302 or 303 unless it is HEAD.
    pub method: Method,
    /// http or https URL. User name and password in it are never sent: set an `Authorization` header instead.
    pub url: Url,
    /// Headers, sent unchanged except framing and hop-by-hop headers and `Host`, which the client sets itself.
    /// `Authorization`, `Cookie`, values marked sensitive and headers named like a credential follow a redirect only where
    /// `keeps_credentials` allows, and once dropped they are not sent again.
    pub headers: HeaderMap,
    /// Additional headers for `url` only, such as `If-None-Match`; dropped with the first redirect.
    pub conditions: HeaderMap,
    /// Proxy, which gets the checked address of the target.
    pub proxy: Option<Proxy>,
    /// Whether the certificate of the target must be valid.
    pub verify_tls: bool,
    /// Deadline of the whole exchange, with redirects and body.
    pub deadline: Instant,
    /// Maximum number of redirects; the client's own limit applies too.
    pub redirects: usize,
    /// Whether credentials sent to the first URL may follow a redirect to the second.
    pub keeps_credentials: fn(&Url, &Url) -> bool,
    /// Owner, for fairness when large bodies wait for memory.
    pub owner: Owner,
}

impl Request {
    /// Creates a GET with certificate verification, up to 20 redirects within 30 seconds, and credentials for one origin
    /// only.
    #[must_use]
    pub fn get(url: Url) -> Self {
        Self {
            method: Method::GET,
            url,
            headers: HeaderMap::new(),
            conditions: HeaderMap::new(),
            proxy: None,
            verify_tls: true,
            deadline: Instant::now() + Duration::from_secs(30),
            redirects: 20,
            keeps_credentials: same_origin,
            owner: Owner::default(),
        }
    }
}

fn same_origin(from: &Url, to: &Url) -> bool {
    from.origin() == to.origin()
}

/// The final response of a redirect chain, complete and decoded.
#[derive(Debug, Clone)]
pub struct Response {
    /// Last URL of the chain.
    pub url: Url,
    /// Final status; 404 and 500 are not errors.
    pub status: StatusCode,
    /// Headers as received, without `Content-Encoding` and `Content-Length` when the body was decoded.
    pub headers: HeaderMap,
    /// Decoded body, within the limits.
    pub body: Bytes,
    /// Share of the memory budget held by the body. Keep it as long as the body, or data derived from it, is in memory.
    pub room: Room,
    /// Address that answered; `None` behind a proxy.
    pub peer: Option<SocketAddr>,
    /// URLs that redirected, in order, starting with the requested one.
    pub redirects: Vec<Url>,
}
