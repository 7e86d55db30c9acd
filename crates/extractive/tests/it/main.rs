//! Answers, highlights and summaries of pages: cases, properties of any input, and bounds.

#![expect(clippy::unwrap_used, reason = "a test stops when it cannot go on")]

mod bounds;
mod find;
mod passages;
mod properties;
mod summary;

use base::Stop;
use extractive::{Found, Page, Source};

/// Returns what a page answers to a question.
fn find(markdown: &str, question: &str) -> Option<Found> {
    find_in("", markdown, question)
}

fn find_in(language: &str, markdown: &str, question: &str) -> Option<Found> {
    let page = Page::read(&Source { markdown, title: "", language }, &Stop::new()).unwrap();
    page.find(question, None, &Stop::new()).unwrap()
}
