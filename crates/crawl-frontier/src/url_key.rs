//! The key by which a page is known in one crawl: all spellings of one page have the same key.

use std::fmt;

use base::address;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::spelling;

/// What counts as the same page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyRules {
    /// `deduplicateSimilarURLs`: http and https, `www.`, index files, trailing slash, order of the query, campaign and
    /// session parameters make no difference.
    pub fold_similar: bool,
    /// `ignoreQueryParameters`: the query makes no difference.
    pub ignore_query: bool,
}

/// The normal spelling of a URL, itself a URL. Unique per page within one crawl; not meant to be fetched.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UrlKey(String);

/// Query parameters that tell where a visitor came from and never what a page shows; besides everything in `utm_…`.
const CAMPAIGN: [&str; 28] = [
    "_ga",
    "_gl",
    "_hsenc",
    "_hsmi",
    "dclid",
    "fbclid",
    "gad_source",
    "gbraid",
    "gclid",
    "gclsrc",
    "igsh",
    "igshid",
    "li_fat_id",
    "mc_cid",
    "mc_eid",
    "mkt_tok",
    "msclkid",
    "oly_anon_id",
    "oly_enc_id",
    "rb_clickid",
    "s_cid",
    "srsltid",
    "ttclid",
    "twclid",
    "vero_id",
    "wbraid",
    "yclid",
    "ysclid",
];

/// Query parameters that are a session's number by their name alone.
const SESSION: [&str; 7] = ["jsessionid", "phpsessid", "oscsid", "zenid", "cfid", "cftoken", "xtcsid"];

/// Query parameters that are a session's number when the value looks like one.
const MAYBE_SESSION: [&str; 8] = ["s", "sid", "sess", "session", "session_id", "sessionid", "session-id", "sessid"];

/// Most parameters of a query that are put in order. Nobody writes so many in another order on purpose, but a page may have
/// hundreds of links with thousands of parameters each.
pub(crate) const MAX_SORTED: usize = 256;

impl Default for KeyRules {
    /// As the crawl request has it: similar URLs are one page, the query counts.
    fn default() -> Self {
        Self { fold_similar: true, ignore_query: false }
    }
}

impl UrlKey {
    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The key as text, for storing.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }
}

impl fmt::Display for UrlKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The key of a page. Always without user name, password, default port and fragment, except for fragments that route
/// (`#/users`, `#!users`); percent-encoding is in its normal form. The key of a key is the key. A URL that is neither http
/// nor https is its own key.
#[must_use]
pub fn url_key(url: &Url, rules: KeyRules) -> UrlKey {
    let host = url.host_str().filter(|_| matches!(url.scheme(), "http" | "https"));
    let Some(host) = host else { return UrlKey(url.as_str().to_owned()) };
    let mut key = String::with_capacity(url.as_str().len() + 2);
    if rules.fold_similar {
        key.push_str("https://");
        key.push_str(bare_host(host));
        push_port(&mut key, folded_port(url));
        push_folded_path(&mut key, &spelling::path(url.path()));
    } else {
        key.push_str(url.scheme());
        key.push_str("://");
        key.push_str(host);
        push_port(&mut key, url.port());
        key.push_str(&spelling::path(url.path()));
    }
    if let Some(query) = url.query().filter(|query| !query.is_empty() && !rules.ignore_query) {
        if rules.fold_similar {
            push_folded_query(&mut key, query);
        } else {
            key.push('?');
            key.push_str(&spelling::path(query));
        }
    }
    if let Some(route) = url.fragment().and_then(|fragment| route(fragment, rules)) {
        key.push('#');
        key.push_str(route);
    }
    UrlKey(key)
}

/// The host without `www.` and without the dot of a full domain name.
pub(crate) fn bare_host(host: &str) -> &str {
    let whole = host.trim_end_matches('.');
    let mut bare = if whole.is_empty() { host } else { whole };
    while let Some(rest) = bare.strip_prefix("www.").filter(|rest| rest.contains('.')) {
        bare = rest;
    }
    bare
}

/// The port, none for 80 and 443: with http and https being one, both ports are the default.
pub(crate) fn folded_port(url: &Url) -> Option<u16> {
    url.port().filter(|port| *port != 80 && *port != 443)
}

/// Whether a query parameter says nothing about what the page shows: a campaign or a session.
pub(crate) fn is_noise(name: &str, value: &str) -> bool {
    let starts = |start: &str| name.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start));
    let is_one_of = |names: &[&str]| names.iter().any(|one| name.eq_ignore_ascii_case(one));
    starts("utm_")
        || starts("aspsessionid")
        || is_one_of(&CAMPAIGN)
        || is_one_of(&SESSION)
        || (is_one_of(&MAYBE_SESSION) && is_opaque(value))
}

/// Whether a word looks random: 16 characters or more, letters and digits mixed.
pub(crate) fn is_opaque(word: &str) -> bool {
    word.len() >= 16
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b',' | b'.'))
        && word.bytes().filter(u8::is_ascii_digit).count() >= 3
        && (word.bytes().any(|byte| byte.is_ascii_alphabetic()) || word.len() >= 24)
}

fn push_port(key: &mut String, port: Option<u16>) {
    if let Some(port) = port {
        key.push(':');
        key.push_str(&port.to_string());
    }
}

/// The path without session numbers, index file and trailing slash.
fn push_folded_path(key: &mut String, path: &str) {
    let before = key.len();
    if path.contains(';') || path.contains("/(") {
        for segment in path.split('/').skip(1).map(without_session).filter(|segment| !is_session_segment(segment)) {
            key.push('/');
            key.push_str(segment);
        }
    } else {
        key.push_str(path);
    }
    let end = before + address::without_index(&key[before..]).len();
    key.truncate(end);
}

/// `(S(lit3py55t21z5v55vlm25s55))`, as ASP.NET writes a session into the path.
fn is_session_segment(segment: &str) -> bool {
    let bytes = segment.as_bytes();
    bytes.len() > 20 && bytes[0] == b'(' && bytes[2] == b'(' && bytes[1].is_ascii_uppercase() && segment.ends_with("))")
}

/// A segment without `;jsessionid=…` (Java servlets) and `;sid=…`.
fn without_session(segment: &str) -> &str {
    let Some(at) = segment.find(';') else { return segment };
    let lower = segment[at..].to_ascii_lowercase();
    let cut = [";jsessionid=", ";phpsessid=", ";sid="].iter().filter_map(|name| lower.find(name)).min();
    match cut.map(|cut| &segment[..at + cut]) {
        // What is left must not become a step through folders.
        Some("." | "..") | None => segment,
        Some(kept) => kept,
    }
}

/// The query in a fixed order and spelling, without campaign and session parameters.
fn push_folded_query(key: &mut String, query: &str) {
    let mut pairs: Vec<String> = query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .filter_map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if is_noise(name, value) {
                return None;
            }
            let mut text = String::with_capacity(pair.len() + 4);
            push_form(&mut text, name);
            if !value.is_empty() {
                text.push('=');
                push_form(&mut text, value);
            }
            Some(text).filter(|text| !text.is_empty())
        })
        .collect();
    if pairs.len() <= MAX_SORTED {
        pairs.sort_unstable();
    }
    for (number, pair) in pairs.iter().enumerate() {
        key.push(if number == 0 { '?' } else { '&' });
        key.push_str(pair);
    }
}

/// One name or value as a form would send it: a space is `+`, everything but letters, digits and `-._~` is escaped.
fn push_form(text: &mut String, raw: &str) {
    let mut rest = raw.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let (byte, next) = match spelling::escape(rest) {
            Some(byte) => (byte, &rest[3..]),
            None if first == b'+' => (b' ', after),
            None => (first, after),
        };
        match byte {
            b' ' => text.push('+'),
            byte if spelling::is_unreserved(byte) => text.push(char::from(byte)),
            byte => spelling::push_escaped(text, byte),
        }
        rest = next;
    }
}

/// The part of a fragment that names a page of a script-driven site, if it does.
fn route(fragment: &str, rules: KeyRules) -> Option<&str> {
    let route = if rules.ignore_query { fragment.split('?').next().unwrap_or_default() } else { fragment };
    let route = if rules.fold_similar { route.trim_end_matches('/') } else { route };
    Some(route).filter(|route| address::is_route(route))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(input: &str, rules: KeyRules) -> String {
        url_key(&Url::parse(input).unwrap(), rules).into_string()
    }

    fn check(input: &str, expect: &str) {
        assert_eq!(key(input, KeyRules::default()), expect, "{input}");
        assert_eq!(key(expect, KeyRules::default()), expect, "{input} again");
    }

    #[test]
    fn spellings_of_one_page() {
        for input in [
            "http://example.com/a",
            "http://www.example.com/a/",
            "https://WWW.example.com:443/a",
            "http://example.com:80/a#part",
            "https://example.com./a/index.html",
            "https://example.com/a/index.php",
            "https://example.com/a/index.html/",
            "https://user:pass@example.com/%61?",
            "https://example.com/a;jsessionid=0A1B2C3D?utm_source=x&utm_medium=y&gclid=1",
            "https://example.com/(S(lit3py55t21z5v55vlm25s55))/a",
            "https://example.com/a?PHPSESSID=abc&sid=0123456789abcdef01",
            "https://example.com/x/../a?&",
        ] {
            check(input, "https://example.com/a");
        }
        check("http://www.example.com/index.htm", "https://example.com");
        check("http://example.com/do?c=3&b=5&b=2&a=50", "https://example.com/do?a=50&b=2&b=5&c=3");
        check("http://example.com/do?q=a%20space&a=1,2", "https://example.com/do?a=1%2C2&q=a+space");
        check("http://example.com/?b=&a", "https://example.com?a&b");
        check("http://bücher.example/résumé", "https://xn--bcher-kva.example/r%C3%A9sum%C3%A9");
        check("http://example.com:8080/", "https://example.com:8080");
        check("http://example.com:443/", "https://example.com");
        check("http://[::1]:80/x", "https://[::1]/x");
    }

    #[test]
    fn different_pages_stay_different() {
        check("https://example.com/A", "https://example.com/A");
        check("https://example.com/index.xml", "https://example.com/index.xml");
        check("https://example.com/myindex.html", "https://example.com/myindex.html");
        check("https://example.com/a/index.html?x=1", "https://example.com/a?x=1");
        check("https://example.com/?sid=12", "https://example.com?sid=12");
        check("https://example.com/?s=webcam", "https://example.com?s=webcam");
        check("https://example.com/a%2Fb", "https://example.com/a%2Fb");
        check("https://example.com/a//b", "https://example.com/a//b");
        check("https://example.com/?k=b%a3", "https://example.com?k=b%A3");
        check("https://www.com/", "https://www.com");
        check("https://example.com/.;jsessionid=1", "https://example.com/.;jsessionid=1");
    }

    #[test]
    fn routes_are_pages() {
        check("https://example.com/#/users", "https://example.com#/users");
        check("https://example.com/#/users/", "https://example.com#/users");
        check("https://example.com/#!news", "https://example.com#!news");
        for none in
            ["https://example.com/#", "https://example.com/#/", "https://example.com/#!/", "https://example.com/#top"]
        {
            check(none, "https://example.com");
        }
    }

    #[test]
    fn plain_keys_differ_by_more() {
        let plain = KeyRules { fold_similar: false, ignore_query: false };
        let check = |input: &str, expect: &str| {
            assert_eq!(key(input, plain), expect, "{input}");
            assert_eq!(key(expect, plain), expect, "{input} again");
        };
        check("HTTP://www.Example.com:80/a/index.html#x", "http://www.example.com/a/index.html");
        check("https://example.com/%7ea/?b=2&a=1", "https://example.com/~a/?b=2&a=1");
        check("https://u:p@example.com/?", "https://example.com/");
        check("https://example.com/#/users/", "https://example.com/#/users/");
        check("mailto:a@example.com", "mailto:a@example.com");
        check("ftp://u@example.com/?", "ftp://u@example.com/?");
    }

    #[test]
    fn queries_can_be_ignored() {
        let rules = KeyRules { ignore_query: true, ..Default::default() };
        assert_eq!(key("https://example.com/a?x=1&y=2", rules), "https://example.com/a");
        assert_eq!(key("https://example.com/?q#/a?b=1", rules), "https://example.com#/a");
    }
}
