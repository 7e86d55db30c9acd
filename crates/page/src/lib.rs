//! The parsed HTML page: tree, traversal, selectors and absolute URLs.
//!
//! ```
//! use page::{Page, local_name};
//!
//! let url = url::Url::parse("https://example.com/blog/").unwrap();
//! let page = Page::parse("<main><h1>News</h1><p class=lead>Read <a href=one>this</a>.</main>", &url);
//! let heading = page.first(&local_name!("h1")).unwrap();
//! assert_eq!(page.text_of(heading), "News");
//!
//! let lead = page.select(&["p.lead".to_owned()])[0];
//! assert_eq!(page.text_of(lead), "Read this.");
//!
//! let link = page.subtree(lead).find(|&node| page.is(node, &local_name!("a"))).unwrap();
//! let target = page.attr(link, "href").and_then(|href| page::absolute(page.base(), &href));
//! assert_eq!(target.unwrap().as_str(), "https://example.com/blog/one");
//! ```
//!
//! Our own tokenizer reads the source, [`html5ever`] builds the tree, and a [`Page`] keeps its nodes in one list in
//! document order: a node is an [`Index`], and its descendants are the nodes after it, up to [`Page::end`].
//!
//! This crate does no I/O, reads no clock and does not panic. Pages and selectors are untrusted input: memory and time
//! are bounded for all of them.

mod page;
mod parse;
mod references;
mod scan;
mod selector;
mod steps;
mod tokens;
mod tree;
mod urls;

pub use dom_query::Element;
pub use html5ever::tendril::StrTendril;
pub use html5ever::{LocalName, local_name};

pub use page::{Index, Page};
pub use references::decoded;
pub use selector::{MAX_SELECTOR_PARTS, SelectorError, check_selector, selector_parts};
pub use urls::{absolute, candidates, is_embedded, largest};
