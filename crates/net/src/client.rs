//! The HTTP client: requests, redirects and responses.

use std::sync::Arc;
use std::time::Duration;

use base::address::cut_credentials;
use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::time::Instant;
use url::Url;

use crate::body;
use crate::coding::{self, Coding};
use crate::config::{self, Config, ConfigError, Egress, Limits, MIN_HEAD_BYTES};
use crate::cookies::Jar;
use crate::dial::{Destination, Dialer};
use crate::download::{Download, OpenBody};
use crate::error::{Error, chain};
use crate::head::{self, Hop, TargetForm};
use crate::in_flight::{InFlight, Room};
use crate::link::Link;
use crate::pool::{Key, Pool};
use crate::post::{self, Post, Posted};
use crate::proxy::{self, Proxy};
use crate::redirect;
use crate::request::{Request, Response};
use crate::resolve::Resolver;
use crate::tls::Tls;

/// The HTTP client, the only way to make outgoing connections. Cheap to clone, with a DNS cache and a keep-alive pool.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) resolver: Resolver,
    pub(crate) dialer: Dialer,
    pool: Arc<Pool>,
    pub(crate) limits: Limits,
    in_flight: InFlight,
}

impl Client {
    /// Creates a client: reads the system's certificates and DNS settings, without connecting anywhere.
    ///
    /// # Errors
    /// When a limit is too small or the TLS or DNS library cannot be set up.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        if config.limits.head_bytes < MIN_HEAD_BYTES {
            return Err(ConfigError::HeadBytes(config.limits.head_bytes));
        }
        let resolver = Resolver::new(&config)?;
        let dialer = Dialer { tls: Tls::new()?, timeout: config.limits.connect };
        let (pool, limits) = (Arc::default(), config.limits);
        let in_flight = InFlight::new(limits.in_flight, limits.body_decoded);
        Ok(Self { inner: Arc::new(Inner { resolver, dialer, pool, limits, in_flight }) })
    }

    /// Creates a client of one server that the operator has configured: the server of this URL. Its address need not be
    /// public, and nothing else is reached.
    ///
    /// # Errors
    /// As [`Client::new`].
    pub fn of_one_server(url: &Url, limits: Limits) -> Result<Self, ConfigError> {
        let egress = Egress { only: config::Destination::of(url), ..Egress::default() };
        Self::new(Config { egress, limits })
    }

    /// Checks whether a URL could be requested, without looking up its name: its scheme, a host that is an address, and
    /// names of private use.
    ///
    /// # Errors
    /// [`Error::Blocked`] with the rule that blocks it.
    pub fn check(&self, url: &Url) -> Result<(), Error> {
        self.inner.resolver.check(url)
    }

    pub(crate) fn inner(&self) -> Arc<Inner> {
        Arc::clone(&self.inner)
    }

    /// Returns the memory budget for all bodies, for bodies from other sources such as the cache.
    #[must_use]
    pub fn in_flight(&self) -> &InFlight {
        &self.inner.in_flight
    }

    /// Sends a request, follows redirects, and reads and decodes the response, all before the deadline.
    ///
    /// Every URL of the chain is resolved once, all of its addresses are checked, and one of them is connected to.
    ///
    /// # Errors
    /// [`Error`]; see its variants. Statuses such as 404 and 500 are not errors.
    pub async fn send(&self, request: Request) -> Result<Response, Error> {
        if request.deadline <= Instant::now() {
            return Err(Error::Timeout);
        }
        let deadline = request.deadline;
        tokio::time::timeout_at(deadline, self.inner.fetch(request)).await.unwrap_or(Err(Error::Timeout))
    }

    /// Sends a request like [`Client::send`] and returns its body for reading in pieces, with the same limits and deadline.
    ///
    /// # Errors
    /// [`Error`]; see its variants. Statuses such as 404 and 500 are not errors.
    pub async fn open(&self, request: Request) -> Result<Download, Error> {
        if request.deadline <= Instant::now() {
            return Err(Error::Timeout);
        }
        let deadline = request.deadline;
        let open = async {
            let landed = self.inner.follow(request).await?;
            self.inner.download(landed, deadline).await
        };
        tokio::time::timeout_at(deadline, open).await.unwrap_or(Err(Error::Timeout))
    }

    /// Sends a body and reads the beginning of the response, without redirects, cookies or decoding.
    ///
    /// The name is resolved, all of its addresses are checked, and one of them is connected to. The response header must
    /// arrive before the deadline; the part of its body that arrives later is discarded.
    ///
    /// # Errors
    /// [`Error`]; see its variants. No status is an error.
    pub async fn post(&self, post: Post) -> Result<Posted, Error> {
        let mut headers = post.headers;
        headers.entry(header::ACCEPT_ENCODING).or_insert(HeaderValue::from_static("identity"));
        let (method, headers) = (Method::POST, head::clean(headers));
        let mut hop = Hop { method, url: post.url, headers, body: post.body, repeatable: post.repeatable };
        cut_credentials(&mut hop.url);
        let route = Route { proxy: None, verify: true };
        let jar = Jar::default();
        let answer = tokio::time::timeout_at(post.deadline, self.inner.exchange(&hop, &route, &jar));
        let UnreadResponse { head, mut body, link, key } = answer.await.unwrap_or(Err(Error::Timeout))?;
        let mut read = BytesMut::new();
        // The status counts even when the body is slow: the deadline only truncates the body.
        let whole = tokio::time::timeout_at(post.deadline, post::begin(&mut body, &mut read, post.answer_bytes)).await;
        let peer = link.peer();
        if whole == Ok(true) {
            self.inner.pool.keep(key, link).await;
        }
        Ok(Posted { status: head.status, headers: head.headers, body: read.freeze(), peer })
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Client")
    }
}

/// Proxy and TLS options of all requests of a redirect chain.
struct Route {
    proxy: Option<Proxy>,
    verify: bool,
}

/// The final response of a redirect chain.
struct FinalResponse {
    answer: UnreadResponse,
    url: Url,
    redirects: Vec<Url>,
    is_direct: bool,
}

/// A response whose body is still to be read.
struct UnreadResponse {
    head: http::response::Parts,
    body: Incoming,
    link: Link,
    key: Key,
}

impl Inner {
    async fn fetch(&self, request: Request) -> Result<Response, Error> {
        // Created empty before the first byte is read; it grows with the body.
        let room = self.in_flight.room(&request.owner);
        let landed = self.follow(request).await?;
        self.finish(landed, room).await
    }

    async fn follow(&self, request: Request) -> Result<FinalResponse, Error> {
        let limit = request.redirects.min(self.limits.redirects);
        let route = Route { proxy: request.proxy, verify: request.verify_tls };
        let repeatable = request.method.is_idempotent();
        let mut headers = head::clean(request.headers);
        headers.extend(request.conditions.clone());
        let mut hop = Hop { method: request.method, url: request.url, headers, body: Bytes::new(), repeatable };
        cut_credentials(&mut hop.url);
        let mut jar = Jar::default();
        let mut trail = Vec::new();
        loop {
            let answer = self.exchange(&hop, &route, &jar).await?;
            // Redirects set cookies too: many sites log in by a chain of redirects.
            jar.remember(&hop.url, &answer.head.headers);
            let next = redirect::next(answer.head.status, &answer.head.headers, &hop.method, &hop.url)?;
            let Some((method, url)) = next else {
                return Ok(FinalResponse { answer, url: hop.url, redirects: trail, is_direct: route.proxy.is_none() });
            };
            if trail.len() >= limit {
                return Err(Error::TooManyRedirects { limit });
            }
            // Before the next request, which may reuse this connection to the same server.
            self.discard(answer).await;
            if !(request.keeps_credentials)(&hop.url, &url) {
                head::drop_credentials(&mut hop.headers);
            }
            for name in request.conditions.keys() {
                hop.headers.remove(name);
            }
            hop.method = method;
            trail.push(std::mem::replace(&mut hop.url, url));
        }
    }

    /// Sends one request over a pooled or new connection, and reads the response header.
    async fn exchange(&self, hop: &Hop, route: &Route, jar: &Jar) -> Result<UnreadResponse, Error> {
        let addresses = self.resolver.resolve(&hop.url).await?;
        let key = Key::new(&hop.url, route.verify, route.proxy.as_ref());
        // A server may close an idle connection while the request is being sent, and then it is sent again. Requests that
        // must not be repeated therefore always get a new connection.
        if hop.repeatable
            && let Some(link) = self.pool.take(&key, &addresses)
            && let Ok(answer) = self.send_hop(hop, route, jar, link).await
        {
            let (head, body, link) = answer;
            return checked(UnreadResponse { head, body, link, key }, hop, route);
        }
        let goal = Destination {
            url: &hop.url,
            addresses: &addresses,
            proxy: route.proxy.as_ref(),
            verify: route.verify,
            raw: false,
        };
        let dialled = self.dialer.open(&goal, self.resolver.guard()).await?;
        let link = Link::start(dialled, &self.limits).await.map_err(|error| self.protocol(&hop.url, &error))?;
        let (head, body, link) = self.send_hop(hop, route, jar, link).await?;
        checked(UnreadResponse { head, body, link, key }, hop, route)
    }

    async fn send_hop(
        &self,
        hop: &Hop,
        route: &Route,
        jar: &Jar,
        mut link: Link,
    ) -> Result<(http::response::Parts, Incoming, Link), Error> {
        let form = match &route.proxy {
            _ if link.is_http2() => TargetForm::Http2,
            Some(proxy) if is_forwarded(hop, proxy) => TargetForm::Absolute(proxy),
            _ => TargetForm::Origin,
        };
        let request = head::build(hop, jar.field(&hop.url, &hop.headers), form)
            .map_err(|error| Error::Protocol { host: host(&hop.url), reason: error.to_string() })?;
        let response = link.send(request).await.map_err(|error| self.protocol(&hop.url, &error))?;
        let (head, body) = response.into_parts();
        Ok((head, body, link))
    }

    async fn finish(&self, landed: FinalResponse, room: Room) -> Result<Response, Error> {
        let FinalResponse { answer: UnreadResponse { mut head, body, link, key }, url, redirects, is_direct } = landed;
        let codings = self.codings(&mut head.headers)?;
        let body =
            body::read_decoded(body, &codings, &self.limits, &room).await.map_err(|error| error.at(&host(&url)))?;
        // Behind a proxy the peer would be the requested address, not the one that was reached.
        let peer = is_direct.then(|| link.peer());
        self.pool.keep(key, link).await;
        Ok(Response { url, status: head.status, headers: head.headers, body, room, peer, redirects })
    }

    async fn download(&self, landed: FinalResponse, deadline: Instant) -> Result<Download, Error> {
        let FinalResponse { answer: UnreadResponse { mut head, body, link, key }, url, redirects, .. } = landed;
        let codings = self.codings(&mut head.headers)?;
        let pieces = body::pieces(body, &codings, &self.limits).await.map_err(|error| error.at(&host(&url)))?;
        let open = Some(OpenBody { pool: Arc::clone(&self.pool), pieces, link, key });
        Ok(Download { url, status: head.status, headers: head.headers, redirects, open, deadline })
    }

    /// Returns the codings of a body and removes their headers, since the body is returned decoded.
    fn codings(&self, headers: &mut HeaderMap) -> Result<Vec<Coding>, Error> {
        let limit = self.limits.encodings;
        let codings = coding::applied(headers, limit)
            .map_err(|_| Error::TooLarge { what: "content codings", limit: limit as u64 })?;
        if !codings.is_empty() {
            headers.remove(header::CONTENT_ENCODING);
            headers.remove(header::CONTENT_LENGTH);
        }
        Ok(codings)
    }

    /// Reads the short body of a redirect so that its connection can be reused; a long or slow one closes the connection.
    async fn discard(&self, answer: UnreadResponse) {
        const PATIENCE: Duration = Duration::from_millis(200);
        const LENGTH: u64 = 64 << 10;
        let UnreadResponse { mut body, link, key, .. } = answer;
        let short = async {
            let mut seen = 0;
            while let Some(frame) = body.frame().await {
                let Ok(frame) = frame else { return false };
                seen += frame.data_ref().map_or(0, |data| data.len() as u64);
                if seen > LENGTH {
                    return false;
                }
            }
            true
        };
        if tokio::time::timeout(PATIENCE, short).await == Ok(true) {
            self.pool.keep(key, link).await;
        }
    }

    fn protocol(&self, url: &Url, error: &hyper::Error) -> Error {
        if error.is_parse_too_large() {
            return Error::TooLarge { what: "response head", limit: self.limits.head_bytes as u64 };
        }
        Error::Protocol { host: host(url), reason: chain(error) }
    }
}

/// Returns whether the proxy forwards the request itself, without a tunnel to the target.
fn is_forwarded(hop: &Hop, proxy: &Proxy) -> bool {
    proxy.resolves && hop.url.scheme() == "http"
}

/// Turns a 407 of a forwarding proxy, which answers instead of the target, into a proxy error.
fn checked(answer: UnreadResponse, hop: &Hop, route: &Route) -> Result<UnreadResponse, Error> {
    let is_forwarded = route.proxy.as_ref().is_some_and(|proxy| is_forwarded(hop, proxy));
    if is_forwarded && answer.head.status == StatusCode::PROXY_AUTHENTICATION_REQUIRED {
        return Err(proxy::unauthorized());
    }
    Ok(answer)
}

fn host(url: &Url) -> String {
    url.host_str().unwrap_or_default().to_owned()
}
