//! The product of a page from a service of the operator.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use fetch::{Fetched, Rendered};
use scrape::{ProductService, Scraped, Target, Tools};
use serde_json::{Value, json};
use testkit::{CapturedLog, Reply, Script, Site};
use tokio::time::Instant;
use wire::Format;

use crate::setup::{options, run_with, target, tools, with_page};

const PATH: &str = "/base/v1/extract-product";
const PAGE: &str = r#"<title>Kettle</title><h1>Kettle</h1><script type="application/ld+json">{"@type": "Product",
"name": "Kettle", "offers": {"@type": "Offer", "price": "19.90", "priceCurrency": "EUR"}}</script>"#;

fn answer(product: &Value) -> Script {
    let body = json!({ "product": product }).to_string().into();
    Script::Reply(Reply { body, ..Reply::default() }.header("content-type", "application/json"))
}

fn teapot() -> Value {
    json!({ "title": "Teapot", "url": "https://a.test/teapot", "variants": [{ "availability": { "inStock": false } }] })
}

fn html(body: &str) -> Fetched {
    let body = Bytes::copy_from_slice(body.as_bytes());
    Fetched::new("http://a.test/kettle".parse().unwrap(), 200, Some("text/html".to_owned()), body)
}

async fn scrape(service: &Site, page: Fetched, formats: Vec<Format>, time: Duration) -> Scraped {
    let service = ProductService::new(&service.url("/base/")).unwrap();
    let tools = Tools { products: Some(Arc::new(service)), ..tools(&[]) };
    let asked = Target { deadline: Instant::now() + time, ..target(page.url.clone(), options(formats)) };
    run_with(&with_page(tools, page), asked).await.unwrap()
}

const LONG: Duration = Duration::from_secs(10);

#[tokio::test]
async fn the_service_takes_the_place_of_our_own_extraction() {
    let service = Site::start().await;
    service.script(PATH, vec![answer(&teapot()), answer(&Value::Null)]);
    let found = scrape(&service, html(PAGE), vec![Format::Markdown, Format::Product], LONG).await.document;
    assert_eq!((found.product.unwrap().title.as_str(), found.warning), ("Teapot", None));
    assert_eq!(found.markdown.as_deref(), Some("# Kettle"));
    let seen = &service.requests()[0];
    assert_eq!((seen.method.as_str(), seen.header("content-type")), ("POST", "application/json"));
    let sent: Value = serde_json::from_slice(&seen.body).unwrap();
    assert_eq!(sent, json!({ "html": PAGE, "url": "http://a.test/kettle" }));
    let none = scrape(&service, html(PAGE), vec![Format::Product], LONG).await.document;
    assert_eq!((none.product, none.warning.as_deref()), (None, Some("no product found: the page describes none")));
}

#[tokio::test]
async fn the_page_is_sent_as_it_is_read_and_only_where_a_product_is_wanted() {
    let service = Site::start().await;
    service.script(PATH, vec![answer(&teapot())]);
    let dom = Some(Bytes::from_static(b"<h1>After its scripts</h1>"));
    let rendered = Fetched { rendered: Some(Box::new(Rendered { dom, ..Rendered::default() })), ..html(PAGE) };
    scrape(&service, rendered, vec![Format::Product], LONG).await;
    let sent: Value = serde_json::from_slice(&service.take_requests()[0].body).unwrap();
    assert_eq!(sent["html"], "<h1>After its scripts</h1>");
    scrape(&service, html(PAGE), vec![Format::Markdown, Format::Menu], LONG).await;
    let text = Fetched::new("http://a.test/".parse().unwrap(), 200, Some("text/plain".to_owned()), "Kettle".into());
    let text = scrape(&service, text, vec![Format::Product], LONG).await.document;
    assert!(text.warning.unwrap().starts_with("no product found: "));
    assert!(service.requests().is_empty());
}

#[tokio::test]
async fn a_service_that_fails_costs_the_product_only() {
    let service = Site::start().await;
    let status = |status| Script::Reply(Reply { status, ..Reply::default() });
    let text = |body: String| Script::Reply(Reply { body: body.into(), ..Reply::default() });
    let away = Reply { status: 307, ..Reply::default() }.header("location", service.url("/other").as_str());
    service.script("/other", vec![answer(&teapot())]);
    for (script, words) in [
        (status(500), "answered 500"),
        (status(404), "answered 404"),
        (Script::Reply(away), "answered 307"),
        (Script::Raw(Bytes::new()), "cannot be reached"),
        (Script::Raw(Bytes::from_static(b"not HTTP\r\n\r\n")), "cannot be reached"),
        (Script::Hang(LONG), "took too long"),
        (Script::DripHead(Duration::from_millis(20)), "took too long"),
        (text("<html>".to_owned()), "something else than a product"),
        (text(json!({ "product": { "title": "Teapot" } }).to_string()), "something else than a product"),
        (text(format!("{{\"product\": \"{}\"}}", "x".repeat(8 << 20))), "something else than a product"),
    ] {
        service.script(PATH, vec![script]);
        let began = Instant::now();
        let page = scrape(&service, html(PAGE), vec![Format::Markdown, Format::Product], Duration::from_secs(2)).await;
        assert!(began.elapsed() < Duration::from_millis(1800), "{words}: {:?}", began.elapsed());
        let (document, warning) = (&page.document, page.document.warning.as_deref().unwrap_or_default());
        assert!(warning.starts_with("no product found: ") && warning.contains(words), "{words}: {warning}");
        assert_eq!((document.product.as_ref(), document.markdown.as_deref()), (None, Some("# Kettle")), "{words}");
    }
    assert!(service.requests().iter().all(|seen| seen.path != "/other"), "a redirect was followed");
}

#[tokio::test]
async fn a_service_that_fails_has_one_line_and_not_one_for_each_page() {
    let log = CapturedLog::start();
    let service = Site::start().await;
    service.script(PATH, vec![Script::Reply(Reply { status: 500, ..Reply::default() })]);
    let products = Arc::new(ProductService::new(&service.url("/base/")).unwrap());
    for _ in 0..3 {
        let tools = Tools { products: Some(Arc::clone(&products)), ..tools(&[]) };
        let page = html(PAGE);
        let asked =
            Target { deadline: Instant::now() + LONG, ..target(page.url.clone(), options(vec![Format::Product])) };
        let found = run_with(&with_page(tools, page), asked).await.unwrap().document;
        assert!(found.product.is_none() && found.warning.unwrap().contains("answered 500"));
    }
    let found = log.lines_with("the product service failed");
    assert!(found.len() == 1 && found[0].contains("status 500"), "{found:#?}");
}
