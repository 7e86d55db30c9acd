//! A client for tests, which returns every answer and validates it against the OpenAPI document.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderMap, Method};
use serde_json::Value;

use crate::openapi;

/// A caller, with or without a key.
#[derive(Clone)]
pub struct Client {
    inner: client::Client,
    address: SocketAddr,
    token: Option<String>,
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body as JSON; a body that is not JSON is a string.
    pub body: Value,
}

impl Client {
    /// A caller of the service at `address`.
    ///
    /// # Panics
    /// When the token cannot stand in a header.
    #[must_use]
    #[expect(clippy::expect_used, reason = "a test without a caller has failed")]
    pub fn new(address: SocketAddr, token: Option<String>) -> Self {
        let inner = client::Client::new(&format!("http://{address}"), token.as_deref()).expect("a client");
        Self { inner, address, token }
    }

    /// Returns this caller as a client with typed requests and answers.
    #[must_use]
    pub fn typed(&self) -> &client::Client {
        &self.inner
    }

    /// Returns its bearer token.
    #[must_use]
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// Sends a GET.
    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path), Bytes::new()).await
    }

    /// Sends a POST of a JSON body.
    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_raw(path, body.to_string()).await
    }

    /// Sends a POST of raw bytes with the content type of JSON.
    pub async fn post_raw(&self, path: &str, body: impl Into<Bytes>) -> Answer {
        let request = self.request(Method::POST, path).header("content-type", "application/json");
        self.send(request, body.into()).await
    }

    /// Sends a PATCH of a JSON body.
    pub async fn patch(&self, path: &str, body: &Value) -> Answer {
        let request = self.request(Method::PATCH, path).header("content-type", "application/json");
        self.send(request, body.to_string().into()).await
    }

    /// Sends a DELETE.
    pub async fn delete(&self, path: &str) -> Answer {
        self.send(self.request(Method::DELETE, path), Bytes::new()).await
    }

    /// Starts a job at `path` and returns the path to read it at.
    ///
    /// # Panics
    /// When it is refused.
    pub async fn start(&self, path: &str, body: &Value) -> String {
        let answer = self.post(path, body).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        format!("{path}/{}", answer.body["id"].as_str().unwrap_or_default())
    }

    /// Reads a job again and again until it has ended; the answer holds its first documents.
    ///
    /// # Panics
    /// When it has not ended after a minute.
    pub async fn ended(&self, path: &str) -> Answer {
        let started = Instant::now();
        loop {
            let answer = self.get(path).await;
            assert_eq!(answer.status, 200, "{}", answer.body);
            if answer.body["status"] != "scraping" {
                return answer;
            }
            assert!(started.elapsed() < Duration::from_secs(60), "still at work: {}", answer.body);
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
    }

    /// Reads the check of a monitor again and again until it has ended, and returns it with its pages.
    ///
    /// # Panics
    /// When it has not ended after a minute.
    pub async fn checked(&self, path: &str) -> Value {
        let started = Instant::now();
        loop {
            let mut answer = self.get(path).await;
            assert_eq!(answer.status, 200, "{}", answer.body);
            if !answer.body["data"]["finishedAt"].is_null() {
                return answer.body["data"].take();
            }
            assert!(started.elapsed() < Duration::from_secs(60), "still at work: {}", answer.body);
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
    }

    /// Every document of a job, by following `next` as clients do.
    ///
    /// # Panics
    /// When a page of the results is refused.
    pub async fn documents(&self, path: &str) -> Vec<Value> {
        let (mut documents, mut path) = (Vec::new(), path.to_owned());
        loop {
            let mut answer = self.get(&path).await;
            assert_eq!(answer.status, 200, "{}", answer.body);
            documents.extend(answer.body["data"].as_array_mut().map(std::mem::take).unwrap_or_default());
            let Some(next) = answer.body["next"].as_str() else { return documents };
            let base = format!("http://{}", self.address);
            path = next.strip_prefix(&base).unwrap_or_else(|| panic!("{next} is elsewhere")).to_owned();
        }
    }

    /// The bytes behind a URL that an answer holds, with their content type.
    ///
    /// # Panics
    /// When it leads elsewhere, or to no file.
    #[expect(clippy::expect_used, reason = "a test without an answer has failed")]
    pub async fn download(&self, url: &str) -> (String, Bytes) {
        let base = format!("http://{}", self.address);
        let path = url.strip_prefix(&base).unwrap_or_else(|| panic!("{url} is elsewhere"));
        let raw = self.inner.execute(self.request(Method::GET, path), Bytes::new()).await.expect("an answer");
        assert_eq!(raw.status, 200, "{}", raw.text());
        let kind = raw.headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
        (kind.to_owned(), raw.body)
    }

    /// Sends a POST /v2/scrape.
    pub async fn scrape(&self, body: &Value) -> Answer {
        self.post("/v2/scrape", body).await
    }

    /// Returns a request that can be changed before it is sent with [`Client::send`].
    pub fn request(&self, method: Method, path: &str) -> http::request::Builder {
        self.inner.request(method, path)
    }

    /// Sends it.
    ///
    /// # Panics
    /// When there is no answer, or it is not what the OpenAPI document promises.
    #[expect(clippy::expect_used, reason = "a test without an answer has failed")]
    pub async fn send(&self, request: http::request::Builder, body: Bytes) -> Answer {
        let named = request.method_ref().cloned().zip(request.uri_ref().map(|uri| uri.path().to_owned()));
        let (method, path) = named.expect("a well-formed request");
        let raw = self.inner.execute(request, body).await.expect("an answer");
        let body = serde_json::from_slice(&raw.body).unwrap_or_else(|_| Value::String(raw.text()));
        let answer = Answer { status: raw.status, headers: raw.headers, body };
        openapi::check(&method, &path, &answer);
        answer
    }
}

impl Answer {
    /// Returns the code of an error.
    #[must_use]
    pub fn code(&self) -> &str {
        self.body["code"].as_str().unwrap_or_default()
    }

    /// Returns the markdown of a scrape.
    #[must_use]
    pub fn markdown(&self) -> &str {
        self.body["data"]["markdown"].as_str().unwrap_or_default()
    }

    /// Returns a header as text.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}
