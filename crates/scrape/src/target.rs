//! What goes into the pipeline and what comes out of it.

use std::sync::Arc;

use base::Secret;
use fetch::Engine;
use tokio::time::Instant;
use url::Url;
use wire::{Document, ScrapeOptions};

use crate::Cpu;

/// What every scrape uses.
#[derive(Clone)]
pub struct Tools {
    /// Ways to get a page.
    pub engines: Vec<Arc<dyn Engine>>,
    /// Places for work that keeps a core busy.
    pub cpu: Cpu,
}

/// What to scrape. Has no `Debug`: the URL and the headers may hold secrets.
#[derive(Clone)]
pub struct Target {
    /// The page, `http` or `https`, without user name and password.
    pub url: Url,
    /// User name and password that stood in the URL.
    pub basic_auth: Option<(String, Secret)>,
    /// What the caller wants.
    pub options: Arc<ScrapeOptions>,
    /// When everything must be done.
    pub deadline: Instant,
    /// Whether the URL must not be logged (lockdown, zero data retention).
    pub private: bool,
    /// Who has it done: one owner holds only its share of [`Tools::cpu`]. Any label.
    pub owner: String,
    /// Whether [`Derived::links`] is wanted, as by a crawl.
    pub collect_links: bool,
}

/// What a page became.
#[derive(Debug, Clone)]
pub struct Derived {
    /// The document. What the pipeline cannot know (`scrapeId`, `creditsUsed`, the cache) is left for the caller.
    pub document: Document,
    /// Where the page points to, whatever formats were asked for; empty unless [`Target::collect_links`].
    pub links: Vec<String>,
    /// What the caller of the API should know; the document's `warning` holds the same in one text.
    pub warnings: Vec<String>,
}
