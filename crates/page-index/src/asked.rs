//! Questions to the index, and their answers.

use crate::{PageImage, PageKind, Query};

/// Question to the index.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// Scopes whose pages may be found.
    pub scopes: &'a [&'a str],
    /// Words and operators.
    pub query: &'a Query,
    /// Kind of results.
    pub source: Source,
    /// Most hits, at most [`crate::MOST_HITS`] with the offset.
    pub limit: usize,
    /// Hits that are left out before the first.
    pub offset: usize,
    /// Hosts that pages must or must not come from.
    pub domains: Option<&'a Domains>,
    /// Time of publication that pages must have. Pages without a date are left out then, unless the window is open on
    /// both sides.
    pub published: Option<Window>,
    /// Kind that pages must have.
    pub kind: Option<PageKind>,
    /// Most hits of a site (a registrable domain); without it, any number.
    pub per_site: Option<usize>,
    /// Whether relevant hits are put in the order of their dates, the newest first.
    pub newest_first: bool,
}

impl<'a> Asked<'a> {
    /// Creates a question for pages with 10 hits, [`crate::PER_SITE`] of a site, and without conditions.
    #[must_use]
    pub fn new(scopes: &'a [&'a str], query: &'a Query) -> Self {
        Asked {
            scopes,
            query,
            source: Source::Web,
            limit: 10,
            offset: 0,
            domains: None,
            published: None,
            kind: None,
            per_site: Some(crate::PER_SITE),
            newest_first: false,
        }
    }
}

/// Kind of results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Source {
    /// Pages and documents.
    #[default]
    Web,
    /// Articles with a date.
    News,
    /// Images, each a hit of its own.
    Images,
}

/// Hosts that pages must or must not come from, their subdomains included. Names are in lower case, as in addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Domains {
    /// Only pages of these hosts.
    Only(Vec<String>),
    /// No pages of these hosts.
    Without(Vec<String>),
}

/// Span of time, Unix time in ms, both ends included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Window {
    /// First moment.
    pub from: Option<i64>,
    /// Last moment.
    pub until: Option<i64>,
}

/// Page or image that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Id of the copy.
    pub copy: String,
    /// Scope of the page.
    pub scope: String,
    /// Address of the page.
    pub url: String,
    /// Title of the page.
    pub title: String,
    /// Description that the page gives of itself.
    pub description: String,
    /// Main text of the page.
    pub text: String,
    /// Language tag of the page, as it was given.
    pub language: Option<String>,
    /// Kind of the page.
    pub kind: PageKind,
    /// Time of publication, Unix time in ms.
    pub published: Option<i64>,
    /// Time when the copy was read, Unix time in ms.
    pub fetched: i64,
    /// Score, to be compared within one answer only.
    pub score: f32,
    /// Images of the page.
    pub images: Vec<PageImage>,
    /// Image that was found, if images were asked for.
    pub image: Option<PageImage>,
}
