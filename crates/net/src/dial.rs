//! Opening of connections, the only place for it: TCP to a checked address, tunnel, TLS.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::net::TcpStream;
use url::{Position, Url};

use crate::error::Error;
use crate::guard::Guard;
use crate::proxy::{self, Proxy};
use crate::stream::Stream;
use crate::tls::Tls;

/// Maximum number of addresses of a host that are tried.
const MAX_TRIES: usize = 8;
/// Delay before the next address is tried in parallel (RFC 8305 section 5 recommends 250 ms).
const STAGGER: Duration = Duration::from_millis(250);
/// Timeout of a proxy for one of several addresses.
const TUNNEL_PATIENCE: Duration = Duration::from_secs(3);

/// The destination of a connection and the way to it.
pub(crate) struct Destination<'a> {
    pub(crate) url: &'a Url,
    /// Checked addresses of the URL's host; a proxy gets one of them unless it resolves names itself.
    pub(crate) addresses: &'a [SocketAddr],
    pub(crate) proxy: Option<&'a Proxy>,
    pub(crate) verify: bool,
    /// Whether the bytes are passed to the target unchanged, because the sender speaks TLS itself.
    pub(crate) raw: bool,
}

/// An open connection, ready for HTTP.
pub(crate) struct Dialled {
    pub(crate) stream: Box<dyn Stream>,
    /// Address of the target, also behind a proxy; the proxy's address if it resolves names itself.
    pub(crate) peer: SocketAddr,
    pub(crate) http2: bool,
}

/// Opener of connections.
pub(crate) struct Dialer {
    pub(crate) tls: Tls,
    pub(crate) timeout: Duration,
}

impl Dialer {
    /// Opens a connection within the connect timeout.
    pub(crate) async fn open(&self, goal: &Destination<'_>, guard: &Guard) -> Result<Dialled, Error> {
        let way = async {
            match goal.proxy {
                Some(proxy) => self.through(proxy, goal).await,
                None => self.direct(goal, guard).await,
            }
        };
        tokio::time::timeout(self.timeout, way).await.unwrap_or_else(|_| {
            let reason = format!("no connection within {} s", self.timeout.as_secs_f32());
            Err(if goal.proxy.is_some() { proxy::failed(reason) } else { refused(goal.url, reason) })
        })
    }

    async fn direct(&self, goal: &Destination<'_>, guard: &Guard) -> Result<Dialled, Error> {
        let host = goal.url.host_str().unwrap_or_default();
        let stream = connect(goal.addresses).await.map_err(|error| refused(goal.url, error.to_string()))?;
        let ends = stream.local_addr().and_then(|local| Ok((local, stream.peer_addr()?)));
        let (local, peer) = ends.map_err(|error| refused(goal.url, error.to_string()))?;
        // Checked again on the open socket, with the addresses that the connection actually has.
        guard.admit_connected(local, peer).map_err(|reason| Error::Blocked { host: host.to_owned(), reason })?;
        self.secure(Box::new(stream), peer, goal).await
    }

    async fn through(&self, proxy: &Proxy, goal: &Destination<'_>) -> Result<Dialled, Error> {
        if proxy.resolves {
            let (mut stream, peer) = self.proxy(proxy).await?;
            // Plain http needs no tunnel: the request line contains the target.
            if goal.raw || goal.url.scheme() == "https" {
                let port = goal.url.port_or_known_default().unwrap_or(443);
                let host = goal.url.host_str().unwrap_or_default();
                proxy::tunnel(&mut stream, proxy, &format!("{host}:{port}")).await?;
            }
            return self.secure(stream, peer, goal).await;
        }
        let mut last_error = proxy::failed("the target has no address");
        for (left, addr) in in_turn(goal.addresses) {
            let tunnel = async {
                let (mut stream, _) = self.proxy(proxy).await?;
                proxy::tunnel(&mut stream, proxy, &addr.to_string()).await?;
                Ok(stream)
            };
            // The last address gets all the remaining time.
            let patience = if left { TUNNEL_PATIENCE } else { self.timeout };
            match tokio::time::timeout(patience, tunnel).await {
                Ok(Ok(stream)) => return self.secure(stream, addr, goal).await,
                // Wrong credentials fail for every address.
                Ok(Err(error)) if error == proxy::unauthorized() => return Err(error),
                Ok(Err(error)) => last_error = error,
                Err(_) => last_error = proxy::failed("timeout while opening the tunnel"),
            }
        }
        Err(last_error)
    }

    /// Connects to the proxy itself and returns its address.
    async fn proxy(&self, proxy: &Proxy) -> Result<(Box<dyn Stream>, SocketAddr), Error> {
        let tls = proxy.is_tls()?;
        let addresses = proxy.addresses().await?;
        let stream = connect(&addresses).await.map_err(|error| proxy::failed(format!("cannot connect: {error}")))?;
        let peer = stream.peer_addr().map_err(|error| proxy::failed(error.to_string()))?;
        let mut stream: Box<dyn Stream> = Box::new(stream);
        if tls {
            stream = self.tls.proxy(stream, proxy.url.host_str().unwrap_or_default()).await?;
        }
        Ok((stream, peer))
    }

    async fn secure(
        &self,
        stream: Box<dyn Stream>,
        peer: SocketAddr,
        goal: &Destination<'_>,
    ) -> Result<Dialled, Error> {
        if goal.raw || goal.url.scheme() != "https" {
            return Ok(Dialled { stream, peer, http2: false });
        }
        let host = &goal.url[Position::BeforeHost..Position::AfterHost];
        let secured = self.tls.target(stream, host, goal.verify).await?;
        Ok(Dialled { stream: secured.stream, peer, http2: secured.http2 })
    }
}

/// Returns the addresses in the order for a proxy, each with whether another one follows. IPv4 comes first, because a proxy
/// without IPv6 may need long to fail.
fn in_turn(addresses: &[SocketAddr]) -> impl Iterator<Item = (bool, SocketAddr)> {
    let both = addresses.iter().filter(|addr| addr.is_ipv4()).chain(addresses.iter().filter(|addr| addr.is_ipv6()));
    let count = addresses.len().min(MAX_TRIES);
    both.take(MAX_TRIES).enumerate().map(move |(index, addr)| (index + 1 < count, *addr))
}

fn refused(url: &Url, reason: String) -> Error {
    Error::Connect { host: url.host_str().unwrap_or_default().to_owned(), reason }
}

/// Connects to the first addresses in order; the next one starts when one fails or after [`STAGGER`]. The first to succeed
/// wins (RFC 8305).
async fn connect(addresses: &[SocketAddr]) -> io::Result<TcpStream> {
    let mut waiting = addresses.iter().take(MAX_TRIES);
    let mut tries = FuturesUnordered::new();
    let mut last_error = io::Error::new(io::ErrorKind::AddrNotAvailable, "no address to connect to");
    loop {
        let next = waiting.next();
        if let Some(addr) = next {
            tries.push(TcpStream::connect(*addr));
        } else if tries.is_empty() {
            return Err(last_error);
        }
        let pause =
            async { if waiting.len() > 0 { tokio::time::sleep(STAGGER).await } else { std::future::pending().await } };
        tokio::select! {
            result = tries.next() => match result {
                Some(Ok(stream)) => {
                    stream.set_nodelay(true)?;
                    return Ok(stream);
                }
                Some(Err(error)) => last_error = error,
                None => {}
            },
            () = pause => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    #[tokio::test]
    async fn a_dead_address_gives_way_to_the_next() {
        let alive = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let dead = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (alive_addr, dead_addr) = (alive.local_addr().unwrap(), dead.local_addr().unwrap());
        drop(dead);
        let stream = connect(&[dead_addr, dead_addr, alive_addr]).await.unwrap();
        assert_eq!(stream.peer_addr().unwrap(), alive_addr);
    }

    #[tokio::test]
    async fn only_the_first_addresses_are_tried() {
        let alive = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let dead = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut addresses = vec![dead.local_addr().unwrap(); MAX_TRIES];
        drop(dead);
        addresses.push(alive.local_addr().unwrap());
        assert_eq!(connect(&addresses).await.unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
        assert_eq!(connect(&[]).await.unwrap_err().kind(), io::ErrorKind::AddrNotAvailable);
    }

    #[test]
    fn a_proxy_is_told_ipv4_first() {
        let all: Vec<SocketAddr> =
            ["[2001:db8::1]:80", "192.0.2.1:80", "192.0.2.2:80"].map(|a| a.parse().unwrap()).into();
        let told: Vec<_> = in_turn(&all).map(|(left, addr)| (left, addr.to_string())).collect();
        let expect = [(true, "192.0.2.1:80"), (true, "192.0.2.2:80"), (false, "[2001:db8::1]:80")];
        assert_eq!(told, expect.map(|(left, addr)| (left, addr.to_owned())));
        assert_eq!(in_turn(&[all[0]; 99]).filter(|(left, _)| !left).count(), 1);
        assert_eq!(in_turn(&[all[0]; 99]).count(), MAX_TRIES);
    }

    /// Starts a proxy that speaks TLS and connects every tunnel to one address.
    async fn tls_proxy(upstream: SocketAddr) -> SocketAddr {
        let made = rcgen::generate_simple_self_signed(["proxy.test".to_owned()]).unwrap();
        let key = rustls::pki_types::PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let provider = std::sync::Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let builder = builder.unwrap().with_no_client_auth();
        let config = builder.with_single_cert(vec![made.cert.der().clone()], key).unwrap();
        let acceptor = tokio_rustls::TlsAcceptor::from(std::sync::Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let Ok(mut stream) = acceptor.accept(stream).await else {
                    continue;
                };
                let mut head = [0; 1024];
                let length = stream.read(&mut head).await.unwrap();
                assert!(head[..length].starts_with(b"CONNECT 192.0.2.7:443 HTTP/1.1\r\n"));
                stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
                let mut upstream = TcpStream::connect(upstream).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut stream, &mut upstream).await;
            }
        });
        addr
    }

    #[tokio::test]
    async fn a_tunnel_may_run_inside_tls_and_the_proxy_must_be_genuine() {
        let site = testkit::Site::start_tls().await;
        let proxy = Proxy::new(format!("https://{}", tls_proxy(site.addr()).await).parse().unwrap());
        let url = "https://origin.test/".parse().unwrap();
        let addresses = ["192.0.2.7:443".parse().unwrap()];
        let goal = Destination { url: &url, addresses: &addresses, proxy: Some(&proxy), verify: false, raw: false };
        let guard = Guard::new(&crate::config::Egress::default());
        let dialer = |tls| Dialer { tls, timeout: Duration::from_secs(5) };
        let dialled = dialer(Tls::new().unwrap().trust_any_proxy()).open(&goal, &guard).await.unwrap();
        assert!(dialled.http2);
        let refused = dialer(Tls::new().unwrap()).open(&goal, &guard).await.err().unwrap();
        assert!(matches!(refused, Error::Proxy { .. }), "{refused:?}");
    }
}
