//! Capture of all packets of a network namespace, sorted into expected and unexpected destinations. It needs the
//! namespace, because other programs use the interfaces of the machine.

use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result};
use parking_lot::Mutex;
use rustix::net::sockopt::{Timeout, set_socket_recv_buffer_size, set_socket_timeout};
use rustix::net::{AddressFamily, RecvFlags, SocketType, eth, recv, socket};

/// Ports for name lookups: DNS, mDNS, DNS over TLS.
const DNS_PORTS: [u16; 3] = [53, 5353, 853];
/// Maximum sleep of the thread.
const NAP: Duration = Duration::from_millis(50);

/// Packets that bypassed the stage and the service.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct BypassPackets {
    /// Connection attempts to addresses without a listener.
    pub(crate) tcp: usize,
    /// Datagrams.
    pub(crate) udp: usize,
    /// Connection attempts and datagrams for name lookups.
    pub(crate) dns: usize,
    /// Destinations.
    pub(crate) to: BTreeSet<SocketAddr>,
    /// Number of all inspected packets.
    pub(crate) seen: usize,
}

impl fmt::Display for BypassPackets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tcp, udp, dns, to, seen } = self;
        write!(f, "{tcp} TCP, {udp} UDP, {dns} DNS packets outside the proxy, of {seen}")?;
        if to.is_empty() { Ok(()) } else { write!(f, ", to {to:?}") }
    }
}

/// A parsed packet.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Packet {
    /// First packet of a connection.
    Syn {
        from: SocketAddr,
        to: SocketAddr,
    },
    /// Answer of a listener to the first packet.
    Accepted {
        from: SocketAddr,
    },
    Datagram {
        from: SocketAddr,
        to: SocketAddr,
    },
}

/// Packets of a period.
#[derive(Debug, Default)]
struct PacketLog {
    tried: HashSet<(SocketAddr, SocketAddr)>,
    datagrams: Vec<(SocketAddr, SocketAddr)>,
    seen: usize,
    /// Addresses that have ever accepted a connection. A closed proxy may be tried once more.
    listeners: HashSet<SocketAddr>,
}

/// Recorded packets.
#[derive(Debug, Default)]
struct Logs {
    /// Packets since the last call of [`Sniffer::take`].
    recent: PacketLog,
    /// Packets while watching is enabled, from the start of the service on.
    whole: PacketLog,
    is_watching: bool,
}

/// A capture on all interfaces; ends when dropped.
pub(crate) struct Sniffer {
    log: Arc<Mutex<Logs>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Sniffer {
    /// Starts the capture, which requires permission for packet sockets.
    pub(crate) fn start() -> Result<Self> {
        let socket = socket(AddressFamily::PACKET, SocketType::RAW, Some(eth::ALL)).context("no packet socket")?;
        set_socket_timeout(&socket, Timeout::Recv, Some(NAP))?;
        // Buffer for bursts while the thread does not run.
        set_socket_recv_buffer_size(&socket, 8 << 20)?;
        let (log, stop) = (Arc::new(Mutex::new(Logs::default())), Arc::new(AtomicBool::new(false)));
        let (shared, stopped) = (Arc::clone(&log), Arc::clone(&stop));
        let thread = std::thread::spawn(move || listen(&socket, &shared, &stopped));
        Ok(Self { log, stop, thread: Some(thread) })
    }

    /// Returns the bypassing packets since the last call. `canary` listens but must not be reached, `resolver` may be
    /// used for name lookups.
    pub(crate) fn take(&self, canary: &[SocketAddr], resolver: SocketAddr) -> BypassPackets {
        self.log.lock().recent.take(canary, resolver)
    }

    /// Sets whether packets count in [`Sniffer::whole`] from now on.
    pub(crate) fn watch(&self, is_watching: bool) {
        self.log.lock().is_watching = is_watching;
    }

    /// Returns the bypassing packets of all periods with watching enabled, also between calls of [`Sniffer::take`].
    pub(crate) fn whole(&self, canary: &[SocketAddr], resolver: SocketAddr) -> BypassPackets {
        self.log.lock().whole.take(canary, resolver)
    }
}

impl Drop for Sniffer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn listen(socket: &OwnedFd, log: &Mutex<Logs>, stop: &AtomicBool) {
    let mut frame = vec![0; 65_536];
    while !stop.load(Ordering::Relaxed) {
        if let Ok((length, _)) = recv(socket, &mut frame[..], RecvFlags::empty()) {
            log.lock().add(&frame[..length.min(frame.len())]);
        }
    }
}

impl Logs {
    fn add(&mut self, frame: &[u8]) {
        let packet = packet(frame);
        if self.is_watching {
            self.whole.add(packet.as_ref());
        }
        self.recent.add(packet.as_ref());
    }
}

impl PacketLog {
    fn add(&mut self, packet: Option<&Packet>) {
        self.seen += 1;
        match packet {
            Some(Packet::Syn { from, to }) => {
                self.tried.insert((*from, *to));
            }
            Some(Packet::Accepted { from }) => {
                self.listeners.insert(*from);
            }
            Some(Packet::Datagram { from, to }) => self.datagrams.push((*from, *to)),
            None => {}
        }
    }

    fn take(&mut self, canary: &[SocketAddr], resolver: SocketAddr) -> BypassPackets {
        let mut outside = BypassPackets { seen: std::mem::take(&mut self.seen), ..BypassPackets::default() };
        for (_, to) in self.tried.drain() {
            if !self.listeners.contains(&to) || canary.contains(&to) {
                outside.tcp += 1;
                outside.add(to);
            }
        }
        for (from, to) in self.datagrams.drain(..) {
            if from != resolver && to != resolver {
                outside.udp += 1;
                outside.add(to);
            }
        }
        outside
    }
}

impl BypassPackets {
    /// Whether any packet bypassed the stage.
    pub(crate) fn is_any(&self) -> bool {
        self.tcp + self.udp > 0
    }

    /// Adds the packets of another period.
    pub(crate) fn merge(&mut self, other: Self) {
        self.tcp += other.tcp;
        self.udp += other.udp;
        self.dns += other.dns;
        self.to.extend(other.to);
        self.seen += other.seen;
    }

    fn add(&mut self, to: SocketAddr) {
        self.dns += usize::from(DNS_PORTS.contains(&to.port()));
        self.to.insert(to);
    }
}

/// Parses an Ethernet frame with IPv4 (RFC 791) or IPv6 (RFC 8200) and TCP (RFC 9293) or UDP (RFC 768).
fn packet(frame: &[u8]) -> Option<Packet> {
    let body = frame.get(14..)?;
    let (kind, from, to, rest): (u8, IpAddr, IpAddr, &[u8]) = match frame.get(12..14)? {
        [0x08, 0x00] => {
            let header = usize::from(body.first()? & 0x0f) * 4;
            let address = |at: usize| Some(Ipv4Addr::from(<[u8; 4]>::try_from(body.get(at..at + 4)?).ok()?).into());
            (*body.get(9)?, address(12)?, address(16)?, body.get(header..)?)
        }
        [0x86, 0xdd] => {
            let address = |at: usize| Some(Ipv6Addr::from(<[u8; 16]>::try_from(body.get(at..at + 16)?).ok()?).into());
            (*body.get(6)?, address(8)?, address(24)?, body.get(40..)?)
        }
        _ => return None,
    };
    let port = |at: usize| Some(u16::from_be_bytes([*rest.get(at)?, *rest.get(at + 1)?]));
    let (from, to) = (SocketAddr::new(from, port(0)?), SocketAddr::new(to, port(2)?));
    match (kind, rest.get(13)) {
        (6, Some(flags)) if flags & 0x12 == 0x02 => Some(Packet::Syn { from, to }),
        (6, Some(flags)) if flags & 0x12 == 0x12 => Some(Packet::Accepted { from }),
        (17, _) => Some(Packet::Datagram { from, to }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, from: &str, to: &str, flags: u8) -> Vec<u8> {
        let (from, to): (SocketAddr, SocketAddr) = (from.parse().unwrap(), to.parse().unwrap());
        let mut out = vec![0; 12];
        match (from.ip(), to.ip()) {
            (IpAddr::V4(a), IpAddr::V4(b)) => {
                out.extend([0x08, 0x00, 0x45, 0, 0, 0, 0, 0, 0, 0, 64, kind, 0, 0]);
                out.extend(a.octets().into_iter().chain(b.octets()));
            }
            (IpAddr::V6(a), IpAddr::V6(b)) => {
                out.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, 0, kind, 64]);
                out.extend(a.octets().into_iter().chain(b.octets()));
            }
            other => panic!("{other:?}"),
        }
        out.extend(from.port().to_be_bytes().into_iter().chain(to.port().to_be_bytes()));
        out.extend([0; 9]);
        out.push(flags);
        out
    }

    #[test]
    fn packets_are_read() {
        let at = |text: &str| text.parse::<SocketAddr>().unwrap();
        let (a, b) = ("127.0.0.1:4000", "127.0.0.1:80");
        assert_eq!(packet(&frame(6, a, b, 0x02)), Some(Packet::Syn { from: at(a), to: at(b) }));
        assert_eq!(packet(&frame(6, b, a, 0x12)), Some(Packet::Accepted { from: at(b) }));
        assert_eq!(packet(&frame(6, a, b, 0x10)), None);
        let (c, d) = ("[::1]:4000", "[2001:db8::1]:53");
        assert_eq!(packet(&frame(17, c, d, 0)), Some(Packet::Datagram { from: at(c), to: at(d) }));
        assert_eq!(packet(&frame(6, a, b, 0x02)[..20]), None);
    }

    #[test]
    fn what_nobody_listens_to_is_outside() {
        let (canary, resolver) = ("127.0.0.1:18200".parse().unwrap(), "127.0.0.1:5300".parse().unwrap());
        let judge = |frames: &[Vec<u8>]| {
            let mut log = PacketLog::default();
            frames.iter().for_each(|frame| log.add(packet(frame).as_ref()));
            let BypassPackets { tcp, udp, dns, .. } = log.take(&[canary], resolver);
            (tcp, udp, dns)
        };
        let syn = |to: &str| frame(6, "127.0.0.1:4000", to, 0x02);
        let accepted = |from: &str| frame(6, from, "127.0.0.1:4000", 0x12);
        assert_eq!(judge(&[syn("127.0.0.1:80"), accepted("127.0.0.1:80")]), (0, 0, 0));
        assert_eq!(judge(&[syn("127.0.0.1:80"), syn("127.0.0.1:80")]), (1, 0, 0));
        assert_eq!(judge(&[accepted("127.0.0.1:80"), syn("127.0.0.1:80")]), (0, 0, 0));
        assert_eq!(judge(&[syn("127.0.0.1:18200"), accepted("127.0.0.1:18200")]), (1, 0, 0));
        assert_eq!(judge(&[syn("169.254.169.254:80")]), (1, 0, 0));
        let datagram = |to: &str| frame(17, "127.0.0.1:4000", to, 0);
        assert_eq!(judge(&[datagram("127.0.0.1:5300"), datagram("8.8.8.8:53"), datagram("8.8.8.8:443")]), (0, 2, 1));
    }

    #[test]
    fn the_whole_is_what_was_watched() {
        let (canary, resolver) = ("127.0.0.1:18200".parse().unwrap(), "127.0.0.1:5300".parse().unwrap());
        let syn = |to: &str| frame(6, "127.0.0.1:4000", to, 0x02);
        let mut logs = Logs::default();
        let counted = |outside: BypassPackets| (outside.tcp, outside.seen);
        logs.add(&syn("192.0.2.1:80"));
        logs.is_watching = true;
        logs.add(&syn("192.0.2.2:80"));
        assert_eq!(counted(logs.recent.take(&[canary], resolver)), (2, 2));
        logs.add(&syn("192.0.2.3:80"));
        logs.is_watching = false;
        logs.add(&syn("192.0.2.4:80"));
        assert_eq!(counted(logs.recent.take(&[canary], resolver)), (2, 2));
        assert_eq!(counted(logs.whole.take(&[canary], resolver)), (2, 2));
    }
}
