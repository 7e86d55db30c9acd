//! Answers, highlights and a summary from the sentences of a page, without a model. No I/O, no clock.
//!
//! ```
//! use base::Stop;
//! use extractive::{Page, Source};
//!
//! let markdown = "# Tea\n\nTea is made from leaves. The first harvest was sold in London in 1839.\n\n\
//!     ## Delivery\n\nWe deliver:\n\n- to Norway within five days\n- to Japan within nine days";
//! let page = Page::read(&Source { markdown, title: "Tea", language: "en" }, &Stop::new())?;
//!
//! let found = page.find("When was the first harvest sold?", None, &Stop::new())?;
//! assert_eq!(found.unwrap().answer, "The first harvest was sold in London in 1839.");
//! assert_eq!(page.find("Who won the World Cup in 1954?", None, &Stop::new())?, None);
//! # Ok::<(), extractive::GaveUp>(())
//! ```
//!
//! Everything that is returned stands on the page, word for word. A page that does not answer a question gives `None`.
//!
//! # From a page to an answer
//!
//! 1. **Blocks and sentences** ([`Page::read`]; `blocks.rs`, `inline.rs`, `sentences.rs`). The markdown is read line by
//!    line into headings, paragraphs, list items, table rows and code, each with the headings above it and with what
//!    has to be read before it: the paragraph that leads to a list, the header of a table. Text is cut into sentences
//!    by UAX #29, without the ends that are only abbreviations, initials or ordinals.
//! 2. **Terms** (`query.rs`, `language.rs`, `words`). The words of the question without stop words and without the
//!    words that ask, as Snowball stems without accents; pairs of characters in Chinese, Japanese and Korean. Names and
//!    numbers are noted. Words that say little of the topic (`type`, `called`) weigh less. A word of the page is a term
//!    when its stem is the same; less so when it begins alike, is a part of a compound, or is the initials of several
//!    terms.
//! 3. **The page's own question** (`handover.rs`). Where the page asks the same question, its answer is what follows,
//!    up to the next heading or question.
//! 4. **Evidence** (`evidence.rs`) otherwise: for each sentence BM25, and the share of the question's terms in it, in
//!    its neighbours, its block, the headings above it and its lead; whether terms that are neighbours in the question
//!    are so here; whether it has the kind of answer that is asked for: a date for *when*, a number for *how many*, a
//!    name for *who*.
//! 5. **Score and choice** (`score.rs`, `found.rs`). The score is a weighted sum. Sentences near the best are chosen:
//!    at most three for an answer, and passages of at most 1500 characters for highlights. A [`Meaning`] may change the
//!    order.
//! 6. **No answer** (`score.rs`). There is none when a name or number of the question is nowhere on the page, or when
//!    page and best sentence have too little of the question.
//!
//! [`Page::summary`] (`summary.rs`) weighs sentences by the terms they share with others, the terms of the title, and
//! their place, and leaves out what repeats, asks or calls to action.
//!
//! # Where the constants come from
//!
//! The weights of the score were fitted on questions with marked sentences (encyclopedia articles in five languages,
//! passages of medical papers): a softmax over the sentences of a page, pulled towards
//! the weights first set by hand, by folds of pages, and then rounded. Constants of BM25 are those of the literature;
//! others say beside them what they are.
//!
//! # Untrusted input
//!
//! Pages and questions are untrusted. Time and memory are linear in the page, of which at most 64 MiB and 1.5 million
//! sentences are read, and a [`base::Stop`] ends the work. The same input gives the same answer on every machine:
//! logarithms are computed here, and nothing depends on the order of a hash map.

mod blocks;
mod evidence;
mod excerpt;
mod found;
mod handover;
mod inline;
mod language;
mod logarithm;
mod page;
mod passages;
mod query;
mod score;
mod sentences;
mod summary;
mod words;

pub use excerpt::excerpt;
pub use found::{Found, HIGHLIGHTS, Meaning};
pub use page::{Page, Source};

/// The caller has set the [`base::Stop`], so there is no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("stopped before the page was read")]
pub struct GaveUp;
