//! Programs of strangers in a space of processes of their own. Whatever they leave behind ends with the first process of
//! that space, which is ours; that one ends with the process outside, and that one with the service, however it ends.

use std::fs::{File, OpenOptions};
use std::io;
use std::process::{Child, Command, ExitCode};

use rustix::process::{Pid, WaitOptions, WaitStatus, wait};

use crate::CHILD;

/// The argument after [`CHILD`] of the process outside.
pub(crate) const OUTSIDE: &str = "outside";
/// Of the first process inside.
pub(crate) const FIRST: &str = "first";
/// Of the one that becomes the program.
pub(crate) const INSIDE: &str = "inside";

/// Makes the space, starts its first process, and ends as that does. Where the kernel gives none, this process does `alone`.
pub(crate) fn outside(alone: impl FnOnce() -> io::Result<()>) -> io::Result<ExitCode> {
    if fence::own_processes().is_err() {
        return alone().map(|()| ExitCode::SUCCESS);
    }
    start_and_wait(FIRST)
}

/// Starts the process that becomes the program, and ends as that does. Others that end here have lost whoever started them.
pub(crate) fn first() -> io::Result<ExitCode> {
    // In a container that hides parts of its `/proc` the kernel gives no other: its processes are seen by number then, and
    // cannot be read.
    let _ = fence::show_own_processes();
    start_and_wait(INSIDE)
}

fn start_and_wait(stage: &str) -> io::Result<ExitCode> {
    let child = Command::new("/proc/self/exe").args([CHILD, stage]).spawn()?;
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

/// Lets go of the streams, so that they end with those who use them.
fn let_go(nothing: &File) -> io::Result<()> {
    rustix::stdio::dup2_stdin(nothing)?;
    rustix::stdio::dup2_stdout(nothing)?;
    Ok(rustix::stdio::dup2_stderr(nothing)?)
}

/// As a shell counts: a signal is 128 and its number.
fn code_of(status: WaitStatus) -> ExitCode {
    let by_signal = status.terminating_signal().map(|signal| 128 + signal);
    let code = status.exit_status().or(by_signal).unwrap_or(1);
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}
