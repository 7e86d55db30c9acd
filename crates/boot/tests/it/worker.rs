//! Health and metrics of a worker.

use std::net::SocketAddr;
use std::time::Duration;

use boot::config::Config;
use boot::worker::{self, Running};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

async fn start() -> (Running, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let mut config = Config::default();
    config.worker.listen = "127.0.0.1:0".parse().unwrap();
    config.data.dir = folder.path().to_owned();
    config.admin.token = base::Secret::new("hush");
    (worker::start(config).await.unwrap(), folder)
}

/// Returns the whole response to a request without body.
async fn ask(address: SocketAddr, line: &str, host: &str, more: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(format!("{line} HTTP/1.1\r\nhost: {host}\r\n{more}\r\n").as_bytes()).await.unwrap();
    let mut answer = String::new();
    timeout(Duration::from_secs(10), stream.read_to_string(&mut answer)).await.unwrap().unwrap();
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn health_and_metrics_and_nothing_else() {
    let (running, _folder) = start().await;
    let check = async |line: &str, host: &str, more: &str, status: u16, part: &str| {
        let answer = ask(running.address, line, host, more).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")) && answer.contains(part), "{line} {host}: {answer}");
    };
    for path in ["/health", "/health/live", "/health/ready"] {
        check(&format!("GET {path}"), "anybody.test", "", 200, "\"status\":\"ok\"").await;
    }
    check("GET /metrics", "localhost", "", 200, "quarry_build_info").await;
    check("GET /metrics", "anybody.test", "", 403, "QUARRY__SERVER__HOSTS").await;
    check("GET /metrics", "anybody.test", "authorization: Bearer hush\r\n", 200, "quarry_build_info").await;
    check("GET /metrics", "anybody.test", "authorization: Bearer push\r\n", 403, "FORBIDDEN").await;
    check("HEAD /health", "localhost", "", 200, "\r\n\r\n").await;
    check("POST /health", "localhost", "content-length: 0\r\n", 405, "METHOD_NOT_ALLOWED").await;
    for path in ["/", "/v2/scrape", "/admin/teams", "/healthy", "/openapi.json"] {
        check(&format!("GET {path}"), "localhost", "", 404, "\"success\":false").await;
    }
    assert!(running.stop().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_connections_keep_nobody_out_for_ever() {
    let (running, _folder) = start().await;
    let mut idle = Vec::new();
    for _ in 0..200 {
        idle.push(TcpStream::connect(running.address).await.unwrap());
    }
    let asked = async {
        loop {
            let mut stream = TcpStream::connect(running.address).await.unwrap();
            let _ = stream.write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
            let mut answer = String::new();
            if stream.read_to_string(&mut answer).await.is_ok() && answer.starts_with("HTTP/1.1 200 ") {
                return;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    timeout(Duration::from_secs(20), asked).await.unwrap();
    assert!(running.stop().await);
    drop(idle);
}
