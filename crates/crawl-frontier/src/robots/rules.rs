//! The rules for one user agent, and the choice of the deciding rule.

use std::time::Duration;

use url::{Position, Url};

use super::index::Index;
use super::rule::Rule;
use super::{DenyReason, alike};
use crate::Steps;

/// Step budget for a single URL, some milliseconds: enough for ten thousand patterns with stars.
const MAX_STEPS: u64 = 5_000_000;

/// The rules of one authority for one user agent, prepared for many lookups.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// Sorted by precedence: longest pattern first, `Allow` before `Disallow` of equal length. The first match decides.
    rules: Vec<Rule>,
    index: Index,
    delay: Option<Duration>,
    denied: Option<DenyReason>,
}

impl Rules {
    pub(super) fn new(mut rules: Vec<Rule>, delay: Option<Duration>, denied: Option<DenyReason>) -> Self {
        rules.retain(|rule| !rule.pattern.is_empty());
        let more = rules.iter().flat_map(|rule| folder_of_index(rule).into_iter().chain(in_query(rule)));
        let more: Vec<Rule> = more.collect();
        rules.extend(more);
        rules.sort_by_key(|rule| (std::cmp::Reverse(rule.pattern.len()), !rule.allow));
        rules.shrink_to_fit();
        Self { index: Index::of(&rules), rules, delay, denied }
    }

    /// Returns whether a path with its query may be fetched; false when the rules take too many steps.
    #[must_use]
    pub fn allows(&self, path_and_query: &str) -> bool {
        self.allows_within(path_and_query, &mut Steps::new(MAX_STEPS))
    }

    /// Returns whether a URL of the same authority may be fetched.
    #[must_use]
    pub fn allows_url(&self, url: &Url) -> bool {
        self.allows(path_and_query(url))
    }

    /// Returns whether a URL of the same authority may be fetched, within a shared step budget; false when it is used up.
    pub fn allows_url_within(&self, url: &Url, steps: &mut Steps) -> bool {
        self.allows_within(path_and_query(url), steps)
    }

    /// Returns the deciding rule for a path: the longest match, and `Allow` among equals. `None` when no rule matches,
    /// which allows the path, and when the rules take too many steps.
    #[must_use]
    pub fn deciding(&self, path_and_query: &str) -> Option<&Rule> {
        self.decide(path_and_query, &mut Steps::new(MAX_STEPS)).flatten()
    }

    /// Returns the longest `Crawl-delay`, uncapped.
    #[must_use]
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.delay
    }

    /// Returns whether everything is disallowed only because the site could not be reached. The page's own error is then
    /// more informative than robots.txt.
    #[must_use]
    pub fn is_unreachable(&self) -> bool {
        self.denied == Some(DenyReason::Network)
    }

    /// Returns whether everything is disallowed because the site failed or could not be reached.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.denied.is_some()
    }

    /// Returns the memory of the rules in bytes, for caches.
    #[must_use]
    pub fn size(&self) -> usize {
        size_of::<Self>() + self.rules.iter().map(Rule::size).sum::<usize>() + self.index.size()
    }

    fn allows_within(&self, path_and_query: &str, steps: &mut Steps) -> bool {
        self.denied.is_none()
            && self.decide(path_and_query, steps).is_some_and(|rule| rule.is_none_or(|rule| rule.allow))
    }

    /// Returns the deciding rule; the outer `None` when the steps are used up.
    fn decide(&self, path_and_query: &str, steps: &mut Steps) -> Option<Option<&Rule>> {
        if self.rules.is_empty() {
            return Some(None);
        }
        let path = alike::path(path_and_query.as_bytes());
        self.index.find(&self.rules, &path, steps).map(|place| self.rules.get(place?))
    }
}

fn path_and_query(url: &Url) -> &str {
    &url[Position::BeforePath..Position::AfterQuery]
}

/// Returns the additional rule `Allow: /folder/$` that `Allow: /folder/index.html` implies.
fn folder_of_index(rule: &Rule) -> Option<Rule> {
    let slash = rule.pattern.rfind('/')?;
    let is_index = rule.allow && rule.pattern[slash..].starts_with("/index.htm");
    is_index.then(|| Rule { pattern: format!("{}$", &rule.pattern[..=slash]), ..rule.clone() })
}

/// Returns the variants of a rule for queries that begin inside one of its stars.
fn in_query(rule: &Rule) -> impl Iterator<Item = Rule> {
    alike::in_query(&rule.pattern).into_iter().map(move |pattern| Rule { pattern, ..rule.clone() })
}

#[cfg(test)]
mod tests {
    use crate::Robots;

    fn check(lines: &str, path: &str, expect: Option<usize>) {
        let file = format!("User-agent: *\n{lines}");
        let rules = Robots::parse(file.as_bytes()).rules("A");
        assert_eq!(rules.deciding(path).map(|rule| rule.line), expect, "{path} by {lines}");
    }

    #[test]
    fn the_longest_rule_decides() {
        check("Allow: /\nDisallow: /x", "/xy", Some(3));
        check("Disallow: /x\nAllow: /x", "/x", Some(3));
        check("Allow: /page\nDisallow: /*.htm", "/page.htm", Some(3));
        check("Allow: /$\nDisallow: /", "/", Some(2));
        check("Allow: /$\nDisallow: /", "/a", Some(3));
        check("Disallow:", "/a", None);
        check("Disallow: a", "/a", None);
    }

    #[test]
    fn stars_and_ends() {
        for (pattern, path, matched) in [
            ("/a**b***c", "/axxbyyc", true),
            ("/a**b***c", "/ac", false),
            ("*secret", "/a/secret/b", true),
            ("/*.pdf$", "/a.pdf", true),
            ("/*.pdf$", "/a.pdf?x", false),
            ("/*.pdf$", "/a.pdf.pdf", true),
            ("/a*$", "/a", true),
            ("/a$b", "/a", false),
            ("/a$b", "/a$b", true),
            ("/a$", "/a", true),
            ("/a$", "/ab", false),
            ("$", "/", false),
            ("*", "/", true),
            ("/ab*ba", "/aba", false),
            ("/ab*ba$", "/abba", true),
        ] {
            check(&format!("Disallow: {pattern}"), path, matched.then_some(2));
        }
    }

    #[test]
    fn escapes() {
        check("Disallow: /caf\u{e9}", "/caf%c3%a9", Some(2));
        check("Disallow: /caf%c3%a9", "/café", Some(2));
        check("Disallow: /%62%61%7A", "/baz", Some(2));
        check("Disallow: /baz", "/%62%61%7a", Some(2));
        check("Disallow: /a%7eb", "/a~b", Some(2));
        check("Disallow: /c%2fd", "/c/d", None);
        check("Disallow: /c/d", "/c%2Fd", None);
        check("Disallow: /c%2fd", "/c%2Fd", Some(2));
        check("Disallow: /a b", "/a%20b", Some(2));
        check("Disallow: /100%", "/100%", Some(2));
        check("Disallow: /100%", "/100%25", Some(2));
        check("Disallow: /file-%2A.html", "/file-*.html", Some(2));
        check("Disallow: /file-%2A.html", "/file-x.html", None);
        check("Disallow: /foo-%24", "/foo-$", Some(2));
        check("Disallow: /foo-$", "/foo-$", None);
        check("Disallow: /r?u=https://a.test", "/r?u=https%3A%2F%2Fa.test", Some(2));
        check("Disallow: /*?u=https%3a%2f%2fa.test", "/r?u=https://a.test", Some(2));
        // Some characters escaped, on either side.
        check("Disallow: /r?u=https:%2f/a.test", "/r?u=https%3a//a.test", Some(2));
        check("Disallow: /*u=https%3A%2F%2Fa.test", "/r?u=https:/%2fa.test", Some(2));
        check("Disallow: /*u=https://", "/r?u=https%3A%2F%2Fa.test", Some(2));
        check("Disallow: /*%2Fa", "/x/a", None);
        check("Disallow: /*%2Fa", "/x%2fa", Some(2));
        check("Disallow: /*%2Fa", "/x?y=/a", Some(2));
        check("Disallow: /*url=*%2F", "/r?url=x%2Fy", Some(2));
        check("Disallow: /*url=*%2F", "/url=x?url=x/y", Some(2));
        check("Disallow: /*url=*%2F", "/url=x/y", None);
        check("Disallow: /%2Fx*y%3A", "/%2Fxq?y%3A", Some(2));
        // A delimiter of a query differs from its escape.
        check("Disallow: /r?a=b&c", "/r?a=b%26c", None);
    }

    #[test]
    fn index_files_stand_for_their_folder() {
        check("Allow: /a/index.html\nDisallow: /", "/a/", Some(2));
        check("Allow: /a/index.html\nDisallow: /", "/a/b", Some(3));
        check("Disallow: /a/index.html", "/a/", None);
    }
}
