//! The index with a real page cache, on a database and in folders of its own.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has to fail")]

mod follow;
mod standing;
mod world;
