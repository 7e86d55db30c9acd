//! Sandboxes itself and then executes a program: `fenced FENCE PROGRAM ARG…`, with the fence as JSON.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

fn main() -> io::Result<()> {
    let mut args = std::env::args().skip(1);
    let (Some(fence), Some(program)) = (args.next(), args.next()) else {
        return Err(io::Error::other("usage: fenced FENCE PROGRAM ARG…"));
    };
    let fence: fence::Fence = serde_json::from_str(&fence)?;
    fence.put_up().map_err(|error| io::Error::other(error.to_string()))?;
    Err(Command::new(program).args(args).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", fence::HOME).exec())
}
