//! A private network namespace for a run. It has only loopback, and every address is routed there, so that leaked
//! packets are seen and reach no other machine.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use xtask::sh;

/// Environment variable set for the run inside the namespace.
const INSIDE: &str = "QUARRY_LAB_NAMESPACE";
const PREPARE: &str = "ip link set lo up && ip route add default dev lo && (ip -6 route add default dev lo || true) && exec \"$0\" \"$@\"";

/// Whether this process runs inside the namespace.
#[expect(clippy::disallowed_methods, reason = "the run outside says so to the run inside")]
pub(crate) fn is_inside() -> bool {
    std::env::var_os(INSIDE).is_some()
}

/// Whether this machine can create a network namespace.
pub(crate) fn is_possible() -> bool {
    sh::on_path("ip") && unshare().arg("true").stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Runs this program again with the same arguments and the built server inside a new namespace; returns whether it
/// succeeded.
pub(crate) fn run_again(server: &Path) -> Result<bool> {
    let own = std::env::current_exe()?;
    let mut arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if !arguments.iter().any(|argument| argument == "--server") {
        arguments.extend(["--server".into(), server.into()]);
    }
    let mut command = unshare();
    command.args(["sh", "-c", PREPARE]).arg(own).args(arguments).env(INSIDE, "yes");
    Ok(command.status().context("cannot start unshare")?.success())
}

fn unshare() -> Command {
    let mut command = Command::new("unshare");
    command.arg("--net");
    if !sh::is_root() {
        command.arg("--map-root-user");
    }
    command
}
