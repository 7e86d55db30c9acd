//! A small closed-loop load generator: keep-alive connections that each send the next request after the response.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use parking_lot::Mutex;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufStream};
use tokio::net::TcpStream;

/// Result of a run.
pub(crate) struct Figures {
    /// Requests per second over the whole run.
    pub(crate) rate: f64,
    /// Median latency.
    pub(crate) p50: Duration,
    /// 99th percentile of the latency.
    pub(crate) p99: Duration,
}

/// Sends every request once over `connections` connections; any status other than 200 is an error.
pub(crate) async fn run(address: &str, requests: Vec<String>, connections: usize) -> Result<Figures> {
    let count = requests.len();
    let queue = Arc::new(Mutex::new(VecDeque::from(requests)));
    let started = Instant::now();
    let workers: Vec<_> =
        (0..connections).map(|_| tokio::spawn(worker(address.to_owned(), Arc::clone(&queue)))).collect();
    let mut latencies = Vec::with_capacity(count);
    for worker in workers {
        latencies.extend(worker.await??);
    }
    let rate = count as f64 / started.elapsed().as_secs_f64();
    latencies.sort();
    let at = |share: f64| latencies[((latencies.len() - 1) as f64 * share) as usize];
    Ok(Figures { rate, p50: at(0.5), p99: at(0.99) })
}

/// Returns a GET request for `path`.
pub(crate) fn get(host: &str, path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n")
}

/// Returns a POST request with a JSON body.
pub(crate) fn post(host: &str, path: &str, body: &str) -> String {
    with_body("POST", host, path, body)
}

/// Returns a PATCH request with a JSON body.
pub(crate) fn patch(host: &str, path: &str, body: &str) -> String {
    with_body("PATCH", host, path, body)
}

fn with_body(method: &str, host: &str, path: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

async fn worker(address: String, queue: Arc<Mutex<VecDeque<String>>>) -> Result<Vec<Duration>> {
    let stream = TcpStream::connect(&address).await?;
    stream.set_nodelay(true)?;
    let mut stream = BufStream::new(stream);
    let mut latencies = Vec::new();
    loop {
        let next = queue.lock().pop_front();
        let Some(request) = next else { return Ok(latencies) };
        let started = Instant::now();
        stream.write_all(request.as_bytes()).await?;
        stream.flush().await?;
        read_answer(&mut stream).await?;
        latencies.push(started.elapsed());
    }
}

async fn read_answer(stream: &mut BufStream<TcpStream>) -> Result<()> {
    let mut status = String::new();
    stream.read_line(&mut status).await?;
    let (mut length, mut chunked) = (None, false);
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        if line.trim_end().is_empty() {
            break;
        }
        let Some((name, value)) = line.split_once(':') else { continue };
        if name.eq_ignore_ascii_case("content-length") {
            length = Some(value.trim().parse::<usize>()?);
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            chunked = value.trim().eq_ignore_ascii_case("chunked");
        }
    }
    let body = match length {
        Some(length) => exactly(stream, length).await?,
        None if chunked => chunks(stream).await?,
        None => bail!("an answer without a length: {}", status.trim()),
    };
    if !status.contains(" 200 ") {
        bail!("{}: {}", status.trim(), String::from_utf8_lossy(&body[..body.len().min(300)]));
    }
    Ok(())
}

async fn exactly(stream: &mut BufStream<TcpStream>, length: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes).await?;
    Ok(bytes)
}

/// Reads a chunked body (RFC 9112 section 7.1).
async fn chunks(stream: &mut BufStream<TcpStream>) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16).with_context(|| format!("no size of a piece: {line:?}"))?;
        if size == 0 {
            break;
        }
        body.extend(exactly(stream, size).await?);
        exactly(stream, 2).await?;
    }
    let mut line = String::from("trailers");
    while !line.trim_end().is_empty() {
        line.clear();
        stream.read_line(&mut line).await?;
    }
    Ok(body)
}
