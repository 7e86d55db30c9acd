//! A fake forward proxy with configurable destinations, which records its requests.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;

const ESTABLISHED: &[u8] = b"HTTP/1.1 200 Connection established\r\n\r\n";

/// Function that returns the destination of a target, or the bytes of a refusal.
type Lead = dyn Fn(&str) -> Result<SocketAddr, &'static str> + Send + Sync;

/// The fake proxy. It supports CONNECT and requests in absolute form, one per connection.
#[derive(Debug)]
pub struct Tunnel {
    addr: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
    task: AbortHandle,
}

impl Tunnel {
    /// Listens on a free port of 127.0.0.1. `lead` gets the target as written by the client, `host:port` or a URL, and
    /// returns the address to connect to, or the bytes to send instead.
    ///
    /// # Panics
    /// When loopback has no free port.
    #[expect(clippy::expect_used, reason = "a test without its fake has failed")]
    pub async fn start(lead: impl Fn(&str) -> Result<SocketAddr, &'static str> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let addr = listener.local_addr().expect("an address");
        let heads = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&heads);
        let lead: Arc<Lead> = Arc::new(lead);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&seen), Arc::clone(&lead)));
            }
        });
        Self { addr, heads, task: task.abort_handle() }
    }

    /// Returns the listening address.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Returns the heads of all requests so far, including refused ones.
    #[must_use]
    pub fn heads(&self) -> Vec<String> {
        self.heads.lock().clone()
    }
}

impl Drop for Tunnel {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, heads: Arc<Mutex<Vec<String>>>, lead: Arc<Lead>) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    let text = String::from_utf8_lossy(&head).into_owned();
    let target = text.split(' ').nth(1).unwrap_or_default().to_owned();
    let is_tunnel = text.starts_with("CONNECT ");
    heads.lock().push(text);
    let to = match lead(&target) {
        Ok(to) => to,
        Err(refusal) => return stream.write_all(refusal.as_bytes()).await,
    };
    let mut upstream = TcpStream::connect(to).await?;
    if is_tunnel {
        stream.write_all(ESTABLISHED).await?;
    } else {
        upstream.write_all(&head).await?;
    }
    tokio::io::copy_bidirectional(&mut stream, &mut upstream).await.map(drop)
}
