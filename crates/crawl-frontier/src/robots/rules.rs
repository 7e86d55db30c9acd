//! The rules for one robot, and which of them decides about a path.

use std::borrow::Cow;
use std::time::Duration;

use url::{Position, Url};

use super::Denied;
use crate::spelling;

/// One `Allow` or `Disallow` line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Whether it allows or forbids.
    pub allow: bool,
    /// The pattern: `*` stands for anything, `$` at its end for the end of the URL. Other bytes than ASCII are escaped.
    pub pattern: String,
    /// Its line in the file, from 1.
    pub line: usize,
}

/// What one robot may fetch of one authority, ready for many questions.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// The longest pattern first, of two equals the one that allows.
    rules: Vec<Rule>,
    delay: Option<Duration>,
    denied: Option<Denied>,
}

impl Rules {
    pub(super) fn new(mut rules: Vec<Rule>, delay: Option<Duration>, denied: Option<Denied>) -> Self {
        rules.retain(|rule| !rule.pattern.is_empty());
        let folders: Vec<Rule> = rules.iter().filter_map(folder_of_index).collect();
        rules.extend(folders);
        rules.sort_by_key(|rule| (std::cmp::Reverse(rule.pattern.len()), !rule.allow));
        Self { rules, delay, denied }
    }

    /// Whether a path with its query may be fetched.
    #[must_use]
    pub fn allows(&self, path_and_query: &str) -> bool {
        self.denied.is_none() && self.deciding(path_and_query).is_none_or(|rule| rule.allow)
    }

    /// Whether a URL of the authority that the rules are from may be fetched.
    #[must_use]
    pub fn allows_url(&self, url: &Url) -> bool {
        self.allows(&url[Position::BeforePath..Position::AfterQuery])
    }

    /// The rule that decides about a path: the longest that matches, of two equals the one that allows. None when no
    /// rule matches, which allows.
    #[must_use]
    pub fn deciding(&self, path_and_query: &str) -> Option<&Rule> {
        let path = escaped(path_and_query.as_bytes());
        self.rules.iter().find(|rule| matches(&rule.pattern, &path))
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
}

/// Paths and patterns are compared with every byte that is not ASCII escaped and all escapes in upper case. Escapes of
/// letters are not undone, as Google does not either: `/%62` and `/b` differ here.
pub(super) fn escaped(raw: &[u8]) -> Cow<'_, str> {
    let lower = |at: usize| raw[at] == b'%' && raw[at + 1..].iter().take(2).any(u8::is_ascii_lowercase);
    if raw.is_ascii() && !(0..raw.len()).any(lower) {
        return String::from_utf8_lossy(raw);
    }
    let mut text = String::with_capacity(raw.len() + 16);
    let mut rest = raw;
    while let Some((&first, after)) = rest.split_first() {
        match spelling::escape(rest) {
            Some(byte) => {
                spelling::push_escaped(&mut text, byte);
                rest = &rest[3..];
                continue;
            }
            None if first.is_ascii() => text.push(char::from(first)),
            None => spelling::push_escaped(&mut text, first),
        }
        rest = after;
    }
    Cow::Owned(text)
}

/// Whether a pattern matches from the beginning of a path. Each piece between stars is looked for once, so the time is
/// linear in the lengths of both.
fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, anchored) = match pattern.strip_suffix('$') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = path.strip_prefix(first) else { return false };
    let Some(mut piece) = pieces.next() else { return !anchored || rest.is_empty() };
    for next in pieces {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
        piece = next;
    }
    if anchored { rest.ends_with(piece) } else { rest.contains(piece) }
}

/// `Allow: /folder/index.html` stands for `Allow: /folder/$` as well.
fn folder_of_index(rule: &Rule) -> Option<Rule> {
    let slash = rule.pattern.rfind('/')?;
    let is_index = rule.allow && rule.pattern[slash..].starts_with("/index.htm");
    is_index.then(|| Rule { pattern: format!("{}$", &rule.pattern[..=slash]), ..rule.clone() })
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
        check("Disallow: /%62", "/b", None);
        check("Disallow: /100%", "/100%", Some(2));
    }

    #[test]
    fn index_files_stand_for_their_folder() {
        check("Allow: /a/index.html\nDisallow: /", "/a/", Some(2));
        check("Allow: /a/index.html\nDisallow: /", "/a/b", Some(3));
        check("Disallow: /a/index.html", "/a/", None);
    }
}
