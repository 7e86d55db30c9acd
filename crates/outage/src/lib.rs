//! Parts of a deployment that fail for a while ([`Outage`]), with their lines in the log, and room on a disk ([`disk`]).

pub mod disk;
mod outage;

pub use outage::Outage;
