//! A worker in this process, asked over sockets.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has to fail")]

mod worker;
