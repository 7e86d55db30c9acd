//! The parsed HTML page: its tree, the walk over it, selectors and absolute URLs.
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
//! Source is read by our own tokenizer, [`html5ever`] builds the tree, and a [`Page`] keeps its nodes in one list,
//! in document order: a node is its [`Index`], and all below it are the ones up to [`Page::end`].
//!
//! Nothing here does I/O, reads a clock or panics, and no page or selector can make it use more than a bounded amount of
//! memory and time.

mod page;
mod parse;
mod references;
mod scan;
mod selector;
mod tokens;
mod tree;
mod urls;

pub use dom_query::Element;
pub use html5ever::tendril::StrTendril;
pub use html5ever::{LocalName, local_name};

pub use page::{Index, Page};
pub use selector::{MAX_SELECTOR_PARTS, SelectorError, check_selector, selector_parts};
pub use urls::{absolute, candidates, is_embedded, largest};
