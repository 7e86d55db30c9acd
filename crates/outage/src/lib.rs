//! Outages of parts of a deployment, with rate-limited logging ([`Outage`]), and free space on a disk ([`disk`]).

pub mod disk;
mod outage;

pub use outage::Outage;
