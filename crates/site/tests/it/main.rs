//! Sites on loopback, a real client and a real database.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has to fail")]

mod llms;
mod robots;
mod sitemaps;
mod world;
