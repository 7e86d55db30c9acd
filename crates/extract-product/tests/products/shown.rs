use super::*;

fn page(body: &str) -> String {
    format!("<title>Red kettle | Shop</title><body><nav><a href=/>Home</a></nav><main><h1>Red kettle</h1>{body}</main>")
}

const BUY: &str = "<form><button>Add to cart</button></form>";

#[test]
fn a_price_beside_the_heading_and_a_button() {
    let html = page(&format!("<p class=price>$12.50</p>{BUY}<p>SKU: K-1</p><p>Brand: Acme</p>"));
    let found = product(&html);
    assert_eq!((found.title.as_str(), found.brand.as_deref()), ("Red kettle", Some("Acme")));
    let variant = &found.variants[0];
    assert_eq!((amount(variant), variant.sku.as_deref()), (Some(12.5), Some("K-1")));
    assert_eq!(variant.price.as_ref().unwrap().formatted.as_deref(), Some("$12.50"));
    assert!(variant.availability.in_stock);
}

#[test]
fn other_amounts_are_not_the_price() {
    let cases = [
        "<p class=price><del>20,00 €</del> <ins>12,50 €</ins></p>",
        "<p class=price><span>Was 20,00 €</span> <span>12,50 €</span></p>",
        "<p class=price>12,50 €</p><p class=unit-price>25,00 €/kg</p>",
        "<p class=price>12,50 €</p><p>or 3 x 4,17 €</p>",
        "<p>Free shipping over 50 €</p><p class=price>12,50 €</p>",
        "<p class=price>12<sup>50</sup> €</p>",
        "<p class=price>12,50 €</p><div class=related-products><p class=price>9 €</p></div>",
        "<p class=price>12,50 €</p><p>You save 7,50 €</p>",
        "<p class=old-price>20,00 €</p><p class=new-price>12,50 €</p>",
    ];
    for case in cases {
        let variant = only(&page(&format!("{case}{BUY}")));
        assert_eq!((amount(&variant), currency(&variant)), (Some(12.5), Some("EUR")), "{case}");
    }
}

#[test]
fn a_struck_price_is_the_former_one() {
    let html = page(&format!("<p class=price><del>20,00 €</del> <ins>12,50 €</ins></p>{BUY}"));
    assert_eq!(original(&only(&html)), Some(20.0));
}

#[test]
fn data_that_has_the_struck_price_is_corrected() {
    let html = page(&format!("<p class=price><del>20,00 €</del> <ins>12,50 €</ins></p>{BUY}"))
        + "<script type='application/ld+json'>{\"@type\": \"Product\", \"name\": \"Red kettle\", \"offers\": {\"price\": 20, \"priceCurrency\": \"EUR\"}}</script>";
    let variant = only(&html);
    assert_eq!((amount(&variant), original(&variant)), (Some(12.5), Some(20.0)));
}

#[test]
fn labels_of_other_languages() {
    let html = page(&format!(
        "<p class=price>12,50 €</p>{BUY}<table><tr><th>Artikelnummer<td>12-34<tr><th>Marke<td>Acme</table>"
    ));
    let found = product(&html);
    assert_eq!((found.brand.as_deref(), found.variants[0].sku.as_deref()), (Some("Acme"), Some("12-34")));
}

#[test]
fn a_price_without_a_button_or_a_number_founds_nothing() {
    assert!(read(&page("<p class=price>12,50 €</p>")).is_err());
    assert!(read(&page(BUY)).is_err());
}
