//! The decision to follow a link: scope, filters, depth and traps.

use std::sync::Arc;

use url::Url;

use crate::filter::{PathFilter, PatternError};
use crate::reason::Reason;
use crate::robots::Rules;
use crate::scope::{HomeScope, Reach, is_homepage, is_social};
use crate::steps::Steps;
use crate::url_key::{KeyRules, UrlKey, url_key};

/// Maximum length in bytes of a URL that is followed; servers commonly refuse longer request lines.
pub const MAX_URL_BYTES: usize = 8192;

/// Options of a crawl request that decide which links are followed (docs/CONTRACT.md, "Crawl"), with the defaults of the
/// request.
#[derive(Debug, Clone, Default)]
pub struct ScopeOptions {
    /// `includePaths`.
    pub include_paths: Vec<String>,
    /// `excludePaths`.
    pub exclude_paths: Vec<String>,
    /// `regexOnFullURL`.
    pub regex_on_full_url: bool,
    /// `maxDiscoveryDepth`: pages at this depth are fetched, their links are not followed.
    pub max_discovery_depth: Option<u32>,
    /// `crawlEntireDomain`.
    pub crawl_entire_domain: bool,
    /// `allowSubdomains`, and map's `includeSubdomains`.
    pub allow_subdomains: bool,
    /// `allowExternalLinks`.
    pub allow_external_links: bool,
    /// `deduplicateSimilarURLs` and `ignoreQueryParameters`.
    pub key_rules: KeyRules,
}

/// Scope of a crawl: the links that it may follow. Compile it once per crawl and worker, on a blocking thread. It is
/// immutable and cheap to clone.
#[derive(Debug, Clone)]
pub struct Scope {
    /// The start URL, and its redirect target.
    homes: Vec<HomeScope>,
    pub(crate) filter: Arc<PathFilter>,
    pub(crate) max_depth: Option<u32>,
    entire_domain: bool,
    subdomains: bool,
    pub(crate) external: bool,
    key_rules: KeyRules,
}

/// Decision on a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Fetch the link, unless its key is already known.
    Follow {
        /// Key of the page in this crawl.
        key: UrlKey,
        /// Depth: 0 for the start and for pages from sitemaps, otherwise one more than that of the linking page.
        depth: u32,
    },
    /// Skip the link.
    Skip(Reason),
}

impl Scope {
    /// Compiles the options of a crawl from `start`; long lists of patterns take some tens of milliseconds.
    ///
    /// # Errors
    /// [`PatternError`] for an invalid pattern; its message is written for the caller of the API.
    pub fn new(start: &Url, options: &ScopeOptions) -> Result<Self, PatternError> {
        Ok(Self {
            homes: vec![HomeScope::of(start)],
            filter: PathFilter::new(&options.include_paths, &options.exclude_paths, options.regex_on_full_url)?.into(),
            max_depth: options.max_discovery_depth,
            entire_domain: options.crawl_entire_domain,
            subdomains: options.allow_subdomains,
            external: options.allow_external_links,
            key_rules: options.key_rules,
        })
    }

    /// Adds the redirect target of the start URL to the scope. Call it again with the stored URL whenever the scope is
    /// created again.
    #[must_use]
    pub fn landed_at(mut self, landed: &Url) -> Self {
        let home = HomeScope::of(landed);
        let whole = self.homes.iter().any(HomeScope::is_whole);
        self.homes.push(if whole { home.whole() } else { home });
        self
    }

    /// Decides on the start URL, which is in scope by definition but must match the path patterns.
    #[must_use]
    pub fn admit_start(&self, start: &Url) -> Verdict {
        match unusable(start).or_else(|| self.filter.refuses(start)) {
            Some(reason) => Verdict::Skip(reason),
            None => self.follow(start, 0),
        }
    }

    /// Returns `maxDiscoveryDepth`: the maximum number of hops from the start.
    #[must_use]
    pub fn max_depth(&self) -> Option<u32> {
        self.max_depth
    }

    /// Returns the memory of the patterns in bytes, for caches of scopes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.filter.size()
    }

    /// Decides on the redirect target of a followed link. Redirects within the registrable domain are accepted, others only
    /// with `allowExternalLinks` and never to a home page. The key is that of the target: if it is already known, the page
    /// is a duplicate. For the start URL use [`Scope::landed_at`].
    #[must_use]
    pub fn admit_landing(&self, landed: &Url, depth: u32) -> Verdict {
        if let Some(reason) = unusable(landed) {
            return Verdict::Skip(reason);
        }
        if self.reach(landed) == Reach::External {
            if !self.external {
                return Verdict::Skip(Reason::External);
            }
            if is_homepage(landed) {
                return Verdict::Skip(Reason::ExternalHomepage);
            }
        }
        if let Some(reason) = self.filter.matcher().excludes(landed, &mut Steps::of_a_url()) {
            return Verdict::Skip(reason);
        }
        self.follow(landed, depth)
    }

    /// Returns the distance of a URL from the start, regardless of the options.
    #[must_use]
    pub fn reach(&self, url: &Url) -> Reach {
        let mut nearest = Reach::External;
        for home in &self.homes {
            match home.reach(url) {
                Reach::Inside => return Reach::Inside,
                Reach::OutsidePath => nearest = Reach::OutsidePath,
                Reach::Subdomain if nearest == Reach::External => nearest = Reach::Subdomain,
                Reach::Subdomain | Reach::External => {}
            }
        }
        nearest
    }

    /// Returns whether the links of a page at `depth` can be followed at all.
    #[must_use]
    pub fn follows_links_of(&self, page: &Url, depth: u32) -> bool {
        self.max_depth.is_none_or(|max| depth < max) && !(self.external && self.is_away(page))
    }

    /// Returns the key of a URL under the rules of this crawl.
    #[must_use]
    pub fn key(&self, url: &Url) -> UrlKey {
        url_key(url, self.key_rules)
    }

    /// Returns whether a URL belongs to a site that is reachable only with `allowExternalLinks`.
    pub(crate) fn is_away(&self, url: &Url) -> bool {
        match self.reach(url) {
            Reach::Inside | Reach::OutsidePath => false,
            Reach::Subdomain => !self.subdomains,
            Reach::External => true,
        }
    }

    /// Returns the key of a page with a canonical URL (`<link rel="canonical">`): that of the canonical URL if it is on the
    /// page's own site, so that duplicates share one key. A canonical URL that is the front page is ignored, because
    /// templates often have it wrong.
    #[must_use]
    pub fn canonical_key(&self, page: &Url, canonical: &Url) -> UrlKey {
        let same_site = unusable(canonical).is_none() && HomeScope::of(page).whole().reach(canonical) == Reach::Inside;
        let believed = same_site && !is_homepage(canonical);
        self.key(if believed { canonical } else { page })
    }

    pub(crate) fn follow(&self, url: &Url, depth: u32) -> Verdict {
        Verdict::Follow { key: self.key(url), depth }
    }

    pub(crate) fn out_of_scope(&self, link: &Url) -> Option<Reason> {
        match self.reach(link) {
            Reach::Inside => None,
            Reach::OutsidePath => (!self.entire_domain).then_some(Reason::OutsidePath),
            Reach::Subdomain if self.subdomains => None,
            Reach::Subdomain | Reach::External if !self.external => Some(Reason::External),
            Reach::Subdomain | Reach::External if is_social(link) => Some(Reason::Social),
            Reach::Subdomain | Reach::External if is_homepage(link) => Some(Reason::ExternalHomepage),
            Reach::Subdomain | Reach::External => None,
        }
    }
}

impl Verdict {
    /// Applies the robots.txt rules of the link's own authority to the decision.
    #[must_use]
    pub fn and_robots(self, rules: &Rules, link: &Url) -> Self {
        if matches!(self, Self::Skip(_)) || rules.allows_url(link) {
            return self;
        }
        Self::Skip(if rules.is_unreachable() { Reason::RobotsUnreachable } else { Reason::Robots })
    }
}

/// Returns the reason why a link can be followed by no crawl, or `None`.
pub(crate) fn unusable(link: &Url) -> Option<Reason> {
    if !matches!(link.scheme(), "http" | "https") {
        return Some(Reason::Scheme);
    }
    (link.as_str().len() > MAX_URL_BYTES).then_some(Reason::TooLong)
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: &str = "https://example.com/docs/";

    fn url(text: &str) -> Url {
        Url::parse(START).unwrap().join(text).unwrap()
    }

    fn scope(options: &ScopeOptions) -> Scope {
        Scope::new(&url(""), options).unwrap()
    }

    fn check(options: &ScopeOptions, link: &str, expect: Result<&str, Reason>) {
        check_from(options, link, START, 0, expect.map(|key| (key, 1)));
    }

    fn check_from(options: &ScopeOptions, link: &str, on: &str, depth: u32, expect: Result<(&str, u32), Reason>) {
        let verdict = scope(options).admit(&url(link), &url(on), depth);
        let got = match &verdict {
            Verdict::Follow { key, depth } => Ok((key.as_str(), *depth)),
            Verdict::Skip(reason) => Err(*reason),
        };
        assert_eq!(got, expect, "{link} on {on}");
    }

    #[test]
    fn plain_crawl() {
        let plain = ScopeOptions::default();
        check(&plain, "a", Ok("https://example.com/docs/a"));
        check(&plain, "#part", Ok("https://example.com/docs"));
        check(&plain, "b.pdf", Ok("https://example.com/docs/b.pdf"));
        check(&plain, "mailto:a@b.c", Err(Reason::Scheme));
        check(&plain, "javascript:void(0)", Err(Reason::Scheme));
        check(&plain, "a.ZIP", Err(Reason::FileType));
        check(&plain, "/blog", Err(Reason::OutsidePath));
        check(&plain, "https://blog.example.com/docs/", Err(Reason::External));
        check(&plain, "https://example.org/docs/", Err(Reason::External));
        check(&plain, &"x".repeat(MAX_URL_BYTES), Err(Reason::TooLong));
        check(&plain, "a/a/a/a", Err(Reason::Trap(crate::Trap::Repetition)));
    }

    #[test]
    fn wider_crawls() {
        let domain = ScopeOptions { crawl_entire_domain: true, ..Default::default() };
        check(&domain, "/blog", Ok("https://example.com/blog"));
        check(&domain, "https://blog.example.com/", Err(Reason::External));
        let subdomains = ScopeOptions { allow_subdomains: true, ..Default::default() };
        check(&subdomains, "https://blog.example.com/", Ok("https://blog.example.com"));
        check(&subdomains, "/blog", Err(Reason::OutsidePath));
        check(&subdomains, "https://example.org/a", Err(Reason::External));
        let external = ScopeOptions { allow_external_links: true, ..Default::default() };
        check(&external, "https://example.org/a", Ok("https://example.org/a"));
        check(&external, "https://example.org/", Err(Reason::ExternalHomepage));
        check(&external, "https://www.linkedin.com/in/a", Err(Reason::Social));
        check_from(&external, "/docs/a", "https://example.org/a", 1, Err(Reason::ExternalHop));
        check_from(&external, "a", "https://example.com/docs/x", 1, Ok(("https://example.com/docs/a", 2)));
    }

    #[test]
    fn depths() {
        let depth = |max| ScopeOptions { max_discovery_depth: Some(max), ..Default::default() };
        check_from(&depth(2), "a", START, 1, Ok(("https://example.com/docs/a", 2)));
        check_from(&depth(2), "a", START, 2, Err(Reason::Depth));
        check_from(&depth(0), "a", START, 0, Err(Reason::Depth));
        assert!(!scope(&depth(0)).follows_links_of(&url("a"), 0));
        assert!(scope(&depth(1)).follows_links_of(&url("a"), 0));
    }

    #[test]
    fn patterns_hold_for_the_start_and_for_sitemaps() {
        let options = ScopeOptions { include_paths: vec!["/docs/a".into()], ..Default::default() };
        let scope = scope(&options);
        assert_eq!(scope.admit_start(&url("")), Verdict::Skip(Reason::NotIncluded));
        assert!(matches!(scope.admit_start(&url("a1")), Verdict::Follow { depth: 0, .. }));
        assert!(matches!(scope.admit_listed(&url("a1")), Verdict::Follow { depth: 0, .. }));
        assert_eq!(scope.admit_listed(&url("b1")), Verdict::Skip(Reason::NotIncluded));
        assert_eq!(scope.admit_listed(&url("/docs-a")), Verdict::Skip(Reason::OutsidePath));
        assert_eq!(scope.admit_listed(&url("https://example.org/docs/a")), Verdict::Skip(Reason::External));
    }

    #[test]
    fn redirects() {
        let plain = scope(&ScopeOptions::default());
        assert!(matches!(plain.admit_landing(&url("/blog"), 3), Verdict::Follow { depth: 3, .. }));
        assert!(matches!(plain.admit_landing(&url("https://en.example.com/"), 1), Verdict::Follow { .. }));
        assert_eq!(plain.admit_landing(&url("https://example.org/a"), 1), Verdict::Skip(Reason::External));
        let external = scope(&ScopeOptions { allow_external_links: true, ..Default::default() });
        assert!(matches!(external.admit_landing(&url("https://example.org/a"), 1), Verdict::Follow { .. }));
        assert_eq!(external.admit_landing(&url("https://example.org/"), 1), Verdict::Skip(Reason::ExternalHomepage));
    }

    #[test]
    fn canonical_addresses() {
        let scope = scope(&ScopeOptions::default());
        for (canonical, expect) in [
            ("/docs/a", "https://example.com/docs/a"),
            ("http://www.example.com/b", "https://example.com/b"),
            ("/", "https://example.com/docs/a?x=1"),
            ("https://example.org/docs/a", "https://example.com/docs/a?x=1"),
            ("mailto:a@example.com", "https://example.com/docs/a?x=1"),
        ] {
            assert_eq!(scope.canonical_key(&url("a?x=1"), &url(canonical)).as_str(), expect, "{canonical}");
        }
    }

    #[test]
    fn a_redirected_start_moves_the_crawl() {
        let moved = scope(&ScopeOptions::default()).landed_at(&url("https://example.net/en/docs/"));
        for (link, expect) in [
            ("https://example.net/en/docs/a", Reach::Inside),
            ("https://example.net/blog", Reach::OutsidePath),
            ("https://example.com/docs/a", Reach::Inside),
            ("https://example.org/", Reach::External),
        ] {
            assert_eq!(moved.reach(&url(link)), expect, "{link}");
        }
        let root = Scope::new(&url("/"), &ScopeOptions::default()).unwrap().landed_at(&url("https://example.net/en/"));
        assert_eq!(root.reach(&url("https://example.net/de/")), Reach::Inside);
    }
}
