//! Sorting of links: which ones are followed, and which ones are only reported.

use std::collections::HashSet;

use ::runs::{digest, new_page};
use base::Stop;
use crawl_frontier::{Listing, Reason, Run as Streak, Scope, Steps, Verdict, template};
use kernel::{AppError, credentials};
use site::SiteRules;
use store::runs::{self, NewPage, PageState, ShorterWay};
use store::{Conn, StoreError};
use url::Url;

use super::known::Known;

/// Maximum number of links per page that are reported without being followed.
const MAX_LISTED: usize = 10_000;
/// Maximum total size of a page's links that are examined, in bytes.
const MAX_LINK_BYTES: usize = 2 << 20;

/// Report of links that are not followed.
#[derive(Clone, Copy)]
pub(super) struct Listed {
    pub(super) state: PageState,
    pub(super) code: &'static str,
    pub(super) reason: Reason,
}

/// Report of links to other sites.
pub(super) const EXTERNAL: Listed =
    Listed { state: PageState::External, code: "EXTERNAL_LINK", reason: Reason::ExternalHomepage };
/// Report of links that robots.txt disallows.
pub(super) const BLOCKED: Listed = Listed { state: PageState::Blocked, code: "ROBOTS_BLOCKED", reason: Reason::Robots };

/// Links of pages, sorted by what happens to them.
#[derive(Default)]
pub(crate) struct Links {
    /// Links to follow.
    pub(super) found: Vec<Found>,
    /// Links that are reported and not followed.
    pub(super) external: Vec<NewPage>,
    /// Links that robots.txt disallows.
    pub(super) blocked: Vec<NewPage>,
}

/// Page that a link leads to.
#[derive(Clone)]
pub(crate) struct Found {
    pub(super) page: NewPage,
    template: u64,
    family: Option<(u64, u32)>,
}

impl Found {
    fn new(url: Url, key: Vec<u8>, depth: u32, parent: &str) -> Self {
        let (template, family) = (template(&url), crawl_frontier::family(&url));
        let page = NewPage { parent: Some(parent.to_owned()), ..new_page(url, key, depth) };
        Self { page, template, family: family.map(|family| (family.hash, family.most)) }
    }

    /// Returns the page as found on a page at `depth`.
    fn beyond(mut self, depth: i32) -> Self {
        self.page.depth = depth.saturating_add(1);
        self
    }

    /// Returns a page that cannot be a trap.
    #[cfg(test)]
    pub(super) fn plain(page: NewPage) -> Self {
        Self { page, template: 0, family: None }
    }
}

impl Links {
    /// Adds the links of another page; `depth` is the depth of that page, where it may have changed.
    pub(super) fn take(&mut self, links: &Self, depth: Option<i32>) {
        match depth {
            Some(depth) => self.found.extend(links.found.iter().map(|found| found.clone().beyond(depth))),
            None => self.found.extend_from_slice(&links.found),
        }
        self.external.extend_from_slice(&links.external);
        self.blocked.extend_from_slice(&links.blocked);
    }

    /// Returns the page with this key, if one of the links leads to it; `depth` as in [`Self::take`].
    pub(super) fn find(&self, key: &[u8], depth: Option<i32>) -> Option<Found> {
        let found = self.found.iter().find(|found| found.page.key == key)?.clone();
        Some(match depth {
            Some(depth) => found.beyond(depth),
            None => found,
        })
    }

    /// Returns all keys; without `found`, the keys of pages that could be added are left out.
    pub(super) fn keys(&self, found: bool) -> impl Iterator<Item = &[u8]> {
        let found = self.found.iter().filter(move |_| found).map(|found| &found.page);
        found.chain(&self.external).chain(&self.blocked).map(|page| page.key.as_slice())
    }
}

/// Returns the new pages that are no crawler traps, and counts them. The caller holds the lock on the run's progress.
pub(super) async fn without_traps(conn: &mut Conn, run: &str, found: Vec<Found>) -> Result<Vec<NewPage>, StoreError> {
    let templates: HashSet<u64> = found.iter().map(|found| found.template).collect();
    let trapped = runs::trapped_templates(conn, run, &templates, Streak::MAX_LENGTH).await?;
    let found: Vec<Found> = found.into_iter().filter(|found| !trapped.contains(&found.template)).collect();
    let families: Vec<(u64, u32)> = found.iter().filter_map(|found| found.family).collect();
    let mut within = runs::enter_families(conn, run, &families).await?.into_iter();
    let mut fits = |found: &Found| found.family.is_none() || within.next().unwrap_or(false);
    Ok(found.into_iter().filter(|found| fits(found)).map(|found| found.page).collect())
}

/// Extends the streak of pages with equal content. A trap stays a trap, so that late answers of other workers do not
/// reopen it.
pub(super) fn longer(streak: Streak, content: u64) -> Streak {
    if streak.is_trap() { streak } else { streak.with_page(content) }
}

/// Page whose links are sorted, and what decides on them.
pub(super) struct Source<'a> {
    pub(super) scope: &'a Scope,
    pub(super) known: &'a Known,
    /// Rules of its site's robots.txt, where they are obeyed.
    pub(super) site: Option<&'a SiteRules>,
    pub(super) url: &'a Url,
    /// Number of hops from the start.
    pub(super) depth: u32,
}

/// Compresses the addresses of pages that links lead to.
pub(super) fn pack(found: &[Found]) -> Result<Vec<u8>, AppError> {
    let urls: Vec<&str> = found.iter().map(|found| found.page.url.as_str()).collect();
    blobs::compress(urls.join("\n").as_bytes(), 1).map_err(AppError::internal)
}

/// Restores the pages that [`pack`] compressed, as found on the page that `way` leads to.
pub(super) fn unpack(packed: &[u8], scope: &Scope, way: &ShorterWay) -> std::io::Result<Vec<Found>> {
    let text = zstd::bulk::decompress(packed, 2 * MAX_LINK_BYTES)?;
    let text = String::from_utf8_lossy(&text);
    let found = |url: Url| {
        let key = digest(scope.key(&url).as_str());
        Found::new(url, key, 0, &way.url).beyond(way.depth)
    };
    Ok(text.lines().filter_map(|line| Url::parse(line).ok()).map(found).collect())
}

/// Returns the links to examine: the first `most`, up to [`MAX_LINK_BYTES`], including those that are discarded later.
fn looked_at(links: &[String], most: usize) -> impl Iterator<Item = &str> {
    let mut bytes = 0;
    let within = move |link: &&str| {
        bytes += link.len();
        bytes <= MAX_LINK_BYTES
    };
    links.iter().take(most).map(String::as_str).take_while(within)
}

impl Source<'_> {
    /// Sorts the links that the run is not known to have already. Only the first `most` are examined, until `stop` is
    /// set.
    pub(super) fn sorted(&self, links: &[String], most: usize, stop: &Stop) -> Links {
        self.sort(looked_at(links, most).take_while(|_| !stop.is_set()))
    }

    /// Sorts links into followed and reported ones, within the work limit per page.
    fn sort<'l>(&self, links: impl Iterator<Item = &'l str>) -> Links {
        let Self { scope, known, site, url: from, depth } = *self;
        let mut sorted = Links::default();
        let mut sieve = scope.sieve(Steps::of_a_page());
        // With a depth limit, a page may later turn out to be nearer to the start: so links that are too deep or
        // already known are kept as well.
        let has_end = scope.max_depth().is_some();
        let is_end = scope.max_depth().is_some_and(|max| depth >= max);
        let asked_at = if has_end { 0 } else { depth };
        for link in links.filter_map(|link| Url::parse(link).ok()).map(credentials::cut) {
            match sieve.admit(&link, from, asked_at) {
                Verdict::Follow { key, .. } => {
                    let key = digest(key.as_str());
                    if !has_end && known.contains(&key) {
                        continue;
                    }
                    // The robots.txt of other sites is checked when their pages are fetched.
                    let asked = site.filter(|_| link.origin() == from.origin());
                    let allowed = asked.is_none_or(|site| sieve.allows(&site.rules, &link));
                    if allowed && known.is_full() {
                        continue;
                    }
                    let next = depth.saturating_add(1);
                    if allowed {
                        sorted.found.push(Found::new(link, key, next, from.as_str()));
                    } else if !is_end && sorted.blocked.len() < MAX_LISTED {
                        sorted.blocked.push(new_page(link, key, next));
                    }
                }
                Verdict::Skip(reason)
                    if !is_end && reason.listing() == Listing::Errors && sorted.external.len() < MAX_LISTED =>
                {
                    let key = digest(scope.key(&link).as_str());
                    if !known.contains(&key) {
                        sorted.external.push(new_page(link, key, depth));
                    }
                }
                Verdict::Skip(_) => {}
            }
        }
        if sieve.is_used_up() {
            tracing::debug!("links of a page skipped: patterns and robots.txt rules exceed the work limit");
        }
        sorted
    }
}

#[cfg(test)]
mod tests {
    use crawl_frontier::{Robots, ScopeOptions};

    use super::*;

    fn sorted(robots: &str, links: &[String], most: usize, stop: &Stop) -> Links {
        let start = Url::parse("https://a.test/").unwrap();
        let scope = Scope::new(&start, &ScopeOptions::default()).unwrap();
        let site = SiteRules { rules: Robots::parse(robots.as_bytes()).rules("A"), ..SiteRules::default() };
        let known = Known::default();
        let source = Source { scope: &scope, known: &known, site: Some(&site), url: &start, depth: 0 };
        source.sorted(links, most, stop)
    }

    fn links(count: usize, path: &str) -> Vec<String> {
        (0..count).map(|number| format!("https://a.test/{number}{path}")).collect()
    }

    #[test]
    fn every_link_counts_whatever_comes_of_it() {
        let none = Stop::new();
        let blocked = sorted("User-agent: *\nDisallow: /", &links(500, ""), 200, &none);
        assert_eq!((blocked.found.len(), blocked.blocked.len()), (0, 200));
        let mut mixed = links(300, "");
        drop(mixed.splice(100..100, std::iter::repeat_n("mailto:x@a.test".to_owned(), 150)));
        assert_eq!(sorted("", &mixed, 200, &none).found.len(), 100);
        let long = sorted("", &links(1000, &format!("/{}", "x".repeat(7000))), 10_000, &none);
        assert!((295..300).contains(&long.found.len()), "{}", long.found.len());
    }

    #[test]
    fn links_that_the_run_is_certain_to_know_are_left_out() {
        let scope = Scope::new(&Url::parse("https://a.test/").unwrap(), &ScopeOptions::default()).unwrap();
        let (site, known) = (SiteRules::default(), Known::default());
        let from = Url::parse("https://a.test/").unwrap();
        let source = Source { scope: &scope, known: &known, site: Some(&site), url: &from, depth: 0 };
        let sorted = |links: &[String]| source.sorted(links, 1000, &Stop::new());
        let first = sorted(&links(10, ""));
        assert_eq!(first.found.len(), 10);
        known.learn(first.keys(true).map(|key| (key.to_vec(), 1)).collect());
        let urls: Vec<String> = sorted(&links(12, "#part")).found.into_iter().map(|found| found.page.url).collect();
        assert_eq!(urls, ["https://a.test/10", "https://a.test/11"]);
    }

    #[test]
    fn links_that_there_is_no_work_left_for_are_not_followed() {
        let rules = format!("Disallow: /*{}b\n", "a".repeat(30)).repeat(11_000);
        let links = links(40, &format!("/{}", "a".repeat(7900)));
        let sorted = sorted(&format!("User-agent: *\n{rules}"), &links, 10_000, &Stop::new());
        assert!(sorted.found.len() < 5, "{}", sorted.found.len());
        assert_eq!(sorted.found.len() + sorted.blocked.len(), 40);
    }

    #[test]
    fn nothing_is_looked_at_for_nobody() {
        let stop = Stop::new();
        stop.set();
        let sorted = sorted("", &links(100, ""), 1000, &stop);
        assert!(sorted.found.is_empty());
    }
}
