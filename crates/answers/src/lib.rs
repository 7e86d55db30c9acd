//! Formats that need judgement, made of a page's text: with a language model, or from the page's own sentences.

pub mod clean;
pub mod crawl_params;
mod page;
mod scope;
pub mod wishes;

pub use page::PageText;
