//! Validation of page URLs: http or https only, and no text that URL parsers interpret differently.
//!
//! This does not guard against internal addresses; `net` does, on the address that is dialled. It refuses ambiguous
//! text, so that no later parser can see a different host than this one.

use url::{Host, Url};

/// Maximum length of a URL, in characters.
pub const MAX_URL_CHARS: usize = 8192;
/// Maximum length of a host name without the trailing dot (RFC 1035 section 2.3.4).
const MAX_HOST: usize = 253;
const MAX_LABEL: usize = 63;

/// Reason why a text is not a page URL, worded to follow the field name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidUrl(String);

/// Parses a page URL: absolute, `http` or `https`, with a host. Trims surrounding whitespace. Reads a bare host name
/// with an optional path (`example.com/x`) as `https://`; refuses anything more ambiguous.
///
/// # Errors
/// [`InvalidUrl`] with the reason.
pub fn target_url(text: &str) -> Result<Url, InvalidUrl> {
    let text = text.trim();
    check_text(text).map_err(|reason| InvalidUrl(reason.to_owned()))?;
    let absolute = match http_rest(text) {
        Some(rest) if is_authority_start(rest) => text.to_owned(),
        Some(_) => return refuse("must have exactly two slashes and a host after the scheme"),
        None if is_bare_host(text) => format!("https://{text}"),
        None if has_port(text) => return refuse("must begin with http:// or https://, as in http://localhost:3000/"),
        None => return refuse("must be an absolute http or https URL"),
    };
    let url = Url::parse(&absolute).map_err(|error| InvalidUrl(format!("must be a valid URL: {error}")))?;
    check_host(&url).map_err(|reason| InvalidUrl(reason.to_owned()))?;
    Ok(url)
}

fn refuse<T>(reason: &str) -> Result<T, InvalidUrl> {
    Err(InvalidUrl(reason.to_owned()))
}

fn check_text(text: &str) -> Result<(), &'static str> {
    if text.is_empty() {
        return Err("must not be empty");
    }
    if text.chars().count() > MAX_URL_CHARS {
        return Err("must not be longer than 8192 characters");
    }
    // WHATWG parsers silently drop tabs and line breaks; other parsers keep them.
    if text.chars().any(char::is_control) {
        return Err("must not contain control characters");
    }
    // WHATWG parsers read `\` as `/`; RFC 3986 parsers take it as part of the userinfo. The two see different hosts.
    let before_query = text.split(['?', '#']).next().unwrap_or_default();
    if before_query.contains('\\') {
        return Err("must not contain backslashes");
    }
    Ok(())
}

/// Returns the text after `http:` or `https:`, if it begins with one, in any case.
pub(crate) fn http_rest(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once(':')?;
    (scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")).then_some(rest)
}

fn is_authority_start(rest: &str) -> bool {
    rest.strip_prefix("//").is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
}

/// Whether a text without a scheme can only be a web address: a dotted name that ends in letters, without port (which
/// would make the host look like a scheme), userinfo or spaces.
fn is_bare_host(text: &str) -> bool {
    let host = text.split(['/', '?', '#']).next().unwrap_or_default();
    let Some((_, last)) = host.rsplit_once('.') else {
        return false;
    };
    let last_is_name = last.starts_with("xn--") || (last.chars().count() >= 2 && last.chars().all(char::is_alphabetic));
    let label = |label: &str| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-');
    last_is_name && host.split('.').all(label) && !text.contains(char::is_whitespace)
}

/// Whether a text begins with a host and port; the host could also be read as a scheme.
fn has_port(text: &str) -> bool {
    let host = text.split(['/', '?', '#']).next().unwrap_or_default();
    let port = host.rsplit_once(':').map(|(_, port)| port);
    port.is_some_and(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()))
}

fn check_host(url: &Url) -> Result<(), &'static str> {
    if url.port() == Some(0) {
        return Err("must not use port 0");
    }
    let name = match url.host() {
        None => return Err("must have a host"),
        Some(Host::Ipv4(_) | Host::Ipv6(_)) => return Ok(()),
        Some(Host::Domain(name)) => name.strip_suffix('.').unwrap_or(name),
    };
    if name.len() > MAX_HOST || name.split('.').any(|label| label.is_empty() || label.len() > MAX_LABEL) {
        return Err("must have a host name of at most 253 characters, with labels of 1 to 63");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, want: Result<&str, &str>) {
        let got = target_url(text);
        let got = got.as_ref().map(Url::as_str).map_err(|error| error.0.as_str());
        match want {
            Ok(_) => assert_eq!(got, want, "{text:?}"),
            Err(part) => assert!(got.as_ref().is_err_and(|reason| reason.contains(part)), "{text:?} gave {got:?}"),
        }
    }

    #[test]
    fn accepted() {
        check("https://example.com", Ok("https://example.com/"));
        check("  HTTP://Example.com/a b?q=\\#f \n", Ok("http://example.com/a%20b?q=\\#f"));
        check("http://user:pw@example.com:8080/", Ok("http://user:pw@example.com:8080/"));
        check("http://bücher.example/", Ok("http://xn--bcher-kva.example/"));
        check("http://[::1]:80/", Ok("http://[::1]/"));
        check("http://example.com./", Ok("http://example.com./"));
        // The host of these is unambiguous; whether it may be reached is decided by the egress guard.
        check("hTtP://127.0.0.1:18200/", Ok("http://127.0.0.1:18200/"));
        check("http://0x7f.1/", Ok("http://127.0.0.1/"));
        check("http://example.com@127.0.0.1:1/", Ok("http://example.com@127.0.0.1:1/"));
        check("http://127.0.0.1:1#@origin.test/", Ok("http://127.0.0.1:1/#@origin.test/"));
        check("http://１２７.0.0.1/", Ok("http://127.0.0.1/"));
    }

    #[test]
    fn without_a_scheme() {
        check("example.com/x", Ok("https://example.com/x"));
        check("sub.example.co.uk?q=1", Ok("https://sub.example.co.uk/?q=1"));
        check("пример.рф", Ok("https://xn--e1afmkfd.xn--p1ai/"));
        let absolute = "must be an absolute http or https URL";
        for text in [
            "127.0.0.1/",
            "0x7f.0x1",
            "//host",
            "//127.0.0.1:18200/",
            "/path",
            "not a url",
            "not-a-url",
            "localhost",
            "user@example.com",
            "e.g",
            "example..com",
            ".com",
            "a b.com",
            "example.com/a b",
        ] {
            check(text, Err(absolute));
        }
    }

    #[test]
    fn a_port_without_a_scheme_says_what_is_missing() {
        for text in ["localhost:3000", "127.0.0.1:8080/", "example.com:80", "localhost:4831/x?y#z", "[::1]:80"] {
            check(text, Err("must begin with http:// or https://, as in http://localhost:3000/"));
        }
    }

    #[test]
    fn other_schemes() {
        for text in [
            "file:///etc/passwd",
            "file:/etc/passwd",
            "file://localhost/etc/passwd",
            "file:///tmp/",
            "ftp://origin.test/",
            "gopher://127.0.0.1:6379/_INFO",
            "dict://127.0.0.1:11211/stats",
            "ldap://127.0.0.1/",
            "data:text/html,<h1>x</h1>",
            "about:blank",
            "devtools://devtools/bundled/inspector.html",
            "jar:http://origin.test!/x",
            "ws://origin.test/",
            "unix:/var/run/docker.sock",
            "source:http://127.0.0.1:1/",
            "view-source:http://127.0.0.1:1/",
            "javascript:alert(1)",
            "blob:https://example.com/x",
            "filesystem:http://example.com/x",
        ] {
            check(text, Err("absolute http or https"));
        }
    }

    #[test]
    fn two_readings() {
        check("http://127.0.0.1:1\\@origin.test/", Err("backslashes"));
        check("http:\\\\127.0.0.1:1/", Err("backslashes"));
        check("http:///127.0.0.1:1/", Err("two slashes"));
        check("http:example.com", Err("two slashes"));
        check("https:/example.com", Err("two slashes"));
        check("https://", Err("two slashes"));
        check("http://127.\t0.0.\n1:1/", Err("control"));
        check("http://exa\u{0}mple.com", Err("control"));
    }

    #[test]
    fn broken() {
        check("", Err("empty"));
        check(" \n", Err("empty"));
        check("http://[::1", Err("valid URL"));
        check("http://origin.test:99999/", Err("valid URL"));
        check("http://origin.test:0/", Err("port 0"));
        check("http://?", Err("valid URL"));
        check("http://exa mple.com/", Err("valid URL"));
        check(&format!("http://{}.test/", "a".repeat(300)), Err("253"));
        check(&format!("http://{}test/", "a.".repeat(250)), Err("253"));
        check(&format!("http://{}.test/", "a".repeat(64)), Err("1 to 63"));
        check("http://a..b/", Err("1 to 63"));
        check(&format!("http://origin.test/{}", "a".repeat(100_000)), Err("8192"));
        let longest = format!("http://origin.test/{}", "a".repeat(MAX_URL_CHARS - 19));
        assert!(target_url(&longest).is_ok());
        check(&format!("{longest}a"), Err("8192"));
    }
}
