//! Sandboxes itself as far as the system allows, then tries what must be refused: `partly FENCE`, with the fence as
//! JSON.

use std::fs::File;
use std::io::{self, Write as _};
use std::net::TcpStream;
use std::process::Command;

fn main() -> io::Result<()> {
    let fence = std::env::args().nth(1).ok_or_else(|| io::Error::other("usage: partly FENCE"))?;
    let fence: fence::Fence = serde_json::from_str(&fence)?;
    let missing = fence.put_up_partly();
    let tried = [
        ("reading", File::open("/etc/passwd").is_ok()),
        ("writing", File::create("/var/tmp/fence-partly").is_ok()),
        ("connecting", connects()),
        ("starting", Command::new("/bin/true").status().is_ok()),
    ];
    let mut out = io::stdout().lock();
    writeln!(out, "missing: {missing:?}")?;
    for (what, done) in tried {
        writeln!(out, "{what}: {}", if done { "done" } else { "refused" })?;
    }
    Ok(())
}

/// Whether the network can be reached. A refused connection counts as reached: the packet got out.
fn connects() -> bool {
    match TcpStream::connect("127.0.0.1:9") {
        Ok(_) => true,
        Err(error) => error.kind() == io::ErrorKind::ConnectionRefused,
    }
}
