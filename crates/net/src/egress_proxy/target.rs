//! Targets of requests to the proxy.

use http::uri::{Authority, Uri};
use url::Url;

use super::Shared;
use super::budget::Counted;
use crate::dial::{Destination, Dialled};
use crate::error::Error;
use crate::stream::Stream;

/// An open connection to a target.
pub(super) struct TargetConnection {
    pub(super) stream: Box<dyn Stream>,
}

/// Returns the target of CONNECT, `host:port`.
pub(super) fn of_connect(uri: &Uri) -> Option<Url> {
    let authority = uri.authority().filter(|authority| authority.port_u16().is_some_and(|port| port > 0))?;
    bare(authority).and_then(|text| Url::parse(&format!("https://{text}/")).ok())
}

/// Returns the target of a request in absolute form. Only plain http is forwarded; everything else uses a tunnel.
pub(super) fn of_request(uri: &Uri) -> Option<Url> {
    bare(uri.authority()?)?;
    Url::parse(&uri.to_string()).ok().filter(|url| url.scheme() == "http")
}

/// Returns the authority, unless it contains credentials.
fn bare(authority: &Authority) -> Option<&str> {
    Some(authority.as_str()).filter(|text| !text.contains('@'))
}

impl Shared {
    /// Opens a connection to a checked address, and records the error if it fails. With `raw` the program speaks TLS
    /// itself, so the bytes are passed to the target unchanged.
    pub(super) async fn open(&self, url: &Url, raw: bool) -> Result<TargetConnection, Error> {
        let opened = self.dial(url, raw).await;
        self.note(url, opened.as_ref().err());
        let stream = Counted::new(opened?.stream, self.budget.clone());
        Ok(TargetConnection { stream: Box::new(stream) })
    }

    /// Records success or error of a connection to a target.
    pub(super) fn note(&self, url: &Url, error: Option<&Error>) {
        let port = url.port_or_known_default().unwrap_or_default();
        self.failures.note(url.host_str().unwrap_or_default(), port, error);
    }

    async fn dial(&self, url: &Url, raw: bool) -> Result<Dialled, Error> {
        let addresses = self.client.resolver.resolve(url).await?;
        let goal = Destination { url, addresses: &addresses, proxy: self.proxy.as_ref(), verify: true, raw };
        self.client.dialer.open(&goal, self.client.resolver.guard()).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, tunnel: Option<&str>, request: Option<&str>) {
        let uri: Uri = text.parse().unwrap();
        assert_eq!(of_connect(&uri).as_ref().map(Url::as_str), tunnel, "{text}");
        assert_eq!(of_request(&uri).as_ref().map(Url::as_str), request, "{text}");
    }

    #[test]
    fn targets_are_read_strictly() {
        check("a.test:443", Some("https://a.test/"), None);
        check("a.test:80", Some("https://a.test:80/"), None);
        check("2130706433:81", Some("https://127.0.0.1:81/"), None);
        check("[::1]:81", Some("https://[::1]:81/"), None);
        check("a.test", None, None);
        check("a.test:0", None, None);
        check("u@a.test:443", None, None);
        check("/x", None, None);
        check("http://a.test/x?y", None, Some("http://a.test/x?y"));
        check("http://u:p@a.test/x", None, None);
        check("https://a.test/x", None, None);
        check("ftp://a.test/x", None, None);
    }
}
