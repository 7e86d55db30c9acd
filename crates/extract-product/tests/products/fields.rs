use super::*;

fn with(offer: &str) -> String {
    json_ld(&format!(r#"{{"@type": "Product", "name": "Red kettle", "offers": {offer}}}"#))
}

#[test]
fn amounts() {
    let check = |price: &str, expect: f64| {
        let variant = only(&with(&format!(r#"{{"price": {price}, "priceCurrency": "EUR"}}"#)));
        assert_eq!(amount(&variant), Some(expect), "{price}");
    };
    check("1299", 1299.0);
    check("\"1.299,00\"", 1299.0);
    check("\"1 299,00\"", 1299.0);
    check("\"1'299.50\"", 1299.5);
    check("\"1.299\"", 1299.0);
    check("\"€ 12,50\"", 12.5);
    check("\"10.00 - 20.00\"", 10.0);
    check("\"from 10.00\"", 10.0);
}

#[test]
fn a_single_separator_follows_the_pages_other_prices() {
    let html = with(r#"{"price": "1.299", "priceCurrency": "USD"}"#) + "<p>$4.50<p>$12.99";
    assert_eq!(amount(&only(&html)), Some(1.299));
    let html = with(r#"{"price": "1.299", "priceCurrency": "ARS"}"#) + "<p>$4,50<p>$12,99";
    assert_eq!(amount(&only(&html)), Some(1299.0));
}

#[test]
fn zero_is_no_price() {
    assert_eq!(amount(&only(&with(r#"{"price": "0.00", "availability": "InStock"}"#))), None);
}

#[test]
fn only_real_discounts_are_sales() {
    let of = |original: &str| {
        let specification = format!(
            r#"[{{"priceType": "https://schema.org/ListPrice", "price": {original}, "priceCurrency": "EUR"}}]"#
        );
        only(&with(&format!(r#"{{"price": 10, "priceCurrency": "EUR", "priceSpecification": {specification}}}"#)))
    };
    assert_eq!(original(&of("15")), Some(15.0));
    assert_eq!(original(&of("10")), None);
    assert_eq!(original(&of("8")), None);
}

#[test]
fn prices_per_unit_are_not_the_price() {
    let specification = r#"[{"price": 99, "referenceQuantity": {"value": 1, "unitCode": "KGM"}}, {"price": 10}]"#;
    let variant = only(&with(&format!(r#"{{"priceCurrency": "EUR", "priceSpecification": {specification}}}"#)));
    assert_eq!(amount(&variant), Some(10.0));
}

#[test]
fn currencies_are_named_by_the_page_or_have_one_meaning() {
    let html = |more: &str| with(r#"{"price": "$12"}"#) + more;
    assert_eq!(currency(&only(&html(""))), None);
    assert_eq!(currency(&only(&html("<script>var x = {\"currency\": \"CAD\"}</script>"))), Some("CAD"));
    assert_eq!(currency(&only(&with(r#"{"price": "12 zł"}"#))), Some("PLN"));
}

#[test]
fn availability_is_always_there() {
    let of = |term: &str| only(&with(&format!(r#"{{"price": 1, "availability": "{term}"}}"#))).availability.in_stock;
    for term in
        ["http://schema.org/InStock", "InStock", "in stock", "schema:LimitedAvailability", "PreOrder", "instock"]
    {
        assert!(of(term), "{term}");
    }
    for term in ["http://schema.org/OutOfStock", "SoldOut", "Discontinued", "out of stock"] {
        assert!(!of(term), "{term}");
    }
    assert!(only(&with(r#"{"price": 1}"#)).availability.in_stock);
    let sold = only(&(with(r#"{"price": 1}"#) + "<p>Sold out</p><button disabled>Add to cart</button>"));
    assert!(!sold.availability.in_stock);
    assert_eq!(sold.availability.text.as_deref(), Some("Sold out"));
}

#[test]
fn category_url_pictures_and_texts() {
    let html = "<link rel=canonical href='/p/red-kettle'>".to_owned()
        + &json_ld(
            r#"[{"@type": "BreadcrumbList", "itemListElement": [{"name": "Home"}, {"name": "Kitchen"}, {"item": {"name": "Kettles"}}, {"name": "Red kettle"}]},
            {"@type": "Product", "name": "Red &amp; kettle", "description": "<p>Boils.</p><p>Fast &amp; quiet.</p>", "offers": {"price": 1},
            "image": ["/1.jpg", {"@type": "ImageObject", "url": "https://img.test/2.jpg", "caption": "Side"}, "data:image/png;base64,x"]}]"#,
        );
    let found = product(&html);
    assert_eq!(found.category.as_deref(), Some("Kettles"));
    assert_eq!(found.url, "https://shop.test/p/red-kettle");
    assert_eq!(found.title, "Red & kettle");
    assert_eq!(found.description.as_deref(), Some("Boils. Fast & quiet."));
    let images = found.variants[0].images.clone().unwrap();
    assert_eq!(images.len(), 2);
    assert_eq!((images[0].url.as_str(), images[1].alt.as_deref()), ("https://shop.test/1.jpg", Some("Side")));
}
