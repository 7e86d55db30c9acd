//! Formats that need judgement, made of a page's text: with a language model, or from the page's own sentences.
//!
//! ```
//! use answers::{PageText, Sentences};
//! use base::Stop;
//!
//! let markdown = "# Tea\n\nThe first harvest was sold in London in 1839. It was auctioned.".to_owned();
//! let page = PageText { markdown, title: "Tea".to_owned(), ..PageText::default() };
//! let stop = Stop::new();
//! let sentences = Sentences::read(&page, &stop)?;
//! let answered = sentences.question("When was the first harvest sold?")?;
//! assert_eq!(answered.value, "The first harvest was sold in London in 1839.");
//! assert!(answered.warnings[0].contains("without a language model"));
//! # Ok::<(), answers::GaveUp>(())
//! ```
//!
//! What a model picks from a page is cut from the page here, so that a quote is word for word. What it writes itself
//! holds no URL that is no link of the page.

mod answered;
mod answers;
mod asking;
mod cache;
pub mod clean;
mod context;
pub mod crawl_params;
mod highlights;
mod json;
mod page;
mod pick;
mod question;
mod refusal;
mod scope;
mod sentences;
mod summary;
pub mod wishes;

pub use answered::Answered;
pub use answers::Answers;
pub use asking::Asking;
pub use cache::CacheUse;
pub use context::Context;
pub use extractive::GaveUp;
pub use json::check_schema;
pub use llm::schema::{Fault, SchemaError};
pub use llm::{Micros, TeamLimit};
pub use page::PageText;
pub use refusal::Refusal;
pub use sentences::Sentences;
