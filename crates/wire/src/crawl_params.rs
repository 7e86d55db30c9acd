//! Crawl options that are derived from a prompt, and the response of `POST /v2/crawl/params-preview`.

use serde::Serialize;
use serde_json::{Map, Value};
use url::Url;
use utoipa::ToSchema;

use crate::append::GivenFields;
use crate::batch::decode_options;
use crate::crawl::{CrawlOptions, CrawlRequest, SitemapMode};
use crate::scrape::ScrapeOptions;

/// Flags with their defaults that one client sends with every request, whether its caller has set them or not.
const ALWAYS_SENT: [(&str, bool); 6] = [
    ("ignoreQueryParameters", false),
    ("deduplicateSimilarURLs", true),
    ("crawlEntireDomain", false),
    ("allowExternalLinks", false),
    ("allowSubdomains", false),
    ("regexOnFullURL", false),
];

/// Crawl options derived from a prompt. Options that the prompt says nothing about are `None`.
///
/// There is no field for `ignoreRobotsTxt`, `webhook`, headers or actions, so that no prompt can set them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DerivedOptions {
    /// `includePaths`.
    pub include_paths: Option<Vec<String>>,
    /// `excludePaths`.
    pub exclude_paths: Option<Vec<String>>,
    /// `maxDiscoveryDepth`.
    pub max_discovery_depth: Option<u32>,
    /// `limit`.
    pub limit: Option<u32>,
    /// `sitemap`.
    pub sitemap: Option<SitemapMode>,
    /// `crawlEntireDomain`.
    pub crawl_entire_domain: Option<bool>,
    /// `allowExternalLinks`.
    pub allow_external_links: Option<bool>,
    /// `allowSubdomains`.
    pub allow_subdomains: Option<bool>,
    /// `ignoreQueryParameters`.
    pub ignore_query_parameters: Option<bool>,
    /// `deduplicateSimilarURLs`.
    pub deduplicate_similar_urls: Option<bool>,
    /// `regexOnFullURL`: whether the derived patterns are matched against the full URL.
    pub regex_on_full_url: Option<bool>,
    /// `delay`, in whole seconds: one client reads only these.
    pub delay: Option<u32>,
    /// Members of `scrapeOptions`, such as `formats`.
    pub scrape_options: Option<Map<String, Value>>,
}

/// Crawl options in the response of `POST /v2/crawl/params-preview`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CrawlParams {
    /// Start URL of the crawl.
    #[schema(value_type = String, format = "uri")]
    pub url: Url,
    /// RE2 patterns of paths to include.
    pub include_paths: Vec<String>,
    /// RE2 patterns of paths to exclude.
    pub exclude_paths: Vec<String>,
    /// Maximum number of link hops from the start URL, if the prompt limits it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_discovery_depth: Option<u32>,
    /// Maximum number of pages, if the prompt limits it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Sources of pages.
    pub sitemap: SitemapMode,
    /// Whether links to any path of the site are followed.
    pub crawl_entire_domain: bool,
    /// Whether linked pages of other sites are scraped.
    pub allow_external_links: bool,
    /// Whether links to subdomains are followed.
    pub allow_subdomains: bool,
    /// Whether URLs that differ only in their query count as one page.
    pub ignore_query_parameters: bool,
    /// Whether variants of a URL count as one page.
    #[serde(rename = "deduplicateSimilarURLs")]
    pub deduplicate_similar_urls: bool,
    /// Whether patterns are matched against the full URL.
    #[serde(rename = "regexOnFullURL")]
    pub regex_on_full_url: bool,
    /// Delay between scrapes in seconds, if the prompt asks for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<u32>,
    /// Scrape options that the prompt asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub scrape_options: Option<Map<String, Value>>,
}

/// Response of `POST /v2/crawl/params-preview`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ParamsPreviewed {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// Options that a crawl with this prompt would have.
    pub data: CrawlParams,
    /// What the caller should know about the options.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

impl CrawlParams {
    /// Returns the options of a crawl of this URL with this prompt.
    #[must_use]
    pub fn new(url: Url, derived: DerivedOptions) -> Self {
        let mut request = CrawlRequest::new(url);
        let (limit, delay) = (derived.limit, derived.delay);
        derived.apply(&mut request.options, &GivenFields::default());
        let options = request.options;
        Self {
            url: request.url,
            include_paths: options.include_paths,
            exclude_paths: options.exclude_paths,
            max_discovery_depth: options.max_discovery_depth,
            limit,
            sitemap: options.sitemap,
            crawl_entire_domain: options.crawl_entire_domain,
            allow_external_links: options.allow_external_links,
            allow_subdomains: options.allow_subdomains,
            ignore_query_parameters: options.ignore_query_parameters,
            deduplicate_similar_urls: options.deduplicate_similar_urls,
            regex_on_full_url: options.regex_on_full_url,
            delay,
            scrape_options: derived.scrape_options,
        }
    }
}

impl DerivedOptions {
    /// Whether nothing was derived.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the scrape options as the contract reads them; `None` if there are none or they are invalid.
    #[must_use]
    pub fn scrape_options(&self) -> Option<ScrapeOptions> {
        decode_options(Value::Object(self.scrape_options.clone()?)).ok()
    }

    /// Fills the options that `given`, the keys of the request, does not set.
    ///
    /// Patterns go together: when the request has patterns of its own, derived ones that are matched against another part
    /// of the URL are left out. A client that sends every flag sends its defaults, which do not count as set.
    ///
    /// ```
    /// use serde_json::json;
    /// use wire::{DerivedOptions, GivenFields};
    ///
    /// let body = json!({ "url": "https://a.test/", "limit": 5 });
    /// let given = GivenFields::of(&body);
    /// let mut request = wire::decode_crawl(body)?;
    /// let derived = DerivedOptions { limit: Some(50), allow_subdomains: Some(true), ..Default::default() };
    /// derived.apply(&mut request.options, &given);
    /// assert_eq!((request.options.limit, request.options.allow_subdomains), (5, true));
    /// # Ok::<(), wire::Invalid>(())
    /// ```
    pub fn apply(&self, options: &mut CrawlOptions, given: &GivenFields) {
        self.apply_patterns(options, given);
        self.apply_flags(options, given);
        let is_free = |key: &str| !given.has(key);
        if let Some(depth) = self.max_discovery_depth.filter(|_| is_free("maxDiscoveryDepth")) {
            options.max_discovery_depth = Some(depth);
        }
        if let Some(limit) = self.limit.filter(|_| is_free("limit")) {
            options.limit = limit;
        }
        if let Some(sitemap) = self.sitemap.filter(|_| is_free("sitemap") && is_free("ignoreSitemap")) {
            options.sitemap = sitemap;
        }
        if let Some(delay) = self.delay.filter(|_| is_free("delay")) {
            options.delay = Some(f64::from(delay)).filter(|delay| *delay > 0.0);
        }
        if let Some(derived) = self.scrape_options().filter(|_| is_free("scrapeOptions")) {
            options.scrape_options = derived;
        }
    }

    fn apply_patterns(&self, options: &mut CrawlOptions, given: &GivenFields) {
        let full_url = self.regex_on_full_url.unwrap_or(false);
        let is_fixed = ["includePaths", "excludePaths"].iter().any(|key| given.has(key))
            || !is_free_flag("regexOnFullURL", options.regex_on_full_url, given);
        if is_fixed && full_url != options.regex_on_full_url {
            return;
        }
        let lists = [
            ("includePaths", &self.include_paths, &mut options.include_paths),
            ("excludePaths", &self.exclude_paths, &mut options.exclude_paths),
        ];
        for (key, derived, list) in lists {
            if let Some(derived) = derived.as_ref().filter(|_| !given.has(key)) {
                list.clone_from(derived);
            }
        }
        options.regex_on_full_url = full_url;
    }

    fn apply_flags(&self, options: &mut CrawlOptions, given: &GivenFields) {
        for (key, derived, flag) in [
            ("crawlEntireDomain", self.crawl_entire_domain, &mut options.crawl_entire_domain),
            ("allowExternalLinks", self.allow_external_links, &mut options.allow_external_links),
            ("allowSubdomains", self.allow_subdomains, &mut options.allow_subdomains),
            ("ignoreQueryParameters", self.ignore_query_parameters, &mut options.ignore_query_parameters),
            ("deduplicateSimilarURLs", self.deduplicate_similar_urls, &mut options.deduplicate_similar_urls),
        ] {
            if let Some(derived) = derived.filter(|_| is_free_flag(key, *flag, given)) {
                *flag = derived;
            }
        }
    }
}

/// Whether the request leaves a flag open: it does not name it, or it names every flag and this one with its default.
fn is_free_flag(key: &str, value: bool, given: &GivenFields) -> bool {
    let sends_all = || ALWAYS_SENT.iter().all(|(key, _)| given.has(key));
    !given.has(key) || (ALWAYS_SENT.contains(&(key, value)) && sends_all())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::decode_crawl;

    fn applied(members: Value, derived: &DerivedOptions) -> CrawlOptions {
        let mut body = members;
        body["url"] = json!("https://a.test/");
        let given = GivenFields::of(&body);
        let mut request = decode_crawl(body).unwrap();
        derived.apply(&mut request.options, &given);
        request.options
    }

    fn derived() -> DerivedOptions {
        DerivedOptions {
            include_paths: Some(vec!["^/blog".into()]),
            exclude_paths: Some(vec!["/tags/".into()]),
            max_discovery_depth: Some(2),
            limit: Some(50),
            sitemap: Some(SitemapMode::Skip),
            crawl_entire_domain: Some(true),
            allow_external_links: Some(true),
            allow_subdomains: Some(true),
            ignore_query_parameters: Some(true),
            deduplicate_similar_urls: Some(false),
            regex_on_full_url: None,
            delay: Some(2),
            scrape_options: json!({ "formats": ["html"] }).as_object().cloned(),
        }
    }

    #[test]
    fn derived_options_fill_what_is_open() {
        let options = applied(json!({}), &derived());
        assert_eq!((options.include_paths.as_slice(), options.limit), (&["^/blog".to_owned()][..], 50));
        assert_eq!((options.delay, options.sitemap), (Some(2.0), SitemapMode::Skip));
        assert!(options.crawl_entire_domain && options.allow_subdomains && options.allow_external_links);
        assert!(options.ignore_query_parameters && !options.deduplicate_similar_urls);
        assert_eq!(serde_json::to_value(&options.scrape_options.formats).unwrap(), json!([{ "type": "html" }]));
    }

    #[test]
    fn explicit_options_win() {
        let explicit = json!({
            "includePaths": ["^/a"], "excludePaths": [], "maxDiscoveryDepth": 9, "limit": 10000, "sitemap": "include",
            "crawlEntireDomain": false, "allowExternalLinks": false, "allowSubdomains": false, "ignoreQueryParameters": false,
            "deduplicateSimilarURLs": true, "delay": 0, "scrapeOptions": {},
        });
        let given = applied(explicit.clone(), &DerivedOptions::default());
        assert_eq!(applied(explicit.clone(), &derived()), given);
        let mut all = explicit;
        all["regexOnFullURL"] = json!(false);
        let options = applied(all, &derived());
        assert!(options.allow_subdomains && options.limit == 10000, "defaults of a client that sends every flag");
    }

    #[test]
    fn patterns_for_another_part_of_the_url_are_left_out() {
        let full = DerivedOptions { regex_on_full_url: Some(true), ..derived() };
        let options = applied(json!({ "excludePaths": ["^/x"] }), &full);
        assert!(options.include_paths.is_empty() && !options.regex_on_full_url);
        assert!(applied(json!({}), &full).regex_on_full_url);
        assert_eq!(applied(json!({ "regexOnFullURL": true }), &full).include_paths.len(), 1);
        assert!(applied(json!({ "regexOnFullURL": true }), &derived()).include_paths.is_empty());
    }

    #[test]
    fn a_preview_has_every_flag() {
        let url: Url = "https://a.test/".parse().unwrap();
        let shown = serde_json::to_value(CrawlParams::new(url, DerivedOptions::default())).unwrap();
        for (flag, default) in ALWAYS_SENT {
            assert_eq!(shown[flag], default, "{flag}");
        }
        assert!(
            shown.get("limit").is_none() && shown.get("webhook").is_none() && shown.get("ignoreRobotsTxt").is_none()
        );
    }
}
