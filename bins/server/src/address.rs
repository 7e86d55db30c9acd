//! The public address of the server as the client reached it: the base of every URL in answers.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, Uri, header};
use url::Url;

use crate::Service;
use crate::request::RequestContext;

const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
/// Longest host name (RFC 1035 section 2.3.4) with a port.
const MAX_HOST_LENGTH: usize = 260;

/// Scheme and host as the client wrote them, without a trailing slash. The official clients send their key to these URLs,
/// so the address is always the one that the client has called (docs/CONTRACT.md, "Answers"). `X-Forwarded-*` headers count
/// only from proxies in `server.trusted_proxies`. Each request has its own address: answers to later requests use theirs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PublicAddress(pub(crate) String);

impl FromRequestParts<Arc<Service>> for PublicAddress {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, service: &Arc<Service>) -> Result<Self, Infallible> {
        Ok(Self::of(parts, service))
    }
}

impl PublicAddress {
    /// Returns the address from the head of a request.
    pub(crate) fn of(parts: &Parts, service: &Service) -> Self {
        let by_proxy = parts.extensions.get::<RequestContext>().is_some_and(RequestContext::is_by_proxy);
        let found = public_address(&parts.headers, &parts.uri, by_proxy);
        Self(found.unwrap_or_else(|| format!("http://{}", service.config.server.listen)))
    }
}

fn public_address(headers: &HeaderMap, uri: &Uri, by_proxy: bool) -> Option<String> {
    let forwarded = |name: HeaderName| first(headers, &name).filter(|_| by_proxy);
    let scheme = match forwarded(FORWARDED_PROTO) {
        Some(proto) if proto.eq_ignore_ascii_case("https") => "https",
        _ => "http",
    };
    // HTTP/2 sends the host in the request target.
    let hosts = [forwarded(FORWARDED_HOST), uri.authority().map(Authority::as_str), first(headers, &header::HOST)];
    hosts.into_iter().flatten().find_map(|host| origin(scheme, host))
}

/// Returns the first value of a list header: the one that the proxy nearest to the client has set.
fn first<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    Some(headers.get(name)?.to_str().ok()?.split(',').next()?.trim())
}

/// Returns `scheme://host`, or `None` when `host` is anything but a host and port. The header is untrusted input.
fn origin(scheme: &str, host: &str) -> Option<String> {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
    if host.is_empty() || host.len() > MAX_HOST_LENGTH || !host.bytes().all(known) {
        return None;
    }
    let url = Url::parse(&format!("{scheme}://{host}/")).ok()?;
    Some(url.origin().ascii_serialization())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lines: &[(&'static str, &str)], uri: &str, expect: Option<&str>) {
        let headers =
            lines.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect();
        assert_eq!(public_address(&headers, &uri.parse().unwrap(), true).as_deref(), expect, "{lines:?}");
    }

    #[test]
    fn only_trusted_proxies_say_where_they_were_reached() {
        let lines = [("host", "in:1"), ("x-forwarded-host", "evil.example"), ("x-forwarded-proto", "https")];
        let headers = lines.map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()));
        let found = public_address(&headers.into_iter().collect(), &"/".parse().unwrap(), false);
        assert_eq!(found.as_deref(), Some("http://in:1"));
    }

    #[test]
    fn as_the_client_wrote_it() {
        check(&[("host", "127.0.0.1:3002")], "/v2", Some("http://127.0.0.1:3002"));
        check(&[("host", "Api.Example.com:80")], "/v2", Some("http://api.example.com"));
        check(&[("host", "[::1]:3002")], "/v2", Some("http://[::1]:3002"));
        check(&[], "http://h2.example:1/v2", Some("http://h2.example:1"));
        check(&[("host", "in:1"), ("x-forwarded-proto", "https")], "/", Some("https://in:1"));
        let behind =
            [("host", "10.0.0.1"), ("x-forwarded-host", "api.example.com, b"), ("x-forwarded-proto", "HTTPS,http")];
        check(&behind, "/", Some("https://api.example.com"));
    }

    #[test]
    fn nothing_else_gets_in() {
        check(&[], "/v2", None);
        for host in
            ["a b", "user@h", "h/path", "h?x", "h#x", "h:port", "h:99999", "<b>", "h\\x", ":80", "", "[::1", "é"]
        {
            check(&[("host", host)], "/v2", None);
        }
        check(&[("host", "a.example"), ("x-forwarded-host", "evil/x")], "/", Some("http://a.example"));
        check(&[("host", "a.example"), ("x-forwarded-proto", "javascript")], "/", Some("http://a.example"));
    }
}
