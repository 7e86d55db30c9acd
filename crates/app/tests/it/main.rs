//! Tests of the operations with a real database, blob folder and client, against an origin on loopback.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has to fail")]

mod admin;
mod auth;
mod cache;
mod cache_rules;
mod changes;
mod credits;
mod delivered;
mod events;
mod file_types;
mod jobs;
mod keyless;
mod log;
mod maintain;
mod map;
mod monitor_calls;
mod monitor_chats;
mod monitor_mails;
mod monitors;
mod privacy;
mod refusals;
mod revalidation;
mod room;
mod usage;
mod webhooks;
mod world;
