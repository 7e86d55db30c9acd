//! A service in its own folder, and a client that sends requests byte by byte as the test has written them.

use std::net::SocketAddr;
use std::time::Duration;

use boot::config::Config;
use quarry_server::Running;
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Operator token of every service.
pub(crate) const OPERATOR: &str = "the-token-of-the-operator";

/// Starts a service. Keep the returned folder as long as it runs.
pub(crate) async fn service(change: impl FnOnce(&mut Config)) -> (Running, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let mut config = Config::default();
    config.server.listen = "127.0.0.1:0".parse().unwrap();
    config.data.dir = folder.path().join("data");
    config.admin.token = base::Secret::new(OPERATOR);
    change(&mut config);
    (quarry_server::start(config).await.unwrap(), folder)
}

/// A response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Head in lower case.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let start = format!("\r\n{name}: ");
        let rest = &self.head[self.head.find(&start)? + start.len()..];
        rest.split("\r\n").next()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    pub(crate) fn code(&self) -> String {
        self.json()["code"].as_str().unwrap_or_default().to_owned()
    }
}

/// Sends one request of `line`, header lines and body, and reads the whole response. The content type is JSON unless the
/// header lines set it.
pub(crate) async fn call(running: &Running, line: &str, headers: &[&str], body: &[u8]) -> Answer {
    call_at(running.address, line, headers, body).await
}

/// Sends a request like `call` to any address. `Host` is `localhost` unless the header lines set it.
pub(crate) async fn call_at(address: SocketAddr, line: &str, headers: &[&str], body: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let has = |name: &str| headers.iter().any(|line| line.to_ascii_lowercase().starts_with(name));
    let length = body.len();
    let mut head = format!("{line} HTTP/1.1\r\nConnection: close\r\nContent-Length: {length}\r\n");
    if !has("host:") {
        head += "Host: localhost\r\n";
    }
    if length > 0 && !has("content-type:") {
        head += "Content-Type: application/json\r\n";
    }
    head.extend(headers.iter().map(|header| format!("{header}\r\n")));
    stream.write_all(format!("{head}\r\n").as_bytes()).await.unwrap();
    stream.write_all(body).await.unwrap();
    read(&mut stream).await
}

/// Reads until the server closes.
pub(crate) async fn read(stream: &mut TcpStream) -> Answer {
    let mut all = Vec::new();
    timeout(Duration::from_secs(60), stream.read_to_end(&mut all)).await.expect("an answer in time").unwrap();
    let end = all.windows(4).position(|part| part == b"\r\n\r\n").expect("a head") + 4;
    let body = all.split_off(end);
    let head = String::from_utf8_lossy(&all).to_lowercase();
    Answer { status: head[9..12].parse().unwrap(), head, body }
}
