//! `websockets` of a case: watchers of a job that read nothing while the case runs.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use super::case::Case;

/// Maximum number of watchers of a case.
const MAX_WATCHERS: u64 = 10_000;
/// Receive window of each, in bytes.
const WINDOW: u32 = 4096;
/// Timeout until the service accepts or refuses a watcher.
const PATIENCE: Duration = Duration::from_secs(10);
/// Default client address, different from that of health probes.
const FROM: [u8; 4] = [127, 0, 0, 2];

/// Watchers that stay connected until this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Watchers {
    /// Accepted watchers.
    open: Vec<TcpStream>,
    /// Number of refused watchers.
    refused: usize,
}

impl Watchers {
    /// Opens the watchers of the case on the job at this path, as the team with this key. Fails if all are refused,
    /// because there would be nothing to check.
    pub(crate) async fn open(case: &Case, job: Option<&str>, addr: SocketAddr, key: &str) -> Result<Self> {
        let Some(number) = case.setup.get("websockets") else { return Ok(Self::default()) };
        let number = number.as_u64().filter(|number| (1..=MAX_WATCHERS).contains(number));
        let number = number.with_context(|| format!("setup.websockets is no number of 1 to {MAX_WATCHERS}"))?;
        let job = job.context("setup.websockets needs setup.job, which is what they watch")?;
        let from = case.setup.get("from").and_then(Value::as_str).map(str::parse).transpose()?;
        let from: IpAddr = from.unwrap_or(FROM.into());
        let mut watchers = Self::default();
        for _ in 0..number {
            match watch(addr, from, job, key).await? {
                Some(socket) => watchers.open.push(socket),
                None => watchers.refused += 1,
            }
        }
        ensure!(!watchers.open.is_empty(), "none of the {number} watchers of {job} was let in");
        Ok(watchers)
    }

    /// Returns the numbers of accepted and refused watchers; `None` without watchers in the case.
    pub(crate) fn counts(&self) -> Option<(usize, usize)> {
        (self.open.len() + self.refused > 0).then_some((self.open.len(), self.refused))
    }
}

/// Opens a watcher; `None` if the service refused it. Only the head of the answer is read.
async fn watch(addr: SocketAddr, from: IpAddr, job: &str, key: &str) -> Result<Option<TcpStream>> {
    let work = async {
        let socket = TcpSocket::new_v4()?;
        socket.set_recv_buffer_size(WINDOW)?;
        socket.bind(SocketAddr::new(from, 0))?;
        let mut stream = socket.connect(addr).await?;
        let request = format!(
            "GET {job} HTTP/1.1\r\nHost: {addr}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
             Authorization: Bearer {key}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            // A connection closed without an answer is a refusal too.
            let Ok(byte) = stream.read_u8().await else { return Ok(None) };
            head.push(byte);
        }
        Ok::<_, std::io::Error>(head.starts_with(b"HTTP/1.1 101 ").then_some(stream))
    };
    Ok(tokio::time::timeout(PATIENCE, work).await.context("no answer to a watcher")??)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use testkit::{Script, Site};

    use super::*;

    fn case(setup: &Value) -> Case {
        let case =
            json!({"id": "x", "kind": "x", "setup": setup, "input": {}, "expected": {}, "note": "", "source": ""});
        serde_json::from_value(case).unwrap()
    }

    #[tokio::test]
    async fn they_are_let_in_and_counted() {
        let site = Site::start().await;
        let (accept, refuse) = ("HTTP/1.1 101 Switching Protocols\r\n\r\n", "HTTP/1.1 429 Too Many\r\n\r\n");
        site.script("/v2/crawl/1", [accept, refuse].map(|raw| Script::Raw(raw.into())).to_vec());
        let open = async |setup: Value, job: Option<&str>| {
            Watchers::open(&case(&setup), job, site.addr(), "K").await.map(|watchers| watchers.counts())
        };
        assert_eq!(open(json!({}), None).await.unwrap(), None);
        assert_eq!(open(json!({"websockets": 3}), Some("/v2/crawl/1")).await.unwrap(), Some((1, 2)));
        let refused = open(json!({"websockets": 2}), Some("/v2/crawl/1")).await.unwrap_err();
        assert!(refused.to_string().contains("none of the 2 watchers"), "{refused}");
        let nothing = open(json!({"websockets": 3}), None).await.unwrap_err();
        assert!(nothing.to_string().contains("needs setup.job"), "{nothing}");
        assert!(open(json!({"websockets": "many"}), Some("/v2/crawl/1")).await.is_err());
    }
}
