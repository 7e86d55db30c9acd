//! The text of a page, as questions are asked of it.

use std::borrow::Cow;

use llm::extract::{Page, Readable};

/// Page as a model or a search for its sentences reads it. All of it is untrusted.
///
/// No field has text that readers of the page cannot see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageText {
    /// Markdown by the options of the scrape, with its tables, never cut.
    pub markdown: String,
    /// Title of the page; empty if it has none.
    pub title: String,
    /// Language of the page as it says itself, such as `en` or `pt-BR`; empty if it does not say.
    pub language: String,
    /// Title, URL and metadata, one per line.
    pub facts: String,
    /// Structured data of the page, such as JSON-LD.
    pub structured: String,
    /// Links and images of the page, and its own URL, all of them absolute.
    pub links: Vec<String>,
}

impl Readable for PageText {
    fn page(&self) -> Page<'_> {
        let Self { markdown, facts, structured, links, .. } = self;
        Page { markdown, facts, structured, links }
    }
}

impl PageText {
    /// Removes the characters that readers do not see from the texts: tags, zero-width characters, direction overrides.
    /// Quotes from the result are word for word the text that they see.
    #[must_use]
    pub fn visible(mut self) -> Self {
        for text in [&mut self.markdown, &mut self.title, &mut self.facts, &mut self.structured] {
            if let Cow::Owned(visible) = llm::page_text::visible(text) {
                *text = visible;
            }
        }
        self
    }
}
