//! User name and password in URLs: removed on input, so that no later code can store, log or return them.

use base::Secret;
use base::address::BasicAuth;
pub use base::address::take_credentials as take;
use url::Url;

/// Splits a URL into the URL without its userinfo, and the userinfo as Basic credentials (RFC 7617) if there was any.
#[must_use]
pub fn split(mut url: Url) -> (Url, Option<BasicAuth>) {
    let user = take(&mut url);
    (url, user)
}

/// Returns the URL without its userinfo.
#[must_use]
pub fn cut(url: Url) -> Url {
    split(url).0
}

/// Restores the userinfo that [`take`] removed, percent-encoded.
pub fn put(url: &mut Url, name: &str, password: &Secret) {
    let (name, password) = (encoded(name), encoded(password.expose()));
    let is_put = url.set_username(&name).is_ok() && url.set_password(Some(&password)).is_ok();
    debug_assert!(is_put, "the URL had userinfo before");
}

fn encoded(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, url: &str, expect: Option<(&str, &str)>) {
        let (mut cut, found) = split(Url::parse(input).unwrap());
        assert_eq!(cut.as_str(), url);
        let shown = found.as_ref().map(|(name, password)| (name.as_str(), password.expose()));
        assert_eq!(shown, expect, "{input}");
        if let Some((name, password)) = &found {
            put(&mut cut, name, password);
            assert!(split(cut).1 == found, "{input}");
        }
    }

    #[test]
    fn userinfo_is_cut_and_decoded() {
        check("http://a.example/x?y#z", "http://a.example/x?y#z", None);
        check("http://me:p%40ss+1@a.example:81/x", "http://a.example:81/x", Some(("me", "p@ss+1")));
        check("http://me:100%25%2541@a.example/", "http://a.example/", Some(("me", "100%%41")));
        check("http://me@a.example/", "http://a.example/", Some(("me", "")));
        check("http://:only@a.example/", "http://a.example/", Some(("", "only")));
    }
}
