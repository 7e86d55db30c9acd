//! Request bodies of `POST /v2/crawl` and its preview (docs/CONTRACT.md, "Crawl").

use std::fmt;

use serde::Serialize;
use serde_json::Value;
use url::Url;
use utoipa::ToSchema;

use crate::admin::MAX_CONCURRENCY;
use crate::attribution::Attribution;
use crate::decode::HARMLESS_KEYS;
use crate::error::Invalid;
use crate::event::CRAWL;
use crate::format::MAX_PROMPT_CHARS;
use crate::read::{self, Field, Fields};
use crate::scrape::ScrapeOptions;
use crate::source::SourceUrl;
use crate::target::target_url;
use crate::tool::ToolDetail;
use crate::webhook_config::{WebhookConfig, WebhookEntry};
use crate::words::words;

/// Default of `limit`, in pages.
pub const DEFAULT_CRAWL_LIMIT: u32 = 10_000;
/// Maximum of `limit`, in pages.
pub const MAX_CRAWL_LIMIT: u32 = 10_000_000;
/// Maximum number of patterns, per list and in both lists together.
pub const MAX_PATTERNS: usize = 1000;
/// Maximum length of a pattern, in characters.
pub const MAX_PATTERN_CHARS: usize = 2000;
/// Maximum length of all patterns together, in characters.
pub const MAX_ALL_PATTERN_CHARS: usize = 100_000;
/// Maximum of `delay`, in seconds.
pub const MAX_DELAY_S: f64 = 60.0;
/// Maximum of `maxDiscoveryDepth`.
const MAX_DEPTH: u32 = 1_000_000;

/// Site to crawl.
// Stored with the job as JSON, which decodes to the same request.
#[derive(Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CrawlRequest {
    /// Start URL, `http` or `https`.
    #[schema(value_type = String, format = "uri", min_length = 1, max_length = 8192)]
    pub url: Url,
    /// Original spelling of `url`.
    #[serde(skip)]
    pub source: SourceUrl,
    /// Natural-language prompt from which options are derived. Options that are given take precedence.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 10000)]
    pub prompt: Option<String>,
    /// Crawl options, flattened into this object.
    #[serde(flatten)]
    pub options: CrawlOptions,
    /// Webhook that receives the events of the crawl.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<WebhookEntry>)]
    pub webhook: Option<WebhookConfig>,
    /// Whether page content is discarded after the job (zero data retention). The operator enables it per team.
    #[schema(required = false, default = false)]
    pub zero_data_retention: bool,
    /// Client that makes the call, flattened into this object.
    #[serde(flatten)]
    pub attribution: Attribution,
}

/// Scope, speed and scrape options of a crawl. All fields are optional.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct CrawlOptions {
    /// RE2 patterns of paths to include.
    #[schema(max_items = 1000)]
    pub include_paths: Vec<String>,
    /// RE2 patterns of paths to exclude.
    #[schema(max_items = 1000)]
    pub exclude_paths: Vec<String>,
    /// Maximum number of link hops from the start URL. The start URL and URLs from sitemaps have depth 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 1000000)]
    pub max_discovery_depth: Option<u32>,
    /// Maximum number of pages.
    #[schema(minimum = 1, maximum = 10000000)]
    pub limit: u32,
    /// Sources of pages: sitemaps, links or both. The former `ignoreSitemap: true` means `skip`.
    pub sitemap: SitemapMode,
    /// Whether URLs that differ only in their query count as one page.
    pub ignore_query_parameters: bool,
    /// Whether variants of a URL (`www.`, `http`, `/index.html`) count as one page.
    #[serde(rename = "deduplicateSimilarURLs")]
    pub deduplicate_similar_urls: bool,
    /// Whether links to any path of the site are followed, not only to paths below the start URL.
    pub crawl_entire_domain: bool,
    /// Whether linked pages of other sites are scraped. Their links are not followed.
    pub allow_external_links: bool,
    /// Whether links to subdomains are followed.
    pub allow_subdomains: bool,
    /// Whether patterns are matched against the full URL instead of the path.
    #[serde(rename = "regexOnFullURL")]
    pub regex_on_full_url: bool,
    /// Whether robots.txt is ignored. Only for teams with the enterprise options.
    pub ignore_robots_txt: bool,
    /// User agent used to fetch and evaluate robots.txt. Only for teams with the enterprise options.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 256)]
    pub robots_user_agent: Option<String>,
    /// Delay between scrapes, in seconds. With a delay, pages are scraped one at a time. 0 means no delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 60)]
    pub delay: Option<f64>,
    /// Maximum number of concurrent scrapes; the team's limit if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 10000)]
    pub max_concurrency: Option<u32>,
    /// Scrape options for each page.
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
    /// Sources of URLs in a crawl or map.
    #[derive(Default)]
    pub enum SitemapMode {
        /// Sitemaps and links.
        #[default]
        Include = "include",
        /// Links only.
        Skip = "skip",
        /// Sitemaps and the start URL only.
        Only = "only",
    }
}

/// Body of `POST /v2/crawl/params-preview`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ParamsPreview {
    /// Start URL of the crawl.
    #[schema(value_type = String, format = "uri", min_length = 1, max_length = 8192)]
    pub url: Url,
    /// Natural-language description of what to crawl.
    #[schema(min_length = 1, max_length = 10000)]
    pub prompt: String,
    /// Client that makes the call, flattened into this object.
    #[serde(flatten)]
    pub attribution: Attribution,
}

/// Decodes the body of `POST /v2/crawl`, or a stored [`CrawlRequest`]. Checks number and length of patterns; whether
/// they compile is checked when the crawl starts.
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
/// [`Invalid`], as for [`decode_crawl`].
pub fn decode_params_preview(body: Value) -> Result<ParamsPreview, Invalid> {
    read::body(body, |fields| {
        let url = fields.need("url").and_then(page_url);
        let prompt = fields.need("prompt").and_then(|field| field.text(1..=MAX_PROMPT_CHARS));
        let attribution = Attribution::read(fields);
        Some(ParamsPreview { url: url?, prompt: prompt?, attribution })
    })
}

impl CrawlRequest {
    /// Returns a crawl of this URL with default options.
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

    /// Whether URLs must be kept out of logs: with zero data retention, or with `lockdown`, which implies it.
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.zero_data_retention || self.options.scrape_options.lockdown
    }

    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let page = fields.need("url").and_then(SourceUrl::read);
        let prompt = fields.take("prompt").and_then(|field| field.text(1..=MAX_PROMPT_CHARS));
        let options = CrawlOptions::read(fields);
        let webhook = fields.take("webhook").and_then(|field| WebhookConfig::read(&CRAWL, field));
        let zero_data_retention = fields.flag("zeroDataRetention", false);
        if zero_data_retention {
            options.scrape_options.check_zero_retention(fields, "scrapeOptions.");
        }
        let attribution = Attribution::read(fields);
        let (url, source) = page?;
        Some(Self { url, source, prompt, options, webhook, zero_data_retention, attribution })
    }
}

impl CrawlOptions {
    pub(crate) fn read(fields: &mut Fields<'_>) -> Self {
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
            scrape_options: fields
                .take("scrapeOptions")
                .and_then(|field| field.record(nested_options))
                .unwrap_or_default(),
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
                let reason = format!("and `excludePaths` together must not have more than {most} {what}, got {have}");
                fields.refuse("includePaths", reason);
            }
        }
    }
}

/// Reads the object `scrapeOptions`, with the fields that clients add to it.
pub(crate) fn nested_options(fields: &mut Fields<'_>) -> ScrapeOptions {
    let options = page_options(fields);
    let _ignored = Attribution::read(fields);
    options
}

/// Reads the scrape options of a job. Ignores `toolDetail`, which one client sends along.
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

/// Reads patterns. Control characters are refused, because patterns are stored and displayed.
fn patterns(fields: &mut Fields<'_>, key: &'static str) -> Vec<String> {
    let entry = |field: Field<'_>| field.name(0..=MAX_PATTERN_CHARS);
    fields.take(key).and_then(|field| field.list(0..=MAX_PATTERNS, entry)).unwrap_or_default()
}

fn sitemap(fields: &mut Fields<'_>) -> SitemapMode {
    let ignore = fields.flag("ignoreSitemap", false);
    let default = if ignore { SitemapMode::Skip } else { SitemapMode::default() };
    fields.take("sitemap").and_then(Field::word).unwrap_or(default)
}

/// Checks a user agent, because it becomes the value of a request header.
fn user_agent(text: &str) -> Result<String, String> {
    let visible = text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    match visible && (1..=256).contains(&text.len()) && text.trim() == text {
        true => Ok(text.to_owned()),
        false => Err("must be 1 to 256 visible ASCII characters".to_owned()),
    }
}

impl fmt::Debug for CrawlRequest {
    /// Shows at most the host: paths and queries may contain tokens, userinfo may contain a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = if self.is_private() { None } else { self.url.host_str() };
        f.debug_struct("CrawlRequest")
            .field("host", &host.unwrap_or("***"))
            .field("options", &self.options)
            .field("webhook", &self.webhook)
            .finish_non_exhaustive()
    }
}
