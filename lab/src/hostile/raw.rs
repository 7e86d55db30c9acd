//! A client that sends raw bytes and reads one HTTP/1.1 response, for requests that the crate `client` cannot send.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpSocket, TcpStream};

/// Size limit of an answer, above the largest page of the service.
const MAX_BODY: u64 = 256 * 1024 * 1024;
/// Timeout of a health probe.
const PROBE: Duration = Duration::from_secs(10);

/// An HTTP answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl Response {
    /// Returns the body as JSON; null if it is not JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// Returns the body as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// A connection with an answered request.
pub(crate) struct Connection {
    reader: BufReader<OwnedReadHalf>,
    /// Kept open: dropping it would close our half.
    _writer: tokio::task::JoinHandle<OwnedWriteHalf>,
}

impl Connection {
    /// Returns whether the peer closes the connection within this time.
    pub(crate) async fn closes_within(&mut self, patience: Duration) -> bool {
        let rest = async {
            while matches!(self.reader.fill_buf().await, Ok(bytes) if !bytes.is_empty()) {
                self.drain();
            }
        };
        tokio::time::timeout(patience, rest).await.is_ok()
    }

    fn drain(&mut self) {
        let length = self.reader.buffer().len();
        self.reader.consume(length);
    }
}

/// Sends bytes and reads the answer. Sending continues meanwhile, because an answer may arrive before the end of the
/// request.
pub(crate) async fn exchange(addr: SocketAddr, request: Vec<u8>, patience: Duration) -> Result<(Response, Connection)> {
    let work = async {
        let stream = TcpStream::connect(addr).await.context("cannot connect")?;
        stream.set_nodelay(true)?;
        let (reader, mut writer) = stream.into_split();
        let writing = tokio::spawn(async move {
            // A server that has answered may stop reading; only the answer counts.
            let _ = writer.write_all(&request).await;
            writer
        });
        let mut reader = BufReader::new(reader);
        let answer = read_answer(&mut reader).await?;
        Ok((answer, Connection { reader, _writer: writing }))
    };
    match tokio::time::timeout(patience, work).await {
        Ok(result) => result,
        Err(_) => bail!("no answer within {} s", patience.as_secs()),
    }
}

/// Whether GET /health, sent from that address, is answered with 200 within ten seconds.
pub(crate) async fn is_healthy(addr: SocketAddr, from: IpAddr) -> bool {
    let ask = async {
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::new(from, 0))?;
        let (reader, mut writer) = socket.connect(addr).await?.into_split();
        writer
            .write_all(format!("GET /health HTTP/1.1\r\nHost: {addr}\r\nConnection: close\r\n\r\n").as_bytes())
            .await?;
        read_answer(&mut BufReader::new(reader)).await
    };
    matches!(tokio::time::timeout(PROBE, ask).await, Ok(Ok(answer)) if answer.status == 200)
}

/// Returns the bytes of a POST of JSON with a team's key.
pub(crate) fn post(addr: SocketAddr, path: &str, key: &str, json: &Value) -> Vec<u8> {
    let body = json.to_string();
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: {addr}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\nAuthorization: Bearer {key}\r\n\r\n{body}"
    )
    .into_bytes()
}

async fn read_answer(reader: &mut BufReader<OwnedReadHalf>) -> Result<Response> {
    loop {
        let (status, headers) = read_head(reader).await?;
        if (100..200).contains(&status) && status != 101 {
            continue;
        }
        let find = |name: &str| headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str());
        let mut body = Vec::new();
        if find("transfer-encoding").is_some() {
            read_chunks(reader, &mut body).await?;
        } else if let Some(length) = find("content-length") {
            let length: u64 = length.parse().context("the answer's Content-Length is no number")?;
            reader.take(length.min(MAX_BODY)).read_to_end(&mut body).await?;
            ensure!(body.len() as u64 == length, "the answer ends after {} of {length} bytes", body.len());
        } else if ![101, 204, 304].contains(&status) {
            reader.take(MAX_BODY).read_to_end(&mut body).await?;
        }
        return Ok(Response { status, body });
    }
}

async fn read_head(reader: &mut BufReader<OwnedReadHalf>) -> Result<(u16, Vec<(String, String)>)> {
    let mut line = String::new();
    reader.read_line(&mut line).await.context("the connection broke before an answer")?;
    ensure!(!line.is_empty(), "the connection was closed without an answer");
    let status = line.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
    let Some(status) = status else { bail!("the answer begins with {line:?}") };
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).await?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            return Ok((status, headers));
        };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
}

async fn read_chunks(reader: &mut BufReader<OwnedReadHalf>, body: &mut Vec<u8>) -> Result<()> {
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).await?;
        let size = u64::from_str_radix(line.trim(), 16).context("the answer has a broken chunk")?;
        reader.take(size).read_to_end(body).await?;
        reader.read_line(&mut String::new()).await?;
        if size == 0 {
            return Ok(());
        }
        ensure!(body.len() as u64 <= MAX_BODY, "the answer does not end");
    }
}

#[cfg(test)]
mod tests {
    use testkit::{Body, Reply, Script, Site};

    use super::*;

    #[tokio::test]
    async fn reads_whole_chunked_and_early_answers() {
        let site = Site::start().await;
        site.html("/a", "<p>a");
        site.respond(
            "/z",
            Reply { body: Body::Zeros { bytes: 70_000, encodings: vec![testkit::Encoding::Gzip] }, ..Reply::default() },
        );
        site.script("/i", vec![Script::Raw("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 418 Teapot\r\n\r\nhi".into())]);
        let get = async |path: &str| {
            let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").into_bytes();
            exchange(site.addr(), request, Duration::from_secs(10)).await.unwrap().0
        };
        assert_eq!(get("/a").await.text(), "<p>a");
        assert!(get("/z").await.body.starts_with(&[0x1f, 0x8b]));
        let early = get("/i").await;
        assert_eq!((early.status, early.text().as_str()), (418, "hi"));
    }

    #[tokio::test]
    async fn sees_that_a_connection_is_closed() {
        let site = Site::start().await;
        site.html("/", "x");
        let patience = Duration::from_millis(50);
        for (headers, closed) in [("", false), ("Connection: close\r\n", true)] {
            let request = format!("GET / HTTP/1.1\r\nHost: x\r\n{headers}\r\n").into_bytes();
            let (_, mut connection) = exchange(site.addr(), request, Duration::from_secs(5)).await.unwrap();
            assert_eq!(connection.closes_within(patience).await, closed);
        }
    }
}
