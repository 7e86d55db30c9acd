//! Queries: words and operators.

/// Query: words, phrases and operators.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// Words and phrases (in quotes) without the operators, as they were written, for an engine that has operators of its
    /// own.
    pub text: String,
    /// Words, as they were written. A page need not have all of them.
    pub words: Vec<String>,
    /// Phrases, without quotes, that a page must have.
    pub phrases: Vec<String>,
    /// Words and phrases, without quotes, that a page must not have.
    pub excluded: Vec<String>,
    /// Hosts, of which a page must come from one (`site:`), with a path if one was given (`docs.rs/tantivy`).
    pub sites: Vec<String>,
    /// Hosts that a page must not come from (`-site:`).
    pub excluded_sites: Vec<String>,
    /// Words or phrases that the title must have (`intitle:`).
    pub in_title: Vec<String>,
    /// Words that the address must have (`inurl:`).
    pub in_url: Vec<String>,
    /// Endings of file names, in lower case, of which the address must have one (`filetype:`).
    pub file_types: Vec<String>,
    /// Moment that the publication must be before, Unix time in ms (`before:`).
    pub before: Option<i64>,
    /// Moment that the publication must be at or after, Unix time in ms (`after:`).
    pub after: Option<i64>,
}

impl Query {
    /// Reads a query. Every text is one; what is no operator is words.
    #[must_use]
    pub fn parse(text: &str) -> Query {
        Query { text: text.to_owned(), words: text.split_whitespace().map(str::to_owned).collect(), ..Query::default() }
    }

    /// Returns whether nothing is asked for: no word, phrase or operator that a page could match.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Query { text: self.text.clone(), ..Query::default() }
    }
}
