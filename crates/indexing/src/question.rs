//! Questions to the index.

use page_index::{Asked, Domains, PageKind, Query, Source, Window};

/// Question to the index, for the pages that one team may see.
#[derive(Debug, Clone)]
pub struct Question {
    /// Words and operators.
    pub query: Query,
    /// Kind of results.
    pub source: Source,
    /// Most hits.
    pub limit: usize,
    /// Hits that are left out before the first.
    pub offset: usize,
    /// Hosts that pages must or must not come from.
    pub domains: Option<Domains>,
    /// Time of publication that pages must have.
    pub published: Option<Window>,
    /// Kind that pages must have.
    pub kind: Option<PageKind>,
    /// Most hits of a site; without it, any number.
    pub per_site: Option<usize>,
    /// Whether relevant hits are put in the order of their dates, the newest first.
    pub newest_first: bool,
}

impl Question {
    /// Creates a question for pages with 10 hits, [`page_index::PER_SITE`] of a site, and without conditions.
    #[must_use]
    pub fn new(query: Query) -> Self {
        Self {
            query,
            source: Source::Web,
            limit: 10,
            offset: 0,
            domains: None,
            published: None,
            kind: None,
            per_site: Some(page_index::PER_SITE),
            newest_first: false,
        }
    }

    /// Returns the question as the index takes it, for the first `limit` hits.
    pub(crate) fn asked<'a>(&'a self, scopes: &'a [&'a str], limit: usize) -> Asked<'a> {
        Asked {
            scopes,
            query: &self.query,
            source: self.source,
            limit,
            offset: 0,
            domains: self.domains.as_ref(),
            published: self.published,
            kind: self.kind,
            per_site: self.per_site,
            newest_first: self.newest_first,
        }
    }
}
