//! Differences between the engines of the web: the request for one page of results, and its answer.

use async_trait::async_trait;
use base::{Secret, Timestamp};
use serde_json::Value;
use url::Url;

use crate::endpoint::Endpoint;
use crate::error::EngineError;
use crate::query::{EngineQuery, Source};
use crate::sieve::Raw;
use crate::text::{Notation, Sent, sent};

/// API of one engine.
#[async_trait]
pub(crate) trait Adapter: Send + Sync {
    fn name(&self) -> &'static str;

    fn offers(&self, source: Source) -> bool;

    fn notation(&self) -> Notation;

    /// Maximum number of pages that one query may take.
    fn most_pages(&self, source: Source) -> usize;

    /// Asks for one page of results.
    ///
    /// # Errors
    /// [`EngineError`]; see its variants.
    async fn page(&self, asked: &AskedPage<'_>) -> Result<Page, EngineError>;
}

/// One page of results that is asked for.
pub(crate) struct AskedPage<'a> {
    pub(crate) query: &'a EngineQuery<'a>,
    /// Text of the query in the notation of the engine.
    pub(crate) text: &'a str,
    /// Number of the page, from 0.
    pub(crate) number: usize,
    pub(crate) now: Timestamp,
}

/// One page of results.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) results: Vec<Raw>,
    /// Whether there may be another page.
    pub(crate) has_more: bool,
    pub(crate) warnings: Vec<String>,
}

/// Returns the text of a query for an engine.
pub(crate) fn text_for(adapter: &dyn Adapter, query: &EngineQuery<'_>) -> Sent {
    sent(query, adapter.notation())
}

/// Access to the API of an engine.
pub(crate) struct Access {
    pub(crate) endpoint: Endpoint,
    /// URL that paths are appended to.
    pub(crate) base: Url,
    pub(crate) key: Secret,
}

impl Access {
    /// Returns the URL of a path, such as `res/v1/web/search`, below the base URL.
    pub(crate) fn url(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        let base = url.path().trim_end_matches('/').to_owned();
        url.set_path(&format!("{base}/{path}"));
        url
    }
}

/// Returns the results of a list, read by `read`; what it cannot read is left out.
pub(crate) fn results(list: &[Value], read: fn(&Value) -> Option<Raw>) -> Vec<Raw> {
    list.iter().filter_map(read).collect()
}
