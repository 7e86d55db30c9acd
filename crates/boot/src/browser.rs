//! Protection against web pages that use a visitor's browser to call the service (CSRF and DNS rebinding). A browser sends
//! the requests of any page to any address that it can reach, so calls without a key must prove that no foreign page has
//! sent them:
//!
//! - the `Host` must be that of this service. A foreign name may resolve to this service (DNS rebinding), and its page
//!   could read every answer; but the browser still sends that name as the host;
//! - calls with side effects must not come from another site: `Origin` (RFC 6454 section 7) and `Sec-Fetch-Site` (W3C Fetch
//!   Metadata) are set by the browser, and no page can change them.

use std::net::{IpAddr, SocketAddr};

use app::Refusal;
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use url::Url;
use wire::Code;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Reason why a call may come from a foreign web page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ForeignPage {
    /// The host is not that of this service.
    #[error(
        "calls without a known API key are accepted only under localhost, a loopback address, the listening address of \
         the service, and the names in the setting server.hosts (QUARRY__SERVER__HOSTS); the host of this request is \
         none of them"
    )]
    Host,
    /// The call has side effects and comes from another site.
    #[error("web pages of other sites may not call without an API key; send a key that the operator has created")]
    Origin,
}

impl Refusal for ForeignPage {
    fn code(&self) -> Code {
        Code::Forbidden
    }
}

/// Refuses a call that a page of another site may have sent.
///
/// `hosts` are the names of `server.hosts`; `own` are the listening address and the local address of the connection.
///
/// # Errors
/// [`ForeignPage`] with the reason.
pub fn check(parts: &Parts, hosts: &[String], own: [SocketAddr; 2]) -> Result<(), ForeignPage> {
    let (name, port) = host(parts).ok_or(ForeignPage::Host)?;
    if !is_ours(&name, hosts, own.map(|address| address.ip())) {
        return Err(ForeignPage::Host);
    }
    if changes_something(&parts.method, &parts.headers) && comes_from_elsewhere(&parts.headers, &name, port) {
        return Err(ForeignPage::Origin);
    }
    Ok(())
}

/// Returns the host of a request, normalised by [`host_name`]: HTTP/2 sends it in the target, HTTP/1.1 as a header. `None`
/// when it is missing or ambiguous.
fn host(parts: &Parts) -> Option<(String, Option<u16>)> {
    let lines = parts.headers.get_all(header::HOST).iter().map(|value| value.to_str().unwrap_or_default());
    let mut all = parts.uri.authority().map(Authority::as_str).into_iter().chain(lines).map(host_name);
    let first = all.next()??;
    all.all(|other| other.as_ref() == Some(&first)).then_some(first)
}

/// Parses and normalises the name and port of a host (RFC 9110 section 7.2): names in lower case without the trailing dot,
/// IPv6 addresses in brackets and in their short form.
pub(crate) fn host_name(text: &str) -> Option<(String, Option<u16>)> {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
    if !text.bytes().all(known) {
        return None;
    }
    let authority: Authority = text.parse().ok()?;
    let name = authority.host().to_ascii_lowercase();
    let name = name.strip_suffix('.').unwrap_or(&name);
    let port = match text.rsplit_once(']').map_or(text, |(_, rest)| rest).split_once(':') {
        Some((_, "")) | None => None,
        Some((_, port)) => Some(port.parse().ok()?),
    };
    let name = match address(name) {
        Some(IpAddr::V6(address)) => format!("[{address}]"),
        Some(IpAddr::V4(_)) => name.to_owned(),
        None if name.contains(['[', ']', ':']) || name.is_empty() => return None,
        None => name.to_owned(),
    };
    Some((name, port))
}

fn address(name: &str) -> Option<IpAddr> {
    let bare = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    match bare {
        Some(bare) => bare.parse().ok().map(IpAddr::V6),
        None => name.parse().ok().map(IpAddr::V4),
    }
}

fn is_ours(name: &str, hosts: &[String], own: [IpAddr; 2]) -> bool {
    // Browsers resolve `localhost` and its subdomains to this machine without DNS (RFC 6761 section 6.3).
    if name == "localhost" || name.ends_with(".localhost") || hosts.iter().any(|host| host == name) {
        return true;
    }
    let found = address(name).map(|address| address.to_canonical());
    found.is_some_and(|found| found.is_loopback() || own.iter().any(|own| own.to_canonical() == found))
}

/// Returns whether a call has side effects. WebSockets count although opened by GET: foreign pages can read their messages.
fn changes_something(method: &Method, headers: &HeaderMap) -> bool {
    let reads = matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
    !reads || headers.contains_key(header::UPGRADE) || headers.contains_key(header::SEC_WEBSOCKET_KEY)
}

fn comes_from_elsewhere(headers: &HeaderMap, name: &str, port: Option<u16>) -> bool {
    let text = |line: &HeaderValue| line.to_str().unwrap_or("?").trim().to_ascii_lowercase();
    let mut sites = headers.get_all(SEC_FETCH_SITE).iter().map(text);
    let mut origins = headers.get_all(header::ORIGIN).iter().map(text);
    sites.any(|site| !matches!(site.as_str(), "same-origin" | "none"))
        || origins.any(|origin| !is_origin(&origin, name, port))
}

/// Returns whether an origin is `scheme://name:port`. Both http and https match, since a proxy in front may add TLS.
fn is_origin(origin: &str, name: &str, port: Option<u16>) -> bool {
    let Some(url) = Url::parse(origin).ok().filter(|url| matches!(url.scheme(), "http" | "https")) else {
        return false;
    };
    let host = url.host_str().and_then(host_name).map(|(name, _)| name);
    let usual = if url.scheme() == "https" { 443 } else { 80 };
    host.as_deref() == Some(name) && url.port().unwrap_or(usual) == port.unwrap_or(usual)
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn parts(method: &str, target: &str, lines: &[(&str, &str)]) -> Parts {
        let request = lines.iter().fold(Request::builder().method(method).uri(target), |request, (name, value)| {
            request.header(*name, *value)
        });
        request.body(()).unwrap().into_parts().0
    }

    fn answered(method: &str, target: &str, lines: &[(&str, &str)], listen: &str) -> bool {
        check(&parts(method, target, lines), &["quarry.lan".to_owned()], [listen.parse().unwrap(); 2]).is_ok()
    }

    #[test]
    fn hosts() {
        let check = |host: &str, expect: bool| {
            assert_eq!(answered("GET", "/metrics", &[("host", host)], "192.0.2.7:3002"), expect, "{host}");
        };
        for ours in [
            "localhost",
            "LocalHost:3002",
            "localhost.",
            "localhost.:80",
            "app.localhost",
            "127.0.0.1",
            "127.8.9.1:1",
            "[::1]",
            "[::1]:3002",
            "[0:0::1]",
            "[::ffff:127.0.0.1]",
            "192.0.2.7",
            "192.0.2.7:9",
            "quarry.lan",
            "QUARRY.lan.:3002",
        ] {
            check(ours, true);
        }
        for other in [
            "evil.example",
            "evil.example:3002",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "notlocalhost",
            "user@localhost",
            "localhost@evil.example",
            "127.0.0.1:3002@evil.example",
            "192.0.2.8",
            "10.0.0.1",
            "[::2]",
            "[fe80::1]",
            "",
            ":3002",
            "localhost:99999",
            "localhost:x",
            "localhost/evil",
            "localhost evil",
            "127.0.0.1,evil.example",
            "xquarry.lan",
            "a.quarry.lan",
            "[::1",
            "::1",
            "127.1",
            "2130706433",
        ] {
            check(other, false);
        }
    }

    #[test]
    fn every_host_of_a_request_counts() {
        let check = |target: &str, lines: &[(&str, &str)], expect: bool| {
            assert_eq!(answered("GET", target, lines, "127.0.0.1:3002"), expect, "{target} {lines:?}");
        };
        check("/x", &[], false);
        check("/x", &[("host", "localhost"), ("host", "localhost")], true);
        check("/x", &[("host", "localhost"), ("host", "evil.example")], false);
        check("/x", &[("host", "evil.example"), ("host", "localhost")], false);
        check("http://localhost:3002/x", &[], true);
        check("http://evil.example/x", &[], false);
        check("http://localhost/x", &[("host", "evil.example")], false);
        check("http://evil.example/x", &[("host", "localhost")], false);
        check("/x", &[("host", "evil.example"), ("x-forwarded-host", "localhost")], false);
    }

    #[test]
    fn the_address_that_a_connection_came_in_on_is_ours() {
        let parts = parts("GET", "/x", &[("host", "192.0.2.9:3002")]);
        let listen = "0.0.0.0:3002".parse().unwrap();
        assert_eq!(check(&parts, &[], [listen; 2]), Err(ForeignPage::Host));
        assert_eq!(check(&parts, &[], [listen, "192.0.2.9:3002".parse().unwrap()]), Ok(()));
    }

    #[test]
    fn pages_of_other_sites() {
        let check = |method: &str, more: &[(&str, &str)], expect: bool| {
            let lines: Vec<_> = [("host", "localhost:3002")].into_iter().chain(more.iter().copied()).collect();
            assert_eq!(answered(method, "/v2/scrape", &lines, "127.0.0.1:3002"), expect, "{method} {more:?}");
        };
        for method in ["POST", "PATCH", "PUT", "DELETE", "CONNECT", "WHATEVER"] {
            check(method, &[], true);
            check(method, &[("origin", "http://localhost:3002")], true);
            check(method, &[("origin", "http://LOCALHOST:3002"), ("sec-fetch-site", "same-origin")], true);
            check(method, &[("sec-fetch-site", "none")], true);
            for origin in [
                "http://evil.example",
                "null",
                "",
                "http://localhost",
                "http://localhost:8080",
                "http://127.0.0.1:3002",
                "http://localhost:3002.evil.example",
                "chrome-extension://abc",
                "file://",
                "localhost:3002",
            ] {
                check(method, &[("origin", origin)], false);
            }
            check(method, &[("origin", "http://localhost:3002"), ("origin", "http://evil.example")], false);
            for site in ["cross-site", "same-site", "Cross-Site", "", "new-word"] {
                check(method, &[("sec-fetch-site", site)], false);
            }
            check(method, &[("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")], false);
        }
        // Reads are allowed from any site: the browser does not let a foreign page see the answer.
        check("GET", &[("origin", "http://evil.example"), ("sec-fetch-site", "cross-site")], true);
        check("GET", &[("origin", "http://evil.example"), ("upgrade", "websocket")], false);
        check("GET", &[("origin", "null"), ("upgrade", "WebSocket, h2c")], false);
        check("GET", &[("origin", "http://localhost:3002"), ("upgrade", "websocket")], true);
        check("GET", &[("upgrade", "websocket")], true);
    }

    #[test]
    fn the_port_of_an_origin_may_be_the_usual_one() {
        for (origin, host, expect) in [
            ("https://quarry.lan", "quarry.lan", true),
            ("https://quarry.lan", "quarry.lan:443", true),
            ("http://quarry.lan", "quarry.lan:443", false),
            ("http://quarry.lan", "quarry.lan:80", true),
            ("https://quarry.lan:8443", "quarry.lan:8443", true),
            ("https://quarry.lan:8443", "quarry.lan", false),
            ("http://[::1]:3002", "[::1]:3002", true),
        ] {
            assert_eq!(
                answered("POST", "/x", &[("host", host), ("origin", origin)], "127.0.0.1:1"),
                expect,
                "{origin}"
            );
        }
    }
}
