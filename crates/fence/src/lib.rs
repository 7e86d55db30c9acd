//! A fence around a program that runs code of strangers: no files but those it needs to start, no network, no signals to
//! others, and bounded memory, time, processes and room.
//!
//! A process puts the fence up around itself ([`Fence::put_up`]) and then becomes the program, or goes on as it is. It must
//! have one thread, so this is done by a process that was started for it. Four walls stand one behind the other:
//! namespaces (an own network without any interface, an own tree of files), Landlock (files again), seccomp (system calls)
//! and limits of the process. A kernel that lacks one of them is refused, with the reason; [`Fence::put_up_partly`] is for
//! what has nothing to escape to anyway.
//!
//! A program of our own that only reads what strangers wrote needs less, and must work where there are no namespaces: it has an
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

/// Has what this process starts live in a space of processes of its own.
///
/// # Errors
/// Always: this system has none.
#[cfg(not(target_os = "linux"))]
pub fn own_processes() -> Result<(), FenceError> {
    Err(FenceError::System)
}

/// Has `/proc` show the own processes alone.
///
/// # Errors
/// Always: this system has none.
#[cfg(not(target_os = "linux"))]
pub fn show_own_processes() -> Result<(), FenceError> {
    Err(FenceError::System)
}

/// The only folder that a fenced program may write to. It is its own, empty at the start and gone with the program.
pub const HOME: &str = "/tmp";

/// What a program may do behind the fence.
#[derive(Clone, Serialize, Deserialize)]
pub struct Fence {
    /// Files and folders that it may read and execute. What does not exist is left out, and so is what lies in [`HOME`].
    pub reads: Vec<PathBuf>,
    /// What lies in [`HOME`] at the start, in a tree that has only this and [`Fence::reads`]; none means that there is no
    /// such folder.
    pub files: Option<Vec<StartFile>>,
    /// How much it may use.
    pub limits: Limits,
}

/// A file that lies in [`HOME`] at the start.
#[derive(Clone, Serialize, Deserialize)]
pub struct StartFile {
    /// Its path within [`HOME`], as `bin/tool`; only files in `bin` can be executed.
    pub path: PathBuf,
    /// What is in it.
    pub text: String,
}

impl Fence {
    /// Puts the fence up around this process, for good.
    ///
    /// # Errors
    /// [`FenceError`] with the wall that could not be put up. Some walls may stand by then: the process is of no use to
    /// anything but saying so.
    #[cfg(target_os = "linux")]
    pub fn put_up(&self) -> Result<(), FenceError> {
        if rustix::process::geteuid().is_root() {
            return Err(FenceError::Root);
        }
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

    /// Puts up what can be had of the fence around this process, for good: each wall that stands without the others, for
    /// root too. [`Fence::files`] do not count. Returns what could not be had.
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

    /// Puts the fence up around this process, for good.
    ///
    /// # Errors
    /// Always: this system has none of the walls.
    #[cfg(not(target_os = "linux"))]
    pub fn put_up(&self) -> Result<(), FenceError> {
        Err(FenceError::System)
    }

    /// Puts up what can be had of the fence. Returns what could not be had: all of it.
    #[cfg(not(target_os = "linux"))]
    pub fn put_up_partly(&self) -> Vec<FenceError> {
        vec![FenceError::System]
    }
}
