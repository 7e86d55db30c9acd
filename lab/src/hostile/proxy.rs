//! A forward proxy that resolves names by its own table, which may differ from the DNS of the service. It supports
//! CONNECT and requests in absolute form, and connects only to loopback.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use anyhow::{Context, Result};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;

/// A forward proxy with names of its own.
pub(crate) struct Proxy {
    addr: SocketAddr,
    state: Arc<Mutex<State>>,
    task: AbortHandle,
}

#[derive(Default)]
struct State {
    names: HashMap<String, IpAddr>,
    asked: Vec<String>,
}

impl Proxy {
    /// Listens on a free port of 127.0.0.1.
    pub(crate) async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let addr = listener.local_addr()?;
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&shared)));
            }
        });
        Ok(Self { addr, state, task: task.abort_handle() })
    }

    /// Returns its URL for the settings.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// Clears the recorded requests, and sets the names of `setup.proxy.resolves`.
    pub(crate) fn prepare(&self, setup: Option<&Value>) -> Result<()> {
        let mut names = HashMap::new();
        for (key, value) in setup.and_then(Value::as_object).into_iter().flatten() {
            anyhow::ensure!(key == "resolves", "setup.proxy.{key} is not known");
            for (name, ip) in value.as_object().context("setup.proxy.resolves is no object")? {
                names.insert(name.clone(), ip.as_str().context("an address is no text")?.parse()?);
            }
        }
        *self.state.lock() = State { names, asked: Vec::new() };
        Ok(())
    }

    /// Returns the requested targets, `host:port` each, in order.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.state.lock().asked.clone()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(stream: TcpStream, state: Arc<Mutex<State>>) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read_until(b'\n', &mut head).await? == 0 || head.len() > 65_536 {
            return Ok(());
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let Some((target, forward)) = parse_head(&head) else {
        return stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n").await;
    };
    let reached = match resolve(&target, &state) {
        Some(addr) => TcpStream::connect(addr).await,
        None => Err(io::ErrorKind::PermissionDenied.into()),
    };
    let Ok(mut origin) = reached else {
        return stream.write_all(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n").await;
    };
    match forward {
        Some(request) => origin.write_all(request.as_bytes()).await?,
        None => stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?,
    }
    tokio::io::copy_bidirectional(&mut stream, &mut origin).await.map(|_| ())
}

/// Parses the target as `host:port`, and the request to forward; `None` for CONNECT.
fn parse_head(head: &str) -> Option<(String, Option<String>)> {
    let (line, rest) = head.split_once("\r\n")?;
    let mut words = line.split(' ');
    let (method, target) = (words.next()?, words.next()?);
    if method == "CONNECT" {
        return Some((target.to_owned(), None));
    }
    let after = target.strip_prefix("http://")?;
    let (host, path) = after.split_at(after.find(['/', '?']).unwrap_or(after.len()));
    let host = if host.contains(':') { host.to_owned() } else { format!("{host}:80") };
    Some((host, Some(format!("{method} {} HTTP/1.1\r\n{rest}", if path.is_empty() { "/" } else { path }))))
}

/// Resolves a target; `None` if it is not on loopback.
fn resolve(target: &str, state: &Mutex<State>) -> Option<SocketAddr> {
    let mut state = state.lock();
    state.asked.push(target.to_owned());
    let (host, port) = target.rsplit_once(':')?;
    let port = port.parse().ok()?;
    let ip = host.trim_matches(['[', ']']).parse().ok().or_else(|| state.names.get(host).copied())?;
    ip.is_loopback().then(|| SocketAddr::new(ip, port))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use testkit::Site;
    use tokio::io::AsyncReadExt;

    use super::*;

    async fn exchange(proxy: &Proxy, request: String) -> String {
        let mut stream = TcpStream::connect(proxy.addr).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn goes_where_its_own_table_says() {
        let (site, proxy) = (Site::start().await, Proxy::start().await.unwrap());
        site.html("/a", "<p>a");
        proxy.prepare(Some(&json!({"resolves": {"name.test": "127.0.0.1", "far.test": "10.0.0.1"}}))).unwrap();
        let port = site.addr().port();
        let get = "GET /a HTTP/1.1\r\nHost: name.test\r\nConnection: close\r\n\r\n".to_owned();
        let whole = get.replace("/a", &format!("http://name.test:{port}/a"));
        assert!(exchange(&proxy, whole).await.ends_with("<p>a"));
        let tunnel = format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\nHost: x\r\n\r\n{get}");
        assert!(exchange(&proxy, tunnel).await.ends_with("<p>a"));
        for nowhere in ["10.0.0.1:80", "far.test:80", "other.test:80"] {
            let answer = exchange(&proxy, format!("CONNECT {nowhere} HTTP/1.1\r\n\r\n")).await;
            assert!(answer.starts_with("HTTP/1.1 502"), "{answer}");
        }
        assert_eq!(proxy.asked()[0], format!("name.test:{port}"));
    }
}
