//! `websockets` of a case: watchers of a job that read nothing while the case runs.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use super::case::Case;

/// No case has more.
const MAX_WATCHERS: u64 = 10_000;
/// The window of each, in bytes.
const WINDOW: u32 = 4096;
/// How long the service may take to let one in, or to refuse it.
const PATIENCE: Duration = Duration::from_secs(10);
/// The address that they come from, when the case names none: not the one that health is asked from.
const FROM: [u8; 4] = [127, 0, 0, 2];

/// Watchers that stay until this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Watchers {
    /// Those that were let in.
    open: Vec<TcpStream>,
    /// How many the service has refused.
    refused: usize,
}

impl Watchers {
    /// Opens as many as the case says on the job at this path, as the team with this key. None of them being let in is an
    /// error: there would be nothing to look at.
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

    /// How many were let in, and how many the service has refused; none when the case has no watchers.
    pub(crate) fn counts(&self) -> Option<(usize, usize)> {
        (self.open.len() + self.refused > 0).then_some((self.open.len(), self.refused))
    }
}

/// A watcher that was let in; none when the service has refused it. Of its stream nothing is read but the head.
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
            // A connection that is closed without an answer is a refusal as well.
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
