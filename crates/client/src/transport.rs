//! HTTP transport: one request, one response.

use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::uri::{Scheme, Uri};
use http::{HeaderValue, Method, Request};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client as Http;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

use crate::{Error, Raw, Result};

/// Default timeout of a call: the longest scrape plus 30 s. Changed by [`Client::with_timeout`].
pub const DEFAULT_TIMEOUT: Duration = Duration::from_millis(wire::MAX_TIMEOUT_MS as u64 + 30_000);

/// Client of one service, with or without a key. Cheap to clone.
///
/// Every call opens a connection of its own. The service may close an idle connection just as it is reused; only a
/// retry would recover from that, and calls are never retried.
#[derive(Debug, Clone)]
pub struct Client {
    http: Http<HttpConnector, Full<Bytes>>,
    /// `host:port` of the service.
    authority: String,
    /// Path before `/v2`, without a trailing slash.
    prefix: String,
    authorization: Option<HeaderValue>,
    timeout: Duration,
}

impl Client {
    /// Returns a client of the service at `base`, such as `http://127.0.0.1:3002`. Sends nothing yet.
    ///
    /// # Errors
    /// [`Error::Address`] if `base` is not an `http://` URL, or contains a user name or a query; [`Error::Key`] if the
    /// key contains characters that are not allowed in a header.
    ///
    /// ```
    /// use client::Client;
    ///
    /// assert!(Client::new("http://127.0.0.1:3002", None).is_ok());
    /// assert_eq!(
    ///     Client::new("127.0.0.1:3002", None).unwrap_err().to_string(),
    ///     r#""127.0.0.1:3002" is not the address of a service, such as http://127.0.0.1:3002"#
    /// );
    /// ```
    pub fn new(base: &str, key: Option<&str>) -> Result<Self> {
        let address = || Error::Address(base.to_owned());
        let uri: Uri = base.parse().map_err(|_| address())?;
        let authority = uri.authority().filter(|authority| !authority.as_str().contains('@')).ok_or_else(address)?;
        if uri.scheme() != Some(&Scheme::HTTP) || uri.query().is_some() {
            return Err(address());
        }
        let authorization = key.map(bearer).transpose()?;
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let http = Http::builder(TokioExecutor::new())
            .pool_max_idle_per_host(0)
            .retry_canceled_requests(false)
            .build(connector);
        let prefix = uri.path().trim_end_matches('/').to_owned();
        Ok(Self { http, authority: authority.to_string(), prefix, authorization, timeout: DEFAULT_TIMEOUT })
    }

    /// Sets the timeout of a call, from connecting to the end of the response.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sends a request and returns the response of any status. A body is sent as JSON without being checked.
    ///
    /// # Errors
    /// [`Error::Request`], [`Error::NoAnswer`] and [`Error::Timeout`]. A response of any status is not an error.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # let site = testkit::Site::start().await;
    /// # site.respond("/v2/scrape", testkit::Reply { status: 400, body: "{}".into(), ..testkit::Reply::default() });
    /// # let address = format!("http://{}", site.addr());
    /// use client::Client;
    /// use http::Method;
    ///
    /// let raw = Client::new(&address, None)?.send(Method::POST, "/v2/scrape", "{ this is no JSON").await?;
    /// assert_eq!(raw.status, 400);
    /// # Ok::<(), client::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn send(&self, method: Method, path: &str, body: impl Into<Bytes>) -> Result<Raw> {
        let body = body.into();
        let request = self.request(method, path);
        let request = if body.is_empty() { request } else { request.header(CONTENT_TYPE, "application/json") };
        self.execute(request, body).await
    }

    /// Builds a request with the key of this client, for [`Client::execute`].
    pub fn request(&self, method: Method, path: &str) -> http::request::Builder {
        let request = Request::builder().method(method).uri(self.url("http", path));
        match &self.authorization {
            Some(value) => request.header(AUTHORIZATION, value),
            None => request,
        }
    }

    /// Sends a request built by [`Client::request`] and returns the response of any status.
    ///
    /// # Errors
    /// [`Error::Request`], [`Error::NoAnswer`] and [`Error::Timeout`], as for [`Client::send`].
    pub async fn execute(&self, request: http::request::Builder, body: impl Into<Bytes>) -> Result<Raw> {
        let request = request.body(Full::new(body.into())).map_err(Error::Request)?;
        let answer = async {
            let answer = self.http.request(request).await.map_err(|error| Error::NoAnswer(error.into()))?;
            let (head, body) = answer.into_parts();
            let body = body.collect().await.map_err(|error| Error::NoAnswer(error.into()))?.to_bytes();
            Ok(Raw { status: head.status.as_u16(), headers: head.headers, body })
        };
        tokio::time::timeout(self.timeout, answer).await.map_err(|_| Error::Timeout(self.timeout))?
    }

    /// Returns the URL of a path; the path begins with `/`.
    pub(crate) fn url(&self, scheme: &str, path: &str) -> String {
        format!("{scheme}://{}{}{path}", self.authority, self.prefix)
    }

    /// Returns path and query of a URL in a response. The host is ignored: the request goes to this client's service,
    /// so that the key is never sent to another host.
    pub(crate) fn path_of(&self, address: &str) -> Result<String> {
        let uri: Uri = address.parse().map_err(|_| Error::Address(address.to_owned()))?;
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        Ok(path.strip_prefix(&self.prefix).unwrap_or(path).to_owned())
    }

    pub(crate) fn authorization(&self) -> Option<&HeaderValue> {
        self.authorization.as_ref()
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }
}

fn bearer(key: &str) -> Result<HeaderValue> {
    let mut value = HeaderValue::try_from(format!("Bearer {key}")).map_err(|_| Error::Key)?;
    value.set_sensitive(true);
    Ok(value)
}
