//! Request heads: filtering of the caller's headers, and the request line for each kind of connection.

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::uri::{Authority, PathAndQuery, Scheme, Uri};
use http::{Method, Request, Version};
use http_body_util::Full;
use url::{Position, Url};

use crate::proxy::Proxy;

/// One request of a redirect chain.
#[derive(Debug, Clone)]
pub(crate) struct Hop {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// Whether the request is idempotent and may be sent twice.
    pub(crate) repeatable: bool,
}

/// Form of the request on a connection.
#[derive(Clone, Copy)]
pub(crate) enum TargetForm<'a> {
    /// HTTP/1.1 to the target, directly or through a tunnel.
    Origin,
    /// HTTP/1.1 to a proxy that forwards (RFC 9112 section 3.2.2).
    Absolute(&'a Proxy),
    /// HTTP/2.
    Http2,
}

/// Headers that the client or the connection sets: if callers could set them, they could break the framing or the routing.
const OURS: &[&str] = &[
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "upgrade",
    "te",
    "trailer",
    "keep-alive",
    "expect",
    "http2-settings",
];

/// Words in the names of headers that carry credentials.
const CREDENTIAL_WORDS: &[&str] =
    &["auth", "cookie", "token", "secret", "key", "session", "password", "credential", "signature"];

/// Removes headers that callers may not set, and adds `Accept-Encoding` unless the caller has set it.
pub(crate) fn clean(headers: HeaderMap) -> HeaderMap {
    let mut kept = HeaderMap::with_capacity(headers.len() + 2);
    let mut current: Option<HeaderName> = None;
    for (name, value) in headers {
        // The iterator yields the name only with the first of several values.
        current = name.or(current);
        let Some(name) = &current else { continue };
        if !OURS.contains(&name.as_str()) && !name.as_str().starts_with("proxy-") {
            kept.append(name.clone(), value);
        }
    }
    if !kept.contains_key(header::ACCEPT_ENCODING) {
        kept.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip, deflate, br, zstd"));
    }
    kept
}

/// Removes headers that must not reach another origin.
pub(crate) fn drop_credentials(headers: &mut HeaderMap) {
    let secret = |name: &HeaderName, value: &HeaderValue| {
        value.is_sensitive() || CREDENTIAL_WORDS.iter().any(|word| name.as_str().contains(word))
    };
    let doomed: Vec<HeaderName> =
        headers.iter().filter(|(name, value)| secret(name, value)).map(|(name, _)| name.clone()).collect();
    for name in doomed {
        headers.remove(name);
    }
}

/// Builds the request.
///
/// # Errors
/// When the URL cannot be sent over HTTP, mostly because of its length.
pub(crate) fn build(
    hop: &Hop,
    cookie: Option<HeaderValue>,
    form: TargetForm<'_>,
) -> Result<Request<Full<Bytes>>, http::Error> {
    let authority = Authority::try_from(&hop.url[Position::BeforeHost..Position::AfterPort])?;
    let path = target(&hop.url[Position::BeforePath..Position::AfterQuery])?;
    let host = HeaderValue::from_str(authority.as_str())?;
    let uri = match form {
        TargetForm::Origin => Uri::from(path),
        TargetForm::Absolute(_) | TargetForm::Http2 => {
            let scheme = if hop.url.scheme() == "https" { Scheme::HTTPS } else { Scheme::HTTP };
            Uri::builder().scheme(scheme).authority(authority).path_and_query(path).build()?
        }
    };
    let mut headers = HeaderMap::with_capacity(hop.headers.len() + 3);
    if !matches!(form, TargetForm::Http2) {
        headers.insert(header::HOST, host);
    }
    if let TargetForm::Absolute(proxy) = form
        && let Some(value) = proxy.authorization()
    {
        headers.insert(header::PROXY_AUTHORIZATION, value);
    }
    headers.extend(hop.headers.clone());
    headers.remove(header::COOKIE);
    if let Some(cookie) = cookie {
        headers.insert(header::COOKIE, cookie);
    }
    let mut request = Request::new(Full::new(hop.body.clone()));
    *request.method_mut() = hop.method.clone();
    *request.uri_mut() = uri;
    *request.version_mut() = if matches!(form, TargetForm::Http2) { Version::HTTP_2 } else { Version::HTTP_11 };
    *request.headers_mut() = headers;
    Ok(request)
}

/// Converts the target; percent-encodes characters that the URL standard allows and the HTTP types refuse.
fn target(text: &str) -> Result<PathAndQuery, http::uri::InvalidUri> {
    PathAndQuery::try_from(text).or_else(|_| {
        let mut escaped = String::with_capacity(text.len() + 16);
        for byte in text.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~:/?@!$&'()*+,;=%".contains(&byte) {
                escaped.push(char::from(byte));
            } else {
                escaped.push_str(&format!("%{byte:02X}"));
            }
        }
        PathAndQuery::try_from(escaped)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hop(url: &str, headers: &[(&'static str, &'static str)]) -> Hop {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_static(value));
        }
        let (url, headers) = (url.parse().unwrap(), clean(map));
        Hop { method: Method::GET, url, headers, body: Bytes::new(), repeatable: true }
    }

    #[test]
    fn framing_and_routing_fields_are_ours() {
        let hop = hop(
            "http://a.test:81/x?y#z",
            &[
                ("host", "evil.test"),
                ("content-length", "5"),
                ("te", "x"),
                ("proxy-authorization", "x"),
                ("x-a", "1"),
                ("x-a", "2"),
            ],
        );
        let request = build(&hop, None, TargetForm::Origin).unwrap();
        assert_eq!(request.uri(), "/x?y");
        assert_eq!(request.headers()["host"], "a.test:81");
        assert_eq!(request.headers().get_all("x-a").iter().count(), 2);
        assert_eq!(request.headers().len(), 4, "{:?}", request.headers());
    }

    #[test]
    fn forms_of_the_request_line() {
        let hop = hop("https://user:pw@b.test/p", &[("cookie", "own=1")]);
        let request = build(&hop, Some(HeaderValue::from_static("a=1")), TargetForm::Http2).unwrap();
        assert_eq!(request.uri(), "https://b.test/p");
        assert!(!request.headers().contains_key("host"));
        assert_eq!(request.headers()["cookie"], "a=1");
        let proxy = Proxy::new("http://u:p@proxy.test:3128".parse().unwrap());
        let request = build(&hop, None, TargetForm::Absolute(&proxy)).unwrap();
        assert_eq!(request.uri(), "https://b.test/p");
        assert_eq!(request.headers()["proxy-authorization"], "Basic dTpw");
        assert!(!request.headers().contains_key("cookie"));
    }

    #[test]
    fn every_printable_character_of_a_path_and_query_goes_out() {
        for byte in 0x21..0x7f_u8 {
            let url = format!("http://a.test/x{0}?{0}", char::from(byte));
            build(&hop(&url, &[]), None, TargetForm::Origin).unwrap_or_else(|error| panic!("{url}: {error}"));
        }
        assert!(build(&hop(&format!("http://a.test/{}", "a".repeat(70_000)), &[]), None, TargetForm::Origin).is_err());
    }

    #[test]
    fn credentials_are_known_by_name_or_mark() {
        let mut headers =
            hop("http://a.test/", &[("authorization", "x"), ("cookie", "x"), ("x-api-key", "x"), ("accept", "x")])
                .headers;
        let mut marked = HeaderValue::from_static("x");
        marked.set_sensitive(true);
        headers.insert("x-plain", marked);
        drop_credentials(&mut headers);
        let mut left: Vec<_> = headers.keys().map(HeaderName::as_str).collect();
        left.sort_unstable();
        assert_eq!(left, ["accept", "accept-encoding"]);
    }
}
