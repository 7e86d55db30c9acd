//! Code and orders in words, carried out on an open page.
//!
//! [`Interact::run`] runs code: *node* in an interpreter of our own, which has no host to escape to; *python* and *bash*
//! behind a fence ([`fence::Fence`]), where the machine has them. All of them get at the page by the same verbs
//! ([`browser::Hands::call`]), which they send over a socket that is all they have of the outside. [`Interact::obey`] does
//! what a sentence says, when it is one of the plain ones that need no model.
//!
//! Code runs in a process of its own, so that whatever it does ends with that process. The program that uses this crate
//! starts itself again for it, and so begins with [`is_child`] and [`child`].

mod apart;
mod bounded;
mod child;
mod code;
mod commands;
mod host;
mod memory;
mod node;
mod orders;
mod shell;
mod start;
mod talk;

pub use child::{CHILD, child, is_child};
pub use code::{Code, InteractError, Language, Ran};
pub use orders::{MAX_STEPS, OrderError, check_order};
pub use shell::interpreter;
pub use start::{Interact, Settings, Work};
