//! Targets of monitors.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use url::Url;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::attribution::Attribution;
use crate::crawl::{CrawlOptions, CrawlRequest, nested_options};
use crate::error::Invalid;
use crate::format::MAX_PROMPT_CHARS;
use crate::monitor::{SearchWindow, TargetType};
use crate::read::{self, Field, Fields};
use crate::scrape::ScrapeOptions;
use crate::search::{MAX_SEARCH_DOMAINS, host_name};
use crate::source::SourceUrl;
use crate::target::target_url;

/// Maximum number of URLs of a target.
pub const MAX_MONITOR_URLS: usize = 100;
/// Maximum number of queries of a target.
pub const MAX_SEARCH_QUERIES: usize = 12;
/// Maximum length of a query, in characters.
const MAX_QUERY_CHARS: usize = 256;
/// Default of `maxResults`.
const DEFAULT_RESULTS: u32 = 10;
/// Maximum of `maxResults`.
const MAX_RESULTS: u32 = 50;
/// Maximum number of domains of a target, in each list.
const MAX_DOMAINS: usize = 50;
/// Maximum size of the unknown keys of a target as JSON, in bytes.
const MAX_EXTRA_BYTES: usize = 16 * 1024;

/// Target of a monitor.
#[derive(Debug, Clone)]
pub struct MonitorTarget {
    /// Id, if the client has sent that of a target of the monitor.
    pub id: Option<Uuid>,
    /// Target as the client gave it, unknown keys included; without id and nulls, with the defaults of a search. It decodes
    /// to the same target.
    pub given: Map<String, Value>,
    /// Meaning of the target.
    pub work: TargetWork,
}

/// Targets are equal if they were given alike; the id does not count.
impl PartialEq for MonitorTarget {
    fn eq(&self, other: &Self) -> bool {
        self.given == other.given
    }
}

impl Serialize for MonitorTarget {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut whole = self.given.clone();
        if let Some(id) = self.id {
            whole.insert("id".to_owned(), id.to_string().into());
        }
        whole.serialize(serializer)
    }
}

/// Work of a target.
#[derive(Debug, Clone, PartialEq)]
pub enum TargetWork {
    /// Pages.
    Scrape(Box<ScrapeTarget>),
    /// Pages of a site; without a webhook.
    Crawl(Box<CrawlRequest>),
    /// Results of searches.
    Search(SearchTarget),
}

/// Pages to check.
#[derive(Debug, Clone, PartialEq)]
pub struct ScrapeTarget {
    /// URLs as given, without surrounding whitespace.
    pub urls: Vec<String>,
    /// Scrape options of each page.
    pub options: ScrapeOptions,
}

/// Searches to check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchTarget {
    /// Queries.
    pub queries: Vec<String>,
    /// Age of the results.
    pub search_window: SearchWindow,
    /// Maximum number of results of a query.
    pub max_results: u32,
    /// Host names that results must have; empty for any.
    pub include_domains: Vec<String>,
    /// Host names that results must not have.
    pub exclude_domains: Vec<String>,
}

/// Target of a monitor: pages by their URLs, the pages of a site, or the results of searches. Further keys are kept.
#[derive(Serialize, ToSchema)]
#[schema(as = MonitorTarget)]
#[serde(rename_all = "camelCase")]
pub struct TargetSchema {
    /// Id; assigned by the server.
    #[schema(value_type = Option<String>, format = "uuid")]
    id: Option<Uuid>,
    /// Type of the target.
    #[serde(rename = "type")]
    kind: TargetType,
    /// `scrape`: URLs of the pages.
    #[schema(min_items = 1, max_items = 100)]
    urls: Option<Vec<String>>,
    /// `crawl`: URL at which the crawl starts.
    url: Option<String>,
    /// `crawl`: options of the crawl.
    crawl_options: Option<CrawlOptions>,
    /// `scrape` and `crawl`: scrape options of each page. Without the format `changeTracking`, markdown is compared.
    scrape_options: Option<ScrapeOptions>,
    /// `scrape` and `crawl`: what does not count as a change. An extension of this server.
    ignore: Option<IgnoreSchema>,
    /// `scrape` and `crawl`: whether blocks that change in three of five checks are no change, until five checks leave them
    /// as they are; false by default. An extension of this server.
    ignore_volatile: Option<bool>,
    /// `search`: queries, of at most 256 characters.
    #[schema(min_items = 1, max_items = 12)]
    queries: Option<Vec<String>>,
    /// `search`: age of the results.
    search_window: Option<SearchWindow>,
    /// `search`: maximum number of results of a query; 10 by default.
    #[schema(minimum = 1, maximum = 50)]
    max_results: Option<u32>,
    /// `search`: host names that results must have.
    #[schema(max_items = 50)]
    include_domains: Option<Vec<String>>,
    /// `search`: host names that results must not have; not together with `includeDomains`.
    #[schema(max_items = 50)]
    exclude_domains: Option<Vec<String>>,
}

/// Parts of a page that do not count as a change.
#[derive(Serialize, ToSchema)]
#[schema(as = MonitorIgnore)]
struct IgnoreSchema {
    /// CSS selectors of elements.
    #[schema(max_items = 50)]
    selectors: Option<Vec<String>>,
    /// Regular expressions of texts, of at most 500 characters.
    #[schema(max_items = 50)]
    patterns: Option<Vec<String>>,
}

/// Decodes a stored target on its own.
///
/// # Errors
/// [`Invalid`] with every fault, as for the request that contains it.
pub fn decode_monitor_target(target: Value) -> Result<MonitorTarget, Invalid> {
    read::body(target, MonitorTarget::read)
}

/// Checks that search targets have a goal, unless nothing is judged.
///
/// # Errors
/// [`Invalid`] at `goal`.
pub fn check_search_goal(
    targets: &[MonitorTarget],
    goal: Option<&str>,
    judge_enabled: Option<bool>,
) -> Result<(), Invalid> {
    match search_without_goal(targets, goal, judge_enabled) {
        Some(reason) => Err(Invalid::at("goal", reason)),
        None => Ok(()),
    }
}

/// Returns the reason for a refusal if there is a search target that needs a goal.
pub(super) fn search_without_goal(
    targets: &[MonitorTarget],
    goal: Option<&str>,
    judge_enabled: Option<bool>,
) -> Option<&'static str> {
    let searches = targets.iter().any(|target| matches!(target.work, TargetWork::Search(_)));
    (searches && goal.is_none() && judge_enabled != Some(false))
        .then_some("is required for search targets, unless `judgeEnabled` is false")
}

impl MonitorTarget {
    /// Returns the type of the target.
    #[must_use]
    pub fn kind(&self) -> TargetType {
        match self.work {
            TargetWork::Scrape(_) => TargetType::Scrape,
            TargetWork::Crawl(_) => TargetType::Crawl,
            TargetWork::Search(_) => TargetType::Search,
        }
    }

    /// Reads a target of a request; `seen` has the ids of those before it.
    pub(super) fn read_new(field: Field<'_>, seen: &mut Vec<Uuid>) -> Option<Self> {
        field
            .record(|fields| {
                let target = Self::read(fields)?;
                if let Some(id) = target.id {
                    if seen.contains(&id) {
                        fields.refuse("id", "repeats the id of an earlier target");
                        return None;
                    }
                    seen.push(id);
                }
                Some(target)
            })
            .flatten()
    }

    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let mut given = fields.given();
        given.remove("id");
        let id = fields.take("id").and_then(Field::id);
        let kind = fields.need("type").and_then(Field::word::<TargetType>);
        let work = match kind {
            Some(TargetType::Scrape) => scrape(fields).map(|target| TargetWork::Scrape(Box::new(target))),
            Some(TargetType::Crawl) => crawl(fields).map(|crawl| TargetWork::Crawl(Box::new(crawl))),
            Some(TargetType::Search) => search(fields).map(TargetWork::Search),
            None => None,
        };
        check_extra(fields);
        let work = work?;
        if let TargetWork::Search(search) = &work {
            given.insert("searchWindow".to_owned(), search.search_window.as_str().into());
            given.insert("maxResults".to_owned(), search.max_results.into());
        }
        Some(Self { id, given, work })
    }
}

/// Takes the unknown keys, which are kept, and checks their size.
fn check_extra(fields: &mut Fields<'_>) {
    let extra = fields.rest();
    let first = extra.keys().next().cloned();
    let bytes = Value::Object(extra).to_string().len();
    if let Some(key) = first.filter(|_| bytes > MAX_EXTRA_BYTES) {
        fields.refuse(
            &key,
            format!("and further unknown keys must not have more than {MAX_EXTRA_BYTES} bytes, have {bytes}"),
        );
    }
}

fn scrape(fields: &mut Fields<'_>) -> Option<ScrapeTarget> {
    let url = |field: Field<'_>| {
        field.parse(|text| target_url(text).map(|_| text.trim().to_owned()).map_err(|error| error.to_string()))
    };
    let urls = fields.need("urls").and_then(|field| field.list(1..=MAX_MONITOR_URLS, url));
    let options = fields.take("scrapeOptions").and_then(|field| field.record(nested_options)).unwrap_or_default();
    Some(ScrapeTarget { urls: urls?, options })
}

fn crawl(fields: &mut Fields<'_>) -> Option<CrawlRequest> {
    let page = fields.need("url").and_then(SourceUrl::read);
    let shared = fields.take("scrapeOptions").and_then(|field| field.record(nested_options));
    let read = |fields: &mut Fields<'_>| crawl_options(fields, shared.is_some());
    let (options, prompt) = match fields.take("crawlOptions") {
        Some(field) => field.record(read)?,
        None => (CrawlOptions::default(), None),
    };
    let scrape_options = shared.unwrap_or_else(|| options.scrape_options.clone());
    let (url, source): (Url, SourceUrl) = page?;
    Some(CrawlRequest { source, prompt, options: CrawlOptions { scrape_options, ..options }, ..CrawlRequest::new(url) })
}

/// Reads the options of a crawl, with the fields that clients of crawls always send.
fn crawl_options(fields: &mut Fields<'_>, has_scrape_options: bool) -> (CrawlOptions, Option<String>) {
    if has_scrape_options && fields.has("scrapeOptions") {
        fields.refuse("scrapeOptions", "cannot be combined with `scrapeOptions` of the target");
    }
    let prompt = fields.take("prompt").and_then(|field| field.text(1..=MAX_PROMPT_CHARS));
    if fields.flag("zeroDataRetention", false) {
        fields.refuse("zeroDataRetention", "must be false: a monitor keeps what it compares");
    }
    let options = CrawlOptions::read(fields);
    let _ignored = Attribution::read(fields);
    (options, prompt)
}

fn search(fields: &mut Fields<'_>) -> Option<SearchTarget> {
    let query = |field: Field<'_>| {
        if field.value.as_str().is_some_and(|text| !text.is_empty() && text.trim().is_empty()) {
            return field.refuse("must not be blank");
        }
        field.text(1..=MAX_QUERY_CHARS).map(|text| text.trim().to_owned())
    };
    let queries = fields.need("queries").and_then(|field| field.list(1..=MAX_SEARCH_QUERIES, query));
    let search_window = fields.take("searchWindow").and_then(Field::word).unwrap_or_default();
    let max_results = fields.take("maxResults").and_then(|field| field.whole32(1..=MAX_RESULTS));
    let (include_domains, exclude_domains) = (domains(fields, "includeDomains"), domains(fields, "excludeDomains"));
    if !include_domains.is_empty() && !exclude_domains.is_empty() {
        fields.refuse("excludeDomains", "cannot be combined with `includeDomains`");
    }
    Some(SearchTarget {
        queries: queries?,
        search_window,
        max_results: max_results.unwrap_or(DEFAULT_RESULTS),
        include_domains,
        exclude_domains,
    })
}

/// Reads a list of host names. Repeats are dropped.
fn domains(fields: &mut Fields<'_>, key: &'static str) -> Vec<String> {
    const { assert!(MAX_DOMAINS <= MAX_SEARCH_DOMAINS, "a search must accept the domains of a target") };
    let entry = |field: Field<'_>| field.parse(host_name);
    let list = fields.take(key).and_then(|field| field.list(0..=MAX_DOMAINS, entry)).unwrap_or_default();
    let mut unique: Vec<String> = Vec::new();
    for name in list {
        if !unique.contains(&name) {
            unique.push(name);
        }
    }
    unique
}
