//! Adds the caller's headers to requests, and removes them from redirects to other origins.

use std::collections::HashMap;

use parking_lot::Mutex;
use serde_json::{Value, json};
use url::Url;

use crate::visited::HeadersFor;

/// Headers that Chromium controls, or that are set by other means.
const NOT_HERE: &[&str] = &[
    "accept-charset",
    "accept-encoding",
    "connection",
    "content-length",
    "date",
    "expect",
    "host",
    "keep-alive",
    "origin",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "via",
];

const COOKIE: &str = "cookie";

/// Maximum number of requests that are remembered for their redirects.
const MAX_REMEMBERED: usize = 10_000;

/// Headers of the caller, and the requests that they were added to.
pub(super) struct Lines<'a> {
    headers: &'a HeadersFor<'a>,
    is_empty: bool,
    added: Mutex<Added>,
}

/// Names of the headers added to each request. Chromium would keep them on redirects.
#[derive(Default)]
struct Added {
    names: HashMap<String, Vec<String>>,
    /// Names of all headers ever added.
    ever: Vec<String>,
    /// Whether there were too many requests to remember.
    is_cut: bool,
}

impl<'a> Lines<'a> {
    /// Creates the state for a visit to `url`.
    pub(super) fn new(url: &Url, headers: &'a HeadersFor<'a>) -> Self {
        let is_empty = !headers(url).iter().any(|(name, _)| is_line(name));
        Self { headers, is_empty, added: Mutex::default() }
    }

    /// Whether no request of the visit gets any headers.
    pub(super) fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Returns all headers of a request if they differ from what Chromium would send. `params` are those of
    /// `Fetch.requestPaused`.
    pub(super) fn of(&self, url: &str, params: &Value) -> Option<Vec<Value>> {
        if self.is_empty {
            return None;
        }
        let id = params["networkId"].as_str().or(params["requestId"].as_str()).unwrap_or_default();
        let mut added = self.added.lock();
        let before = added.take(id, params["redirectedRequestId"].is_string());
        let is_document = params["resourceType"] == "Document";
        let given = url.parse().map(|url| (self.headers)(&url)).unwrap_or_default();
        let wanted =
            |(name, _): &(String, String)| is_line(name) && (is_document || !name.eq_ignore_ascii_case("accept"));
        let mut given: Vec<_> = given.into_iter().filter(wanted).collect();
        if given.is_empty() && before.is_empty() {
            return None;
        }
        added.put(id, given.iter().map(|(name, _)| name.clone()).collect());
        drop(added);
        let known = params["request"]["headers"].as_object();
        // Chromium lists the cookies that the site has set and still sends them, so they must stay in the header.
        let stored = known.into_iter().flatten().find(|(name, _)| name.eq_ignore_ascii_case(COOKIE));
        let stored = stored.and_then(|(_, value)| value.as_str()).unwrap_or_default();
        for (name, value) in given.iter_mut().filter(|(name, _)| name.eq_ignore_ascii_case(COOKIE)) {
            COOKIE.clone_into(name);
            *value = merged(value, stored);
        }
        let is_ours = |name: &str| {
            before.iter().chain(given.iter().map(|(name, _)| name)).any(|known| known.eq_ignore_ascii_case(name))
        };
        // `Fetch.continueRequest` replaces all headers, so those of Chromium are repeated.
        let kept = known.into_iter().flatten().filter(|(name, _)| !is_ours(name));
        let kept = kept.map(|(name, value)| json!({"name": name, "value": value}));
        Some(kept.chain(given.iter().map(|(name, value)| json!({"name": name, "value": value}))).collect())
    }
}

impl Added {
    /// Returns the headers that were added before a redirect; all that were ever added if the request is not
    /// remembered.
    fn take(&mut self, id: &str, is_redirect: bool) -> Vec<String> {
        match self.names.remove(id) {
            Some(names) => names,
            None if is_redirect && self.is_cut => self.ever.clone(),
            None => Vec::new(),
        }
    }

    fn put(&mut self, id: &str, names: Vec<String>) {
        if names.is_empty() {
            return;
        }
        for name in &names {
            if !self.ever.contains(name) {
                self.ever.push(name.clone());
            }
        }
        if self.names.len() < MAX_REMEMBERED {
            self.names.insert(id.to_owned(), names);
        } else {
            self.is_cut = true;
        }
    }
}

/// Merges the caller's cookies with those of the site, which win if names are equal.
fn merged(given: &str, stored: &str) -> String {
    let set: Vec<&str> = pairs(stored).map(name_of).collect();
    let kept = pairs(given).filter(|pair| !set.contains(&name_of(pair)));
    kept.chain(pairs(stored)).collect::<Vec<_>>().join("; ")
}

fn pairs(line: &str) -> impl Iterator<Item = &str> {
    line.split(';').map(str::trim).filter(|pair| !pair.is_empty())
}

fn name_of(pair: &str) -> &str {
    pair.split('=').next().unwrap_or_default().trim_end()
}

/// Whether a header of the caller may be added to requests.
fn is_line(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    !NOT_HERE.contains(&name.as_str()) && !name.starts_with("proxy-") && !name.starts_with("sec-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(url: &Url) -> Vec<(String, String)> {
        let line = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        match url.port() {
            Some(81) => vec![line("Cookie", "sid=1; t=2"), line("X-Token", "3"), line("Accept", "a/b")],
            _ => vec![],
        }
    }

    /// Returns the headers of a request, as `name: value`.
    #[expect(clippy::needless_pass_by_value, reason = "calls write it in place")]
    fn of(lines: &Lines<'_>, url: &str, id: &str, redirected: bool, headers: Value) -> Option<Vec<String>> {
        let mut params = json!({"networkId": id, "resourceType": "Image", "request": {"headers": headers}});
        if redirected {
            params["redirectedRequestId"] = "before".into();
        }
        let text = |line: Value| format!("{}: {}", line["name"].as_str().unwrap(), line["value"].as_str().unwrap());
        lines.of(url, &params).map(|lines| lines.into_iter().map(text).collect())
    }

    #[test]
    fn a_redirect_leaves_behind_what_was_added() {
        let page: Url = "http://a.test:81/".parse().unwrap();
        let lines = Lines::new(&page, &given);
        let first = of(&lines, "http://a.test:81/x", "1", false, json!({"Referer": "r", "Cookie": "sid=9; s=1"}));
        assert_eq!(first.unwrap(), ["Referer: r", "cookie: t=2; sid=9; s=1", "X-Token: 3"]);
        let sent = json!({"Referer": "r", "cookie": "t=2; sid=9", "x-token": "3"});
        assert_eq!(of(&lines, "http://a.test:82/y", "1", true, sent.clone()).unwrap(), ["Referer: r"]);
        assert_eq!(of(&lines, "http://a.test:82/y", "2", false, json!({})), None);
        for number in 0..=MAX_REMEMBERED {
            assert!(of(&lines, page.as_str(), &format!("n{number}"), false, json!({})).is_some());
        }
        let last = format!("n{MAX_REMEMBERED}");
        assert_eq!(of(&lines, "http://a.test:82/y", &last, true, sent).unwrap(), ["Referer: r"]);
    }

    #[test]
    fn the_site_may_set_cookies_anew() {
        let check = |given: &str, stored: &str, expect: &str| assert_eq!(merged(given, stored), expect);
        check("a=1;b=2 ; c", "", "a=1; b=2; c");
        check("a=1; b=x=y", "b=3; d=4", "a=1; b=3; d=4");
        check("", "b=3", "b=3");
    }
}
