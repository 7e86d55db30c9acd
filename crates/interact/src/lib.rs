//! Code and plain instructions, run on an open page.
//!
//! [`Interact::run`] runs code: *node* in an embedded interpreter without host access; *python* and *bash* in a sandbox
//! ([`fence::Fence`]), where they are installed. All of them use the same verbs on the page ([`browser::Hands::call`]),
//! sent over a socket that is their only connection to the outside. [`Interact::obey`] carries out simple instructions
//! that need no language model.
//!
//! Code runs in a child process, so that everything it starts ends with that process. The program that uses this crate
//! starts itself again for this, in the role [`role`].

mod bounded;
mod code;
mod commands;
mod host;
mod memory;
mod node;
mod orders;
mod shell;
mod start;
mod talk;

pub use code::{Code, InteractError, Language, Ran};
pub use orders::{MAX_STEPS, OrderError, check_order};
pub use shell::interpreter;
pub use start::{Interact, Settings, Work, role};
