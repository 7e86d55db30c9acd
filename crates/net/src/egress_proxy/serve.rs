//! Listener, connections and tunnels of the proxy.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::Instant;

use super::conversation::{Body, Conversation, TunnelEnd};
use super::{Shared, failures, forward, target};
use crate::error::Error;
use crate::stream::Stream;

/// Maximum number of connections of a program. A browser has six per host, and 32 for all hosts of one proxy.
const MAX_CONNECTIONS: usize = 256;
/// Idle timeout of a connection.
const IDLE: Duration = Duration::from_secs(60);
/// Buffer size in each direction of a tunnel.
const TUNNEL_BUFFER: usize = 16 << 10;

/// Serves until the deadline or until the byte limit is used up. Connections are in a `JoinSet`, so they end with this
/// future.
pub(super) async fn until(deadline: Option<Instant>, listener: TcpListener, shared: Arc<Shared>) {
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut connections = JoinSet::new();
    let over = async {
        match deadline {
            Some(deadline) => tokio::time::sleep_until(deadline).await,
            None => std::future::pending().await,
        }
    };
    tokio::pin!(over);
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, peer)) = accepted else {
                    // Probably out of file descriptors, which is temporary.
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    continue;
                };
                // Connections beyond the limit are closed at once instead of waiting.
                if peer.ip().is_loopback() && let Ok(place) = Arc::clone(&room).try_acquire_owned() {
                    let shared = Arc::clone(&shared);
                    connections.spawn(async move {
                        if is_admitted(&shared, &stream, peer).await {
                            converse(stream, shared).await;
                        }
                        drop(place);
                    });
                }
            }
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
            () = shared.budget.spent() => return,
            () = &mut over => return,
        }
    }
}

/// Returns whether a connection belongs to the program that the proxy is for.
async fn is_admitted(shared: &Shared, stream: &TcpStream, theirs: SocketAddr) -> bool {
    let Some(admits) = shared.admits.clone() else { return true };
    let Ok(ours) = stream.local_addr() else { return false };
    let is_admitted = spawn_blocking(move || admits(theirs, ours)).await.unwrap_or(false);
    if !is_admitted {
        tracing::debug!("refused a connection to a page's proxy: it does not come from the browser");
    }
    is_admitted
}

async fn converse(stream: TcpStream, shared: Arc<Shared>) {
    let _ = stream.set_nodelay(true);
    let limits = &shared.client.limits;
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE)
        .max_buf_size(limits.head_bytes)
        .max_headers(limits.head_lines)
        .preserve_header_case(true);
    let conversation = Arc::new(Conversation::new(Arc::clone(&shared)));
    let service = service_fn(|request| {
        let conversation = Arc::clone(&conversation);
        async move { Ok::<_, Infallible>(answer(&conversation, request).await) }
    });
    let ended = builder.serve_connection(TokioIo::new(stream), service).with_upgrades().await;
    let handover = conversation.handed_over();
    if let (Ok(()), Some((near, far))) = (ended, handover) {
        // Errors of a tunnel concern only its two ends.
        let _ = lead(near, far).await;
    }
}

/// Copies bytes in both directions until both sides have ended.
async fn lead(near: OnUpgrade, far: TunnelEnd) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let mut near = TokioIo::new(near.await?);
    let mut far: Box<dyn Stream> = match far {
        TunnelEnd::Stream(stream) => stream,
        TunnelEnd::Upgrade(upgrade) => Box::new(TokioIo::new(upgrade.await?)),
    };
    tokio::io::copy_bidirectional_with_sizes(&mut near, &mut far, TUNNEL_BUFFER, TUNNEL_BUFFER).await?;
    Ok(())
}

async fn answer(conversation: &Conversation, request: Request<Incoming>) -> Response<Body> {
    if request.method() == Method::CONNECT {
        return connect(conversation, request).await;
    }
    match target::of_request(request.uri()) {
        Some(url) => match forward::request(conversation, &url, request).await {
            Ok(response) => response,
            Err(error) => {
                conversation.shared.note(&url, Some(&error));
                failed(&error)
            }
        },
        None => {
            text_response(StatusCode::BAD_REQUEST, "this is a proxy: send absolute http:// URLs or CONNECT host:port")
        }
    }
}

async fn connect(conversation: &Conversation, mut request: Request<Incoming>) -> Response<Body> {
    let Some(url) = target::of_connect(request.uri()) else {
        return text_response(StatusCode::BAD_REQUEST, "CONNECT takes host:port");
    };
    match conversation.shared.open(&url, true).await {
        Ok(way) => {
            conversation.hand_over(hyper::upgrade::on(&mut request), TunnelEnd::Stream(way.stream));
            Response::new(empty())
        }
        Err(error) => failed(&error),
    }
}

fn failed(error: &Error) -> Response<Body> {
    let (status, word) = failures::answer(error);
    let mut response = text_response(status, "the proxy did not connect to the target");
    response.headers_mut().insert("proxy-status", word);
    response
}

fn text_response(status: StatusCode, text: &'static str) -> Response<Body> {
    let body = Full::new(Bytes::from_static(text.as_bytes())).map_err(|never| match never {}).boxed();
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static("text/plain"));
    response
}

fn empty() -> Body {
    Empty::new().map_err(|never| match never {}).boxed()
}
