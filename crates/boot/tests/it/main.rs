//! A worker in this process, called over sockets.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has to fail")]

mod worker;
