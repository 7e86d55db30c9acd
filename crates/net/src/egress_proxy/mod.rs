//! A proxy of our own on loopback, for a program that brings its own HTTP, such as a browser: whatever it asks for goes
//! through the same guard, resolver and dialer as everything else.
//!
//! One proxy serves one task of that program. It takes CONNECT (RFC 9110 section 9.3.6), requests with a whole address
//! (RFC 9112 section 3.2.2), and WebSocket over both.

mod budget;
mod failures;
mod forward;
mod serve;
mod target;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::client::{Client, Inner};
use crate::error::Error;
use crate::proxy::Proxy;
use budget::Budget;
use failures::Failures;

/// The proxy. Dropping it closes its listener and every connection through it.
pub struct EgressProxy {
    addr: SocketAddr,
    shared: Arc<Shared>,
    task: AbortHandle,
}

/// Says whether a connection may use a proxy, by its two ends: that of the program, then ours. It may take its time.
pub type Admits = Arc<dyn Fn(SocketAddr, SocketAddr) -> bool + Send + Sync>;

/// How much may go through a proxy, where to, and whose it is.
#[derive(Clone)]
pub struct EgressPass {
    /// The proxy behind ours; none means direct connections.
    pub proxy: Option<Proxy>,
    /// Bytes to and from all targets together. Once they are used up everything is closed.
    pub bytes: u64,
    /// When everything is closed; none means when the proxy is dropped.
    pub deadline: Option<Instant>,
    /// Which connections are those of the program; none means all from this machine.
    pub admits: Option<Admits>,
}

/// What connections share.
struct Shared {
    client: Arc<Inner>,
    proxy: Option<Proxy>,
    admits: Option<Admits>,
    budget: Budget,
    failures: Failures,
}

impl Client {
    /// Opens a proxy on a free port of 127.0.0.1. Every target is resolved once, every address of it is checked, and a
    /// checked address is dialled.
    ///
    /// # Errors
    /// When loopback has no free port.
    pub async fn egress_proxy(&self, pass: EgressPass) -> io::Result<EgressProxy> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let addr = listener.local_addr()?;
        let EgressPass { proxy, bytes, deadline, admits } = pass;
        let (client, failures) = (self.inner(), Failures::default());
        let shared = Arc::new(Shared { client, proxy, admits, budget: Budget::new(bytes), failures });
        let task = tokio::spawn(serve::until(deadline, listener, Arc::clone(&shared))).abort_handle();
        Ok(EgressProxy { addr, shared, task })
    }

    /// Bytes that all that belongs to one page may have together: the limit of a decoded body.
    #[must_use]
    pub fn page_bytes(&self) -> u64 {
        self.inner().limits.body_decoded
    }
}

impl EgressProxy {
    /// Where it listens.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Why the last connection to a target did not come about; none when it did, or was never wanted. `host` as it stands
    /// in a URL.
    #[must_use]
    pub fn failure(&self, host: &str, port: u16) -> Option<Error> {
        self.shared.failures.of(host, port)
    }

    /// Lets more bytes through, unless they are used up already.
    pub fn allow(&self, bytes: u64) {
        self.shared.budget.add(bytes);
    }

    /// Whether the bytes are used up.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.shared.budget.is_spent()
    }

    /// Whether it takes connections no more.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.task.is_finished()
    }
}

impl Drop for EgressProxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl std::fmt::Debug for EgressPass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { proxy, bytes, deadline, .. } = self;
        let mut shown = f.debug_struct("EgressPass");
        shown.field("proxy", proxy).field("bytes", bytes).field("deadline", deadline).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for EgressProxy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "EgressProxy({})", self.addr)
    }
}
