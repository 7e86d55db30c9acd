//! The text of a page, as questions are asked of it.

/// Page as a model or a search for its sentences reads it. All of it is untrusted.
///
/// What readers of the page cannot see is in none of its fields.
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
