//! A client that holds all the connections it can get.

use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt;
use tokio::net::{TcpSocket, TcpStream};

use crate::caller::read;
use crate::{call, service};

const HALF: &[u8] =
    b"POST /v2/scrape HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{";

#[tokio::test(flavor = "multi_thread")]
async fn half_sent_bodies_close_the_door_for_nobody() {
    let (running, _folder) = service(|config| config.server.max_connections = 400).await;
    let mut held = Vec::new();
    for _ in 0..450 {
        let mut stream = TcpStream::connect(running.address).await.unwrap();
        let _ = stream.write_all(HALF).await;
        held.push(stream);
    }
    for _ in 0..20 {
        let started = Instant::now();
        assert_eq!(call(&running, "GET /health", &[], b"").await.status, 200);
        assert!(started.elapsed() < Duration::from_millis(1000), "{:?}", started.elapsed());
    }
    let refused = call(&running, "GET /v2/crawl/active", &[], b"").await;
    assert_eq!((refused.status, refused.code().as_str()), (429, "CONCURRENCY_LIMITED"));
    // Other clients are served.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
    let mut other = socket.connect(running.address).await.unwrap();
    let head = "GET /v2/crawl/active HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    other.write_all(head.as_bytes()).await.unwrap();
    assert_eq!(read(&mut other).await.status, 200);
}
