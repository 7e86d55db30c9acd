//! Decisions on many links together: those of a page, or a batch of listed ones.

use url::Url;

use crate::file_type::is_skipped_file;
use crate::filter::Matcher;
use crate::frontier::{Scope, Verdict, unusable};
use crate::reason::Reason;
use crate::robots::Rules;
use crate::steps::Steps;
use crate::traps::url_trap;

/// Decides on a sequence of links within one step budget. When it is used up, links that need patterns or rules are
/// refused, because the owner of the site or of the crawl may have excluded them.
///
/// ```
/// use crawl_frontier::{Robots, Scope, ScopeOptions, Steps, Url, Verdict};
///
/// let start = Url::parse("https://example.com/")?;
/// let scope = Scope::new(&start, &ScopeOptions { exclude_paths: vec!["/old/".into()], ..Default::default() })?;
/// let rules = Robots::parse(b"User-agent: *\nDisallow: /private").rules("OurBot/1.0");
/// let mut sieve = scope.sieve(Steps::of_a_page());
/// let links = ["/a", "/old/b", "/private/c"].map(|link| start.join(link).unwrap());
/// let followed = links.iter().filter(|link| {
///     matches!(sieve.admit(link, &start, 0), Verdict::Follow { .. }) && sieve.allows(&rules, link)
/// });
/// assert_eq!(followed.count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Sieve<'s> {
    scope: &'s Scope,
    matcher: Matcher<'s>,
    steps: Steps,
}

impl Scope {
    /// Returns a sieve for many links within one step budget.
    #[must_use]
    pub fn sieve(&self, steps: Steps) -> Sieve<'_> {
        Sieve { scope: self, matcher: self.filter.matcher(), steps }
    }

    /// Decides on a single link; see [`Sieve::admit`].
    #[must_use]
    pub fn admit(&self, link: &Url, found_on: &Url, depth: u32) -> Verdict {
        self.sieve(Steps::of_a_url()).admit(link, found_on, depth)
    }

    /// Decides on a single listed URL; see [`Sieve::admit_listed`].
    #[must_use]
    pub fn admit_listed(&self, url: &Url) -> Verdict {
        self.sieve(Steps::of_a_url()).admit_listed(url)
    }
}

impl Sieve<'_> {
    /// Decides on a link of a page. `found_on` is the page's URL after redirects, `depth` the page's depth.
    pub fn admit(&mut self, link: &Url, found_on: &Url, depth: u32) -> Verdict {
        if let Some(reason) = unusable(link) {
            return Verdict::Skip(reason);
        }
        if self.scope.max_depth.is_some_and(|max| depth >= max) {
            return Verdict::Skip(Reason::Depth);
        }
        if is_skipped_file(link.path()) {
            return Verdict::Skip(Reason::FileType);
        }
        if self.scope.external && self.scope.is_away(found_on) {
            return Verdict::Skip(Reason::ExternalHop);
        }
        self.wanted(link, depth.saturating_add(1))
    }

    /// Decides on a URL from a sitemap or an earlier crawl. Sitemaps cannot lead to other sites.
    pub fn admit_listed(&mut self, url: &Url) -> Verdict {
        if let Some(reason) = unusable(url) {
            return Verdict::Skip(reason);
        }
        if is_skipped_file(url.path()) {
            return Verdict::Skip(Reason::FileType);
        }
        if self.scope.is_away(url) {
            return Verdict::Skip(Reason::External);
        }
        self.wanted(url, 0)
    }

    /// Returns whether robots.txt allows a URL of its site.
    pub fn allows(&mut self, rules: &Rules, url: &Url) -> bool {
        rules.allows_url_within(url, &mut self.steps)
    }

    /// Returns whether the budget is used up, so that most further links will be refused.
    #[must_use]
    pub fn is_used_up(&self) -> bool {
        self.steps.is_used_up()
    }

    fn wanted(&mut self, link: &Url, depth: u32) -> Verdict {
        let reason = self.scope.out_of_scope(link).or_else(|| self.matcher.refuses(link, &mut self.steps));
        if let Some(reason) = reason.or_else(|| url_trap(link).map(Reason::Trap)) {
            return Verdict::Skip(reason);
        }
        self.scope.follow(link, depth)
    }
}
