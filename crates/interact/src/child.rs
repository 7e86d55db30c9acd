//! The other side: the process that is started for code.

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

/// The argument that makes a program such a process.
pub const CHILD: &str = "run-code-of-strangers";

/// Whether this process was started to run code. To be asked before anything else is done.
#[must_use]
pub fn is_child(mut args: impl Iterator<Item = OsString>) -> bool {
    args.nth(1).is_some_and(|arg| arg == CHILD)
}

/// What such a process does. It must have one thread still.
#[must_use]
pub fn child() -> ExitCode {
    let stage = std::env::args_os().nth(2);
    match act(stage.as_deref().and_then(OsStr::to_str)) {
        Ok(code) => code,
        Err(error) => {
            // Nobody is left to tell when standard error is closed.
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

/// `is_apart` says that this process was started by one of ours that ends with the service.
fn run(is_apart: bool) -> io::Result<()> {
    // As a file: behind the fence a socket can be read and written, and nothing else be done with it.
    let mut host = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let order: Order = serde_json::from_slice(&first(&mut host)?).map_err(io::Error::other)?;
    // It may have ended before it could be told that we end with it. One apart cannot see it, but finds nobody to talk to below.
    if !is_apart && getppid() != Pid::from_raw(order.parent.cast_signed()) {
        return Err(io::Error::other("whoever has started this process is gone"));
    }
    let nothing = File::open("/dev/null")?;
    let Some(program) = order.program else {
        // The interpreter has nothing to escape to. The fence is its second wall, and not every machine has all of it.
        let _ = order.fence.put_up_partly();
        return node::serve(&host);
    };
    let fenced = order.fence.put_up().map_err(|error| error.to_string());
    let stands = fenced.is_ok();
    host.write_all(&talk::line(&Said::Fenced(fenced)))?;
    if stands { Err(become_program(&program, host.into(), nothing.into())) } else { Ok(()) }
}

/// Lets the kernel end this process, and what it becomes, with the thread that has started it. The fence keeps that so.
#[cfg(target_os = "linux")]
fn end_with_parent() -> io::Result<()> {
    Ok(rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?)
}

/// Elsewhere there is no fence, and so no programs of strangers.
#[cfg(not(target_os = "linux"))]
fn end_with_parent() -> io::Result<()> {
    Ok(())
}

/// Closes what was open when the service was started, such as the lock of whoever started it: it is not meant for code.
fn close_others() -> io::Result<()> {
    let open = fs::read_dir("/proc/self/fd")?;
    let numbers: Vec<i32> = open.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    for number in numbers.into_iter().filter(|number| *number > 2) {
        // That of the folder itself is closed already.
        let _ = nix::unistd::close(number);
    }
    Ok(())
}

/// The order, after its length; what follows is for the program.
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

/// Becomes the program, which finds the socket at the number in `BROWSER_FD`. Returns only if that fails.
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
    // It stays open in the program.
    let _ = kept.into_raw_fd();
    command.exec()
}
