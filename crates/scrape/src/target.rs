//! Input and output of the pipeline.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use answers::{Answers, TeamLimit};
use base::Owner;
use billing::Delivered;
use fetch::{BasicAuth, Engine, Feature, Proxies, State};
use reader::Pool;
use serde_json::Value;
use tokio::time::Instant;
use url::Url;
use wire::{ActionResults, Block, Capabilities, Capability, Document, Format, ScrapeOptions, ScriptReturn};

use crate::{Cpu, Extract, ProductService, Reviewer};

/// Shared services of all scrapes.
#[derive(Clone)]
pub struct Tools {
    /// Engines that fetch pages.
    pub engines: Vec<Arc<dyn Engine>>,
    /// Forward proxies.
    pub proxies: Arc<Proxies>,
    /// Service that finds the product of a page. Without it our own extraction does.
    pub products: Option<Arc<ProductService>>,
    /// Slots for CPU-bound work.
    pub cpu: Cpu,
    /// Pool of document readers: PDF, office files, images. Without it documents are rejected.
    pub documents: Option<Arc<Pool>>,
    /// What answers questions about pages, for formats that need judgement. Without it they are left out.
    pub answers: Option<Arc<Answers>>,
    /// Service that extracts values from pages, for change tracking. Without it only their texts are compared.
    pub extract: Option<Arc<dyn Extract>>,
    /// Whether the diff of change tracking is an object of `text` and `json` instead of a string.
    pub diff_object: bool,
}

impl Tools {
    /// Creates tools that fetch with these engines, directly and with nothing else.
    #[must_use]
    pub fn new(engines: Vec<Arc<dyn Engine>>, cpu: Cpu) -> Self {
        Self {
            engines,
            proxies: Arc::default(),
            products: None,
            cpu,
            documents: None,
            answers: None,
            extract: None,
            diff_object: false,
        }
    }

    /// Returns the capabilities that these services provide.
    #[must_use]
    pub fn capabilities(&self) -> Capabilities {
        let offers = |feature| self.engines.iter().any(|engine| engine.offers(feature));
        let (reads, pool) = (self.documents.is_some(), self.documents.as_ref());
        let answers = self.answers.as_ref();
        let all = [
            (offers(Feature::Scripts), Capability::Browser),
            (offers(Feature::Profile), Capability::Profiles),
            (reads, Capability::Documents),
            (pool.is_some_and(|pool| pool.can_ocr()), Capability::Ocr),
            (answers.is_some_and(|answers| answers.has_model(false)), Capability::Model),
            (answers.is_some_and(|answers| answers.can_answer(false)), Capability::Answers),
        ];
        all.into_iter().filter_map(|(has, capability)| has.then_some(capability)).collect()
    }
}

/// Scrape request. Has no `Debug`: the URL and the headers may hold secrets.
#[derive(Clone)]
pub struct Target {
    /// The page, `http` or `https`, without user name and password.
    pub url: Url,
    /// URL as reported in `metadata.sourceURL`; empty for an uploaded file.
    pub source: String,
    /// Name of the uploaded file.
    pub file: Option<String>,
    /// URL that the headers of `options` and `basic_auth` were given for; they go to its origin only.
    pub given_for: Url,
    /// User name and password from `given_for`.
    pub basic_auth: Option<BasicAuth>,
    /// Scrape options.
    pub options: Arc<ScrapeOptions>,
    /// Deadline of the whole scrape.
    pub deadline: Instant,
    /// Whether the URL must not be logged (lockdown, zero data retention).
    pub private: bool,
    /// Owner of the work: scarce slots (CPU, browsers, readers) are shared fairly among teams, and within a team among
    /// its runs.
    pub owner: Owner,
    /// Limits of the owner's team per day for language models.
    pub model_limit: TeamLimit,
    /// Whether [`Scraped::links`] is wanted, for example by a crawl.
    pub collect_links: bool,
    /// What counts when the versions of the page are compared; everything without it.
    pub reviewer: Option<Arc<dyn Reviewer>>,
    /// Cookies and storage of a profile to start with.
    pub state: Option<Arc<State>>,
    /// Whether cookies and storage are returned ([`Scraped::state`]).
    pub keeps_state: bool,
    /// Name under which the page stays open afterwards, if a browser loads it.
    pub hold: Option<String>,
}

impl Target {
    /// Creates a target with these options and defaults otherwise, for an anonymous owner.
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
            model_limit: TeamLimit::default(),
            collect_links: false,
            reviewer: None,
            state: None,
            keeps_state: false,
            hold: None,
        }
    }

    /// Whether all requested formats can be made of markdown, so that the site may answer with it: only the main
    /// content, as text, without the links of the page.
    #[must_use]
    pub fn takes_markdown(&self) -> bool {
        let options = &self.options;
        let is_text = |format: &Format| matches!(format, Format::Markdown) || is_asked_of_text(format);
        let is_main = options.only_main_content && options.include_tags.is_empty() && options.exclude_tags.is_empty();
        let is_plain = options.actions.is_empty() && !self.collect_links;
        is_main && is_plain && !options.formats.is_empty() && options.formats.iter().all(is_text)
    }
}

impl Target {
    /// Whether questions are asked of the page's text.
    pub(crate) fn asks(&self) -> bool {
        let extracts = |format: &Format| matches!(format, Format::ChangeTracking(tracking) if tracking.extracts());
        self.options.formats.iter().any(|format| extracts(format) || is_asked_of_text(format))
    }

    /// Whether a later phase works on the draft: on its markdown, or on the text that questions are asked of.
    pub(crate) fn needs_markdown(&self) -> bool {
        needs_whole_markdown(&self.options) || self.options.formats.iter().any(is_asked_of_text)
    }
}

/// Whether a later phase needs the markdown as the caller gets it, whether or not markdown is a requested format.
/// Questions have a text of their own.
pub(crate) fn needs_whole_markdown(options: &ScrapeOptions) -> bool {
    options.formats.iter().any(|format| matches!(format, Format::ChangeTracking(_)))
        || options.only_clean_content
        || options.check_prompt_injection
        || options.redact_pii.is_some()
}

/// Whether the format is made of the page's text, by a model or from its sentences.
pub(crate) fn is_asked_of_text(format: &Format) -> bool {
    match format {
        Format::Summary | Format::Json(_) | Format::Query(_) | Format::Question(_) | Format::Highlights(_) => true,
        Format::Markdown
        | Format::Html
        | Format::RawHtml
        | Format::RawBase64
        | Format::Links
        | Format::Images
        | Format::Attributes(_)
        | Format::Screenshot(_)
        | Format::Audio
        | Format::Video
        | Format::Branding
        | Format::Product
        | Format::Menu
        | Format::ChangeTracking(_) => false,
    }
}

/// Result of a scrape.
#[derive(Clone)]
pub struct Scraped {
    /// Document. Fields that the pipeline cannot know (`scrapeId`, `creditsUsed`) are left for the caller.
    pub document: Document,
    /// Link targets of the page, independent of the formats; empty unless [`Target::collect_links`].
    pub links: Vec<String>,
    /// Pages and extras in the document, which determine its price.
    pub delivered: Delivered,
    /// Time that was spent on answers about the page, which says nothing about its host.
    pub answering: Duration,
    /// The `Retry-After` header as it was sent.
    pub retry_after: Option<String>,
    /// Share of the memory budget for bodies; to be held for as long as the document is.
    pub room: net::Room,
    /// Cookies and storage of the browser at the end, if [`Target::keeps_state`].
    pub state: Option<State>,
    /// Values that change tracking has compared, in its mode `json`.
    pub values: Option<Values>,
    /// Whether change tracking has compared this version, or made it the one to compare with. Otherwise it says nothing
    /// about changes.
    pub is_tracked: bool,
}

/// Values of both versions of a page whose fields are tracked.
#[derive(Debug, Clone, Default)]
pub struct Values {
    /// Those of the previous version, if it was asked the same.
    pub previous: Option<Value>,
    /// Those of this version; `None` if they could not be extracted, and for a page that was removed.
    pub current: Option<Value>,
}

/// Shows only the document, as cookies are secrets.
impl fmt::Debug for Scraped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scraped").field("document", &self.document).finish_non_exhaustive()
    }
}

impl Scraped {
    /// Returns the share of the memory budget that only the processing needed. To be called when the document is final.
    pub fn shrink_room(&self) {
        let links = self.links.iter().map(String::len).sum::<usize>();
        self.room.shrink((bytes_of(&self.document) + links) as u64);
    }
}

/// Estimates the bytes of a document in memory.
pub(crate) fn bytes_of(document: &Document) -> usize {
    let Document { markdown, html, raw_html, raw_base64, links, images, attributes, .. } = document;
    let Document { summary, answer, highlights, .. } = document;
    let texts = [markdown, html, raw_html, raw_base64, summary, answer, highlights];
    let texts = texts.into_iter().flatten().map(String::len).sum::<usize>();
    let pages = document.pages.iter().flatten().map(|page| page.markdown.len()).sum::<usize>();
    let blocks = document.blocks.iter().flatten().flat_map(|page| &page.items);
    let blocks = blocks.map(|block| size_of::<Block>() + block.content.len()).sum::<usize>();
    let lists = [links, images].into_iter().flatten().flatten().map(String::len).sum::<usize>();
    let values = attributes.iter().flatten().flat_map(|found| &found.values).map(String::len).sum::<usize>();
    let tracked =
        document.change_tracking.iter().flatten().flat_map(|tracked| tracked.diff.iter().chain(&tracked.json));
    let made = tracked.chain(&document.json).map(wire::memory_of).sum::<usize>();
    let captured = document.screenshot.iter().map(String::len).sum::<usize>();
    let captured = captured + document.actions.as_ref().map_or(0, bytes_of_actions);
    texts + pages + blocks + lists + values + made + captured
}

/// Estimates the bytes of action results. Files count, as they may be embedded; script values exceed their text.
fn bytes_of_actions(results: &ActionResults) -> usize {
    let ActionResults { screenshots, scrapes, javascript_returns, pdfs } = results;
    let files = screenshots.iter().chain(pdfs).map(String::len).sum::<usize>();
    let returns = javascript_returns.iter().map(ScriptReturn::memory).sum::<usize>();
    files + returns + scrapes.iter().map(|page| page.html.len()).sum::<usize>()
}
