//! The request of `POST /v2/crawl` and of its preview (docs/CONTRACT.md, "Crawl").

use std::fmt;

use serde::Serialize;
use serde_json::Value;
use url::Url;
use utoipa::ToSchema;

use crate::admin::MAX_CONCURRENCY;
use crate::attribution::Attribution;
use crate::decode::HARMLESS_KEYS;
use crate::error::Invalid;
use crate::format::MAX_PROMPT_CHARS;
use crate::read::{self, Field, Fields};
use crate::scrape::ScrapeOptions;
use crate::source::SourceUrl;
use crate::target::target_url;
use crate::tool::ToolDetail;
use crate::webhook_config::{WebhookConfig, WebhookEntry};
use crate::words::words;

/// `limit` when none is given, in pages.
pub const DEFAULT_CRAWL_LIMIT: u32 = 10_000;
/// Largest `limit`, in pages.
pub const MAX_CRAWL_LIMIT: u32 = 10_000_000;
/// Most patterns in `includePaths`, in `excludePaths`, and in both together.
pub const MAX_PATTERNS: usize = 1000;
/// Longest pattern, in characters.
pub const MAX_PATTERN_CHARS: usize = 2000;
/// Most characters of all patterns together.
pub const MAX_ALL_PATTERN_CHARS: usize = 100_000;
/// Longest `delay`, in seconds.
pub const MAX_DELAY_S: f64 = 60.0;
/// Largest `maxDiscoveryDepth`.
const MAX_DEPTH: u32 = 1_000_000;

/// A site to crawl. Written as JSON it reads back as the same request, so that is how jobs keep it.
#[derive(Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CrawlRequest {
    /// Where to start: `http` or `https`.
    #[schema(value_type = String, format = "uri", min_length = 1, max_length = 8192)]
    pub url: Url,
    /// `url` as it was given.
    #[serde(skip)]
    pub source: SourceUrl,
    /// A natural-language prompt that options are made from; options that are given win.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 10000)]
    pub prompt: Option<String>,
    /// Which pages, and how fast; siblings of `url` on the wire.
    #[serde(flatten)]
    pub options: CrawlOptions,
    /// Where events are sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<WebhookEntry>)]
    pub webhook: Option<WebhookConfig>,
    /// Keep nothing of the pages beyond the job. The operator enables it per team.
    #[schema(required = false, default = false)]
    pub zero_data_retention: bool,
    /// Who calls; siblings of `url` on the wire.
    #[serde(flatten)]
    pub attribution: Attribution,
}

/// Which pages a crawl visits, how fast, and how each is scraped. All members are optional on the wire.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct CrawlOptions {
    /// RE2 patterns of the paths that are wanted.
    #[schema(max_items = 1000)]
    pub include_paths: Vec<String>,
    /// RE2 patterns of the paths that are not.
    #[schema(max_items = 1000)]
    pub exclude_paths: Vec<String>,
    /// Most hops from the start, which has depth 0 as pages from sitemaps have.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 1000000)]
    pub max_discovery_depth: Option<u32>,
    /// Most pages.
    #[schema(minimum = 1, maximum = 10000000)]
    pub limit: u32,
    /// Whether pages are found by sitemap, by links or by both. The old `ignoreSitemap: true` means `skip`.
    pub sitemap: SitemapMode,
    /// Take URLs that differ only in their query as one.
    pub ignore_query_parameters: bool,
    /// Take spellings of one page (`www.`, `http`, `/index.html`) as one.
    #[serde(rename = "deduplicateSimilarURLs")]
    pub deduplicate_similar_urls: bool,
    /// Follow links to every path of the site, not only below the start.
    pub crawl_entire_domain: bool,
    /// Scrape pages of other sites that are linked, without following their links.
    pub allow_external_links: bool,
    /// Follow links to subdomains.
    pub allow_subdomains: bool,
    /// Match the patterns against the whole URL instead of the path.
    #[serde(rename = "regexOnFullURL")]
    pub regex_on_full_url: bool,
    /// Do not ask robots.txt. For teams with the enterprise options.
    pub ignore_robots_txt: bool,
    /// The user agent that robots.txt is fetched and read as. For teams with the enterprise options.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 256)]
    pub robots_user_agent: Option<String>,
    /// Seconds between two scrapes, which then run one at a time. 0 is no delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 60)]
    pub delay: Option<f64>,
    /// Most scrapes at the same time; the team's limit when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 10000)]
    pub max_concurrency: Option<u32>,
    /// How each page is scraped.
    pub scrape_options: ScrapeOptions,
}

impl Default for CrawlOptions {
    fn default() -> Self {
        Self {
            include_paths: Vec::new(),
            exclude_paths: Vec::new(),
            max_discovery_depth: None,
            limit: DEFAULT_CRAWL_LIMIT,
            sitemap: SitemapMode::default(),
            ignore_query_parameters: false,
            deduplicate_similar_urls: true,
            crawl_entire_domain: false,
            allow_external_links: false,
            allow_subdomains: false,
            regex_on_full_url: false,
            ignore_robots_txt: false,
            robots_user_agent: None,
            delay: None,
            max_concurrency: None,
            scrape_options: ScrapeOptions::default(),
        }
    }
}

words! {
    /// Where a crawl looks for pages.
    #[derive(Default)]
    pub enum SitemapMode {
        /// In sitemaps and links.
        #[default]
        Include = "include",
        /// In links only.
        Skip = "skip",
        /// In sitemaps only, and the start.
        Only = "only",
    }
}

/// The request of `POST /v2/crawl/params-preview`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ParamsPreview {
    /// Where the crawl would start.
    #[schema(value_type = String, format = "uri", min_length = 1, max_length = 8192)]
    pub url: Url,
    /// What to crawl, in natural language.
    #[schema(min_length = 1, max_length = 10000)]
    pub prompt: String,
    /// Who calls; siblings of `url` on the wire.
    #[serde(flatten)]
    pub attribution: Attribution,
}

/// Decodes the body of `POST /v2/crawl`, and a [`CrawlRequest`] that was written down. Patterns are counted and measured
/// here; whether they compile is for the crawl to say.
///
/// # Errors
/// [`Invalid`] with every fault (up to 20), each with the path of its field.
///
/// ```
/// let body = serde_json::json!({ "url": "https://example.com", "limit": 0 });
/// let invalid = wire::decode_crawl(body).unwrap_err();
/// assert_eq!(invalid.message, "`limit` must be a whole number from 1 to 10000000, got 0");
/// ```
pub fn decode_crawl(body: Value) -> Result<CrawlRequest, Invalid> {
    read::body(body, CrawlRequest::read)
}

/// Decodes the body of `POST /v2/crawl/params-preview`.
///
/// # Errors
/// As [`decode_crawl`].
pub fn decode_params_preview(body: Value) -> Result<ParamsPreview, Invalid> {
    read::body(body, |fields| {
        let url = fields.need("url").and_then(page_url);
        let prompt = fields.need("prompt").and_then(|field| field.text(1..=MAX_PROMPT_CHARS));
        let attribution = Attribution::read(fields);
        Some(ParamsPreview { url: url?, prompt: prompt?, attribution })
    })
}

impl CrawlRequest {
    /// A crawl from this page with nothing else asked for.
    #[must_use]
    pub fn new(url: Url) -> Self {
        Self {
            url,
            source: SourceUrl::default(),
            prompt: None,
            options: CrawlOptions::default(),
            webhook: None,
            zero_data_retention: false,
            attribution: Attribution::default(),
        }
    }

    /// Whether URLs must stay out of logs: zero retention, or lockdown, which counts as such.
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.zero_data_retention || self.options.scrape_options.lockdown
    }

    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let page = fields.need("url").and_then(SourceUrl::read);
        let prompt = fields.take("prompt").and_then(|field| field.text(1..=MAX_PROMPT_CHARS));
        let options = CrawlOptions::read(fields);
        let webhook = fields.take("webhook").and_then(WebhookConfig::read);
        let zero_data_retention = fields.flag("zeroDataRetention", false);
        if zero_data_retention && options.scrape_options.only_clean_content {
            fields.refuse("scrapeOptions.onlyCleanContent", "must not stand beside `zeroDataRetention`");
        }
        let attribution = Attribution::read(fields);
        let (url, source) = page?;
        Some(Self { url, source, prompt, options, webhook, zero_data_retention, attribution })
    }
}

impl CrawlOptions {
    fn read(fields: &mut Fields<'_>) -> Self {
        let mut whole = |key: &'static str, range| fields.take(key).and_then(|field| field.whole32(range));
        let mut options = Self {
            max_discovery_depth: whole("maxDiscoveryDepth", 0..=MAX_DEPTH),
            limit: whole("limit", 1..=MAX_CRAWL_LIMIT).unwrap_or(DEFAULT_CRAWL_LIMIT),
            max_concurrency: whole("maxConcurrency", 1..=MAX_CONCURRENCY),
            include_paths: patterns(fields, "includePaths"),
            exclude_paths: patterns(fields, "excludePaths"),
            sitemap: sitemap(fields),
            robots_user_agent: fields.take("robotsUserAgent").and_then(|field| field.parse(user_agent)),
            delay: fields.take("delay").and_then(|field| field.number(0.0..=MAX_DELAY_S)).filter(|delay| *delay > 0.0),
            scrape_options: fields.take("scrapeOptions").and_then(|field| field.record(nested)).unwrap_or_default(),
            ..Self::default()
        };
        options.read_flags(fields);
        options.check_patterns(fields);
        options
    }

    fn read_flags(&mut self, fields: &mut Fields<'_>) {
        for (key, flag) in [
            ("ignoreQueryParameters", &mut self.ignore_query_parameters),
            ("deduplicateSimilarURLs", &mut self.deduplicate_similar_urls),
            ("crawlEntireDomain", &mut self.crawl_entire_domain),
            ("allowExternalLinks", &mut self.allow_external_links),
            ("allowSubdomains", &mut self.allow_subdomains),
            ("regexOnFullURL", &mut self.regex_on_full_url),
            ("ignoreRobotsTxt", &mut self.ignore_robots_txt),
        ] {
            *flag = fields.flag(key, *flag);
        }
    }

    fn check_patterns(&self, fields: &Fields<'_>) {
        let both = || self.include_paths.iter().chain(&self.exclude_paths);
        let chars = both().map(|pattern| pattern.chars().count()).sum();
        for (have, most, what) in
            [(both().count(), MAX_PATTERNS, "patterns"), (chars, MAX_ALL_PATTERN_CHARS, "characters")]
        {
            if have > most {
                let reason = format!("and `excludePaths` together must not have more than {most} {what}, have {have}");
                fields.refuse("includePaths", reason);
            }
        }
    }
}

/// The object `scrapeOptions`, with what clients add to it.
fn nested(fields: &mut Fields<'_>) -> ScrapeOptions {
    let options = page_options(fields);
    let _ignored = Attribution::read(fields);
    options
}

/// Scrape options in a job. `toolDetail` comes along from one client and changes nothing.
pub(crate) fn page_options(fields: &mut Fields<'_>) -> ScrapeOptions {
    for key in HARMLESS_KEYS {
        let _ignored = fields.take(key);
    }
    let _ignored: Option<ToolDetail> = fields.take("toolDetail").and_then(Field::word);
    ScrapeOptions::read(fields)
}

fn page_url(field: Field<'_>) -> Option<Url> {
    field.parse(|text| target_url(text).map_err(|error| error.to_string()))
}

/// A pattern is text that is kept and shown, so it has no control characters.
fn patterns(fields: &mut Fields<'_>, key: &'static str) -> Vec<String> {
    let entry = |field: Field<'_>| field.name(0..=MAX_PATTERN_CHARS);
    fields.take(key).and_then(|field| field.list(0..=MAX_PATTERNS, entry)).unwrap_or_default()
}

fn sitemap(fields: &mut Fields<'_>) -> SitemapMode {
    let ignore = fields.flag("ignoreSitemap", false);
    let default = if ignore { SitemapMode::Skip } else { SitemapMode::default() };
    fields.take("sitemap").and_then(Field::word).unwrap_or(default)
}

/// It becomes the value of a request header.
fn user_agent(text: &str) -> Result<String, String> {
    let visible = text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    match visible && (1..=256).contains(&text.len()) && text.trim() == text {
        true => Ok(text.to_owned()),
        false => Err("must be 1 to 256 visible ASCII characters".to_owned()),
    }
}

impl fmt::Debug for CrawlRequest {
    /// Shows the host at most: paths and queries carry tokens, userinfo carries passwords.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = if self.is_private() { None } else { self.url.host_str() };
        f.debug_struct("CrawlRequest")
            .field("host", &host.unwrap_or("***"))
            .field("options", &self.options)
            .field("webhook", &self.webhook)
            .finish_non_exhaustive()
    }
}
