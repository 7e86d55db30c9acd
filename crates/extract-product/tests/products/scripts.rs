use super::*;

fn page(script: &str) -> String {
    format!("<title>Red kettle | Shop</title><h1>Red kettle</h1>{script}")
}

#[test]
fn state_of_frameworks() {
    let scripts = [
        r#"<script id=__NEXT_DATA__ type=application/json>{"props": {"product": {"name": "Red kettle", "price": 12.5, "currency": "EUR", "sku": "K-1", "inStock": true}}}</script>"#,
        r#"<script>window.__INITIAL_STATE__ = {product: {name: 'Red kettle', price: {amount: 12.5, currency: "EUR"}, sku: "K-1", available: !0}};</script>"#,
        r#"<script>window.__PRELOADED_STATE__ = JSON.parse("{\"product\":{\"title\":\"Red kettle\",\"price\":\"12.50\",\"currencyCode\":\"EUR\",\"sku\":\"K-1\"}}")</script>"#,
        r#"<script>window.__NUXT__=(function(a){return {state:{product:{name:"Red kettle",sku:"K-1",prices:{finalPrice:12.5,currency:"EUR"}}}}}("x"))</script>"#,
        r#"<script>self.__next_f.push([1,"5:{\"product\":{\"name\":\"Red kettle\",\"sku\":\"K-1\","])</script><script>self.__next_f.push([1,"\"price\":12.5,\"currency\":\"EUR\"}}\n"])</script>"#,
        r#"<div data-product='{"name": "Red kettle", "sku": "K-1", "price": 12.5, "currency": "EUR"}'></div>"#,
        r#"<script id=__NUXT_DATA__ type=application/json>[{"product":1},{"name":2,"sku":3,"price":4,"currency":5},"Red kettle","K-1",12.5,"EUR"]</script>"#,
    ];
    for script in scripts {
        let variant = only(&page(script));
        assert_eq!((amount(&variant), currency(&variant)), (Some(12.5), Some("EUR")), "{script}");
        assert_eq!(variant.sku.as_deref(), Some("K-1"), "{script}");
    }
}

#[test]
fn analytics() {
    let scripts = [
        "<script>dataLayer.push({event: 'view_item', ecommerce: {currency: 'EUR', items: [{item_id: '12345', item_name: 'Red kettle', price: 12.5, item_brand: 'Acme'}]}})</script>",
        "<script>dataLayer = [{'ecommerce': {'currencyCode': 'EUR', 'detail': {'products': [{'id': '12345', 'name': 'Red kettle', 'price': '12.50', 'brand': 'Acme'}]}}}];</script>",
        "<script>var utag_data = {product_id: ['12345'], product_name: ['Red kettle'], product_price: ['12.50'], product_brand: ['Acme'], product_currency: 'EUR'}</script>",
        "<script>gtag('event', 'view_item', {currency: 'EUR', items: [{id: '12345', name: 'Red kettle', price: 12.5, brand: 'Acme'}]})</script>",
    ];
    for script in scripts {
        let found = product(&page(script));
        assert_eq!((amount(&found.variants[0]), currency(&found.variants[0])), (Some(12.5), Some("EUR")), "{script}");
        assert_eq!(found.brand.as_deref(), Some("Acme"), "{script}");
    }
}

#[test]
fn run_parameters_of_marketplaces() {
    let script = r#"<script>window.runParams = {data: {"titleModule": {"subject": "Red kettle"}, "commonModule": {"productId": 12345, "currencyCode": "USD"},
        "priceModule": {"minAmount": {"value": 20, "currency": "USD"}, "minActivityAmount": {"value": 12.5, "currency": "USD"}},
        "imageModule": {"imagePathList": ["https://img.test/1.jpg"]}}};</script>"#;
    let variant = only(&page(script));
    assert_eq!((amount(&variant), currency(&variant), original(&variant)), (Some(12.5), Some("USD"), Some(20.0)));
    assert_eq!(variant.images.unwrap()[0].url, "https://img.test/1.jpg");
}

#[test]
fn cents_are_told_by_the_shown_price() {
    let script = "<script>var item = {name: 'Red kettle', price: 1250, sku: 'K-1'}</script>
        <p class=price>12,50 €</p><button>Add to cart</button>";
    assert_eq!(amount(&only(&page(script))), Some(12.5));
}

#[test]
fn nothing_is_run() {
    let script = "<script>var item = {name: 'Red ' + 'kettle', price: compute(12), sku: 'K-1'}; function price() { return {price: x} }</script>";
    assert!(read(&page(script)).is_err());
}

#[test]
fn other_products_of_a_state_lend_nothing() {
    let script = r#"<script>window.state = {related: [{name: "Red kettle XL 3000", price: 99, sku: "X"}, {name: "Blue pot", price: 5, sku: "Y"}]}</script>"#;
    assert!(read(&page(script)).is_err());
}
