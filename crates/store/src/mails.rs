//! Mails of monitors: which recipients want them, and the mails about each check.
//!
//! The alert addresses of a team need no row until they unsubscribe. Every other recipient is asked for confirmation
//! first. Addresses are in lower case.

mod letter;
mod subscription;

pub use letter::{CheckMail, FAILED, QUEUED, SENT, SKIPPED, add, end, of_checks};
pub use subscription::{
    CONFIRMED, PENDING, Subscription, UNSUBSCRIBED, ask, asked_by_team, asked_of, confirm, forget, subscriptions,
    unsubscribe,
};
