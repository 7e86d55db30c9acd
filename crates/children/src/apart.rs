//! PID namespaces for untrusted programs. All processes that they leave behind end with the first process of the
//! namespace, which is ours. That one ends with the process outside, which ends with the service.

use std::fs::{File, OpenOptions};
use std::io;
use std::process::{Child, Command, ExitCode};

use rustix::process::{Pid, WaitOptions, WaitStatus, wait};

/// Argument after the name of the role for the process outside of the namespace.
pub(crate) const OUTSIDE: &str = "outside";
/// Argument for the first process inside.
pub(crate) const FIRST: &str = "first";
/// Argument for the process that becomes the program.
pub(crate) const INSIDE: &str = "inside";

/// Creates the namespace, starts its first process, and exits with its status. Without namespace support, runs `alone`.
pub(crate) fn outside(role: &str, alone: impl FnOnce() -> io::Result<()>) -> io::Result<ExitCode> {
    if fence::own_processes().is_err() {
        return alone().map(|()| ExitCode::SUCCESS);
    }
    start_and_wait(role, FIRST)
}

/// Starts the process that becomes the program, and exits with its status. Also reaps orphaned processes.
pub(crate) fn first(role: &str) -> io::Result<ExitCode> {
    // In a container that masks parts of `/proc` the kernel refuses a new one. Processes outside are then visible by
    // number, but cannot be read.
    let _ = fence::show_own_processes();
    start_and_wait(role, INSIDE)
}

fn start_and_wait(role: &str, stage: &str) -> io::Result<ExitCode> {
    let child = Command::new("/proc/self/exe").args([role, stage]).spawn()?;
    let nothing = OpenOptions::new().read(true).write(true).open("/dev/null")?;
    let_go(&nothing)?;
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((id, status))) if is(&child, id) => return Ok(code_of(status)),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn is(child: &Child, id: Pid) -> bool {
    Pid::from_raw(child.id().cast_signed()) == Some(id)
}

/// Releases the standard streams, so that they close with the processes that use them.
fn let_go(nothing: &File) -> io::Result<()> {
    rustix::stdio::dup2_stdin(nothing)?;
    rustix::stdio::dup2_stdout(nothing)?;
    Ok(rustix::stdio::dup2_stderr(nothing)?)
}

/// Converts a status like a shell: 128 plus the signal number.
fn code_of(status: WaitStatus) -> ExitCode {
    let by_signal = status.terminating_signal().map(|signal| 128 + signal);
    let code = status.exit_status().or(by_signal).unwrap_or(1);
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}
