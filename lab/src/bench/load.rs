//! A small closed-loop load generator: a number of kept-alive connections, each asking again when it is answered.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use parking_lot::Mutex;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufStream};
use tokio::net::TcpStream;

/// What a run gave.
pub(crate) struct Figures {
    /// Requests per second over the whole run.
    pub(crate) rate: f64,
    /// Median latency.
    pub(crate) p50: Duration,
    /// 99th percentile of the latency.
    pub(crate) p99: Duration,
}

/// Sends every request once over `connections` connections; an answer other than 200 is an error.
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

/// A GET of `path`.
pub(crate) fn get(host: &str, path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n")
}

/// A POST of a JSON body.
pub(crate) fn post(host: &str, path: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
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
    let mut length = None;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        if line.trim_end().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = Some(value.trim().parse::<usize>()?);
        }
    }
    let mut body = vec![0; length.context("an answer without Content-Length")?];
    stream.read_exact(&mut body).await?;
    if !status.contains(" 200 ") {
        bail!("{}: {}", status.trim(), String::from_utf8_lossy(&body[..body.len().min(300)]));
    }
    Ok(())
}
