//! A local proxy on loopback for programs with their own HTTP stack, such as a browser: all of their requests pass the same
//! guard, resolver and dialer.
//!
//! One proxy serves one task of that program. It supports CONNECT (RFC 9110 section 9.3.6), requests in absolute form (RFC
//! 9112 section 3.2.2), and WebSocket over both.

mod budget;
mod conversation;
mod failures;
mod forward;
mod serve;
mod target;
mod upstream;

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

/// A local proxy. Dropping it closes its listener and every connection through it.
pub struct EgressProxy {
    addr: SocketAddr,
    shared: Arc<Shared>,
    task: AbortHandle,
}

/// Decides whether a connection may use a proxy, by its remote and local address. It may block.
pub type Admits = Arc<dyn Fn(SocketAddr, SocketAddr) -> bool + Send + Sync>;

/// Options and limits of a local proxy.
#[derive(Clone)]
pub struct EgressPass {
    /// Upstream proxy; `None` for direct connections.
    pub proxy: Option<Proxy>,
    /// Byte limit to and from all targets together. When it is used up, everything is closed.
    pub bytes: u64,
    /// Time at which everything is closed; `None` for when the proxy is dropped.
    pub deadline: Option<Instant>,
    /// Filter of connections; `None` accepts all from this machine.
    pub admits: Option<Admits>,
}

/// State shared by the connections.
struct Shared {
    client: Arc<Inner>,
    proxy: Option<Proxy>,
    admits: Option<Admits>,
    budget: Budget,
    failures: Failures,
}

impl Client {
    /// Opens a proxy on a free port of 127.0.0.1. Every target is resolved once, all of its addresses are checked, and one
    /// of them is connected to.
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

    /// Returns the byte limit for everything that belongs to one page: the limit of a decoded body.
    #[must_use]
    pub fn page_bytes(&self) -> u64 {
        self.inner().limits.body_decoded
    }
}

impl EgressProxy {
    /// Returns the listening address.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Returns the error of the last connection to a target; `None` when it succeeded or there was none. `host` is spelt as
    /// in a URL.
    #[must_use]
    pub fn failure(&self, host: &str, port: u16) -> Option<Error> {
        self.shared.failures.find(host, port)
    }

    /// Adds bytes to the limit, unless it is used up already.
    pub fn allow(&self, bytes: u64) {
        self.shared.budget.add(bytes);
    }

    /// Returns whether the byte limit is used up.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.shared.budget.is_spent()
    }

    /// Returns whether the proxy has stopped accepting connections.
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
