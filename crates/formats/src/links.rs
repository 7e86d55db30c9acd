//! The `links` format: link targets of a page, or of a markdown or plain text.

use std::collections::HashMap;

use base::Stop;
use base::address::is_route;
use indexmap::IndexSet;
use page::{Page, absolute, local_name};
use url::Url;

use crate::hidden::Hidden;

/// Limit on all links together, in bytes: every relative link is expanded by the base URL, which may be long.
const MAX_BYTES: usize = 32 << 20;
/// Bytes that are searched between checks of the stop signal.
const PIECE: usize = 64 << 10;
/// Characters that are searched for the end of a link.
const LOOK_AHEAD: usize = 8192;
/// Budget for failed searches of [`LOOK_AHEAD`] in one text, in bytes: without it, many open links cost quadratic time.
const MAX_LOOKED_AT: usize = 64 << 20;

/// Returns the absolute targets of all `<a href>` and `<area href>`, unique, in document order. Includes `mailto:`,
/// `tel:` and client-side routes (`#/…`, `#!…`); excludes other links within the page (`#…`) and links that run code.
pub fn links(page: &Page) -> Vec<String> {
    links_without(page, &Hidden::default())
}

/// Returns the links of a page like [`links`], except those that readers do not see.
pub fn links_without(page: &Page, hidden: &Hidden) -> Vec<String> {
    let mut found = UniqueUrls::new(page.base());
    for index in page.positions().filter(|&index| !hidden.covers(page, index)) {
        let is_link = page.is(index, &local_name!("a")) || page.is(index, &local_name!("area"));
        if let Some(href) = page.attr(index, "href").filter(|_| is_link) {
            found.add(&href);
        }
    }
    found.into_vec()
}

/// Returns the absolute targets in a markdown or plain-text body: inline links, reference definitions, `<https://…>`
/// and bare URLs, unique, in order. Code is skipped. Once `stop` is set, the rest is left out.
pub fn text_links(text: &str, base: &Url, stop: &Stop) -> Vec<String> {
    let mut found = UniqueUrls::new(base);
    let mut left = MAX_LOOKED_AT;
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let trimmed = line.trim_start();
        let marker = ["```", "~~~"].into_iter().find(|marker| trimmed.starts_with(marker));
        match (fence, marker) {
            (Some(open), Some(marker)) if open == marker => fence = None,
            (None, Some(marker)) => fence = Some(marker),
            (Some(_), _) => {}
            (None, None) => line_links(line, &mut found, &mut left, stop),
        }
    }
    found.into_vec()
}

/// Set of absolute URLs in the order they were found.
pub(crate) struct UniqueUrls<'b> {
    base: &'b Url,
    urls: IndexSet<String>,
    bytes: usize,
}

impl<'b> UniqueUrls<'b> {
    pub(crate) fn new(base: &'b Url) -> Self {
        UniqueUrls { base, urls: IndexSet::new(), bytes: 0 }
    }

    pub(crate) fn add(&mut self, link: &str) {
        let place = link.trim_start().strip_prefix('#');
        if place.is_some_and(|place| !is_route(place.trim_end())) || self.bytes > MAX_BYTES {
            return;
        }
        if let Some(url) = absolute(self.base, link) {
            self.bytes += url.as_str().len();
            self.urls.insert(url.into());
        }
    }

    pub(crate) fn into_vec(self) -> Vec<String> {
        self.urls.into_iter().collect()
    }
}

fn line_links(line: &str, found: &mut UniqueUrls, left: &mut usize, stop: &Stop) {
    if let Some(target) = definition(line) {
        found.add(target);
        return;
    }
    let backticks = last_backticks(line);
    let mut at = 0;
    while let Some(next) = next_mark(&line.as_bytes()[at..], stop) {
        if *left == 0 {
            return;
        }
        let rest = &line[at + next..];
        let (used, link) = match rest.as_bytes()[0] {
            b'`' => (code_span(rest, &backticks), None),
            b'<' => autolink(rest),
            b']' => inline_target(rest, left),
            // `http` inside a word does not begin a URL.
            _ if line[..at + next].ends_with(|c: char| c.is_alphanumeric()) => (1, None),
            _ => bare_url(rest),
        };
        if let Some(link) = link {
            found.add(link);
        }
        at += next + used;
    }
}

/// Returns the position where a link or code may begin. `None` also if the stop signal is set.
fn next_mark(line: &[u8], stop: &Stop) -> Option<usize> {
    let is_mark = |byte: &u8| matches!(byte, b'`' | b'<' | b']' | b'h' | b'H');
    let pieces = line.chunks(PIECE).enumerate().take_while(|_| !stop.is_set());
    let mut places = pieces.filter_map(|(place, piece)| Some(place * PIECE + piece.iter().position(is_mark)?));
    places.next()
}

/// Returns the target of a reference definition, `[name]: target`.
fn definition(line: &str) -> Option<&str> {
    let (name, rest) = line.trim_start().strip_prefix('[')?.split_once("]:")?;
    if name.is_empty() || name.starts_with('^') || name.contains(']') {
        return None;
    }
    let target = rest.split_ascii_whitespace().next()?;
    Some(target.trim_start_matches('<').trim_end_matches('>'))
}

/// Returns the length of the code span that `rest` starts with, or of its backticks if the span is unclosed. `last` has
/// the last position of every length of backtick runs in the line, counted from its end: it rules out a search that
/// would fail, which keeps many unclosed spans from costing quadratic time.
fn code_span(rest: &str, last: &HashMap<usize, usize>) -> usize {
    let run_at = |at: usize| rest.as_bytes()[at..].iter().take_while(|b| **b == b'`').count();
    let ticks = run_at(0);
    if last.get(&ticks).is_none_or(|from_end| *from_end >= rest.len()) {
        return ticks;
    }
    let mut at = ticks;
    while let Some(next) = rest[at..].find('`') {
        let run = run_at(at + next);
        at += next + run;
        if run == ticks {
            return at;
        }
    }
    ticks
}

fn last_backticks(line: &str) -> HashMap<usize, usize> {
    let mut last = HashMap::new();
    let mut at = 0;
    while let Some(next) = line[at..].find('`') {
        let start = at + next;
        let run = line.as_bytes()[start..].iter().take_while(|b| **b == b'`').count();
        last.insert(run, line.len() - start);
        at = start + run;
    }
    last
}

fn autolink(rest: &str) -> (usize, Option<&str>) {
    match rest[1..].find(['>', '<', ' ']) {
        Some(end) if rest[1 + end..].starts_with('>') && starts_like_url(&rest[1..]) => (end + 2, Some(&rest[1..=end])),
        _ => (1, None),
    }
}

/// Reads `](target "title")` or `](<target>)`; parentheses inside the target are balanced.
fn inline_target<'r>(rest: &'r str, left: &mut usize) -> (usize, Option<&'r str>) {
    let Some(target) = rest.strip_prefix("](") else {
        return (1, None);
    };
    let blanks = target.len() - target.trim_start().len();
    if let Some(bracketed) = target[blanks..].strip_prefix('<') {
        let end = bracketed.find(['<', '>']).filter(|&end| bracketed[end..].starts_with('>'));
        return end.map_or((2, None), |end| (blanks + end + 4, Some(&bracketed[..end])));
    }
    let mut depth = 0_usize;
    for (i, c) in target.char_indices().take(LOOK_AHEAD).skip_while(|(i, _)| *i < blanks) {
        match c {
            // Markdown parsers give up at 32 levels.
            '(' if depth == 32 => break,
            '(' => depth += 1,
            ')' if depth == 0 => return (i + 2, Some(&target[..i])),
            ')' => depth -= 1,
            c if c.is_whitespace() => return (i + 2, Some(&target[..i])),
            _ => {}
        }
    }
    *left = left.saturating_sub(LOOK_AHEAD.min(target.len()));
    (2, None)
}

fn bare_url(rest: &str) -> (usize, Option<&str>) {
    if !starts_like_url(rest) {
        return (1, None);
    }
    let end = rest.find(|c: char| c.is_whitespace() || c.is_control() || "<>\"`|\\".contains(c)).unwrap_or(rest.len());
    let mut url = &rest[..end];
    // A closing parenthesis belongs to the sentence unless the URL has the opening one.
    let mut surplus = url.matches(')').count().saturating_sub(url.matches('(').count());
    while let Some(last) = url.chars().next_back() {
        match last {
            ')' if surplus > 0 => surplus -= 1,
            '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '*' | '_' | ']' => {}
            _ => break,
        }
        url = &url[..url.len() - 1];
    }
    (end, Some(url))
}

fn starts_like_url(text: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| {
        text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)) && text.len() > scheme.len()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base() -> Url {
        Url::parse("https://a.test/d/p").unwrap()
    }

    #[test]
    fn links_of_a_page() {
        let page = Page::parse(
            "<a href=x>1</a><a href='#top'>2</a><a href='/y#z'>3</a><area href='//b.test/'><a href='x'>again</a>
             <a href='mailto:a@b.c'>4</a><a href='tel:+1'>5</a><a href='javascript:void(0)'>6</a><a>7</a>
             <a href='http://[bad'>8</a><a href='data:text/html,x'>9</a><link href=no>",
            &base(),
        );
        assert_eq!(
            links(&page),
            ["https://a.test/d/x", "https://a.test/y#z", "https://b.test/", "mailto:a@b.c", "tel:+1"]
        );
    }

    #[test]
    fn routes_are_links() {
        let page =
            Page::parse("<a href='#/a'>1</a><a href=' #!/b '>2</a><a href='#!c'>3</a><a href='#/'>4</a>", &base());
        assert_eq!(links(&page), ["https://a.test/d/p#/a", "https://a.test/d/p#!/b", "https://a.test/d/p#!c"]);
    }

    #[test]
    fn links_honour_the_base() {
        let page = Page::parse("<base href='https://c.test/q/'><a href=x>1</a>", &base());
        assert_eq!(links(&page), ["https://c.test/q/x"]);
    }

    #[test]
    fn links_of_a_text() {
        let check = |text: &str, expect: &[&str]| assert_eq!(text_links(text, &base(), &Stop::new()), expect, "{text}");
        check(
            "see [a](x) and [b](</y z> \"t\") and ![i](i.png)",
            &["https://a.test/d/x", "https://a.test/y%20z", "https://a.test/d/i.png"],
        );
        check("[w](https://w.test/a_(b)) (https://w.test/c_(d)).", &["https://w.test/a_(b)", "https://w.test/c_(d)"]);
        check(
            "<https://b.test/q?a=b> https://c.test, http://d.test/.",
            &["https://b.test/q?a=b", "https://c.test/", "http://d.test/"],
        );
        check("[r]: https://r.test \"t\"\n[^1]: no", &["https://r.test/"]);
        check("`https://no.test` ``a`https://no.test`` https://yes.test", &["https://yes.test/"]);
        check("```\nhttps://no.test\n~~~\n```\nhttps://yes.test", &["https://yes.test/"]);
        check("[a](#x) xhttps://no.test [b](javascript:x)", &[]);
        check("[open](", &[]);
        check("[a](\u{3000}x)", &["https://a.test/d/%E3%80%80x"]);
        check("https://é.test/ü", &["https://xn--9ca.test/%C3%BC"]);
    }
}
