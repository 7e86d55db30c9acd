//! What all operations of the service have in common: callers, credits, refusals, and the state that they share.
//!
//! It knows no page and no feature. The crates of the operations add their own state and errors to it.

/// Boxes the future of an async function, so that it is compiled once, in this crate. Otherwise every crate that awaits
/// it compiles it again, including its queries.
pub(crate) use async_recursion::async_recursion as boxed;

mod active;
pub mod admit;
mod app;
pub mod auth;
mod bookings;
mod caller;
mod callers;
pub mod credentials;
mod error;
mod held_keys;
mod idempotency;
pub mod metrics;
mod refusal;
pub mod reservation;
mod revoked_keys;
pub mod room;
pub mod rules;
mod settings;
#[cfg(test)]
mod tests;
mod tracked;

pub use active::{Active, Slot};
pub use app::{App, DEFAULT_TEAM, Parts, limit, uuid};
pub use error::AppError;
pub use held_keys::KeyHold;
pub use idempotency::fingerprint;
pub use queue::Waker;
pub use refusal::{Refusal, Refused, Report};
pub use rules::Rules;
pub use settings::{AuthMode, Settings, SiteSettings};
pub use tracked::tracked;
