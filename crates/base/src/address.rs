//! Shared rules for URLs: which spellings are the same page, and removal of credentials.

use percent_encoding::percent_decode_str;
use url::Url;

use crate::Secret;

/// User name and password, sent as `Authorization: Basic` (RFC 7617).
pub type BasicAuth = (String, Secret);

/// Names of index files that servers return for a folder. `index.xml` is not listed, because site generators publish their
/// feed under that name.
const INDEX_FILES: [&str; 4] = ["index.html", "index.htm", "index.shtml", "index.php"];

/// Returns a path without its index file and trailing slashes.
///
/// ```
/// use base::address::without_index;
///
/// assert_eq!(without_index("/a/index.html"), "/a");
/// assert_eq!(without_index("/a/index.php/"), "/a");
/// assert_eq!(without_index("/a/my-index.html"), "/a/my-index.html");
/// assert_eq!(without_index("/"), "");
/// ```
#[must_use]
pub fn without_index(path: &str) -> &str {
    let mut rest = path;
    loop {
        let bare = rest.trim_end_matches('/');
        let shorter = match bare.rsplit_once('/') {
            Some((folder, file)) if INDEX_FILES.contains(&file) => folder,
            _ => bare,
        };
        if shorter.len() == rest.len() {
            return rest;
        }
        rest = shorter;
    }
}

/// Returns whether a fragment is a route of a single-page application (`#/users`, `#!users`) and not an anchor. `#/` and
/// `#!/` are the page itself.
///
/// ```
/// use base::address::is_route;
///
/// assert!(is_route("/a") && is_route("!a"));
/// assert!(!is_route("a") && !is_route("/") && !is_route("!/"));
/// ```
#[must_use]
pub fn is_route(fragment: &str) -> bool {
    fragment.starts_with(['/', '!']) && fragment.contains(|c| !matches!(c, '/' | '!'))
}

/// Removes user name and password from a URL.
pub fn cut_credentials(url: &mut Url) {
    // Both setters fail only for URLs that cannot have credentials.
    let _ = (url.set_username(""), url.set_password(None));
    debug_assert!(url.username().is_empty() && url.password().is_none());
}

/// Removes user name and password from a URL and returns them percent-decoded; `None` when it has neither.
///
/// ```
/// let mut url = url::Url::parse("https://me:p%40ss@example.com/").unwrap();
/// let (name, password) = base::address::take_credentials(&mut url).unwrap();
/// assert_eq!((name.as_str(), password.expose()), ("me", "p@ss"));
/// assert_eq!(url.as_str(), "https://example.com/");
/// ```
pub fn take_credentials(url: &mut Url) -> Option<BasicAuth> {
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let name = decoded(url.username());
    let password = Secret::new(decoded(url.password().unwrap_or_default()));
    cut_credentials(url);
    Some((name, password))
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_files_are_those_of_servers() {
        let check = |path: &str, expect: &str| assert_eq!(without_index(path), expect, "{path}");
        for path in ["/a", "/a/", "/a//", "/a/index.html", "/a/index.htm", "/a/index.shtml", "/a/index.php//"] {
            check(path, "/a");
        }
        check("/index.html/index.php", "");
        check("/index.html", "");
        check("/index.xml", "/index.xml");
        check("/Index.html", "/Index.html");
        check("index.html", "index.html");
        check("", "");
    }

    #[test]
    fn routes_name_something() {
        for (fragment, expect) in [
            ("/a", true),
            ("!a", true),
            ("!/a/", true),
            ("", false),
            ("/", false),
            ("//", false),
            ("!/", false),
            ("a/", false),
        ] {
            assert_eq!(is_route(fragment), expect, "{fragment}");
        }
    }

    #[test]
    fn credentials_are_taken_out() {
        let check = |input: &str, rest: &str, expect: Option<(&str, &str)>| {
            let mut url = Url::parse(input).unwrap();
            let found = take_credentials(&mut url);
            let shown = found.as_ref().map(|(name, password)| (name.as_str(), password.expose()));
            assert_eq!((url.as_str(), shown), (rest, expect), "{input}");
        };
        check("http://a.example/x?y#z", "http://a.example/x?y#z", None);
        check("http://me:100%25%2541@a.example:81/", "http://a.example:81/", Some(("me", "100%%41")));
        check("http://me@a.example/", "http://a.example/", Some(("me", "")));
        check("http://:only@a.example/", "http://a.example/", Some(("", "only")));
        check("mailto:me@a.example", "mailto:me@a.example", None);
    }

    #[test]
    fn some_urls_have_nothing_to_cut() {
        for text in ["mailto:me@a.example", "file://host/me@x", "file:///x", "data:,a@b"] {
            let mut url = Url::parse(text).unwrap();
            cut_credentials(&mut url);
            assert_eq!(url.as_str(), text);
        }
    }
}
