//! Serving of a connection: with or without TLS, HTTP/1.1 or HTTP/2.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use super::{H2Attack, Reply, Script, Seen, Shared, request};

/// First byte of a TLS handshake record (RFC 8446 section 5.1).
const TLS_HANDSHAKE: u8 = 0x16;
const H2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub(super) async fn connection(stream: TcpStream, shared: Arc<Shared>, tls: TlsAcceptor) -> io::Result<()> {
    let mut first = [0; 3];
    if stream.peek(&mut first).await? == 0 {
        return Ok(());
    }
    stream.set_nodelay(true)?;
    let stream = Counted { stream, shared: Arc::clone(&shared) };
    if first[0] != TLS_HANDSHAKE {
        return if first == H2_PREFACE[..3] { h2(stream, shared).await } else { h1(stream, &shared).await };
    }
    let stream = tls.accept(stream).await?;
    match stream.get_ref().1.alpn_protocol() {
        Some(b"h2") => h2(stream, shared).await,
        _ => h1(stream, &shared).await,
    }
}

/// A connection that counts the bytes written, including those of TLS.
struct Counted {
    stream: TcpStream,
    shared: Arc<Shared>,
}

impl AsyncRead for Counted {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Counted {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(cx, bytes))?;
        self.shared.sent.fetch_add(written as u64, Ordering::SeqCst);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

async fn h1(stream: impl AsyncRead + AsyncWrite + Unpin, shared: &Shared) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    while let Some(seen) = request::read(&mut stream).await? {
        let script = shared.turn(&seen);
        let keep = match script.as_deref() {
            None => write_reply(&mut stream, &seen, &missing()).await?,
            Some(Script::Reply(reply)) => write_reply(&mut stream, &seen, reply).await?,
            Some(Script::Held(reply, held)) => {
                released(held).await;
                write_reply(&mut stream, &seen, reply).await?
            }
            Some(Script::Echo) => write_reply(&mut stream, &seen, &echo(&seen)).await?,
            Some(Script::Forward(to)) => forward(&mut stream, &seen, *to).await?,
            Some(other) => misbehave(&mut stream, other).await?,
        };
        stream.flush().await?;
        if !keep {
            break;
        }
    }
    stream.shutdown().await
}

/// Waits until the sender is dropped.
async fn released(held: &watch::Receiver<()>) {
    let mut held = held.clone();
    while held.changed().await.is_ok() {}
}

/// Forwards one request. Both servers close the connection after the response, so that the next request of the client is
/// matched against the scripts again.
async fn forward(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    seen: &Seen,
    to: std::net::SocketAddr,
) -> io::Result<bool> {
    let mut other = TcpStream::connect(to).await?;
    let changes_protocol = !seen.header("upgrade").is_empty();
    let head = String::from_utf8_lossy(&seen.head);
    for line in head.trim_end().split("\r\n") {
        let is_connection = line.to_ascii_lowercase().starts_with("connection:");
        if changes_protocol || !is_connection {
            other.write_all(format!("{line}\r\n").as_bytes()).await?;
        }
    }
    let end: &[u8] = if changes_protocol { b"\r\n" } else { b"Connection: close\r\n\r\n" };
    other.write_all(end).await?;
    other.write_all(&seen.body).await?;
    tokio::io::copy_bidirectional(stream, &mut other).await?;
    Ok(false)
}

fn missing() -> Reply {
    Reply { status: 404, body: "<h1>not found</h1>".into(), ..Reply::default() }.header("content-type", "text/html")
}

fn echo(seen: &Seen) -> Reply {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let headers: Vec<_> = seen.headers.iter().map(|(name, value)| (name.as_str(), text(value.as_bytes()))).collect();
    let (method, path) = (&seen.method, &seen.path);
    let json = serde_json::json!({"method": method, "path": path, "headers": headers, "body": text(&seen.body)});
    Reply { body: json.to_string().into(), ..Reply::default() }.header("content-type", "application/json")
}

/// Runs scripts other than a response; the connection is closed afterwards.
async fn misbehave(stream: &mut (impl AsyncWrite + Unpin), script: &Script) -> io::Result<bool> {
    match script {
        Script::Raw(bytes) => stream.write_all(bytes).await?,
        Script::Hang(time) => tokio::time::sleep(*time).await,
        Script::DripHead(pause) => {
            for byte in b"HTTP/1.1 200 OK\r\nX-Slow: ".iter().chain(std::iter::repeat(&b'a')) {
                stream.write_all(&[*byte]).await?;
                stream.flush().await?;
                tokio::time::sleep(*pause).await;
            }
        }
        Script::EndlessInterim => again(stream, b"HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n").await?,
        Script::H2(attack) => {
            let (first, repeated) = attack.frames();
            stream.write_all(&first).await?;
            again(stream, &repeated).await?;
        }
        Script::Reply(_) | Script::Held(..) | Script::Echo | Script::Forward(_) => {}
    }
    Ok(false)
}

/// Writes the same bytes until the client disconnects, with pauses to limit the load on a small machine.
async fn again(stream: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> io::Result<()> {
    loop {
        for _ in 0..64 {
            stream.write_all(bytes).await?;
        }
        stream.flush().await?;
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Writes a response and returns whether the connection can be reused.
async fn write_reply(stream: &mut (impl AsyncWrite + Unpin), seen: &Seen, reply: &Reply) -> io::Result<bool> {
    tokio::time::sleep(reply.delay).await;
    let given = |name: &str| reply.headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name));
    let bodiless = seen.method == "HEAD" || matches!(reply.status, 204 | 304);
    let length = reply.body.length();
    let framed = given("content-length").is_some() || given("transfer-encoding").is_some();
    let chunked = !framed && !bodiless && length.is_none();
    let mut head = format!("HTTP/1.1 {} {}\r\n", reply.status, reason(reply.status));
    for (name, value) in &reply.headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    if chunked {
        head.push_str("transfer-encoding: chunked\r\n");
    } else if let Some(length) = length.filter(|_| !framed && !bodiless) {
        head.push_str(&format!("content-length: {length}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).await?;
    if !bodiless {
        write_body(stream, reply, chunked).await?;
    }
    let closes = |value: &str| value.eq_ignore_ascii_case("close");
    let asked_to_close =
        closes(seen.header("connection")) || given("connection").is_some_and(|(_, value)| closes(value));
    let honest = given("content-length").is_none_or(|(_, value)| value.parse().ok() == length || bodiless);
    Ok(!asked_to_close && honest && given("transfer-encoding").is_none())
}

async fn write_body(stream: &mut (impl AsyncWrite + Unpin), reply: &Reply, chunked: bool) -> io::Result<()> {
    let mut pieces = reply.body.clone().pieces();
    while let Some(piece) = pieces.recv().await {
        if chunked && !piece.is_empty() {
            stream.write_all(format!("{:x}\r\n", piece.len()).as_bytes()).await?;
            stream.write_all(&piece).await?;
            stream.write_all(b"\r\n").await?;
        } else {
            stream.write_all(&piece).await?;
        }
        stream.flush().await?;
    }
    if chunked { stream.write_all(b"0\r\n\r\n").await } else { Ok(()) }
}

fn reason(status: u16) -> &'static str {
    http::StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason()).unwrap_or("Unknown")
}

async fn h2<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(mut stream: S, shared: Arc<Shared>) -> io::Result<()> {
    let Some(attack) = shared.h2() else {
        let service = service_fn(move |request| answer_h2(request, Arc::clone(&shared)));
        let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
        return server.serve_connection(TokioIo::new(stream), service).await.map_err(io::Error::other);
    };
    let mut preface = [0; H2_PREFACE.len()];
    stream.read_exact(&mut preface).await?;
    shared.turn(&Seen { method: "PRI".into(), path: "*".into(), ..Seen::default() });
    attack_h2(stream, attack).await
}

/// Sends the attack while reading, so that the client's own frames do not fill the socket buffers.
async fn attack_h2(stream: impl AsyncRead + AsyncWrite + Unpin, attack: H2Attack) -> io::Result<()> {
    let (mut reader, mut writer) = tokio::io::split(stream);
    let drain = async { tokio::io::copy(&mut reader, &mut tokio::io::sink()).await.map(|_| ()) };
    let flood = async { misbehave(&mut writer, &Script::H2(attack)).await.map(|_| ()) };
    tokio::select! { ended = drain => ended, ended = flood => ended }
}

/// Serves normal HTTP/2: only responses, with the whole body at once. Scripts with raw bytes work only over HTTP/1.1.
async fn answer_h2(
    request: http::Request<Incoming>,
    shared: Arc<Shared>,
) -> Result<http::Response<Full<Bytes>>, Infallible> {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path_and_query().map_or_else(String::new, ToString::to_string);
    let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let method = parts.method.to_string();
    let seen = Seen { method, path, headers: parts.headers, body, ..Seen::default() };
    let reply = match shared.turn(&seen).as_deref() {
        Some(Script::Reply(reply)) => reply.clone(),
        Some(Script::Held(reply, held)) => {
            released(held).await;
            reply.clone()
        }
        Some(Script::Echo) => echo(&seen),
        _ => missing(),
    };
    tokio::time::sleep(reply.delay).await;
    let (mut pieces, mut body) = (reply.body.pieces(), Vec::new());
    while let Some(piece) = pieces.recv().await {
        body.extend_from_slice(&piece);
    }
    let mut response = http::Response::builder().status(reply.status);
    for (name, value) in &reply.headers {
        response = response.header(name, value);
    }
    Ok(response.body(Full::from(body)).unwrap_or_default())
}
