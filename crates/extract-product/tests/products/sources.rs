use super::*;

const OFFER: &str = r#""offers": {"@type": "Offer", "price": "19.90", "priceCurrency": "EUR", "availability": "https://schema.org/InStock"}"#;

#[test]
fn json_ld_is_read_as_it_is_in_the_wild() {
    let whole = format!(
        r#"{{"@context": "https://schema.org", "@type": "Product", "name": "Red kettle", "sku": "K-1", {OFFER}}}"#
    );
    let blocks = [
        whole.clone(),
        format!("[{{\"@type\": \"Organization\", \"name\": \"Shop\"}}, {whole}]"),
        format!("{{\"@context\": \"https://schema.org\", \"@graph\": [{{\"@type\": \"WebPage\"}}, {whole}]}}"),
        format!("<!-- {whole} -->"),
        format!("//<![CDATA[\n{whole}\n//]]>"),
        format!("/* product */ {};", whole.replace("}}", ",}}")),
        whole.replace("\"sku\"", "\"description\": \"two\nlines\tand a 12\" lid\", \"sku\""),
        whole.replace("\"Product\"", "[\"http://schema.org/Product\", \"Thing\"]"),
        whole.replace("Red kettle", "Red &amp; kettle").replace("\"@type\": \"Offer\", ", ""),
        whole.replace("\"@type\": \"Product\"", "\"@type\": \"product\""),
        format!("{{\"@type\": \"WebPage\"}} {whole}"),
        format!("{{\"@type\": \"WebPage\", \"mainEntity\": {whole}}}"),
        whole[..whole.len() - 2].to_owned(),
    ];
    for block in blocks {
        let variant = only(&json_ld(&block));
        assert_eq!((amount(&variant), currency(&variant)), (Some(19.9), Some("EUR")), "{block}");
        assert_eq!(variant.sku.as_deref(), Some("K-1"), "{block}");
        assert!(variant.availability.in_stock, "{block}");
    }
}

#[test]
fn references_are_followed() {
    let block = r##"{"@graph": [
        {"@type": "Product", "@id": "#p", "name": "Red kettle", "brand": {"@id": "#b"}, "offers": {"@id": "#o"}},
        {"@type": "Brand", "@id": "#b", "name": "Acme"}, {"@type": "Offer", "@id": "#o", "price": 12, "priceCurrency": "USD"}]}"##;
    let found = product(&json_ld(block));
    assert_eq!(found.brand.as_deref(), Some("Acme"));
    assert_eq!(amount(&found.variants[0]), Some(12.0));
}

#[test]
fn microdata_and_rdfa() {
    let microdata = "<div itemscope itemtype='http://schema.org/Product'><h1 itemprop=name>Red kettle</h1>
        <span itemprop=brand itemscope itemtype='http://schema.org/Brand'><b itemprop=name>Acme</b></span>
        <meta itemprop=sku content=K-1><div itemprop=offers itemscope itemtype='http://schema.org/Offer'>
        <span itemprop=price content='1299.00'>1.299,00</span><meta itemprop=priceCurrency content=EUR>
        <link itemprop=availability href='http://schema.org/OutOfStock'></div></div>";
    let rdfa = "<div vocab='https://schema.org/' typeof=Product><h1 property=name>Red kettle</h1>
        <span property=brand>Acme</span><meta property=sku content=K-1><div property=offers typeof=Offer>
        <span property=price>1.299,00</span><meta property=priceCurrency content=EUR>
        <link property=availability href='http://schema.org/OutOfStock'></div></div>";
    for html in [microdata, rdfa] {
        let found = product(html);
        assert_eq!(found.brand.as_deref(), Some("Acme"), "{html}");
        let variant = &found.variants[0];
        assert_eq!(
            (amount(variant), currency(variant), variant.sku.as_deref()),
            (Some(1299.0), Some("EUR"), Some("K-1"))
        );
        assert!(!variant.availability.in_stock);
    }
}

#[test]
fn an_offer_outside_of_its_item_belongs_to_the_only_product() {
    let html = "<div itemscope itemtype='http://schema.org/Product'><h1 itemprop=name>Red kettle</h1></div>
        <div itemscope itemtype='http://schema.org/Offer'><b itemprop=price>12</b></div>";
    assert_eq!(amount(&only(html)), Some(12.0));
}

#[test]
fn meta_counts_only_with_a_price() {
    let head = "<meta property='og:type' content=product><meta property='og:title' content='Red kettle'>";
    let price = "<meta property='product:price:amount' content='12.50'><meta property='product:price:currency' content=GBP>
        <meta property='product:original_price:amount' content='20'><meta property='product:availability' content='out of stock'>";
    let variant = only(&format!("{head}{price}"));
    assert_eq!((amount(&variant), currency(&variant), original(&variant)), (Some(12.5), Some("GBP"), Some(20.0)));
    assert!(!variant.availability.in_stock);
    assert!(read(head).is_err());
}

#[test]
fn better_sources_come_first_and_the_others_complete_them() {
    let html = json_ld(r#"{"@type": "Product", "name": "Red kettle", "offers": {"price": "10"}}"#)
        + "<meta property='og:title' content='Red kettle | Shop'><meta property='product:price:amount' content='11'>
           <meta property='product:price:currency' content=EUR><meta property='product:brand' content=Acme>";
    let found = product(&html);
    assert_eq!(found.brand.as_deref(), Some("Acme"));
    assert_eq!(amount(&found.variants[0]), Some(10.0));
}
