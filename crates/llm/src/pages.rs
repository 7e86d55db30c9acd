//! Pages and what models say of them: long pages are cut into chunks, the answers of chunks are merged, and values are
//! checked against the page. All of it without a model.

mod cut;
mod evidence;
mod links;
mod merge;

pub use cut::{Chunk, cut};
pub use evidence::Evidence;
pub use links::{Links, drop_unknown_urls};
pub use merge::{Candidate, Conflict, Merged, Part, merge};
