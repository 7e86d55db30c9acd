//! Connections: accepting, timeouts, HTTP/1.1 and HTTP/2 on one port, and graceful shutdown.

mod refuse;
mod slots;
mod socket;

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::IntoResponse as _;
use boot::config;
use hyper::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use parking_lot::Mutex;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Service as _;
use wire::Code;

use crate::error::Failure;
use crate::health;
use crate::missing::is_under;
use crate::request::{Local, Peer};
use refuse::ExcessRequest;
use slots::{ExcessSlot, Slot, Slots};
use socket::Socket;

/// Preface of an HTTP/2 connection (RFC 9113 section 3.4).
const H2_PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Maximum number of concurrent streams of an HTTP/2 connection.
const H2_STREAMS: u32 = 100;
/// Number of streams reset before they were handled after which the connection is closed (rapid reset, CVE-2023-44487).
const H2_PENDING_RESETS: usize = 20;
/// Pause after `accept` has failed, for example because the file descriptors are used up.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Longest lifetime of a connection over the limits, which gets only health checks.
const BEYOND_FOR: Duration = Duration::from_secs(5);

/// Shutdown control of the connections that [`run`] has accepted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shutdown {
    /// Signal to refuse new connections and to finish running requests.
    pub(crate) drain: CancellationToken,
    /// Signal to abort running requests.
    pub(crate) cut: CancellationToken,
    /// Tasks of the open connections.
    pub(crate) open: TaskTracker,
}

impl Shutdown {
    /// Answers new connections with 503, lets running requests finish for at most `patience`, then aborts the rest. Returns
    /// true when none was aborted.
    pub(crate) async fn finish(&self, patience: Duration) -> bool {
        self.drain.cancel();
        self.open.close();
        let finished = timeout(patience, self.open.wait()).await.is_ok();
        self.cut.cancel();
        self.open.wait().await;
        finished
    }
}

/// Accepts connections until `shutdown.cut`, and serves each in a task of `shutdown.open`. After `shutdown.drain` new
/// connections get 503: a load balancer that has not noticed yet gets an answer instead of a closed port.
pub(crate) async fn run(listener: TcpListener, router: Router, settings: Arc<config::Server>, shutdown: Shutdown) {
    let slots = Slots::new(&settings);
    loop {
        let accepted = tokio::select! {
            () = shutdown.cut.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                let slot = slots.admit(peer.ip());
                let connection = Connection { router: router.clone(), settings: settings.clone(), peer };
                admitted(connection, stream, slot, &shutdown);
            }
            Err(error) => {
                tracing::warn!(%error, "could not accept a connection; trying again");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Serves or refuses a connection according to its slot, in a task of its own.
fn admitted(connection: Connection, stream: TcpStream, slot: Slot, shutdown: &Shutdown) {
    let (drain, cut) = (shutdown.drain.clone(), shutdown.cut.clone());
    let draining = drain.is_cancelled();
    let evicted = match &slot {
        Slot::Served(_) => CancellationToken::new(),
        Slot::Excess(beyond) => beyond.cut.clone(),
    };
    let work = async move {
        match &slot {
            _ if draining => refuse::refuse(stream, Code::ShuttingDown, "the server is shutting down").await,
            Slot::Served(_) => connection.serve(stream, drain).await,
            Slot::Excess(beyond) => drop(timeout(BEYOND_FOR, connection.serve_beyond(stream, beyond)).await),
        }
        drop(slot);
    };
    let work = async move {
        tokio::select! {
            () = cut.cancelled() => {}
            () = evicted.cancelled() => {}
            () = work => {}
        }
    };
    // Refusals are not tracked, so that they do not delay the shutdown.
    if draining {
        tokio::spawn(work);
    } else {
        shutdown.open.spawn(work);
    }
}

struct Connection {
    router: Router,
    settings: Arc<config::Server>,
    peer: SocketAddr,
}

impl Connection {
    async fn serve(self, stream: TcpStream, drain: CancellationToken) {
        // Answers are written in one piece; Nagle's algorithm would only delay them.
        let _ = stream.set_nodelay(true);
        let first = tokio::select! {
            () = drain.cancelled() => return,
            first = timeout(self.settings.first_byte_timeout, version(&stream)) => first,
        };
        let Ok(Ok(Some(version))) = first else { return };
        let activity = Arc::new(Activity::new());
        let service = service_fn({
            let (router, peer, activity) = (self.router, Peer(self.peer), activity.clone());
            let local = stream.local_addr().ok().map(Local);
            move |request: Request<Incoming>| {
                let running = AtWork::new(activity.clone());
                let mut request = request.map(Body::new);
                request.extensions_mut().insert(peer);
                if let Some(local) = local {
                    request.extensions_mut().insert(local);
                }
                let answer = router.clone().call(request);
                async move {
                    let answer = answer.await;
                    drop(running);
                    answer
                }
            }
        });
        let io = TokioIo::new(Socket::new(stream, self.settings.write_timeout));
        let builder = builder(&self.settings);
        let mut connection = pin!(builder.serve_connection_with_upgrades(io, service));
        let mut draining = false;
        loop {
            tokio::select! {
                // Broken connections are caused by clients and not logged.
                _ = connection.as_mut() => return,
                () = drain.cancelled(), if !draining => {
                    draining = true;
                    connection.as_mut().graceful_shutdown();
                }
                () = activity.idle(self.settings.idle_timeout), if version == Version::H2 && !draining => {
                    draining = true;
                    connection.as_mut().graceful_shutdown();
                }
                () = activity.idle(self.settings.idle_timeout + self.settings.write_timeout), if version == Version::H2 => return,
            }
        }
    }
}

impl Connection {
    /// Serves health checks and refuses everything else.
    async fn serve_beyond(self, stream: TcpStream, beyond: &ExcessSlot) {
        let (code, error) = beyond.refusal;
        match refuse::excess_request(&stream).await {
            Some(ExcessRequest::MaybeHealth) => {}
            Some(ExcessRequest::Other) => return refuse::refuse(stream, code, error).await,
            None => return,
        }
        let _ = stream.set_nodelay(true);
        let (router, peer) = (self.router, Peer(self.peer));
        let service = service_fn(move |request: Request<Incoming>| {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(peer);
            let mut router = router.clone();
            async move {
                match is_under(request.uri().path(), health::ROOT) {
                    true => router.call(request).await,
                    false => Ok(Failure::new(code, error).retry_after(5).into_response()),
                }
            }
        });
        let io = TokioIo::new(Socket::new(stream, self.settings.write_timeout));
        let mut builder = builder(&self.settings);
        builder.http1().keep_alive(false);
        let _ = builder.serve_connection(io, service).await;
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    H1,
    H2,
}

/// Detects the protocol of the client without consuming its bytes; `None` when it has disconnected. hyper-util waits for
/// these bytes without a timer, so a client that sends nothing, or only `PRI`, would never time out: callers add a timeout.
async fn version(stream: &TcpStream) -> std::io::Result<Option<Version>> {
    let mut seen = [0; H2_PREFACE.len()];
    loop {
        let length = stream.peek(&mut seen).await?;
        if length == 0 {
            return Ok(None);
        }
        if !H2_PREFACE.starts_with(&seen[..length]) {
            return Ok(Some(Version::H1));
        }
        if length == H2_PREFACE.len() {
            return Ok(Some(Version::H2));
        }
        // Another peek returns the same bytes at once until the rest arrives, so sleep instead of spinning.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn builder(settings: &config::Server) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(settings.head_timeout).max_buf_size(settings.max_head);
    let list = u32::try_from(settings.max_head).unwrap_or(u32::MAX);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(H2_STREAMS)
        .max_pending_accept_reset_streams(H2_PENDING_RESETS)
        .max_local_error_reset_streams(H2_PENDING_RESETS)
        .max_header_list_size(list)
        .initial_stream_window_size(256 * 1024)
        .initial_connection_window_size(1024 * 1024)
        .max_send_buf_size(256 * 1024)
        .keep_alive_interval(Duration::from_secs(20))
        .keep_alive_timeout(Duration::from_secs(10));
    builder
}

/// Number of running requests of a connection, and the end of the last one.
struct Activity {
    running: AtomicUsize,
    rest_since: Mutex<Instant>,
}

impl Activity {
    fn new() -> Self {
        Self { running: AtomicUsize::new(0), rest_since: Mutex::new(Instant::now()) }
    }

    /// Returns once no request has run for `limit`.
    async fn idle(&self, limit: Duration) {
        loop {
            let since = *self.rest_since.lock();
            let rested = since.elapsed();
            if self.running.load(Ordering::Relaxed) > 0 {
                tokio::time::sleep(limit).await;
            } else if rested >= limit {
                return;
            } else {
                tokio::time::sleep(limit - rested).await;
            }
        }
    }
}

struct AtWork(Arc<Activity>);

impl AtWork {
    fn new(activity: Arc<Activity>) -> Self {
        activity.running.fetch_add(1, Ordering::Relaxed);
        Self(activity)
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        *self.0.rest_since.lock() = Instant::now();
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
