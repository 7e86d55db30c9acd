//! The child process that runs code.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, IntoRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode, Stdio};

use rustix::process::{Pid, getppid};

use crate::apart::{self, FIRST, INSIDE, OUTSIDE};
use crate::node;
use crate::talk::{self, MAX_LINE, Order, Program, Said};

/// Argument that starts a program as such a process.
pub const CHILD: &str = "run-code-of-strangers";

/// Whether this process was started to run code. Must be called before anything else in `main`.
#[must_use]
pub fn is_child(mut args: impl Iterator<Item = OsString>) -> bool {
    args.nth(1).is_some_and(|arg| arg == CHILD)
}

/// Runs the child process. The process must still be single-threaded.
#[must_use]
pub fn child() -> ExitCode {
    let stage = std::env::args_os().nth(2);
    match act(stage.as_deref().and_then(OsStr::to_str)) {
        Ok(code) => code,
        Err(error) => {
            // A closed standard error cannot be reported anywhere.
            let _ = writeln!(io::stderr().lock(), "{error}");
            ExitCode::FAILURE
        }
    }
}

fn act(stage: Option<&str>) -> io::Result<ExitCode> {
    end_with_parent()?;
    close_others()?;
    match stage {
        Some(OUTSIDE) => apart::outside(|| run(false)),
        Some(FIRST) => apart::first(),
        stage => run(stage == Some(INSIDE)).map(|()| ExitCode::SUCCESS),
    }
}

/// Runs the order from the socket. `is_apart` means that the parent is a process of ours that ends with the service.
fn run(is_apart: bool) -> io::Result<()> {
    // Used as a file, as the sandbox allows only reads and writes on the socket.
    let mut host = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let order: Order = serde_json::from_slice(&first(&mut host)?).map_err(io::Error::other)?;
    // The parent may have ended before the death signal was set. Inside a namespace the parent's number is not visible,
    // but the read above would have failed.
    if !is_apart && getppid() != Pid::from_raw(order.parent.cast_signed()) {
        return Err(io::Error::other("the parent process has ended"));
    }
    let nothing = File::open("/dev/null")?;
    let Some(program) = order.program else {
        // The JavaScript interpreter has no host access. The sandbox is a second layer, which is incomplete on some
        // systems.
        let _ = order.fence.put_up_partly();
        return node::serve(&host);
    };
    let fenced = order.fence.put_up().map_err(|error| error.to_string());
    let stands = fenced.is_ok();
    host.write_all(&talk::line(&Said::Fenced(fenced)))?;
    if stands { Err(become_program(&program, host.into(), nothing.into())) } else { Ok(()) }
}

/// Makes the kernel kill this process, and the program it becomes, when the thread that started it ends. The sandbox
/// keeps this setting.
#[cfg(target_os = "linux")]
fn end_with_parent() -> io::Result<()> {
    Ok(rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?)
}

/// Does nothing: other systems have no sandbox, so no untrusted programs are run.
#[cfg(not(target_os = "linux"))]
fn end_with_parent() -> io::Result<()> {
    Ok(())
}

/// Closes inherited file descriptors, such as lock files of the service manager, which code must not reach.
fn close_others() -> io::Result<()> {
    let open = fs::read_dir("/proc/self/fd")?;
    let numbers: Vec<i32> = open.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    for number in numbers.into_iter().filter(|number| *number > 2) {
        // The descriptor of the directory itself is closed already.
        let _ = nix::unistd::close(number);
    }
    Ok(())
}

/// Reads the order after its length; the following bytes are for the program.
fn first(host: &mut File) -> io::Result<Vec<u8>> {
    let mut length = [0; 8];
    host.read_exact(&mut length)?;
    let length = usize::try_from(u64::from_le_bytes(length)).map_err(io::Error::other)?;
    if length > MAX_LINE {
        return Err(io::Error::other("the order is too long"));
    }
    let mut line = vec![0; length];
    host.read_exact(&mut line)?;
    Ok(line)
}

/// Replaces this process by the program, which finds the socket number in `BROWSER_FD`. Returns only on failure.
fn become_program(program: &Program, host: OwnedFd, nothing: OwnedFd) -> io::Error {
    let kept = match rustix::io::fcntl_dupfd_cloexec(&host, 3) {
        Ok(kept) => kept,
        Err(error) => return error.into(),
    };
    if let Err(error) = rustix::io::fcntl_setfd(&kept, rustix::io::FdFlags::empty()) {
        return error.into();
    }
    drop(host);
    let mut command = Command::new(&program.path);
    command.args(&program.args).env_clear().envs(program.env.iter().map(|(name, value)| (name, value)));
    command.env("BROWSER_FD", kept.as_raw_fd().to_string()).stdin(Stdio::from(nothing));
    // Must stay open in the program, so it is not dropped.
    let _ = kept.into_raw_fd();
    command.exec()
}
