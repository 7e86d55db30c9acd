//! Errors of setting up a sandbox.

use std::io;

/// Reason why a sandbox could not be set up. The texts tell the operator what to do.
#[derive(Debug, thiserror::Error)]
pub enum FenceError {
    /// The system has none of the walls.
    #[error("untrusted programs can be sandboxed on Linux only")]
    System,
    /// The process runs as root, to whom resource limits do not apply.
    #[error("root cannot be sandboxed; run it as another user (`browser.user`)")]
    Root,
    /// The kernel or the container does not allow namespaces.
    #[error("cannot set up namespaces ({what}: {source}); allow unprivileged user namespaces")]
    Spaces {
        /// The step that failed.
        what: &'static str,
        /// Error of the kernel.
        source: io::Error,
    },
    /// A resource limit could not be set.
    #[error("cannot set the resource limit for {what}: {source}")]
    Limit {
        /// The limited resource.
        what: &'static str,
        /// Error of the kernel.
        source: io::Error,
    },
    /// The kernel has no Landlock, or Landlock is disabled.
    #[error("cannot restrict file access ({0}); use a kernel of 5.13 or later with Landlock enabled")]
    Files(String),
    /// The kernel did not accept the seccomp filter.
    #[error("cannot filter system calls ({0})")]
    Calls(String),
}
