//! Formats that need judgement, made of a page's text: with a language model, or from the page's own sentences.

mod page;

pub use page::PageText;
