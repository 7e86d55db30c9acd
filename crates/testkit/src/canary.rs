//! A listener that must not be reached, and counts violations.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::task::AbortHandle;

const REPLY: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 20\r\nconnection: close\r\n\r\n<p>CANARY-WAS-READ\r\n";

/// A listener that counts TCP connections and UDP packets. HTTP requests get a page that contains `CANARY-WAS-READ`.
#[derive(Debug)]
pub struct Canary {
    tcp: SocketAddr,
    udp: SocketAddr,
    connects: Arc<AtomicUsize>,
    packets: Arc<AtomicUsize>,
    tasks: [AbortHandle; 2],
}

impl Canary {
    /// Listens on free ports of 127.0.0.1.
    ///
    /// # Panics
    /// When loopback has no free port.
    pub async fn start() -> Self {
        match Self::bind(SocketAddr::from(([127, 0, 0, 1], 0)), SocketAddr::from(([127, 0, 0, 1], 0))).await {
            Ok(canary) => canary,
            Err(error) => panic!("cannot start a canary: {error}"),
        }
    }

    /// Listens on the given addresses.
    ///
    /// # Errors
    /// When one of them is in use.
    pub async fn bind(tcp: SocketAddr, udp: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(tcp).await?;
        let socket = UdpSocket::bind(udp).await?;
        let (tcp, udp) = (listener.local_addr()?, socket.local_addr()?);
        let (connects, packets) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let tasks = [
            tokio::spawn(accept(listener, Arc::clone(&connects))).abort_handle(),
            tokio::spawn(receive(socket, Arc::clone(&packets))).abort_handle(),
        ];
        Ok(Self { tcp, udp, connects, packets, tasks })
    }

    /// Returns the TCP address.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.tcp
    }

    /// Returns the UDP address.
    #[must_use]
    pub fn udp_addr(&self) -> SocketAddr {
        self.udp
    }

    /// Returns the number of accepted TCP connections.
    #[must_use]
    pub fn connects(&self) -> usize {
        self.connects.load(Ordering::SeqCst)
    }

    /// Returns the number of received UDP packets.
    #[must_use]
    pub fn packets(&self) -> usize {
        self.packets.load(Ordering::SeqCst)
    }
}

impl Drop for Canary {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

async fn accept(listener: TcpListener, connects: Arc<AtomicUsize>) {
    while let Ok((stream, _)) = listener.accept().await {
        connects.fetch_add(1, Ordering::SeqCst);
        tokio::spawn(answer(stream));
    }
}

async fn answer(mut stream: TcpStream) -> io::Result<()> {
    let mut head = [0; 1024];
    let _ = stream.read(&mut head).await?;
    stream.write_all(REPLY).await
}

async fn receive(socket: UdpSocket, packets: Arc<AtomicUsize>) {
    let mut packet = [0; 2048];
    while socket.recv_from(&mut packet).await.is_ok() {
        packets.fetch_add(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn counts_connections_and_packets() {
        let canary = Canary::start().await;
        let mut stream = TcpStream::connect(canary.addr()).await.unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
        let mut page = String::new();
        stream.read_to_string(&mut page).await.unwrap();
        assert!(page.contains("CANARY-WAS-READ"));
        assert_eq!(canary.connects(), 1);
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        socket.send_to(b"x", canary.udp_addr()).await.unwrap();
        while canary.packets() == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(canary.packets(), 1);
    }
}
