//! The letters of monitors.

mod confirmation;
mod summary;

pub use confirmation::confirmation;
pub use summary::{ChangedPage, Counts, Summary, summary};
