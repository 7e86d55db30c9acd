//! The rules for one robot, and which of them decides about a path.

use std::time::Duration;

use url::{Position, Url};

use super::index::Index;
use super::{Denied, alike};
use crate::Steps;

/// Steps for one URL that is asked about alone, some milliseconds: ten thousand patterns of stars.
const MAX_STEPS: u64 = 5_000_000;
/// What a small piece of memory takes besides its bytes.
const ALLOCATION: usize = 16;

/// One `Allow` or `Disallow` line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Whether it allows or forbids.
    pub allow: bool,
    /// The pattern: `*` matches anything, `$` at its end matches the end of the URL. Percent-encoded as
    /// paths are for comparison.
    pub pattern: String,
    /// Its line in the file, from 1.
    pub line: usize,
}

impl Rule {
    /// Bytes in memory.
    pub(super) fn size(&self) -> usize {
        size_of::<Self>() + self.pattern.capacity() + ALLOCATION
    }
}

/// What one robot may fetch of one authority, ready for many questions.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// The longest pattern first, of two equals the one that allows: of those that match the first decides.
    rules: Vec<Rule>,
    index: Index,
    delay: Option<Duration>,
    denied: Option<Denied>,
}

impl Rules {
    pub(super) fn new(mut rules: Vec<Rule>, delay: Option<Duration>, denied: Option<Denied>) -> Self {
        rules.retain(|rule| !rule.pattern.is_empty());
        let more = rules.iter().flat_map(|rule| folder_of_index(rule).into_iter().chain(in_query(rule)));
        let more: Vec<Rule> = more.collect();
        rules.extend(more);
        rules.sort_by_key(|rule| (std::cmp::Reverse(rule.pattern.len()), !rule.allow));
        rules.shrink_to_fit();
        Self { index: Index::of(&rules), rules, delay, denied }
    }

    /// Whether a path with its query may be fetched. Where the rules take too much work to tell, it may not.
    #[must_use]
    pub fn allows(&self, path_and_query: &str) -> bool {
        self.allows_within(path_and_query, &mut Steps::new(MAX_STEPS))
    }

    /// Whether a URL of the authority that the rules are from may be fetched.
    #[must_use]
    pub fn allows_url(&self, url: &Url) -> bool {
        self.allows(path_and_query(url))
    }

    /// The same for one of many URLs that share a budget of work. Where it is used up, none may be fetched.
    pub fn allows_url_within(&self, url: &Url, steps: &mut Steps) -> bool {
        self.allows_within(path_and_query(url), steps)
    }

    /// The rule that decides about a path: the longest that matches, of two equals the one that allows. None when no
    /// rule matches, which allows, and when it takes too much work to tell.
    #[must_use]
    pub fn deciding(&self, path_and_query: &str) -> Option<&Rule> {
        self.decide(path_and_query, &mut Steps::new(MAX_STEPS)).flatten()
    }

    /// What `Crawl-delay` asks for, uncapped; the longest when it is there several times.
    #[must_use]
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.delay
    }

    /// Whether everything is forbidden only because the site could not be reached: then the page's own error says more
    /// than robots.txt.
    #[must_use]
    pub fn is_unreachable(&self) -> bool {
        self.denied == Some(Denied::Network)
    }

    /// Whether everything is forbidden because nothing is known: the site failed, or could not be reached.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.denied.is_some()
    }

    /// Bytes that the rules take in memory, for those who keep many.
    #[must_use]
    pub fn size(&self) -> usize {
        size_of::<Self>() + self.rules.iter().map(Rule::size).sum::<usize>() + self.index.size()
    }

    fn allows_within(&self, path_and_query: &str, steps: &mut Steps) -> bool {
        self.denied.is_none()
            && self.decide(path_and_query, steps).is_some_and(|rule| rule.is_none_or(|rule| rule.allow))
    }

    /// None when the steps are used up.
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

/// `Allow: /folder/index.html` stands for `Allow: /folder/$` as well.
fn folder_of_index(rule: &Rule) -> Option<Rule> {
    let slash = rule.pattern.rfind('/')?;
    let is_index = rule.allow && rule.pattern[slash..].starts_with("/index.htm");
    is_index.then(|| Rule { pattern: format!("{}$", &rule.pattern[..=slash]), ..rule.clone() })
}

/// What a rule means where a query begins in one of its stars.
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
        // Half of them escaped, on either side.
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
        // What divides a query is not what its escape is.
        check("Disallow: /r?a=b&c", "/r?a=b%26c", None);
    }

    #[test]
    fn index_files_stand_for_their_folder() {
        check("Allow: /a/index.html\nDisallow: /", "/a/", Some(2));
        check("Allow: /a/index.html\nDisallow: /", "/a/b", Some(3));
        check("Disallow: /a/index.html", "/a/", None);
    }
}
