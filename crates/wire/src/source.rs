//! The URL of a page as its caller wrote it, without the password that may stand in it.

use std::fmt;

use url::Url;

use crate::read::Field;
use crate::target::{http_rest, target_url};

/// How a caller spelled the URL of a page: returned as `metadata.sourceURL`, letter for letter, but never with a user
/// name or password. The spelling is no part of what is asked for: any two of these are equal.
#[derive(Clone, Default)]
pub struct SourceUrl(Option<Box<str>>);

impl SourceUrl {
    /// Of a text that [`target_url`](crate::target_url) takes; spaces around it are cut.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(Some(without_userinfo(text.trim()).into()))
    }

    /// Reads the URL of a page, and how it was spelled.
    pub(crate) fn read(field: Field<'_>) -> Option<(Url, Self)> {
        field.parse(|text| match target_url(text) {
            Ok(url) => Ok((url, Self::new(text))),
            Err(error) => Err(error.to_string()),
        })
    }

    /// As it was given, or `url` when nothing is known but its meaning.
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

/// Paths and queries carry tokens.
impl fmt::Debug for SourceUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// The text of an http URL with user name and password cut out and nothing else changed; any other text as it is.
///
/// ```
/// assert_eq!(wire::without_userinfo("HTTP://me:p%40ss@A.test/x@y"), "HTTP://A.test/x@y");
/// assert_eq!(wire::without_userinfo("a.test/http://me:pass@b.test/"), "a.test/http://me:pass@b.test/");
/// ```
#[must_use]
pub fn without_userinfo(text: &str) -> String {
    let Some(rest) = http_rest(text).and_then(|rest| rest.strip_prefix("//")) else { return text.to_owned() };
    // Where the URL standard ends an authority; a backslash counts as a slash there.
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
