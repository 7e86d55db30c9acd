use std::time::{Duration, Instant};

use base::Stop;

use super::*;

/// Reads a page, which must take less than ten seconds even without optimisation.
fn bounded(html: &str) -> Result<Product, Missing> {
    let page = Page::parse(html, &Url::parse(URL).unwrap());
    let start = Instant::now();
    let found = extract_product::product(&page);
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    found
}

#[test]
fn json_ld_of_40_mb() {
    let text = "a kettle ".repeat(40 << 17);
    let found = bounded(&json_ld(&format!(
        r#"{{"@type": "Product", "name": "Red kettle", "description": "{text}", "offers": {{"price": 1}}}}"#
    )));
    assert!(found.unwrap().description.unwrap().len() <= 20_000);
}

#[test]
fn a_depth_of_10_000() {
    let deep = "{\"offers\":".repeat(10_000) + "1" + &"}".repeat(10_000);
    assert!(bounded(&json_ld(&deep)).is_err());
    assert!(bounded(&format!("<script>var price = {}", "[{a:".repeat(10_000))).is_err());
    assert!(bounded(&"<div itemscope itemprop=offers itemtype=Product>".repeat(10_000)).is_err());
}

#[test]
fn a_million_offers() {
    let offers = r#"{"price":1,"sku":"a"},"#.repeat(1_000_000);
    let block = format!(r#"{{"@type": "Product", "name": "Red kettle", "offers": [{offers}]}}"#);
    if let Ok(found) = bounded(&json_ld(&block)) {
        assert!(found.variants.len() <= 500);
    }
    let items = "<p itemprop=offers itemscope itemtype=Offer><b itemprop=price>1</b></p>".repeat(100_000);
    let found = bounded(&format!("<div itemscope itemtype=Product><h1 itemprop=name>Red kettle</h1>{items}</div>"));
    assert!(found.unwrap().variants.len() <= 500);
}

#[test]
fn scripts_that_never_close() {
    assert!(bounded(&format!("<script>window.state = {}</script>", "{price: {a: ".repeat(200_000))).is_err());
    assert!(bounded(&format!("<script>{}</script>", "x = {price: '".repeat(200_000))).is_err());
    assert!(bounded(&format!("<script>{}</script>", "f({price: 1});".repeat(200_000))).is_err());
}

#[test]
fn many_prices_and_many_attributes() {
    let prices = "<li><a href=/x><img>$1</a><b class=price>$2.00</b></li>".repeat(50_000);
    assert!(bounded(&format!("<h1>Red kettle</h1>{prices}<button>Add to cart</button>")).is_err());
    let attributes = "<i data-x='{\"name\": \"Blue pot\", \"price\": 1}'></i>".repeat(50_000);
    assert!(bounded(&format!("<h1>Red kettle</h1>{attributes}")).is_err());
}

#[test]
fn a_stopped_request_ends_early() {
    let stop = Stop::new();
    let html = json_ld(r#"{"@type": "Product", "name": "Red kettle", "offers": {"price": 1}}"#);
    let page = Page::parse_until(&html, &Url::parse(URL).unwrap(), &stop);
    stop.set();
    assert_eq!(extract_product::product(&page), Err(Missing::Stopped));
}
