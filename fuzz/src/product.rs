//! Products and menus in any bytes.

use ::page::Page;

use crate::address;

/// A page whose JSON-LD, script and attribute are these bytes: what the tolerant reader reads.
///
/// It must hold: the same page gives the same product; a product has a variant; amounts are positive numbers; URLs are
/// those of the web.
pub fn product(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let attribute = text.replace('\'', "&#39;");
    let html = format!(
        "<h1>Red kettle</h1><script type='application/ld+json'>{text}</script><script>var price = {text}</script>\
         <i data-price='{attribute}'></i>{text}"
    );
    let page = Page::parse(&html, &address());
    let found = extract_product::product(&page);
    assert_eq!(found, extract_product::product(&page), "the second time differs");
    let _ = extract_product::menu(&page);
    let Ok(product) = found else { return };
    assert!(product.url.starts_with("http"), "{}", product.url);
    assert!(!product.variants.is_empty());
    for variant in &product.variants {
        let amounts = [variant.price.as_ref(), variant.sale.as_ref().map(|sale| &sale.original_price)];
        assert!(amounts.into_iter().flatten().all(|price| price.amount > 0.0 && price.amount.is_finite()));
        assert!(variant.images.iter().flatten().all(|image| image.url.starts_with("http")));
    }
}
