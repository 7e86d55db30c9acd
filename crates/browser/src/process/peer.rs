//! Checks which process a loopback connection belongs to. Every program on the machine can reach the port of a visit's
//! proxy, but only the browser may use it.

use std::fs;
use std::io;
use std::net::{SocketAddr, SocketAddrV4};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use children::processes;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with};

/// Message type `SOCK_DIAG_BY_FAMILY` of sock_diag(7).
const BY_FAMILY: u16 = 20;
const REQUEST: u16 = 1;
const HEADER: usize = 16;
/// Offset of the user id in an `inet_diag_msg`, including the header; that of the inode follows.
const UID_AT: usize = HEADER + 64;
const INODE_AT: usize = HEADER + 68;

/// Check whether connections belong to one browser.
#[derive(Debug)]
pub(crate) struct Peers {
    group: u32,
    uid: u32,
    /// Process of the last connection: Chromium has one process for all its connections.
    holder: AtomicU32,
    /// Whether the warning about a missing sock_diag was logged.
    is_warned: AtomicBool,
}

/// Owner of a socket as reported by the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Socket {
    uid: u32,
    inode: u32,
}

impl Peers {
    /// Creates the check for a process group that runs as this user.
    pub(super) fn new(group: u32, uid: u32) -> Self {
        Self { group, uid, holder: AtomicU32::new(0), is_warned: AtomicBool::new(false) }
    }

    /// Whether the other end of a connection, `theirs`, is a socket of the browser. Blocking, because it reads files.
    /// Returns true if the kernel reports nothing about sockets.
    pub(crate) fn has(&self, theirs: SocketAddr, ours: SocketAddr) -> bool {
        let (SocketAddr::V4(theirs), SocketAddr::V4(ours)) = (theirs, ours) else { return false };
        match ask(theirs, ours) {
            Ok(Some(socket)) => socket.uid == self.uid && self.holds(socket.inode),
            Ok(None) => false,
            Err(error) => {
                if !self.is_warned.swap(true, Ordering::Relaxed) {
                    tracing::warn!(%error, "cannot determine the owner of a connection (sock_diag); any local program can use the proxy of a page");
                }
                true
            }
        }
    }

    /// Whether a process of the browser has the socket open. The open files of other users may be hidden from us: if
    /// that applies to all processes, the matching user id suffices.
    fn holds(&self, inode: u32) -> bool {
        let holder = self.holder.load(Ordering::Relaxed);
        if has_open(holder, inode) == Some(true) {
            return true;
        }
        let mut is_told = false;
        for (pid, _) in processes::of_group(self.group).filter(|(pid, _)| *pid != holder) {
            match has_open(pid, inode) {
                Some(true) => {
                    self.holder.store(pid, Ordering::Relaxed);
                    return true;
                }
                Some(false) => is_told = true,
                None => {}
            }
        }
        !is_told
    }
}

/// Whether a process has a socket open; `None` if its open files are hidden.
fn has_open(pid: u32, inode: u32) -> Option<bool> {
    let wanted = format!("socket:[{inode}]");
    let open = fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    let is_it = |entry: fs::DirEntry| fs::read_link(entry.path()).is_ok_and(|target| target.as_os_str() == &*wanted);
    Some(open.flatten().any(is_it))
}

/// Returns the socket at `theirs` whose other end is `ours`; `None` if it is closed already.
fn ask(theirs: SocketAddrV4, ours: SocketAddrV4) -> io::Result<Option<Socket>> {
    let (family, kind, flags) = (AddressFamily::NETLINK, SocketType::DGRAM, SocketFlags::CLOEXEC);
    let kernel = socket_with(family, kind, flags, Some(netlink::SOCK_DIAG))?;
    send(&kernel, &request(theirs, ours), SendFlags::empty())?;
    let mut answer = [0; 1024];
    // The kernel has queued the answer before `send` returns.
    let (length, _) = recv(&kernel, &mut answer[..], RecvFlags::DONTWAIT)?;
    read(&answer[..length])
}

/// Encodes an `inet_diag_req_v2` with its netlink header.
fn request(theirs: SocketAddrV4, ours: SocketAddrV4) -> Vec<u8> {
    const LENGTH: u32 = 72;
    const TCP: u8 = 6;
    const INET: u8 = 2;
    let mut bytes = Vec::with_capacity(LENGTH as usize);
    bytes.extend(LENGTH.to_ne_bytes());
    bytes.extend(BY_FAMILY.to_ne_bytes());
    bytes.extend(REQUEST.to_ne_bytes());
    // Sequence number and port id.
    bytes.extend([0; 8]);
    bytes.extend([INET, TCP, 0, 0]);
    // All TCP states.
    bytes.extend(u32::MAX.to_ne_bytes());
    bytes.extend(theirs.port().to_be_bytes());
    bytes.extend(ours.port().to_be_bytes());
    for address in [theirs.ip(), ours.ip()] {
        bytes.extend(address.octets());
        bytes.extend([0; 12]);
    }
    // Any interface, no cookie.
    bytes.extend([0; 4]);
    bytes.extend([0xff; 8]);
    bytes
}

fn read(answer: &[u8]) -> io::Result<Option<Socket>> {
    let number = |at: usize| {
        let bytes = answer.get(at..at + 4)?;
        Some(u32::from_ne_bytes(bytes.try_into().ok()?))
    };
    let short = || io::Error::new(io::ErrorKind::InvalidData, "the kernel's answer is too short");
    // The header: length in 4 bytes, then the message type in 2.
    let kind = answer.get(4..6).and_then(|bytes| Some(u16::from_ne_bytes(bytes.try_into().ok()?))).ok_or_else(short)?;
    if kind == BY_FAMILY {
        return number(UID_AT).zip(number(INODE_AT)).map(|(uid, inode)| Some(Socket { uid, inode })).ok_or_else(short);
    }
    // An error message carries a negative errno.
    let code = number(HEADER).ok_or_else(short)?.cast_signed();
    let error = io::Error::from_raw_os_error(-code);
    if error.kind() == io::ErrorKind::NotFound { Ok(None) } else { Err(error) }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener, TcpStream};
    use std::os::unix::process::CommandExt as _;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_connection_is_known_by_who_has_it_open() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let ours = listener.local_addr().unwrap();
        let client = TcpStream::connect(ours).unwrap();
        let (_served, theirs) = listener.accept().unwrap();
        let (group, uid) = (processes::stat(std::process::id()).unwrap().group, rustix::process::geteuid().as_raw());
        let own = Peers::new(group, uid);
        assert!(own.has(theirs, ours) && own.has(theirs, ours));
        assert_eq!(own.holder.load(Ordering::Relaxed), std::process::id());
        assert!(!Peers::new(group, uid + 1).has(theirs, ours), "another user");
        let mut other = Command::new("sleep").arg("60").process_group(0).stdin(Stdio::null()).spawn().unwrap();
        assert!(!Peers::new(other.id(), uid).has(theirs, ours), "another program of the same user");
        other.kill().unwrap();
        other.wait().unwrap();
        drop(client);
        let unknown = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
        assert!(!own.has(unknown, ours) && !own.has("[::1]:80".parse().unwrap(), ours));
    }

    #[test]
    fn answers_of_the_kernel_are_read_with_care() {
        let answer = |kind: u16, rest: &[u8]| {
            let mut bytes = vec![0; 4];
            bytes.extend(kind.to_ne_bytes());
            bytes.extend([0; 10]);
            bytes.extend(rest);
            bytes
        };
        let mut found = vec![0; 72];
        found[64..68].copy_from_slice(&7u32.to_ne_bytes());
        found[68..].copy_from_slice(&9u32.to_ne_bytes());
        assert_eq!(read(&answer(BY_FAMILY, &found)).unwrap(), Some(Socket { uid: 7, inode: 9 }));
        assert_eq!(read(&answer(2, &(-2i32).to_ne_bytes())).unwrap(), None);
        assert!(read(&answer(2, &(-22i32).to_ne_bytes())).is_err());
        for cut in [&[][..], &[0; 5], &answer(BY_FAMILY, &found[..60]), &answer(2, &[])] {
            assert!(read(cut).is_err());
        }
    }
}
