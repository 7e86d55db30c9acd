//! Work for which a program starts itself again.

use std::fs;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::OnceLock;

/// Names of the roles that this program can be started for.
static ROLES: OnceLock<Vec<&'static str>> = OnceLock::new();

/// Work of a child: its name is the first argument of the process.
pub struct Role {
    name: &'static str,
    work: Box<dyn FnOnce() -> io::Result<ExitCode>>,
}

impl Role {
    /// Creates a role. `work` runs in the child, which has one thread then and no files besides its standard streams.
    /// An error is written to the standard error.
    pub fn new(name: &'static str, work: impl FnOnce() -> io::Result<ExitCode> + 'static) -> Self {
        Self { name, work: Box::new(work) }
    }
}

/// Runs the role that this process was started for, if it was, and returns its exit code. Must be called before
/// anything else in `main`.
#[must_use]
pub fn run(roles: impl IntoIterator<Item = Role>) -> Option<ExitCode> {
    let roles: Vec<Role> = roles.into_iter().collect();
    let wanted = std::env::args_os().nth(1);
    // Only the first call in a process counts.
    let _ = ROLES.set(roles.iter().map(|role| role.name).collect());
    let role = roles.into_iter().find(|role| wanted.as_deref().is_some_and(|wanted| wanted == role.name))?;
    Some(close_others().and_then(|()| (role.work)()).unwrap_or_else(|error| {
        // A closed standard error cannot be reported anywhere.
        let _ = writeln!(io::stderr().lock(), "{error}");
        ExitCode::FAILURE
    }))
}

/// Whether this program has called [`run`] with such a role, so that it can be started again for it.
#[must_use]
pub fn can_run(role: &str) -> bool {
    ROLES.get().is_some_and(|roles| roles.contains(&role))
}

/// Closes inherited file descriptors, such as lock files of the service manager, which the work must not reach.
fn close_others() -> io::Result<()> {
    let open = fs::read_dir("/proc/self/fd")?;
    let numbers: Vec<i32> = open.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    for number in numbers.into_iter().filter(|number| *number > 2) {
        // The descriptor of the directory itself is closed already.
        let _ = nix::unistd::close(number);
    }
    Ok(())
}
