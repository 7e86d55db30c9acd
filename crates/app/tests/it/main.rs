//! The operations on a real database, a real blob folder and a real client, against an origin on loopback.

mod admin;
mod auth;
mod cache;
mod cache_rules;
mod credits;
mod log;
mod maintain;
mod privacy;
mod refusals;
mod usage;
mod world;
