//! A sandbox around a program that runs untrusted code: no files but those it needs to start, no network, no signals to
//! other processes, and limits on memory, time, processes and disk space.
//!
//! A process sandboxes itself ([`Fence::put_up`]) and then executes the program, or continues itself. It must have one
//! thread, so a process is started for this purpose. There are four walls, one behind the other: namespaces (a network
//! without any interface, a file tree of its own), Landlock (files again), seccomp (system calls) and resource limits.
//! [`Fence::put_up`] fails if the kernel lacks one of them. [`Fence::put_up_partly`] sets up what the system supports,
//! for code that has no way out in any case.
//!
//! A program of our own that only reads untrusted input needs less, and must work where there are no namespaces: see
//! [`Enclosure`].

mod enclosure;
mod error;
#[cfg(target_os = "linux")]
mod files;
mod limits;
#[cfg(target_os = "linux")]
mod spaces;
#[cfg(target_os = "linux")]
mod syscalls;
#[cfg(target_os = "linux")]
mod world;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use enclosure::Enclosure;
pub use error::FenceError;
pub use limits::Limits;
#[cfg(target_os = "linux")]
pub use spaces::{own_processes, show_own_processes};

/// Puts the child processes of this process into a PID namespace of their own.
///
/// # Errors
/// Always: this system has no PID namespaces.
#[cfg(not(target_os = "linux"))]
pub fn own_processes() -> Result<(), FenceError> {
    Err(FenceError::System)
}

/// Makes `/proc` show only the processes of this PID namespace.
///
/// # Errors
/// Always: this system has no PID namespaces.
#[cfg(not(target_os = "linux"))]
pub fn show_own_processes() -> Result<(), FenceError> {
    Err(FenceError::System)
}

/// The only folder that a sandboxed program may write to. Private to the program, empty at the start, and removed with
/// it.
pub const HOME: &str = "/tmp";

/// Description of a sandbox: what the program may read, and its resource limits.
#[derive(Clone, Serialize, Deserialize)]
pub struct Fence {
    /// Files and folders that the program may read and execute. Paths that do not exist, or lie in [`HOME`], are
    /// ignored.
    pub reads: Vec<PathBuf>,
    /// Files in [`HOME`] at the start. The program then sees a file tree with these and [`Fence::reads`] only. `None`
    /// means that there is no such folder.
    pub files: Option<Vec<StartFile>>,
    /// Resource limits.
    pub limits: Limits,
}

/// A file in [`HOME`] at the start.
#[derive(Clone, Serialize, Deserialize)]
pub struct StartFile {
    /// Path within [`HOME`], such as `bin/tool`; only files in `bin` can be executed.
    pub path: PathBuf,
    /// Content of the file.
    pub text: String,
}

impl Fence {
    /// Sandboxes this process irrevocably.
    ///
    /// # Errors
    /// [`FenceError`] for the wall that could not be set up. Other walls may be in place by then, so the process should
    /// only report the error and exit.
    #[cfg(target_os = "linux")]
    pub fn put_up(&self) -> Result<(), FenceError> {
        if rustix::process::geteuid().is_root() {
            return Err(FenceError::Root);
        }
        // Order matters: mounts need the rights inside the new namespaces, which are then given up, and the limits of
        // processes and memory would hinder the steps before them.
        self.limits.for_the_start()?;
        spaces::leave()?;
        if let Some(files) = &self.files {
            world::enter(&self.reads, &self.limits, files)?;
        }
        spaces::give_up_rights()?;
        let signals_stay_inside = files::wall(&self.reads, self.files.is_some())?;
        self.limits.for_the_program()?;
        syscalls::wall(signals_stay_inside)
    }

    /// Sets up as much of the sandbox as the system supports, irrevocably and for root too. Ignores [`Fence::files`].
    /// Returns the errors of the walls that are missing.
    #[cfg(target_os = "linux")]
    pub fn put_up_partly(&self) -> Vec<FenceError> {
        let walls = [self.limits.for_the_start(), spaces::leave(), spaces::give_up_rights()];
        let mut missing: Vec<_> = walls.into_iter().filter_map(Result::err).collect();
        let signals_stay_inside = files::wall(&self.reads, false).unwrap_or_else(|error| {
            missing.push(error);
            false
        });
        let walls = [self.limits.for_the_program(), syscalls::wall(signals_stay_inside)];
        missing.extend(walls.into_iter().filter_map(Result::err));
        missing
    }

    /// Sandboxes this process irrevocably.
    ///
    /// # Errors
    /// Always: this system has none of the walls.
    #[cfg(not(target_os = "linux"))]
    pub fn put_up(&self) -> Result<(), FenceError> {
        Err(FenceError::System)
    }

    /// Sets up as much of the sandbox as the system supports: nothing, which it returns as an error.
    #[cfg(not(target_os = "linux"))]
    pub fn put_up_partly(&self) -> Vec<FenceError> {
        vec![FenceError::System]
    }
}
