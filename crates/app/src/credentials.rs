//! User name and password inside a URL: cut out at the door, so that no later code can store, log or return them.

use base::Secret;
use percent_encoding::percent_decode_str;
use url::Url;

/// The URL without its userinfo, and the userinfo as Basic credentials (RFC 7617) when there was any.
pub(crate) fn split(mut url: Url) -> (Url, Option<(String, Secret)>) {
    if url.username().is_empty() && url.password().is_none() {
        return (url, None);
    }
    let name = decoded(url.username());
    let password = Secret::new(decoded(url.password().unwrap_or_default()));
    // Both setters only refuse URLs without a host, and such a URL has no userinfo.
    let cut = url.set_username("").is_ok() && url.set_password(None).is_ok();
    debug_assert!(cut, "a URL with userinfo has a host");
    (url, Some((name, password)))
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, url: &str, expect: Option<(&str, &str)>) {
        let (cut, found) = split(Url::parse(input).unwrap());
        assert_eq!(cut.as_str(), url);
        let found = found.as_ref().map(|(name, password)| (name.as_str(), password.expose()));
        assert_eq!(found, expect, "{input}");
    }

    #[test]
    fn userinfo_is_cut_and_decoded() {
        check("http://a.example/x?y#z", "http://a.example/x?y#z", None);
        check("http://me:p%40ss+1@a.example:81/x", "http://a.example:81/x", Some(("me", "p@ss+1")));
        check("http://me@a.example/", "http://a.example/", Some(("me", "")));
        check("http://:only@a.example/", "http://a.example/", Some(("", "only")));
    }
}
