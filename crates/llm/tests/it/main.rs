//! Models behind one method, against a scripted server.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has to fail")]

mod budgets;
mod endpoints;
mod extract;
mod forms;
mod judge;
mod log;
mod misbehaviour;
mod retries;
mod world;
