//! Outages of parts of a deployment, with rate-limited logging ([`Outage`]), the pace of log lines about failures that
//! repeat ([`Repeats`]), and free space on a disk ([`disk`]).

pub mod disk;
mod outage;
mod repeats;

pub use outage::Outage;
pub use repeats::Repeats;
