//! Forwarding of requests in absolute form to the target, or to the upstream proxy.

use std::time::Duration;

use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::uri::{PathAndQuery, Uri};
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use url::{Position, Url};

use super::conversation::{Body, Conversation, TunnelEnd};
use super::upstream::Upstream;
use crate::error::{Error, chain};
use crate::proxy::Proxy;

/// Hop-by-hop headers (RFC 9110 section 7.6.1), in addition to those listed in `Connection`.
const HOP_BY_HOP: &[&str] = &[
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Timeout for the connection of the previous request to become ready for the next one.
const PATIENCE: Duration = Duration::from_millis(50);

/// Forwards the request and returns the response; bodies stream in both directions.
pub(super) async fn request(
    conversation: &Conversation,
    url: &Url,
    mut request: Request<Incoming>,
) -> Result<Response<Body>, Error> {
    let forwards = conversation.shared.proxy.as_ref().filter(|proxy| proxy.resolves);
    let upgrade = upgrade(request.headers());
    let near = upgrade.is_some().then(|| hyper::upgrade::on(&mut request));
    prepare(&mut request, url, forwards, upgrade).map_err(|reason| protocol(url, reason))?;
    let mut response = send(conversation, url, request).await?;
    let switched = response.headers().get(header::UPGRADE).cloned();
    clean(response.headers_mut());
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        let Some((near, protocol)) = near.zip(switched) else {
            return Err(self::protocol(url, "it switches to a protocol that was not requested"));
        };
        conversation.hand_over(near, TunnelEnd::Upgrade(hyper::upgrade::on(&mut response)));
        switch(response.headers_mut(), protocol);
    }
    Ok(response.map(BodyExt::boxed))
}

/// Builds the request head for the next hop.
fn prepare(
    request: &mut Request<Incoming>,
    url: &Url,
    forwards: Option<&Proxy>,
    upgrade: Option<HeaderValue>,
) -> Result<(), &'static str> {
    if forwards.is_none() {
        let path = request.uri().path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
        *request.uri_mut() = Uri::from(path);
    }
    *request.version_mut() = http::Version::HTTP_11;
    let host = HeaderValue::from_str(&url[Position::BeforeHost..Position::AfterPort]).map_err(|_| "no host")?;
    let headers = request.headers_mut();
    clean(headers);
    headers.remove(header::EXPECT);
    // The target URI overrides the `Host` header (RFC 9112 section 3.2.2).
    headers.insert(header::HOST, host);
    if let Some(value) = forwards.and_then(Proxy::authorization) {
        headers.insert(header::PROXY_AUTHORIZATION, value);
    }
    if let Some(protocol) = upgrade {
        switch(headers, protocol);
    }
    Ok(())
}

/// Returns the protocol that a request wants to switch to.
fn upgrade(headers: &HeaderMap) -> Option<HeaderValue> {
    let named = connection_options(headers).any(|name| name == header::UPGRADE);
    headers.get(header::UPGRADE).filter(|_| named).cloned()
}

fn switch(headers: &mut HeaderMap, protocol: HeaderValue) {
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(header::UPGRADE, protocol);
}

fn connection_options(headers: &HeaderMap) -> impl Iterator<Item = HeaderName> {
    let lines = headers.get_all(header::CONNECTION).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).filter_map(|name| HeaderName::from_bytes(name.trim().as_bytes()).ok())
}

/// Removes hop-by-hop headers.
fn clean(headers: &mut HeaderMap) {
    // `Content-Length` is kept even if `Connection` lists it: without it the framing would change.
    let named: Vec<_> = connection_options(headers).filter(|name| *name != header::CONTENT_LENGTH).collect();
    for name in named {
        headers.remove(name);
    }
    for name in HOP_BY_HOP {
        headers.remove(*name);
    }
}

/// Sends over the connection of the previous request if it has the same target, otherwise over a new one.
async fn send(
    conversation: &Conversation,
    url: &Url,
    mut request: Request<Incoming>,
) -> Result<Response<Incoming>, Error> {
    let host = &url[Position::BeforeHost..Position::AfterPort];
    let known = conversation.upstream.lock().take().filter(|upstream| upstream.host == host);
    if let Some(mut upstream) = known
        && tokio::time::timeout(PATIENCE, upstream.sender.ready()).await.is_ok_and(|ready| ready.is_ok())
    {
        match upstream.sender.try_send_request(request).await {
            Ok(response) => return Ok(keep(conversation, upstream, response)),
            Err(mut error) => match error.take_message() {
                // The connection closed before the request was sent, so it can be retried safely.
                Some(unsent) => request = unsent,
                None => return Err(protocol(url, &chain(&error.into_error()))),
            },
        }
    }
    let way = conversation.shared.open(url, false).await?;
    let mut upstream =
        Upstream::start(way, host, &conversation.shared.client.limits).await.map_err(|e| protocol(url, &chain(&e)))?;
    let response = upstream.sender.send_request(request).await.map_err(|error| protocol(url, &chain(&error)))?;
    Ok(keep(conversation, upstream, response))
}

/// Keeps the connection for the body of this response and for the next request.
fn keep(conversation: &Conversation, upstream: Upstream, response: Response<Incoming>) -> Response<Incoming> {
    *conversation.upstream.lock() = Some(upstream);
    response
}

fn protocol(url: &Url, reason: &str) -> Error {
    Error::Protocol { host: url.host_str().unwrap_or_default().to_owned(), reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_concerns_one_connection_stays_behind() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "close, X-Mine"),
            ("connection", "content-length"),
            ("keep-alive", "5"),
            ("te", "trailers"),
            ("proxy-authorization", "Basic x"),
            ("proxy-connection", "keep-alive"),
            ("transfer-encoding", "chunked"),
            ("x-mine", "1"),
            ("x-theirs", "1"),
            ("content-length", "2"),
        ] {
            headers.append(name, HeaderValue::from_static(value));
        }
        clean(&mut headers);
        let mut left: Vec<_> = headers.keys().map(HeaderName::as_str).collect();
        left.sort_unstable();
        assert_eq!(left, ["content-length", "x-theirs"]);
    }

    #[test]
    fn a_switch_must_be_named_twice() {
        let check = |pairs: &[(&'static str, &'static str)], expect: Option<&str>| {
            let pairs =
                pairs.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
            let found = upgrade(&pairs.collect());
            assert_eq!(found.as_ref().and_then(|value| value.to_str().ok()), expect);
        };
        check(&[("upgrade", "websocket"), ("connection", "keep-alive, Upgrade")], Some("websocket"));
        check(&[("upgrade", "websocket")], None);
        check(&[("connection", "upgrade")], None);
    }
}
