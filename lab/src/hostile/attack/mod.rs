//! Attacks by hostile clients: dripping bodies, disconnecting clients, HTTP/2 floods.

mod h2;
mod idle;
mod slow;

use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpSocket, TcpStream};

use super::case::Case;
use super::raw::{self, Response};

/// Time after which a client disconnects with RST.
const STAY: Duration = Duration::from_millis(200);
/// Number of concurrent clients that disconnect early.
const TOGETHER: u64 = 20;
/// Text in the case file for clients that disconnect early.
const LEAVE_EARLY: &str = "POST /v2/scrape ... then RST after 200 ms";

/// Result of an attack.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Answer, if there was one.
    pub(crate) answer: Option<Response>,
    /// Whether the service closed the connection.
    pub(crate) closed: bool,
    /// Latencies of GET /health during the attack, in milliseconds.
    pub(crate) health_ms: Vec<f64>,
    /// Seconds until the service closed the last slow connection; infinite if it kept one.
    pub(crate) slow_closed_s: Option<f64>,
}

/// Target of the attack, and its team.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) addr: SocketAddr,
    /// Client address of slow and idle clients.
    pub(crate) from: IpAddr,
    pub(crate) key: String,
    /// Page that never answers, for clients that disconnect.
    pub(crate) slow_page: String,
}

/// Runs the attack of a case with a tool.
pub(crate) async fn run(case: &Case, target: &Target) -> Result<Outcome> {
    let tool = case.input_text("tool");
    if let Some(options) = tool.strip_prefix("slowhttptest ") {
        return slow::run(&slow::Options::parse(options)?, target).await;
    }
    if tool != "raw" {
        bail!("the tool {tool:?} is not known");
    }
    let number = |key: &str| case.setup.get(key).and_then(Value::as_u64);
    if let Some(attack) = case.setup.get("h2").and_then(Value::as_str) {
        return h2::run(attack, number("streams").unwrap_or(0), target).await;
    }
    let raw = case.setup.get("raw").and_then(Value::as_str);
    let reading = idle::Reading::of(case.setup.get("read").or_else(|| case.input.get("read")))?;
    let idle = number("idle_connections");
    if idle.is_some() || reading != idle::Reading::All {
        let connections = idle.or_else(|| number("connections")).or_else(|| number("repeat")).unwrap_or(1);
        let bytes = match raw {
            Some(raw) => raw.as_bytes().to_vec(),
            None if reading == idle::Reading::All => Vec::new(),
            None => b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec(),
        };
        return idle::run(connections, bytes, reading, target).await;
    }
    let raw = raw.context("a raw case has no bytes")?;
    if raw == LEAVE_EARLY {
        return leave_early(number("repeat").unwrap_or(1), target).await;
    }
    let (answer, mut connection) = raw::exchange(target.addr, raw.as_bytes().to_vec(), Duration::from_secs(20)).await?;
    let closed = connection.closes_within(Duration::from_secs(2)).await;
    Ok(Outcome { answer: Some(answer), closed, ..Outcome::default() })
}

/// Connects from the target's client address, with this receive window if given.
async fn connect(target: &Target, window: Option<u32>) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    if let Some(window) = window {
        socket.set_recv_buffer_size(window)?;
    }
    socket.bind(SocketAddr::new(target.from, 0))?;
    socket.connect(target.addr).await
}

/// Returns a loopback address other than the attacker's.
fn bystander(attacker: IpAddr) -> IpAddr {
    let [own, other] = [[127, 0, 0, 3], [127, 0, 0, 4]].map(IpAddr::from);
    if attacker == own { other } else { own }
}

/// Runs clients that request a page that never answers, and disconnect.
async fn leave_early(repeat: u64, target: &Target) -> Result<Outcome> {
    let json = json!({"url": target.slow_page, "formats": ["markdown"], "maxAge": 0});
    let request = raw::post(target.addr, "/v2/scrape", &target.key, &json);
    for _ in 0..repeat.div_ceil(TOGETHER) {
        let mut clients = tokio::task::JoinSet::new();
        for _ in 0..TOGETHER.min(repeat) {
            let (request, addr) = (request.clone(), target.addr);
            clients.spawn(async move {
                let mut stream = TcpStream::connect(addr).await?;
                stream.write_all(&request).await?;
                tokio::time::sleep(STAY).await;
                stream.set_zero_linger()
            });
        }
        while let Some(client) = clients.join_next().await {
            client??;
        }
    }
    Ok(Outcome::default())
}

/// Requests GET /health repeatedly until `work` is done, and returns the latencies in milliseconds. The requests come
/// from an address without attacks, like those of an uninvolved client.
async fn with_health<T>(target: &Target, work: impl Future<Output = Result<T>>) -> Result<(T, Vec<f64>)> {
    let mut times = Vec::new();
    let from = bystander(target.from);
    let probe = async {
        loop {
            let started = Instant::now();
            let fine = raw::is_healthy(target.addr, from).await;
            times.push(if fine { started.elapsed().as_secs_f64() * 1000.0 } else { f64::INFINITY });
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let done = tokio::select! { done = work => done, () = probe => unreachable!("the probe never ends") };
    Ok((done?, times))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn health_is_asked_from_another_address() {
        for attacker in ["127.0.0.1", "127.0.0.3", "127.0.0.4"] {
            let attacker: IpAddr = attacker.parse().unwrap();
            assert!(bystander(attacker) != attacker && bystander(attacker).is_loopback());
        }
    }
}
