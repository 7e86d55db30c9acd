//! The search index of the pages that this instance has read: a folder of its own, queries, ranking. No clock, no network.
//!
//! ```
//! use page_index::{Asked, IndexedPage, PageIndex, Query, Settings};
//!
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! let index = PageIndex::open(folder, Settings::default())?;
//! let mut writer = index.writer()?;
//! writer.put(&IndexedPage {
//!     copy: "0198c0de-1".into(),
//!     scope: "team-a".into(),
//!     page_key: "https://example.org/tea".into(),
//!     url: "https://example.org/tea".into(),
//!     title: "A guide to tea".into(),
//!     text: "Green tea is brewed with water of 70 degrees.".into(),
//!     ..IndexedPage::default()
//! })?;
//! writer.commit("0198c0de-1")?;
//!
//! let query = Query::parse("brewing \"green tea\" -coffee site:example.org");
//! let hits = index.search(&Asked::new(&["team-a"], &query), &|| false)?;
//! assert_eq!(hits[0].title, "A guide to tea");
//! assert!(index.search(&Asked::new(&["team-b"], &query), &|| false)?.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # From a page to the index
//!
//! 1. **Words** (`words.rs`, `language.rs`). Runs of letters and digits in lower case, as Snowball stems of the page's
//!    language without accents; pairs of characters in scripts without blanks. Words without a topic are indexed too, for
//!    phrases.
//! 2. **Parts** (`encode.rs`, `document.rs`). Title, headings, description, text, texts of links to the page and words
//!    of the address stand in one field, in which a word counts as many times as its part is worth: BM25F in the form of
//!    its authors. The whole title, and on a start page the name of its host, are terms as well. Titles and addresses have
//!    fields of their own besides, for `intitle:` and `inurl:`.
//! 3. **Facts and columns** (`schema.rs`). Hosts, file endings and languages are terms; scope, host, dates, kind and the
//!    fingerprint (`simhash.rs`) are columns, which filter pages while they are collected.
//! 4. **Texts of links** (`anchors.rs`) are remembered in bounded memory until their target is put: a crawler reads the page
//!    that links before the page that is linked to. They are not on disk; an index that is built again in the order of
//!    the copies gets the same ones.
//!
//! # From a query to its hits
//!
//! 1. **Parsing** ([`Query::parse`]). Every text is a query.
//! 2. **Plan** (`plan.rs`). Words are looked for in the stems of the languages that the index has; all stems of a word
//!    weigh the same. Pages need one word, and all phrases and operators.
//! 3. **Candidates** (`collect.rs`): the best pages by BM25, skipping blocks that cannot be among them.
//! 4. **Order** (`rank.rs`): how much of the query a page and its title have, whether words that are neighbours in the
//!    query are so there, and how much of the query stands in one place, word by word.
//! 5. **Choice** (`search.rs`): near-duplicates fold, a site has at most [`PER_SITE`] pages, dates order only on
//!    demand.
//!
//! # Bounds
//!
//! A query has at most 32 words and 64 stems, and no wildcards; a page at most [`MOST_TEXT`] bytes of text. The writer
//! holds [`Settings::writer_bytes`] and 64 MiB of waiting text. A commit is atomic: after a crash the folder is as the last
//! commit left it.

mod address;
mod anchors;
mod asked;
mod collect;
mod copies;
mod document;
mod encode;
mod error;
mod index;
mod language;
mod page;
mod plan;
mod query;
mod rank;
mod schema;
mod search;
mod simhash;
mod view;
mod words;
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
