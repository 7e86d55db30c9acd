//! What goes in and what comes out.

use std::net::SocketAddr;
use std::time::Duration;

use base::Owner;
use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use tokio::time::Instant;
use url::Url;

use crate::in_flight::Room;
use crate::proxy::Proxy;

/// One request, without a body.
#[derive(Debug, Clone)]
pub struct Request {
    /// GET, HEAD …; becomes GET after a 301, 302 or 303 unless it is HEAD.
    pub method: Method,
    /// http or https. A user name and password in it are never sent: set an `Authorization` header instead.
    pub url: Url,
    /// Sent as they are, except framing and hop-by-hop fields and `Host`, which the client sets itself.
    /// `Authorization`, `Cookie`, values marked sensitive and fields whose name sounds like a credential follow a
    /// redirect only where `keeps_credentials` allows, and once dropped they do not come back.
    pub headers: HeaderMap,
    /// Sent to `url` beside the headers and dropped with the first redirect: what is about that page, as `If-None-Match`.
    pub conditions: HeaderMap,
    /// Sent through this proxy, which is told the checked address of the target.
    pub proxy: Option<Proxy>,
    /// Whether the certificate of the target has to be valid.
    pub verify_tls: bool,
    /// When everything, redirects and the body included, has to be there.
    pub deadline: Instant,
    /// How many redirects may be followed; the client's own limit holds too.
    pub redirects: usize,
    /// Whether credentials that were sent to the first URL may follow a redirect to the second.
    pub keeps_credentials: fn(&Url, &Url) -> bool,
    /// Whose turn it is, where many large bodies wait for room in memory.
    pub owner: Owner,
}

impl Request {
    /// A GET with certificate checks, up to 20 redirects within 30 seconds, and credentials for one origin only.
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

/// The answer to the last request of a redirect chain, complete and decoded.
#[derive(Debug, Clone)]
pub struct Response {
    /// Where the answer came from: the last URL of the chain.
    pub url: Url,
    /// Any final status; 404 and 500 are answers, not errors.
    pub status: StatusCode,
    /// As received. When the body was decoded, `Content-Encoding` and `Content-Length` are taken out.
    pub headers: HeaderMap,
    /// Decoded body, within the limits.
    pub body: Bytes,
    /// What the body holds of the budget for all of them. Keep it for as long as the body or what was made of it is in
    /// memory.
    pub room: Room,
    /// The address that answered; none when a proxy stood between.
    pub peer: Option<SocketAddr>,
    /// The URLs that redirected, in order, the first one being the one that was asked for.
    pub redirects: Vec<Url>,
}
