//! Why a fence could not be put up.

use std::io;

/// Why a fence could not be put up. The texts say what the operator can do.
#[derive(Debug, thiserror::Error)]
pub enum FenceError {
    /// This system has none of the walls.
    #[error("only Linux can fence programs in")]
    System,
    /// The process is root's, whom limits do not bind.
    #[error("root cannot be fenced in; let another user run it (`browser.user`)")]
    Root,
    /// The kernel, or the container, gives no namespaces.
    #[error("namespaces cannot be had ({what}: {source}); allow unprivileged user namespaces")]
    Spaces {
        /// Which step.
        what: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// A limit could not be set.
    #[error("the limit of {what} cannot be set: {source}")]
    Limit {
        /// Which limit.
        what: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// The kernel has no Landlock, or it is not switched on.
    #[error("files cannot be fenced off ({0}); a kernel of 5.13 or later with Landlock switched on can")]
    Files(String),
    /// The kernel takes no filter of system calls.
    #[error("system calls cannot be filtered ({0})")]
    Calls(String),
}
