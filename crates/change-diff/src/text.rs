//! Markdown: status, unified diff and its tree.

mod blocks;
mod compare;
mod cursor;
mod key;
mod lines;
mod parts;
mod slide;
mod tree;
mod unified;

pub use compare::{Status, compare};
pub use lines::canonical;
pub(crate) use lines::is_ignored;
pub(crate) use parts::{Block, BlockKind, Parts};
pub use tree::{Change, Chunk, File, Tree, tree};
pub use unified::unified;
