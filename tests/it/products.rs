//! The formats `product` and `menu`.

use e2e::TestApp;
use serde_json::{Value, json};
use testkit::{Reply, Script, Site};

use crate::ARTICLE;

const KETTLE: &str = r#"<!doctype html><html lang="en"><title>Kettle | Hearth</title><h1>Kettle</h1>
<script type="application/ld+json">{"@context": "https://schema.org", "@type": "Product", "name": "Kettle", "sku": "K-1",
"brand": {"@type": "Brand", "name": "Hearth"}, "offers": {"@type": "Offer", "price": "19.90", "priceCurrency": "EUR",
"availability": "https://schema.org/InStock"}}</script><p>Boils a litre. <b>19,90 €</b> <button>Add to basket</button></html>"#;

const INN: &str = r#"<!doctype html><html lang="en"><title>The Anvil</title><h1>Menu</h1>
<script type="application/ld+json">{"@context": "https://schema.org", "@type": "Restaurant", "name": "The Anvil",
"hasMenu": {"@type": "Menu", "hasMenuSection": [{"@type": "MenuSection", "name": "Soups", "hasMenuItem": [
{"@type": "MenuItem", "name": "Leek soup", "suitableForDiet": "https://schema.org/VegetarianDiet",
"offers": {"@type": "Offer", "price": "6.50", "priceCurrency": "GBP"}}]}]}}</script></html>"#;

#[tokio::test]
async fn a_product_is_read_from_its_page_and_costs_nothing_more() {
    let app = TestApp::with_keys().await;
    app.site.html("/kettle", KETTLE);
    let team = app.team(Some(10), json!({})).await;
    let answer = team.scrape(&json!({ "url": app.page("/kettle"), "formats": ["product"] })).await;
    let data = &answer.body["data"];
    assert_eq!((answer.status, &data["warning"]), (200, &json!(null)), "{}", answer.body);
    let product = &data["product"];
    assert_eq!((&product["title"], &product["brand"]), (&json!("Kettle"), &json!("Hearth")));
    assert_eq!(product["url"], app.page("/kettle"));
    let variant = &product["variants"][0];
    assert_eq!((&variant["sku"], &variant["availability"]["inStock"]), (&json!("K-1"), &json!(true)));
    assert_eq!((&variant["price"]["amount"], &variant["price"]["currency"]), (&json!(19.9), &json!("EUR")));
    assert_eq!(data["metadata"]["creditsUsed"], 1);
    assert_eq!(team.get("/v2/team/credit-usage").await.body["data"]["remainingCredits"], 9);
}

#[tokio::test]
async fn a_menu_is_read_from_its_page() {
    let app = TestApp::start().await;
    app.site.html("/inn", INN);
    let answer = app.anonymous().scrape(&json!({ "url": app.page("/inn"), "formats": ["menu"] })).await;
    let menu = &answer.body["data"]["menu"];
    assert_eq!((&menu["isMenu"], &menu["merchant"]["name"]), (&json!(true), &json!("The Anvil")), "{}", answer.body);
    let (section, soup) = (&menu["sections"][0], &menu["sections"][0]["items"][0]);
    assert_eq!((&section["name"], &soup["name"]), (&json!("Soups"), &json!("Leek soup")));
    assert_eq!((&soup["price"]["amount"], &soup["price"]["currency"]), (&json!(6.5), &json!("GBP")));
    assert_eq!(soup["sourceUrl"], app.page("/inn"));
}

#[tokio::test]
async fn a_page_without_either_says_so() {
    let app = TestApp::start().await;
    app.site.html("/stone", ARTICLE);
    let headers = vec![("content-type".to_owned(), "text/plain".to_owned())];
    app.site.respond("/prices.txt", Reply { headers, body: "Kettle 19.90 EUR".into(), ..Reply::default() });
    for path in ["/stone", "/prices.txt"] {
        let body = json!({ "url": app.page(path), "formats": ["markdown", "product", "menu"] });
        let data = app.anonymous().scrape(&body).await.body["data"].clone();
        assert!(data["markdown"].is_string() && data.get("product").is_none() && data.get("menu").is_none(), "{data}");
        let warning = data["warning"].as_str().unwrap();
        assert!(warning.contains("no product found: ") && warning.contains("no menu found: "), "{warning}");
    }
}

#[tokio::test]
async fn runs_read_products_too() {
    let app = TestApp::start().await;
    app.site.html("/kettle", KETTLE);
    app.site.html("/", "<h1>Hearth</h1><a href=/kettle>Kettle</a>");
    let caller = app.anonymous();
    let crawl = json!({ "url": app.page("/"), "sitemap": "skip", "scrapeOptions": { "formats": ["product"] } });
    let crawl = caller.start("/v2/crawl", &crawl).await;
    caller.ended(&crawl).await;
    let batch = json!({ "urls": [app.page("/kettle")], "formats": ["product"] });
    let batch = caller.start("/v2/batch/scrape", &batch).await;
    caller.ended(&batch).await;
    for path in [crawl, batch] {
        let documents = caller.documents(&path).await;
        let titles: Vec<_> = documents.iter().filter_map(|document| document["product"]["title"].as_str()).collect();
        assert_eq!(titles, ["Kettle"], "{path}: {documents:?}");
    }
}

#[tokio::test]
async fn a_product_service_takes_the_place_of_our_own_extraction() {
    let service = Site::start().await;
    let teapot =
        json!({ "title": "Teapot", "url": "https://a.test/", "variants": [{ "availability": { "inStock": true } }] });
    let answer = |product: Value| {
        Script::Reply(Reply { body: json!({ "product": product }).to_string().into(), ..Reply::default() })
    };
    let broken = Script::Reply(Reply { status: 500, ..Reply::default() });
    service.script("/v1/extract-product", vec![answer(teapot), answer(Value::Null), broken]);
    let app = TestApp::with(|config| {
        config.extract.product_service_url = Some(service.url("/"));
        config.egress.allow.push(service.addr().to_string().parse().unwrap());
    })
    .await;
    app.site.html("/kettle", KETTLE);
    let caller = app.anonymous();
    let scrape = async || {
        let body = json!({ "url": app.page("/kettle"), "formats": ["product"] });
        let answer = caller.scrape(&body).await;
        assert_eq!(
            (answer.status, &answer.body["data"]["metadata"]["creditsUsed"]),
            (200, &json!(1)),
            "{}",
            answer.body
        );
        answer.body["data"].clone()
    };
    assert_eq!(scrape().await["product"]["title"], "Teapot");
    let sent: Value = serde_json::from_slice(&service.requests()[0].body).unwrap();
    assert_eq!(sent, json!({ "html": KETTLE, "url": app.page("/kettle") }));
    for words in ["the page describes none", "answered 500"] {
        let data = scrape().await;
        assert!(data.get("product").is_none() && data["warning"].as_str().unwrap().contains(words), "{data}");
    }
    // No page is fetched from there, although the network rules allow it.
    let refused = caller.scrape(&json!({ "url": service.url("/v1/extract-product") })).await;
    assert_eq!((refused.status, service.requests().len()), (403, 3), "{}", refused.body);
}
