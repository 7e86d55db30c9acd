//! The accept loop against clients that are slow, flood the server or send malformed requests, on loopback.

use std::time::Duration;

use axum::routing::get;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Notify;

use super::*;

/// Far longer than any timeout of these tests: reached only when a timeout fails.
const HANGS: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(100);

struct Loop {
    address: SocketAddr,
    shutdown: Shutdown,
    /// Lets `/wait` answer.
    go: Arc<Notify>,
    /// Notified when `/wait` is running.
    arrived: Arc<Notify>,
}

impl Loop {
    async fn start(change: impl FnOnce(&mut config::Server)) -> Self {
        let mut settings = config::Config::default().server;
        change(&mut settings);
        let (go, arrived) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let wait = {
            let (go, arrived) = (go.clone(), arrived.clone());
            move || async move {
                arrived.notify_one();
                go.notified().await;
                "done"
            }
        };
        let router = Router::new()
            .route("/", get(|| async { "hello" }))
            .route("/health", get(|| async { "well" }))
            .route("/big", get(|| async { vec![b'x'; 50_000_000] }))
            .route("/wait", get(wait));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shutdown = Shutdown::default();
        tokio::spawn(run(listener, router, Arc::new(settings), shutdown.clone()));
        Self { address, shutdown, go, arrived }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Sends and reads until the server closes.
    async fn talk(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect().await;
        // The server may close before it has read everything.
        let _ = stream.write_all(bytes).await;
        rest(&mut stream).await
    }
}

/// Reads until the connection is closed or reset.
async fn rest(stream: &mut TcpStream) -> String {
    let mut all = Vec::new();
    let _ = timeout(HANGS, stream.read_to_end(&mut all)).await.expect("the server closes the connection");
    String::from_utf8_lossy(&all).into_owned()
}

fn head(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n")
}

#[tokio::test]
async fn clients_that_say_nothing_are_closed() {
    let server = Loop::start(|settings| settings.first_byte_timeout = SHORT).await;
    assert_eq!(server.talk(b"").await, "");
    assert_eq!(server.talk(b"PRI * HTTP/2").await, "");
}

#[tokio::test]
async fn half_a_head_is_closed() {
    let server = Loop::start(|settings| settings.head_timeout = SHORT).await;
    assert_eq!(server.talk(b"GET / HTTP/1.1\r\nHo").await, "");
    // The timeout also holds between requests.
    let text = server.talk(format!("{}GET", head("/")).as_bytes()).await;
    assert!(text.starts_with("HTTP/1.1 200 OK") && text.ends_with("hello"), "{text}");
}

#[tokio::test]
async fn refusals_of_the_parser_have_our_body() {
    let server = Loop::start(|_| ()).await;
    let check = async |request: String, status: &str| {
        let text = server.talk(request.as_bytes()).await;
        assert!(text.starts_with(&format!("HTTP/1.1 {status} ")), "{text}");
        let body: serde_json::Value = serde_json::from_str(text.split("\r\n\r\n").nth(1).unwrap()).unwrap();
        assert_eq!(body["success"], false);
        assert!(body["error"].is_string() && body["code"].is_string());
    };
    check(format!("GET / HTTP/1.1\r\nHost: x\r\nX: {}\r\n\r\n", "A".repeat(65_536)), "431").await;
    check("GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n".to_owned(), "400").await;
    check("rubbish\r\n\r\n".to_owned(), "400").await;
    let many: String = (0..200).map(|number| format!("X-{number}: 1\r\n")).collect();
    check(format!("GET / HTTP/1.1\r\nHost: x\r\n{many}\r\n"), "431").await;
}

#[tokio::test]
async fn clients_that_do_not_read_are_cut() {
    let server = Loop::start(|settings| settings.write_timeout = SHORT).await;
    let mut stream = server.connect().await;
    stream.write_all(head("/big").as_bytes()).await.unwrap();
    // This client stops reading once the answer has begun; only the write timeout can end its connection.
    stream.read_exact(&mut [0; 12]).await.unwrap();
    assert!(server.shutdown.finish(HANGS).await);
    assert!(rest(&mut stream).await.len() < 50_000_000);
}

#[tokio::test]
async fn draining_lets_running_requests_finish() {
    let server = Loop::start(|_| ()).await;
    let mut idle = server.connect().await;
    let mut stream = server.connect().await;
    stream.write_all(head("/wait").as_bytes()).await.unwrap();
    server.arrived.notified().await;
    let shutdown = server.shutdown.clone();
    let finish = tokio::spawn(async move { shutdown.finish(HANGS).await });
    assert_eq!(rest(&mut idle).await, "");
    server.go.notify_one();
    let text = rest(&mut stream).await;
    assert!(text.contains("connection: close") && text.ends_with("done"), "{text}");
    assert!(finish.await.unwrap());
    assert!(TcpStream::connect(server.address).await.is_err());
}

#[tokio::test]
async fn draining_ends_even_when_a_request_does_not() {
    let server = Loop::start(|_| ()).await;
    let mut stream = server.connect().await;
    stream.write_all(head("/wait").as_bytes()).await.unwrap();
    server.arrived.notified().await;
    assert!(!server.shutdown.finish(SHORT).await);
    assert_eq!(rest(&mut stream).await, "");
}

/// Sends the first bytes of requests that are never completed, each on a connection of its own.
async fn half_sent(server: &Loop, number: usize) -> Vec<TcpStream> {
    let mut all = Vec::new();
    for _ in 0..number {
        let mut stream = server.connect().await;
        stream.write_all(b"GET / HTTP/1.1\r\nHo").await.unwrap();
        all.push(stream);
    }
    all
}

/// Sends one request from another loopback address.
async fn talk_from(server: &Loop, source: &str, request: &str) -> String {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind(source.parse().unwrap()).unwrap();
    let mut stream = socket.connect(server.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    rest(&mut stream).await
}

fn close(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
}

#[tokio::test]
async fn one_client_with_many_connections_closes_the_door_for_nobody() {
    let server = Loop::start(|settings| settings.max_connections_per_address = 5).await;
    // Far more than the slots beyond the limits: the connections are refused and closed, or evicted.
    let held = half_sent(&server, 300).await;
    for path in ["/health", "/health?x"] {
        let started = Instant::now();
        let text = server.talk(close(path).as_bytes()).await;
        assert!(text.starts_with("HTTP/1.1 200 ") && text.ends_with("well"), "{text}");
        assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
    }
    let refused = server.talk(close("/").as_bytes()).await;
    assert!(refused.starts_with("HTTP/1.1 429 Too Many Requests\r\n"), "{refused}");
    assert!(refused.contains("connection: close") && refused.contains(r#""code":"CONCURRENCY_LIMITED""#), "{refused}");
    let h2 = server.talk(&h2([frame(1, 5, 1, GET)])).await;
    assert!(h2.contains("CONCURRENCY_LIMITED"), "{h2}");
    assert!(talk_from(&server, "127.0.0.2:0", &close("/")).await.ends_with("hello"));
    drop(held);
    while !server.talk(close("/").as_bytes()).await.ends_with("hello") {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn over_the_maximum_health_is_answered_and_the_rest_is_told() {
    let server = Loop::start(|settings| settings.max_connections = 1).await;
    let first = half_sent(&server, 1).await;
    for source in ["127.0.0.1:0", "127.0.0.2:0"] {
        assert!(talk_from(&server, source, &close("/health")).await.ends_with("well"));
        let refused = talk_from(&server, source, &close("/")).await;
        assert!(refused.starts_with("HTTP/1.1 503 ") && refused.contains("OVERLOADED"), "{refused}");
    }
    drop(first);
    while !server.talk(close("/").as_bytes()).await.ends_with("hello") {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_trusted_proxy_may_have_many_connections() {
    let server = Loop::start(|settings| {
        settings.max_connections_per_address = 1;
        settings.trusted_proxies = vec!["127.0.0.1/32".parse().unwrap()];
    })
    .await;
    let _held = half_sent(&server, 20).await;
    assert!(server.talk(close("/").as_bytes()).await.ends_with("hello"));
}

/// Returns one HTTP/2 frame (RFC 9113 section 4.1).
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = length[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

fn h2(frames: impl IntoIterator<Item = Vec<u8>>) -> Vec<u8> {
    let settings = frame(4, 0, 0, b"");
    [H2_PREFACE.to_vec(), settings].into_iter().chain(frames).flatten().collect()
}

/// `GET /` of the static table (RFC 7541 appendix A): :method GET, :scheme http, :path /.
const GET: &[u8] = &[0x82, 0x86, 0x84];

#[tokio::test]
async fn an_idle_http2_connection_is_closed() {
    let server = Loop::start(|settings| (settings.idle_timeout, settings.write_timeout) = (SHORT, SHORT)).await;
    server.talk(&h2([])).await;
    let answered = server.talk(&h2([frame(1, 5, 1, GET)])).await;
    assert!(answered.contains("hello"), "{answered}");
}

#[tokio::test]
async fn a_rapid_reset_ends_the_connection() {
    let server = Loop::start(|_| ()).await;
    let resets =
        (0..5000).flat_map(|number| [frame(1, 5, number * 2 + 1, GET), frame(3, 0, number * 2 + 1, &[0, 0, 0, 8])]);
    server.talk(&h2(resets)).await;
}

#[tokio::test]
async fn a_continuation_flood_ends_the_connection() {
    let server = Loop::start(|_| ()).await;
    // A literal header that is never finished: each frame adds 16 KB to its block.
    let flood = (0..1000).map(|_| frame(9, 0, 1, &[0; 16_384]));
    server.talk(&h2([frame(1, 1, 1, GET)].into_iter().chain(flood))).await;
}
