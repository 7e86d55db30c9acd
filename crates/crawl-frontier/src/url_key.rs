//! Keys of pages in one crawl: all spellings of one page have the same key.

use std::fmt;

use base::address;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::spelling;

/// Rules for the identity of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyRules {
    /// `deduplicateSimilarURLs`: ignores http or https, `www.`, index files, trailing slashes, the order of the query,
    /// and campaign and session parameters.
    pub fold_similar: bool,
    /// `ignoreQueryParameters`: ignores the query.
    pub ignore_query: bool,
}

/// The normal form of a URL, itself a URL. Unique per page within one crawl; not meant to be fetched.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UrlKey(String);

/// Query parameters for tracking, which never change the page; in addition to `utm_…`.
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

/// Query parameters that are session ids by their name alone.
const SESSION: [&str; 7] = ["jsessionid", "phpsessid", "oscsid", "zenid", "cfid", "cftoken", "xtcsid"];

/// Query parameters that are session ids if the value looks like one.
const MAYBE_SESSION: [&str; 8] = ["s", "sid", "sess", "session", "session_id", "sessionid", "session-id", "sessid"];

/// Maximum number of query parameters that are sorted. Real URLs have fewer, but a hostile page may have hundreds of links
/// with thousands of parameters each.
pub(crate) const MAX_SORTED: usize = 256;

impl Default for KeyRules {
    /// Returns the defaults of the crawl request: similar URLs are one page, the query counts.
    fn default() -> Self {
        Self { fold_similar: true, ignore_query: false }
    }
}

impl UrlKey {
    /// Returns the key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Converts the key into text for storage.
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

/// Returns the key of a page. It never has user name, password, default port or fragment, except for route fragments
/// (`#/users`, `#!users`), and its percent-encoding is normalised. The function is idempotent. A URL that is neither http
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

/// Returns the host without `www.` and without a trailing dot.
pub(crate) fn bare_host(host: &str) -> &str {
    let whole = host.trim_end_matches('.');
    let mut bare = if whole.is_empty() { host } else { whole };
    while let Some(rest) = bare.strip_prefix("www.").filter(|rest| rest.contains('.')) {
        bare = rest;
    }
    bare
}

/// Returns the port; `None` for 80 and 443, which both are defaults when http and https count as the same.
pub(crate) fn folded_port(url: &Url) -> Option<u16> {
    url.port().filter(|port| *port != 80 && *port != 443)
}

/// Returns whether a query parameter does not affect the page: tracking or a session.
pub(crate) fn is_noise(name: &str, value: &str) -> bool {
    is_tracking(name)
        || starts(name, "aspsessionid")
        || is_one_of(name, &SESSION)
        || (is_one_of(name, &MAYBE_SESSION) && is_opaque(value))
}

/// Removes the query parameters for tracking from a URL; the others keep their order and spelling.
///
/// ```
/// let mut url = url::Url::parse("https://example.com/?utm_source=x&q=a+b&gclid=1").unwrap();
/// crawl_frontier::without_tracking(&mut url);
/// assert_eq!(url.as_str(), "https://example.com/?q=a+b");
/// ```
pub fn without_tracking(url: &mut Url) {
    let name = |pair: &str| is_tracking(pair.split('=').next().unwrap_or_default());
    let Some(query) = url.query().filter(|query| query.split('&').any(name)) else { return };
    let kept: Vec<&str> = query.split('&').filter(|pair| !name(pair)).collect();
    let kept = kept.join("&");
    url.set_query(Some(kept.as_str()).filter(|query| !query.is_empty()));
}

fn is_tracking(name: &str) -> bool {
    starts(name, "utm_") || is_one_of(name, &CAMPAIGN)
}

fn starts(name: &str, start: &str) -> bool {
    name.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start))
}

fn is_one_of(name: &str, names: &[&str]) -> bool {
    names.iter().any(|one| name.eq_ignore_ascii_case(one))
}

/// Returns whether a word looks random: at least 16 characters, with letters and digits.
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

/// Appends the path without session ids, index file and trailing slash.
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

/// Returns whether a segment is a session id of ASP.NET: `(S(lit3py55t21z5v55vlm25s55))`.
fn is_session_segment(segment: &str) -> bool {
    let bytes = segment.as_bytes();
    bytes.len() > 20 && bytes[0] == b'(' && bytes[2] == b'(' && bytes[1].is_ascii_uppercase() && segment.ends_with("))")
}

/// Removes `;jsessionid=…` (Java servlets) and `;sid=…` from a segment.
fn without_session(segment: &str) -> &str {
    let Some(at) = segment.find(';') else { return segment };
    let lower = segment[at..].to_ascii_lowercase();
    let cut = [";jsessionid=", ";phpsessid=", ";sid="].iter().filter_map(|name| lower.find(name)).min();
    match cut.map(|cut| &segment[..at + cut]) {
        // The rest must not become a dot segment, which would change the path.
        Some("." | "..") | None => segment,
        Some(kept) => kept,
    }
}

/// Appends the query in a fixed order and spelling, without tracking and session parameters.
fn push_folded_query(key: &mut String, query: &str) {
    let mut pairs: Vec<String> = query.split('&').filter(|pair| !pair.is_empty()).filter_map(folded_pair).collect();
    if pairs.len() <= MAX_SORTED {
        pairs.sort_unstable();
    }
    for (number, pair) in pairs.iter().enumerate() {
        key.push(if number == 0 { '?' } else { '&' });
        key.push_str(pair);
    }
}

/// Returns a parameter in its normal spelling; `None` if it does not affect the page.
fn folded_pair(pair: &str) -> Option<String> {
    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
    let mut text = String::with_capacity(pair.len() + 4);
    push_form(&mut text, name);
    let name_end = text.len();
    if !value.is_empty() {
        text.push('=');
        push_form(&mut text, value);
    }
    // Judged in the normal spelling, so that escaped letters hide no session. Ids of PHP may have commas.
    let value = text.get(name_end + 1..).unwrap_or_default().replace("%2C", ",");
    Some(text).filter(|text| !text.is_empty() && !is_noise(&text[..name_end], &value))
}

/// Appends a name or value in form encoding: a space is `+`, everything except letters, digits and `-._~` is escaped.
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

/// Returns the part of a fragment that is a route of a single-page application, if any.
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
            "https://example.com/a?PHPSESS%49D=abc&s%69d=0123456789%61bcdef01&sess=0123456789%2cabcdef",
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
