//! Client of a service of the operator that finds products (`extract.product_service_url`).

use std::fmt::Display;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, header};
use outage::Repeats;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;
use url::Url;
use wire::Product;

/// Byte limit of an answer: ten times the largest product with a thousand variants.
const MAX_ANSWER: usize = 4 << 20;
/// Byte limit of a page that is sent. Pages of shops have less than a tenth of it.
const MAX_PAGE: usize = 16 << 20;

/// Service that finds the product of a page: `POST {url}/v1/extract-product` with `{html, url}`, answered by
/// `{product}`, which is null if the page has none.
#[derive(Debug)]
pub struct ProductService {
    url: Url,
    client: net::Client,
    /// Pace of the log lines about its failures.
    failures: Repeats,
}

/// Request for the product of a page.
#[derive(Serialize)]
struct Request<'a> {
    html: &'a str,
    url: &'a str,
}

/// Reason why the service has no answer. Its text completes "no product found: …" in a warning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Failure {
    #[error("the page is too large for the product service of this server")]
    TooLarge,
    #[error("the product service of this server cannot be reached")]
    Unreachable,
    #[error("the product service of this server took too long; a longer `timeout` may help")]
    Late,
    #[error("the product service of this server answered {0}")]
    Status(u16),
    #[error("the product service of this server answered with something else than a product")]
    Malformed,
}

impl ProductService {
    /// Creates a client of the service at this base URL. It reaches nothing else and follows no redirect.
    ///
    /// # Errors
    /// [`net::ConfigError`] when TLS or the resolver cannot be set up.
    pub fn new(url: &Url) -> Result<Self, net::ConfigError> {
        let egress = net::Egress { only: net::Destination::of(url), ..net::Egress::default() };
        let client = net::Client::new(net::Config { egress, limits: net::Limits::default() })?;
        let mut url = url.clone();
        url.set_path(&format!("{}/v1/extract-product", url.path().trim_end_matches('/')));
        url.set_fragment(None);
        Ok(Self { url, client, failures: Repeats::default() })
    }

    /// Asks for the product of a page; `None` if it has none.
    pub(crate) async fn ask(&self, body: Bytes, deadline: Instant) -> Result<Option<Product>, Failure> {
        let json = HeaderValue::from_static("application/json");
        let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, json.clone()), (header::ACCEPT, json)]);
        let url = self.url.clone();
        let post = net::Post { url, headers, body, repeatable: true, deadline, answer_bytes: MAX_ANSWER };
        let posted = self.client.post(post).await.map_err(|error| {
            self.log(&error);
            match error {
                net::Error::Timeout => Failure::Late,
                _ => Failure::Unreachable,
            }
        })?;
        if !posted.status.is_success() {
            let status = posted.status.as_u16();
            self.log(&format_args!("status {status}"));
            return Err(Failure::Status(status));
        }
        // The deadline cuts a body off.
        read(&posted.body).ok_or_else(|| if Instant::now() < deadline { Failure::Malformed } else { Failure::Late })
    }

    /// Logs a failure, at most one a minute.
    fn log(&self, error: &dyn Display) {
        if let Some(unlogged) = self.failures.next_line() {
            tracing::warn!(%error, unlogged, "the product service failed; the page gets no product");
        }
    }
}

/// Returns the request for a page, made in the thread that has parsed it.
pub(crate) fn request(html: &str, url: &Url) -> Result<Bytes, Failure> {
    if html.len() > MAX_PAGE {
        return Err(Failure::TooLarge);
    }
    let request = Request { html, url: url.as_str() };
    serde_json::to_vec(&request).map(Bytes::from).map_err(|_| Failure::TooLarge)
}

/// Reads an answer: a product, or null. `None` for anything else.
fn read(body: &[u8]) -> Option<Option<Product>> {
    let mut answer: Value = base::json::read(body, base::json::MAX_VALUES).ok()?;
    let product = answer.get_mut("product")?.take();
    match product.is_null() {
        true => Some(None),
        false => checked(&product).map(Some),
    }
}

/// Returns the product if it has what docs/CONTRACT.md promises, "Document".
fn checked(value: &Value) -> Option<Product> {
    let variants = value["variants"].as_array()?;
    let says_stock = |variant: &Value| variant["availability"]["inStock"].is_boolean();
    let product = Product::deserialize(value).ok()?;
    let is_on_the_web = Url::parse(&product.url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
    let is_whole = !product.title.trim().is_empty() && !variants.is_empty() && variants.iter().all(says_stock);
    (is_whole && is_on_the_web).then_some(product)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_product_is_read_as_one() {
        let kettle = || {
            json!({
                "title": "Kettle", "url": "https://a.test/kettle", "rating": 4.5,
                "variants": [{ "sku": "K-1", "price": { "amount": 19.9, "currency": null }, "availability": { "inStock": true } }],
            })
        };
        let read = |answer: &Value| read(answer.to_string().as_bytes());
        let product = read(&json!({ "product": kettle(), "success": true })).unwrap().unwrap();
        assert_eq!((product.title.as_str(), product.variants[0].availability.in_stock), ("Kettle", true));
        assert_eq!(product.variants[0].price.as_ref().map(|price| price.amount), Some(19.9));
        assert_eq!(read(&json!({ "product": null })), Some(None));
        let check = |change: &dyn Fn(&mut Value)| {
            let mut product = kettle();
            change(&mut product);
            assert_eq!(read(&json!({ "product": product })), None, "{product}");
        };
        check(&|product| product["title"] = json!(" "));
        check(&|product| product["title"] = json!(7));
        check(&|product| product["url"] = json!("/kettle"));
        check(&|product| product["url"] = json!("javascript:alert(1)"));
        check(&|product| product["variants"] = json!([]));
        check(&|product| product["variants"] = json!(null));
        check(&|product| product["variants"][0]["availability"] = json!({}));
        check(&|product| product["variants"][0]["price"]["amount"] = json!("19.90"));
        check(&|product| *product = json!([]));
        check(&|product| *product = json!("Kettle"));
        for answer in [json!({}), json!([]), json!("Kettle"), json!({ "products": [kettle()] })] {
            assert_eq!(read(&answer), None, "{answer}");
        }
        assert_eq!(super::read(b"<html>"), None);
        assert_eq!(super::read(format!("{{\"product\":{}", "[".repeat(1_000_000)).as_bytes()), None);
    }

    #[test]
    fn a_page_is_sent_with_its_url_unless_it_is_too_large() {
        let url = Url::parse("https://a.test/?q=\"1\"").unwrap();
        let body = request("<p>\"\u{1}é", &url).unwrap();
        let sent: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(sent, json!({ "html": "<p>\"\u{1}é", "url": "https://a.test/?q=%221%22" }));
        assert_eq!(request(&"x".repeat(MAX_PAGE + 1), &url), Err(Failure::TooLarge));
    }
}
