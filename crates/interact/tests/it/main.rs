//! Code and plain instructions on pages of a real Chromium.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has to fail")]

mod hostile;
mod node;
mod orders;
mod shells;
mod world;
