use super::*;

#[test]
fn lists_have_no_product() {
    let card = |n: usize| {
        format!(
            "<li class=card><a href=/p/{n}><img src={n}.jpg>Kettle {n}</a><p class=price>${n}.00</p><button>Add to cart</button></li>"
        )
    };
    let cards: String = (10..30).map(card).collect();
    assert!(read_at("https://shop.test/kettles", &format!("<h1>Kettles</h1><ul>{cards}</ul>")).is_err());
    let items: Vec<String> = (10..30)
        .map(|n| format!(r#"{{"@type": "Product", "name": "Kettle {n}", "offers": {{"price": {n}}}}}"#))
        .collect();
    let block = format!("[{}]", items.join(","));
    assert!(read_at("https://shop.test/kettles", &json_ld(&block).replace("Red kettle", "Kettles")).is_err());
    let list = format!(r#"{{"@type": "ItemList", "itemListElement": {block}}}"#);
    assert!(read_at("https://shop.test/kettles", &json_ld(&list).replace("Red kettle", "Kettles")).is_err());
}

#[test]
fn two_candidates_have_no_product() {
    let block = r#"[{"@type": "Product", "name": "Red kettle", "sku": "A", "offers": {"price": 1}},
        {"@type": "Product", "name": "Red kettle and blue pot with a lid", "sku": "B", "offers": {"price": 2}}]"#;
    assert!(matches!(
        read(&json_ld(block).replace("<h1>Red kettle", "<h1>Red kettle and blue pot")),
        Err(Missing::Ambiguous) | Ok(_)
    ));
    let block = r#"[{"@type": "Product", "name": "Pot", "offers": {"price": 1}}, {"@type": "Product", "name": "Pan", "offers": {"price": 2}}]"#;
    assert_eq!(read(&json_ld(block)), Err(Missing::Ambiguous));
}

#[test]
fn related_products_lend_nothing() {
    let html = json_ld(
        r#"{"@type": "Product", "name": "Red kettle", "offers": {"price": 1}, "isRelatedTo":
        {"@type": "Product", "name": "Pot", "brand": "Other", "sku": "X", "offers": {"price": 2}}}"#,
    );
    let found = product(&html);
    assert_eq!((found.brand, found.variants[0].sku.as_deref()), (None, None));
}

#[test]
fn other_models_lend_nothing() {
    let html = "<h1>Phone A01 red</h1><script type='application/ld+json'>{\"@type\": \"Product\", \"name\": \"Phone A01 red\", \"offers\": {\"price\": 100}}</script>
        <div data-item='{\"name\": \"Phone A10 red\", \"price\": 200, \"brand\": \"Other\"}'></div>";
    let found = read_at("https://shop.test/p/phone", html).unwrap();
    assert_eq!((found.brand, amount(&found.variants[0])), (None, Some(100.0)));
}

#[test]
fn articles_and_ratings_are_no_products() {
    let article =
        json_ld(r#"[{"@type": "NewsArticle", "headline": "Red kettle"}, {"@type": "Product", "name": "Red kettle"}]"#);
    assert!(read(&article).is_err());
    let rating = json_ld(r#"{"@type": "Product", "name": "Red kettle", "aggregateRating": {"ratingValue": 5}}"#);
    assert_eq!(read(&rating), Err(Missing::Weak));
    let review = json_ld(
        r#"{"@type": "Review", "itemReviewed": {"@type": "Product", "name": "Red kettle", "offers": {"price": 1}}}"#,
    );
    assert!(read(&review).is_err());
    assert!(read("<h1>About us</h1><p>We sell since 1990 for $5.</p>").is_err());
    assert_eq!(read("<h1>About us</h1><p>We are a company.</p>"), Err(Missing::Nothing));
}
