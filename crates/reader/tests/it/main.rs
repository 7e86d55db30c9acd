//! Documents in real child processes.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has to fail")]

mod ends;
mod hostile;
mod pages;
mod reads;
mod world;
