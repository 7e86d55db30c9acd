//! Rule for the caller's headers, cookies and credentials: they go only to the origin that they were given for.

use std::collections::BTreeMap;

use base::address::BasicAuth;
use http::HeaderName;
use http::header::{ACCEPT, ACCEPT_LANGUAGE, USER_AGENT};
use url::Url;

/// Headers that reveal nothing about the caller and may go to every origin.
pub(crate) const HARMLESS: [HeaderName; 3] = [ACCEPT, ACCEPT_LANGUAGE, USER_AGENT];

/// Whether a caller's credentials for one URL may be sent to another: only to the same origin (RFC 6454: scheme, host
/// and port), or to the same host by TLS instead of plain text, on the port that RFC 6797 section 8.3 upgrades to: 443
/// instead of 80, any other unchanged. Never from https to http, and never to subdomains.
///
/// This is the one rule for every request with a caller's data: the first one, each redirect, and each later page of a
/// job.
///
/// ```
/// let reach = |a: &str, b: &str| fetch::may_reach(&a.parse().unwrap(), &b.parse().unwrap());
/// assert!(reach("http://A.test:80/x", "http://a.test/y") && reach("http://a.test/", "https://a.test/"));
/// assert!(!reach("https://a.test/", "http://a.test/") && !reach("https://a.test/", "https://www.a.test/"));
/// ```
#[must_use]
pub fn may_reach(given_for: &Url, target: &Url) -> bool {
    let (Some(host), Some(port)) = (given_for.host(), given_for.port_or_known_default()) else { return false };
    let port = match (given_for.scheme(), target.scheme()) {
        ("http", "http") | ("https", "https") => port,
        ("http", "https") if port == 80 => 443,
        ("http", "https") => port,
        _ => return false,
    };
    target.host() == Some(host) && target.port_or_known_default() == Some(port)
}

/// Headers and credentials of a caller, bound to the URL that they were given for. Has no `Debug`, as they are secrets.
///
/// An engine can read them only by naming the target URL ([`Given::to`]), so that none can forget the rule.
#[derive(Clone, Copy)]
pub struct Given<'a> {
    for_url: &'a Url,
    headers: &'a BTreeMap<String, String>,
    basic_auth: Option<&'a BasicAuth>,
}

/// Headers and credentials that may be sent to one URL.
#[derive(Default)]
pub struct Sent<'a> {
    /// Header names and values, as they were given.
    pub headers: Vec<(&'a str, &'a str)>,
    /// Credentials, to be sent unless the headers contain an `Authorization`.
    pub basic_auth: Option<&'a BasicAuth>,
    /// Whether something was withheld.
    pub is_cut: bool,
}

impl<'a> Given<'a> {
    /// Binds a caller's headers and credentials to `for_url`.
    #[must_use]
    pub fn new(for_url: &'a Url, headers: &'a BTreeMap<String, String>, basic_auth: Option<&'a BasicAuth>) -> Self {
        Self { for_url, headers, basic_auth }
    }

    /// Returns owned copies, for uses that outlive the caller's request.
    pub(crate) fn into_owned(self) -> (Url, BTreeMap<String, String>, Option<BasicAuth>) {
        (self.for_url.clone(), self.headers.clone(), self.basic_auth.cloned())
    }

    /// Returns the part that may be sent to `target`: everything where [`may_reach`] allows it, elsewhere only headers
    /// that reveal nothing about the caller (`Accept`, `Accept-Language`, `User-Agent`).
    #[must_use]
    pub fn to(&self, target: &Url) -> Sent<'a> {
        let all = self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        if may_reach(self.for_url, target) {
            return Sent { headers: all.collect(), basic_auth: self.basic_auth, is_cut: false };
        }
        let headers: Vec<_> = all.filter(|(name, _)| is_harmless(name)).collect();
        let is_cut = headers.len() < self.headers.len() || self.basic_auth.is_some();
        Sent { headers, basic_auth: None, is_cut }
    }
}

impl Sent<'_> {
    /// Whether any of it must not go to other origins.
    #[must_use]
    pub fn is_personal(&self) -> bool {
        self.basic_auth.is_some() || self.headers.iter().any(|(name, _)| !is_harmless(name))
    }
}

fn is_harmless(name: &str) -> bool {
    HARMLESS.iter().any(|harmless| harmless.as_str().eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use base::Secret;

    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn the_rule() {
        let check = |given_for: &str, target: &str, expect: bool| {
            assert_eq!(may_reach(&url(given_for), &url(target)), expect, "{given_for} to {target}");
        };
        for (given_for, target) in [
            ("http://a.test/", "http://a.test/other?x#y"),
            ("http://a.test:80/", "http://a.test/"),
            ("https://a.test/", "https://A.TEST:443/"),
            ("http://me:pw@a.test:8080/", "http://a.test:8080/"),
            ("http://b\u{fc}cher.test/", "http://xn--bcher-kva.test/"),
            ("http://[::1]:8080/", "http://[0:0:0:0:0:0:0:1]:8080/"),
            ("http://127.0.0.1/", "http://0x7f.1/"),
            ("http://a.test/", "https://a.test/"),
            ("http://a.test:8080/", "https://a.test:8080/"),
        ] {
            check(given_for, target, true);
        }
        for (given_for, target) in [
            ("https://a.test/", "http://a.test/"),
            ("https://a.test:8443/", "http://a.test:8443/"),
            ("https://a.test/", "http://a.test:443/"),
            ("http://a.test/", "https://a.test:8443/"),
            ("http://a.test/", "https://a.test:80/"),
            ("http://a.test/", "http://a.test:8080/"),
            ("http://a.test:8080/", "https://a.test/"),
            ("http://a.test/", "http://www.a.test/"),
            ("http://www.a.test/", "http://a.test/"),
            ("http://a.test/", "http://a.test./"),
            ("http://a.test/", "http://a.test.evil.test/"),
            ("http://a.test/", "http://a.test@evil.test/"),
            ("http://127.0.0.1/", "http://[::ffff:127.0.0.1]/"),
            ("http://a.test/", "ftp://a.test:80/"),
            ("file:///a", "file:///a"),
        ] {
            check(given_for, target, false);
        }
    }

    #[test]
    fn only_harmless_headers_go_further() {
        let headers = ["AUTHORIZATION", "Cookie", "X-Tok", "user-agent", "ACCEPT-Language", "accept", "Referer"];
        let headers = headers.map(|name| (name.to_owned(), "1".to_owned())).into();
        let (start, user) = (url("http://a.test/"), ("me".to_owned(), Secret::new("pw")));
        let given = Given::new(&start, &headers, Some(&user));
        let home = given.to(&url("http://a.test/x"));
        assert!(home.headers.len() == 7 && home.basic_auth.is_some() && !home.is_cut);
        let away = given.to(&url("http://b.test/x"));
        let names: Vec<_> = away.headers.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["ACCEPT-Language", "accept", "user-agent"]);
        assert!(away.basic_auth.is_none() && away.is_cut);
        let none = BTreeMap::new();
        let nothing = Given::new(&start, &none, None);
        assert!(!nothing.to(&url("http://b.test/")).is_cut);
    }
}
