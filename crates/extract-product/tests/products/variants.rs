use super::*;

fn page(block: &str) -> String {
    json_ld(block)
}

const GROUP: &str = r#"{"@type": "ProductGroup", "name": "Red kettle", "productGroupID": "G", "variesBy": ["size"], "hasVariant": [
    {"@type": "Product", "sku": "S", "name": "Red kettle small", "size": "S", "offers": {"url": "https://shop.test/p/red-kettle-12345?v=s", "price": 10, "priceCurrency": "EUR", "availability": "OutOfStock"}},
    {"@type": "Product", "sku": "L", "name": "Red kettle large", "size": "L", "offers": {"url": "https://shop.test/p/red-kettle-12345?v=l", "price": 12, "priceCurrency": "EUR", "availability": "InStock"}}]}"#;

#[test]
fn groups() {
    let found = product(&page(GROUP));
    let skus: Vec<_> = found.variants.iter().map(|variant| variant.sku.as_deref().unwrap()).collect();
    // The first one that can be bought comes first.
    assert_eq!(skus, ["L", "S"]);
    assert_eq!(found.variants[0].values.as_ref().unwrap()["size"], "L");
    assert_eq!(found.variants[1].title.as_deref(), Some("Red kettle small"));
    assert!(!found.variants[1].availability.in_stock);
}

#[test]
fn the_url_selects() {
    let found = read_at("https://shop.test/p/red-kettle-12345?v=s", &page(GROUP)).unwrap();
    assert_eq!(found.variants[0].sku.as_deref(), Some("S"));
}

#[test]
fn offers_of_variants_and_of_sellers() {
    let of = |offers: &str| page(&format!(r#"{{"@type": "Product", "name": "Red kettle", "offers": {offers}}}"#));
    let variants = of(r#"[{"sku": "A", "name": "Small", "price": 1}, {"sku": "B", "name": "Large", "price": 2}]"#);
    assert_eq!(product(&variants).variants.len(), 2);
    let sellers = of(r#"[{"price": 3, "seller": "X"}, {"price": 2, "seller": "Y"}]"#);
    assert_eq!(amount(&only(&sellers)), Some(3.0));
    let aggregate = of(r#"{"@type": "AggregateOffer", "lowPrice": "5.00", "highPrice": "9.00", "offerCount": 4}"#);
    assert_eq!(amount(&only(&aggregate)), Some(5.0));
    let nested = of(
        r#"{"@type": "AggregateOffer", "lowPrice": 1, "offers": [{"sku": "A", "price": 1}, {"sku": "B", "price": 2}]}"#,
    );
    assert_eq!(product(&nested).variants.len(), 2);
}

#[test]
fn products_that_are_variants_of_each_other() {
    let html = page(
        r#"[{"@type": "Product", "name": "Red kettle", "sku": "A", "offers": {"price": 1}},
        {"@type": "Product", "name": "Red kettle", "sku": "B", "offers": {"price": 2}}]"#,
    );
    assert_eq!(product(&html).variants.len(), 2);
}

#[test]
fn shopify() {
    let html = r#"<h1>Red kettle</h1><script type=application/json>{"id": 1, "title": "Red kettle", "handle": "red-kettle", "vendor": "Acme",
        "price": 1250, "compare_at_price": 2000, "options": ["Size", "Color"], "variants": [
        {"id": 11, "title": "S / Red", "option1": "S", "option2": "Red", "sku": "S-R", "price": 1250, "compare_at_price": 2000, "available": false},
        {"id": 12, "title": "L / Red", "option1": "L", "option2": "Red", "sku": "L-R", "price": 1500, "compare_at_price": null, "available": true}]}</script>"#;
    let found = read_at("https://shop.test/products/red-kettle?variant=11", html).unwrap();
    assert_eq!(found.brand.as_deref(), Some("Acme"));
    let [first, second] = found.variants.as_slice() else { panic!("{found:?}") };
    assert_eq!((first.id.as_deref(), amount(first), original(first)), (Some("11"), Some(12.5), Some(20.0)));
    assert_eq!(first.values.as_ref().unwrap()["Size"], "S");
    assert!(!first.availability.in_stock);
    assert_eq!((amount(second), original(second)), (Some(15.0), None));
}

#[test]
fn woocommerce() {
    let html = r#"<h1>Red kettle</h1><script type='application/ld+json'>{"@type": "Product", "name": "Red kettle",
        "offers": {"@type": "AggregateOffer", "lowPrice": "10", "highPrice": "12", "priceCurrency": "EUR"}}</script>
        <form data-product_variations='[{"attributes": {"attribute_pa_size": "s"}, "display_price": 10, "display_regular_price": 15, "is_in_stock": true, "sku": "S", "variation_id": 7},
        {"attributes": {"attribute_pa_size": "l"}, "display_price": 12, "display_regular_price": 12, "is_in_stock": false, "sku": "L", "variation_id": 8}]'></form>"#;
    let found = product(html);
    let [first, second] = found.variants.as_slice() else { panic!("{found:?}") };
    assert_eq!(
        (first.id.as_deref(), amount(first), original(first), currency(first)),
        (Some("7"), Some(10.0), Some(15.0), Some("EUR"))
    );
    assert_eq!(first.values.as_ref().unwrap()["size"], "s");
    assert!(!second.availability.in_stock);
}

#[test]
fn magento() {
    let html = r##"<h1>Red kettle</h1><script type='application/ld+json'>{"@type": "Product", "name": "Red kettle", "sku": "K",
        "offers": {"price": "10", "priceCurrency": "EUR"}}</script>
        <script type="text/x-magento-init">{"#form": {"configurable": {"spConfig": {"attributes": {"93": {"code": "color", "label": "Color",
        "options": [{"id": "1", "label": "Red", "products": ["100"]}, {"id": "2", "label": "Blue", "products": ["101"]}]}},
        "optionPrices": {"100": {"oldPrice": {"amount": 20}, "finalPrice": {"amount": 10}}, "101": {"oldPrice": {"amount": 12}, "finalPrice": {"amount": 12}}},
        "productId": "99", "sku": {"100": "K-red", "101": "K-blue"}}}}}</script>"##;
    let found = product(html);
    let [first, second] = found.variants.as_slice() else { panic!("{found:?}") };
    assert_eq!((first.id.as_deref(), amount(first), original(first)), (Some("100"), Some(10.0), Some(20.0)));
    assert_eq!(first.sku.as_deref(), Some("K-red"));
    assert_eq!(second.values.as_ref().unwrap()["Color"], "Blue");
    assert_eq!((amount(second), original(second)), (Some(12.0), None));
}
