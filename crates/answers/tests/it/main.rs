//! Answers of a scripted model.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has to fail")]

mod asking;
mod clean;
mod crawl_params;
mod world;
