//! Conversion of an HTML page to deterministic formats: clean HTML, markdown, links, images, attributes, metadata.
//!
//! ```
//! use formats::{ContentOptions, MarkdownOptions, Page, content, html, links, markdown, metadata};
//!
//! let url = url::Url::parse("https://example.com/blog/").unwrap();
//! let page = Page::parse(
//!     "<title>News</title><nav><a href=/>Home</a></nav><main><h1>News</h1><p>Read <a href=one>this</a>.</main>",
//!     &url,
//! );
//! let content = content(&page, &ContentOptions::default());
//! assert_eq!(
//!     markdown(&content, &MarkdownOptions::default()),
//!     "# News\n\nRead [this](https://example.com/blog/one).",
//! );
//! assert!(html(&content).contains("<h1>News</h1>"));
//! assert_eq!(links(&page), ["https://example.com/", "https://example.com/blog/one"]);
//! assert_eq!(metadata(&page)["title"], "News");
//! ```
//!
//! A [`Page`] (of the crate [`page`]) is parsed once and read by every format. This crate does no I/O, reads no clock
//! and does not panic. Pages are untrusted input: memory is bounded for all of them.

mod about;
mod attributes;
mod callout;
mod clean;
mod content;
mod elements;
mod feed;
mod furniture;
mod hidden;
mod images;
mod links;
mod main_content;
mod markdown;
mod marks;
mod metadata;
mod plain;
mod select;
mod structured;
mod xml;

pub use about::about;
pub use attributes::attributes;
pub use clean::html;
pub use content::{Content, ContentOptions};
pub use feed::feed_page;
pub use hidden::{Hidden, Rendering, hidden};
pub use images::{images, images_without};
pub use links::{links, links_without, text_links};
#[cfg(feature = "other-main-content")]
pub use main_content::other as other_main_content;
#[cfg(feature = "training")]
pub use main_content::training;
pub use markdown::{LinkStyle, MarkdownOptions, markdown};
pub use metadata::metadata;
pub use page::Page;
pub use plain::{PlainText, plain_text};
pub use select::content;
pub use structured::structured;
pub use xml::xml_page;
