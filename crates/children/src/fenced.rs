//! The child that sandboxes itself by an order.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, IntoRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use fence::Fence;
use rustix::process::{Pid, getppid};
use serde::{Deserialize, Serialize};

use crate::apart::{self, FIRST, INSIDE, OUTSIDE};
use crate::{Role, frame};

/// Order to a fenced child: its first message.
#[derive(Serialize, Deserialize)]
pub struct Order {
    /// Its sandbox.
    pub fence: Fence,
    /// Program to become; `None` means that our own program goes on.
    pub program: Option<Program>,
    /// Process id of its parent, with which it ends.
    pub parent: u32,
}

/// Installed program.
#[derive(Serialize, Deserialize)]
pub struct Program {
    /// Path of the program.
    pub path: PathBuf,
    /// Arguments.
    pub args: Vec<String>,
    /// Environment: names and values.
    pub env: Vec<(String, String)>,
    /// Environment variable with the number of the socket to the parent.
    pub socket: String,
}

/// First line that a child with a program sends: `{"fenced": {"Ok": null}}` when its sandbox is active and the program
/// begins, or `Err` with the reason why it does not.
#[derive(Serialize)]
struct Report {
    fenced: Result<(), String>,
}

impl Role {
    /// Creates the role of a child of a [`Launcher`](crate::Launcher). An order with a program demands the whole
    /// sandbox. One without sets up what the system supports, and then runs `serve` with the socket to the parent: for
    /// work that has no way out in any case.
    pub fn fenced(name: &'static str, serve: fn(&File) -> io::Result<()>) -> Self {
        Self::new(name, move || {
            end_with_parent()?;
            let stage = std::env::args().nth(2);
            match stage.as_deref() {
                Some(OUTSIDE) => apart::outside(name, || follow(false, serve)),
                Some(FIRST) => apart::first(name),
                stage => follow(stage == Some(INSIDE), serve).map(|()| ExitCode::SUCCESS),
            }
        })
    }
}

/// Follows the order from the socket. `is_apart` means that the parent is a process of ours that ends with the service.
fn follow(is_apart: bool, serve: fn(&File) -> io::Result<()>) -> io::Result<()> {
    // Used as a file, as the sandbox allows only reads and writes on the socket.
    let mut host = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let order = frame::from_parent::<Order>(&mut host)?;
    let order = order.ok_or_else(|| io::Error::other("the parent has sent no order"))?.message;
    // The parent may have ended before the death signal was set. Inside a namespace the parent's number is not visible,
    // but the read above would have failed.
    if !is_apart && getppid() != Pid::from_raw(order.parent.cast_signed()) {
        return Err(io::Error::other("the parent process has ended"));
    }
    let nothing = File::open("/dev/null")?;
    let Some(program) = order.program else {
        let _ = order.fence.put_up_partly();
        return serve(&host);
    };
    let fenced = order.fence.put_up().map_err(|error| error.to_string());
    let stands = fenced.is_ok();
    let mut line = serde_json::to_vec(&Report { fenced })?;
    line.push(b'\n');
    host.write_all(&line)?;
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

/// Replaces this process by the program, which keeps the socket. Returns only on failure.
fn become_program(program: &Program, host: OwnedFd, nothing: OwnedFd) -> io::Error {
    if let Err(error) = rustix::io::fcntl_setfd(&host, rustix::io::FdFlags::empty()) {
        return error.into();
    }
    let mut command = Command::new(&program.path);
    command.args(&program.args).env_clear().envs(program.env.iter().map(|(name, value)| (name, value)));
    command.env(&program.socket, host.as_raw_fd().to_string()).stdin(Stdio::from(nothing));
    // Must stay open in the program, so it is not dropped.
    let _ = host.into_raw_fd();
    command.exec()
}
