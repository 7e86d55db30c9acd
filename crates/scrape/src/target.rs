//! What goes into the pipeline and what comes out of it.

use std::fmt;
use std::sync::Arc;

use base::Owner;
use fetch::{BasicAuth, Engine, Feature, Proxies, State};
use reader::Pool;
use tokio::time::Instant;
use url::Url;
use wire::{ActionResults, Block, Capabilities, Capability, Document, Format, ScrapeOptions, ScriptReturn};

use crate::Cpu;

/// What every scrape uses.
#[derive(Clone)]
pub struct Tools {
    /// Ways to get a page.
    pub engines: Vec<Arc<dyn Engine>>,
    /// What they may go through.
    pub proxies: Arc<Proxies>,
    /// Places for work that keeps a core busy.
    pub cpu: Cpu,
    /// Who reads documents: PDF, office files, pictures. Without it they are refused.
    pub documents: Option<Arc<Pool>>,
}

impl Tools {
    /// What they make possible.
    #[must_use]
    pub fn capabilities(&self) -> Capabilities {
        let offers = |feature| self.engines.iter().any(|engine| engine.offers(feature));
        let (reads, pool) = (self.documents.is_some(), self.documents.as_ref());
        let all = [
            (offers(Feature::Scripts), Capability::Browser),
            (offers(Feature::Profile), Capability::Profiles),
            (reads, Capability::Documents),
            (pool.is_some_and(|pool| pool.can_ocr()), Capability::Ocr),
        ];
        all.into_iter().filter_map(|(has, capability)| has.then_some(capability)).collect()
    }
}

/// What to scrape. Has no `Debug`: the URL and the headers may hold secrets.
#[derive(Clone)]
pub struct Target {
    /// The page, `http` or `https`, without user name and password.
    pub url: Url,
    /// `url` as it is told back (`metadata.sourceURL`); nothing for a file that was sent to us.
    pub source: String,
    /// What the file is called that was sent to us.
    pub file: Option<String>,
    /// The URL that the headers of `options` and `basic_auth` were given for: they go to its origin only.
    pub given_for: Url,
    /// User name and password that stood in `given_for`.
    pub basic_auth: Option<BasicAuth>,
    /// What the caller wants.
    pub options: Arc<ScrapeOptions>,
    /// When everything must be done.
    pub deadline: Instant,
    /// Whether the URL must not be logged (lockdown, zero data retention).
    pub private: bool,
    /// Who has it done: where places are few, as of [`Tools::cpu`], browsers and readers, teams take turns, and in each its
    /// runs.
    pub owner: Owner,
    /// Whether [`Scraped::links`] is wanted, as by a crawl.
    pub collect_links: bool,
    /// Cookies and storage that a browser begins with.
    pub state: Option<Arc<State>>,
    /// Whether they are wanted back ([`Scraped::state`]).
    pub keeps_state: bool,
    /// The name under which the page stays open for a while, where a browser shows it.
    pub hold: Option<String>,
}

impl Target {
    /// This page with nothing else asked for but `options`, by an owner without a name.
    #[must_use]
    pub fn new(url: Url, options: Arc<ScrapeOptions>, deadline: Instant) -> Self {
        let (source, given_for) = (url.to_string(), url.clone());
        Self {
            url,
            source,
            file: None,
            given_for,
            basic_auth: None,
            options,
            deadline,
            private: false,
            owner: Owner::default(),
            collect_links: false,
            state: None,
            keeps_state: false,
            hold: None,
        }
    }

    /// Whether all that is asked for can be made of markdown, so that the site may answer with it: only the main content, as
    /// text, and none of the links of the page.
    #[must_use]
    pub fn takes_markdown(&self) -> bool {
        let options = &self.options;
        let is_text = |format: &Format| {
            matches!(
                format,
                Format::Markdown
                    | Format::Summary
                    | Format::Json(_)
                    | Format::Query(_)
                    | Format::Question(_)
                    | Format::Highlights(_)
            )
        };
        let is_main = options.only_main_content && options.include_tags.is_empty() && options.exclude_tags.is_empty();
        let is_plain = options.actions.is_empty() && !self.collect_links;
        is_main && is_plain && !options.formats.is_empty() && options.formats.iter().all(is_text)
    }
}

/// What a page became.
#[derive(Clone)]
pub struct Scraped {
    /// The document. What the pipeline cannot know (`scrapeId`, `creditsUsed`) is left for the caller.
    pub document: Document,
    /// Where the page points to, whatever formats were asked for; empty unless [`Target::collect_links`].
    pub links: Vec<String>,
    /// How many pages its price counts: those of a PDF that were read, else 1.
    pub pages: u32,
    /// The `Retry-After` header as it was sent.
    pub retry_after: Option<String>,
    /// What it holds of the budget for bodies in memory; to be kept for as long as the document is.
    pub room: net::Room,
    /// Cookies and storage of the browser at the end, where [`Target::keeps_state`] asks for them.
    pub state: Option<State>,
}

/// Only the document: cookies are secrets.
impl fmt::Debug for Scraped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scraped").field("document", &self.document).finish_non_exhaustive()
    }
}

impl Scraped {
    /// Gives back what only the work on the body needed. Whoever makes more of the document does this afterwards.
    pub fn shrink_room(&self) {
        let Document { markdown, html, raw_html, raw_base64, links, images, attributes, .. } = &self.document;
        let texts = [markdown, html, raw_html, raw_base64].into_iter().flatten().map(String::len).sum::<usize>();
        let pages = self.document.pages.iter().flatten().map(|page| page.markdown.len()).sum::<usize>();
        let blocks = self.document.blocks.iter().flatten().flat_map(|page| &page.items);
        let blocks = blocks.map(|block| size_of::<Block>() + block.content.len()).sum::<usize>();
        let lists =
            [links, images].into_iter().flatten().chain([&self.links]).flatten().map(String::len).sum::<usize>();
        let values = attributes.iter().flatten().flat_map(|found| &found.values).map(String::len).sum::<usize>();
        let captured = self.document.screenshot.iter().map(String::len).sum::<usize>();
        let captured = captured + self.document.actions.as_ref().map_or(0, bytes_of_actions);
        self.room.shrink((texts + pages + blocks + lists + values + captured) as u64);
    }
}

/// Files stand in the document where none are kept. Values of scripts take more memory than their text.
fn bytes_of_actions(results: &ActionResults) -> usize {
    let ActionResults { screenshots, scrapes, javascript_returns, pdfs } = results;
    let files = screenshots.iter().chain(pdfs).map(String::len).sum::<usize>();
    let returns = javascript_returns.iter().map(ScriptReturn::memory).sum::<usize>();
    files + returns + scrapes.iter().map(|page| page.html.len()).sum::<usize>()
}
