//! What has changed between two versions of a page: status, unified diff and its tree, fields compared by value, blocks that
//! change again and again. No I/O, no clock.
//!
//! ```
//! use base::Stop;
//! use change_diff::{Status, compare, fields, tree, unified};
//! use serde_json::json;
//!
//! let (previous, current) = ("# Tea\n\nAssam: 12 €\n", "# Tea\r\n\r\n\r\nAssam:\u{a0}21 €");
//! assert_eq!(compare(previous, current), Status::Changed);
//!
//! let diff = unified(previous, current, &Stop::new())?;
//! assert_eq!(
//!     diff,
//!     "--- previous.md\n+++ current.md\n@@ -1,3 +1,3 @@\n # Tea\n \n-Assam: 12 €\n+Assam:\u{a0}21 €\n"
//! );
//! assert_eq!(tree(&diff).files[0].chunks[0].new_start, 1);
//!
//! let (previous, current) = (json!({"plans": [{"name": "Pro", "price": 12}]}), json!({"plans": [{"name": "Pro", "price": 21}]}));
//! let changed = fields(&previous, &current, &Stop::new())?;
//! assert_eq!(serde_json::to_value(&changed)?, json!({"plans[0].price": {"previous": 12, "current": 21}}));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Text
//!
//! Two versions are the same when no reader of the rendered markdown can tell them apart. Invisible are line ends (CRLF,
//! CR, LF), blanks at line ends and the number of blank lines; and outside code blocks also runs of blanks inside a line,
//! a no-break space for a blank, NFC against NFD, and the characters U+200B, U+2060, U+FEFF and U+00AD. Everything else is
//! a change: order, case, indentation, link targets, U+200C and U+200D. Code in a line counts as text, because browsers
//! collapse its blanks.
//!
//! A diff is made of the *canonical* versions ([`canonical`]): lines end with LF and have no trailing blanks, several
//! blank lines outside code blocks become one, and there is none at the start and the end. Line numbers are those of the
//! canonical versions, and the diff applies to the canonical previous one. A line that differs only invisibly is context, with its
//! previous text.
//!
//! # Untrusted input
//!
//! Both versions are untrusted. Time and memory are bounded: work ends with [`GaveUp`] when the versions are too large or
//! when the caller sets the [`base::Stop`]. Nothing depends on the speed of the machine otherwise, so that the same
//! versions give the same answer everywhere.

mod align;
mod fields;
mod gave_up;
mod text;
mod volatile;

pub use fields::{FieldChange, Fields, fields, top_level};
pub use gave_up::GaveUp;
pub use text::{Change, Chunk, File, Status, Tree, canonical, compare, tree, unified};
pub use volatile::{FieldHistory, FieldReview, History, Review};
