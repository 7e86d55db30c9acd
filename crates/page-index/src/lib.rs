//! The search index of the pages that this instance has read. No clock, no runtime, no network.

mod asked;
mod copies;
mod error;
mod index;
mod page;
mod query;
mod writer;

pub use asked::{Asked, Domains, Hit, Source, Window};
pub use error::IndexError;
pub use index::{PageIndex, Settings, Stats};
pub use page::{AnchorText, IndexedPage, PageImage, PageKind};
pub use query::Query;
pub use writer::Writer;

/// Most bytes of a page's text that are indexed and stored.
pub const MOST_TEXT: usize = 256 << 10;
/// Most images of a page that are kept.
pub const MOST_IMAGES: usize = 16;
/// Most hits of an answer, those before its offset included.
pub const MOST_HITS: usize = 200;
/// Most hits of a site, unless told otherwise.
pub const PER_SITE: usize = 3;
