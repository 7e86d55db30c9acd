//! Cookies of one redirect chain (RFC 6265), with limits.

use cookie_store::{Cookie, CookieDomain, CookieStore};
use http::HeaderMap;
use http::header::{COOKIE, HeaderValue, SET_COOKIE};
use url::Url;

/// Byte limit of a `Set-Cookie` header; longer ones are ignored, as in browsers.
const MAX_COOKIE: usize = 4096;
/// Maximum number of cookies; later ones are ignored.
const MAX_COOKIES: usize = 128;
/// Byte limit of the `Cookie` header, which ends with the last pair that fits.
const MAX_FIELD: usize = 16 << 10;

/// Cookies set by servers while one request follows its redirects.
#[derive(Debug, Default)]
pub(crate) struct Jar {
    store: CookieStore,
    stored: usize,
}

impl Jar {
    /// Stores the cookies of a response.
    pub(crate) fn remember(&mut self, url: &Url, headers: &HeaderMap) {
        for value in headers.get_all(SET_COOKIE) {
            if self.stored >= MAX_COOKIES {
                return;
            }
            let Ok(text) = value.to_str() else { continue };
            if text.len() > MAX_COOKIE {
                continue;
            }
            if let Ok(cookie) = Cookie::parse(text.to_owned(), url)
                && !is_for_a_public_suffix(&cookie, url)
                && self.store.insert(cookie.into_owned(), url).is_ok()
            {
                self.stored += 1;
            }
        }
    }

    /// Returns the `Cookie` header for a URL: the caller's own pairs, then those of the jar, which replace pairs of the
    /// same name.
    pub(crate) fn field(&self, url: &Url, own: &HeaderMap) -> Option<HeaderValue> {
        let jar: Vec<(&str, &str)> = self.store.get_request_values(url).collect();
        let own: Vec<&str> = own.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok()).collect();
        // The caller's own header is sent unchanged, including spaces and order.
        if jar.is_empty() && own.len() <= 1 {
            return own.first().and_then(|text| sensitive(text));
        }
        let mut field = String::new();
        let kept = own.iter().flat_map(|text| text.split(';')).map(str::trim).filter(|pair| {
            let name = pair.split('=').next().unwrap_or_default().trim_end();
            !pair.is_empty() && jar.iter().all(|(set, _)| *set != name)
        });
        let pairs = kept.map(str::to_owned).chain(jar.iter().map(|(name, value)| format!("{name}={value}")));
        for pair in pairs {
            if field.len() + pair.len() + 2 > MAX_FIELD {
                break;
            }
            if !field.is_empty() {
                field.push_str("; ");
            }
            field.push_str(&pair);
        }
        sensitive(&field)
    }
}

fn sensitive(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok().filter(|value| !value.is_empty())?;
    value.set_sensitive(true);
    Some(value)
}

/// Returns whether a cookie is for a public suffix such as `com` or `co.uk`, which would send it to unrelated sites.
fn is_for_a_public_suffix(cookie: &Cookie<'_>, url: &Url) -> bool {
    match &cookie.domain {
        CookieDomain::Suffix(domain) => url.host_str() != Some(domain) && psl::suffix_str(domain) == Some(domain),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        text.parse().unwrap()
    }

    fn jar(from: &str, cookies: &[&str]) -> Jar {
        let mut headers = HeaderMap::new();
        for cookie in cookies {
            headers.append(SET_COOKIE, HeaderValue::from_str(cookie).unwrap());
        }
        let mut jar = Jar::default();
        jar.remember(&url(from), &headers);
        jar
    }

    fn check(jar: &Jar, to: &str, own: &str, expect: &str) {
        let mut headers = HeaderMap::new();
        if !own.is_empty() {
            headers.insert(COOKIE, HeaderValue::from_str(own).unwrap());
        }
        let field = jar.field(&url(to), &headers);
        let mut pairs: Vec<_> = field.as_ref().map_or("", |value| value.to_str().unwrap()).split("; ").collect();
        pairs.sort_unstable();
        assert_eq!(pairs.join("; "), expect, "{to}");
    }

    #[test]
    fn cookies_go_where_they_belong() {
        let jar = jar(
            "https://www.example.com/a/b",
            &[
                "host=1",
                "all=2; Domain=example.com; Path=/",
                "safe=3; Secure; Path=/",
                "deep=4; Path=/a",
                "evil=5; Domain=com",
                "other=6; Domain=example.org",
                "gone=7; Max-Age=0",
            ],
        );
        check(&jar, "https://www.example.com/a/c", "", "all=2; deep=4; host=1; safe=3");
        check(&jar, "https://www.example.com/", "", "all=2; safe=3");
        check(&jar, "http://www.example.com/", "", "all=2");
        check(&jar, "https://sub.example.com/", "", "all=2");
        check(&jar, "https://bank.com/", "", "");
        check(&jar, "https://example.org/", "", "");
    }

    #[test]
    fn the_callers_own_pairs_stay_unless_set_anew() {
        let jar = jar("http://a.test/", &["s=new"]);
        check(&jar, "http://a.test/", "s=old; t=1", "s=new; t=1");
        check(&jar, "http://b.test/", "s=old; t=1", "s=old; t=1");
        check(&Jar::default(), "http://b.test/", "", "");
    }

    #[test]
    fn the_jar_is_bounded() {
        let long = format!("long={}", "x".repeat(MAX_COOKIE));
        let many: Vec<_> = (0..10_000).map(|n| format!("c{n}={}", "y".repeat(400))).collect();
        let mut cookies = vec![long.as_str()];
        cookies.extend(many.iter().map(String::as_str));
        let jar = jar("http://a.test/", &cookies);
        assert_eq!(jar.stored, MAX_COOKIES);
        assert!(jar.field(&url("http://a.test/"), &HeaderMap::new()).unwrap().len() <= MAX_FIELD);
    }
}
