//! Products of small invented pages, one class of pages a file.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod closed;
mod fields;
mod hostile;
mod scripts;
mod shown;
mod sources;
mod variants;

use extract_product::Missing;
use page::Page;
use url::Url;
use wire::{Product, Variant};

const URL: &str = "https://shop.test/p/red-kettle-12345";

fn read(html: &str) -> Result<Product, Missing> {
    read_at(URL, html)
}

fn read_at(url: &str, html: &str) -> Result<Product, Missing> {
    extract_product::product(&Page::parse(html, &Url::parse(url).unwrap()))
}

fn product(html: &str) -> Product {
    read(html).unwrap_or_else(|missing| panic!("{missing}: {html}"))
}

/// The only variant of the product of a page.
fn only(html: &str) -> Variant {
    let variants = product(html).variants;
    assert_eq!(variants.len(), 1, "{variants:?}");
    variants.into_iter().next().unwrap()
}

fn amount(variant: &Variant) -> Option<f64> {
    variant.price.as_ref().map(|price| price.amount)
}

fn currency(variant: &Variant) -> Option<&str> {
    variant.price.as_ref()?.currency.as_deref()
}

fn original(variant: &Variant) -> Option<f64> {
    variant.sale.as_ref().map(|sale| sale.original_price.amount)
}

/// A page with a heading and one block of JSON-LD.
fn json_ld(block: &str) -> String {
    format!("<h1>Red kettle</h1><script type='application/ld+json'>{block}</script>")
}
