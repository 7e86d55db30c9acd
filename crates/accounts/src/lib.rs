//! Teams, their keys, and what they have used.
//!
//! Operators manage teams and keys; teams read their usage and their recent jobs.

/// Boxes the future of an async function, so that it is compiled once, in this crate. Otherwise every crate that awaits
/// it compiles it again, including its queries.
pub(crate) use async_recursion::async_recursion as boxed;

pub mod activity;
mod chats;
pub mod keys;
pub mod teams;
pub mod usage;
