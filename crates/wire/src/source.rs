//! The caller's spelling of a page URL, without credentials.

use std::fmt;

use url::Url;

use crate::read::Field;
use crate::target::{http_rest, target_url};

/// Original spelling of a page URL, without user name and password. Returned as `metadata.sourceURL`. Ignored by
/// comparisons: all values are equal, because the spelling does not change the request.
#[derive(Clone, Default)]
pub struct SourceUrl(Option<Box<str>>);

impl SourceUrl {
    /// Takes a text accepted by [`target_url`](crate::target_url); surrounding whitespace is removed.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(Some(without_userinfo(text.trim()).into()))
    }

    /// Reads a page URL together with its original spelling.
    pub(crate) fn read(field: Field<'_>) -> Option<(Url, Self)> {
        field.parse(|text| match target_url(text) {
            Ok(url) => Ok((url, Self::new(text))),
            Err(error) => Err(error.to_string()),
        })
    }

    /// Returns the original spelling, or `url` without credentials if the spelling is unknown.
    #[must_use]
    pub fn or(&self, url: &Url) -> String {
        self.0.as_deref().map_or_else(|| without_userinfo(url.as_str()), str::to_owned)
    }
}

impl PartialEq for SourceUrl {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for SourceUrl {}

/// Hides the URL: paths and queries may contain tokens.
impl fmt::Debug for SourceUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Removes user name and password from an http(s) URL and changes nothing else. Other texts are returned unchanged.
///
/// ```
/// assert_eq!(wire::without_userinfo("HTTP://me:p%40ss@A.test/x@y"), "HTTP://A.test/x@y");
/// assert_eq!(wire::without_userinfo("a.test/http://me:pass@b.test/"), "a.test/http://me:pass@b.test/");
/// ```
#[must_use]
pub fn without_userinfo(text: &str) -> String {
    let Some(rest) = http_rest(text).and_then(|rest| rest.strip_prefix("//")) else { return text.to_owned() };
    // End of the authority by the WHATWG URL standard, where a backslash counts as a slash.
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let Some(at) = rest[..end].rfind('@') else { return text.to_owned() };
    let scheme = &text[..text.len() - rest.len()];
    format!("{scheme}{}", &rest[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_userinfo_is_cut() {
        let check = |text: &str, expect: &str| {
            assert_eq!(without_userinfo(text), expect);
            let expect_url = crate::target_url(expect).unwrap();
            let mut url = crate::target_url(text).unwrap();
            assert!(url.set_username("").is_ok() && url.set_password(None).is_ok());
            assert_eq!(url, expect_url, "{text}");
        };
        check("http://a.test", "http://a.test");
        check("HTTPS://me:pass@A.Test:443/x?y=1@2#z@", "HTTPS://A.Test:443/x?y=1@2#z@");
        check("http://me:p@ss@a.test?q", "http://a.test?q");
        check("http://me@[::1]:8080#x", "http://[::1]:8080#x");
        check("http://:pass@a.test/%7Euser", "http://a.test/%7Euser");
        check("example.com/@me", "example.com/@me");
        check("example.com/http://me:pass@b.test/", "example.com/http://me:pass@b.test/");
    }

    #[test]
    fn the_spelling_is_kept_and_not_shown() {
        let given = SourceUrl::new(" http://me:hush@A.test \n");
        let url = Url::parse("http://me:hush@a.test/").unwrap();
        assert_eq!((given.or(&url), SourceUrl::default().or(&url)), ("http://A.test".into(), "http://a.test/".into()));
        assert_eq!((given, format!("{:?}", SourceUrl::new("http://hush"))), (SourceUrl::default(), "***".into()));
    }
}
