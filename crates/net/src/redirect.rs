//! Redirects (RFC 9110 section 15.4, Fetch standard section 4.4).

use base::address::cut_credentials;
use http::header::LOCATION;
use http::{HeaderMap, Method, StatusCode};
use url::Url;

use crate::error::Error;

/// Byte limit of a redirect target, similar to that of browsers and servers.
const MAX_URL: usize = 8192;

/// Returns the next request of a redirect, or `None` for a final response. Credentials in the target are removed, and the
/// fragment of the current URL is kept when the target has none.
///
/// # Errors
/// `BadRedirect` when the target is not a URL, `Blocked` when its scheme is not http or https.
pub(crate) fn next(
    status: StatusCode,
    headers: &HeaderMap,
    method: &Method,
    url: &Url,
) -> Result<Option<(Method, Url)>, Error> {
    if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = headers.get(LOCATION) else {
        return Ok(None);
    };
    let host = url.host_str().unwrap_or_default();
    let bad = |reason: &str| Error::BadRedirect { host: host.to_owned(), reason: reason.to_owned() };
    if location.len() > MAX_URL {
        return Err(bad("too long"));
    }
    let location = String::from_utf8_lossy(location.as_bytes());
    let mut target = url.join(&location).map_err(|error| bad(&error.to_string()))?;
    if !matches!(target.scheme(), "http" | "https") {
        let reason = "redirect to a scheme other than http and https";
        return Err(Error::Blocked { host: host.to_owned(), reason });
    }
    cut_credentials(&mut target);
    if target.fragment().is_none() {
        target.set_fragment(url.fragment());
    }
    let keep = matches!(status.as_u16(), 307 | 308) || *method == Method::HEAD;
    Ok(Some((if keep { method.clone() } else { Method::GET }, target)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn step(status: u16, method: &Method, location: &[u8]) -> Result<Option<(Method, String)>, Error> {
        let mut headers = HeaderMap::new();
        headers.insert(LOCATION, HeaderValue::from_bytes(location).unwrap());
        let url = "https://a.test/dir/page?q#frag".parse().unwrap();
        let next = next(StatusCode::from_u16(status).unwrap(), &headers, method, &url)?;
        Ok(next.map(|(method, url)| (method, url.to_string())))
    }

    #[test]
    fn targets_are_joined() {
        for (location, expect) in [
            ("/x", "https://a.test/x#frag"),
            ("x#y", "https://a.test/dir/x#y"),
            ("//b.test/", "https://b.test/#frag"),
            ("http://u:p@b.test:8080/x", "http://b.test:8080/x#frag"),
            ("", "https://a.test/dir/page?q#frag"),
            ("/ü", "https://a.test/%C3%BC#frag"),
            ("http://2130706433/", "http://127.0.0.1/#frag"),
        ] {
            let found = step(302, &Method::GET, location.as_bytes()).unwrap().unwrap();
            assert_eq!(found, (Method::GET, expect.to_owned()), "{location}");
        }
    }

    #[test]
    fn methods_follow_the_status() {
        for (status, method, expect) in [
            (301, Method::POST, Method::GET),
            (302, Method::POST, Method::GET),
            (303, Method::PUT, Method::GET),
            (303, Method::HEAD, Method::HEAD),
            (307, Method::POST, Method::POST),
            (308, Method::PUT, Method::PUT),
        ] {
            assert_eq!(step(status, &method, b"/").unwrap().unwrap().0, expect, "{status}");
        }
        for status in [200, 300, 304, 305, 404] {
            assert_eq!(step(status, &Method::GET, b"/"), Ok(None));
        }
        let url = "http://a.test/".parse().unwrap();
        assert_eq!(next(StatusCode::FOUND, &HeaderMap::new(), &Method::GET, &url), Ok(None));
    }

    #[test]
    fn other_targets_are_refused() {
        for location in
            ["file:///etc/passwd", "javascript:alert(1)", "data:text/html,x", "ftp://a.test/", "about:blank"]
        {
            assert!(matches!(step(302, &Method::GET, location.as_bytes()), Err(Error::Blocked { .. })), "{location}");
        }
        for location in ["http://", "http://[::1/", "http://a.test:99999/", &format!("/{}", "a".repeat(MAX_URL))] {
            assert!(
                matches!(step(302, &Method::GET, location.as_bytes()), Err(Error::BadRedirect { .. })),
                "{location}"
            );
        }
    }
}
