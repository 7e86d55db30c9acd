//! Product data in `<meta>` elements: OpenGraph, Twitter cards, and the names that shops invented.

use page::absolute;
use wire::{Picture, Price};

use crate::draft::{Codes, Draft, VariantDraft};
use crate::money::{self, Style};
use crate::schema::in_stock;
use crate::survey::Survey;
use crate::words;

const PRICE: [&str; 8] = [
    "product:sale_price:amount",
    "product:price:amount",
    "og:price:amount",
    "product:price",
    "og:price",
    "price",
    "product:price.amount",
    "twitter:data1",
];
const CURRENCY: [&str; 6] = [
    "product:sale_price:currency",
    "product:price:currency",
    "og:price:currency",
    "product:price.currency",
    "currency",
    "priceCurrency",
];

/// Returns the product that the `<meta>` elements describe, with or without a price.
pub(crate) fn read_meta(survey: &Survey<'_>, style: Style) -> Draft {
    let of = |names: &[&str]| survey.meta(names);
    let image = of(&["og:image", "og:image:url", "twitter:image"]).and_then(|link| absolute(survey.page.base(), link));
    let former = of(&["product:original_price:amount", "og:price:standard_amount", "product:price:standard_amount"]);
    let stock = of(&["product:availability", "og:availability", "availability"]);
    let currency = of(&CURRENCY).and_then(money::currency_of);
    let line = VariantDraft {
        price: price(survey, style),
        original: former.and_then(|text| amount(text, style, currency)),
        in_stock: stock.and_then(in_stock),
        ..VariantDraft::default()
    };
    Draft {
        title: of(&["og:title", "twitter:title"]).and_then(words::name),
        brand: of(&["product:brand", "og:brand", "brand"]).and_then(words::name),
        category: of(&["product:category", "og:category"]).and_then(words::name),
        description: of(&["og:description", "description", "twitter:description"]).and_then(words::description),
        url: survey.canonical.as_ref().map(ToString::to_string),
        codes: Codes {
            sku: of(&["product:retailer_item_id", "product:sku", "sku"]).and_then(words::code),
            gtin: of(&["product:ean", "product:gtin", "product:upc", "product:isbn", "og:upc", "gtin13"])
                .and_then(words::code),
            mpn: of(&["product:mfr_part_no", "product:retailer_part_no", "mpn"]).and_then(words::code),
            id: None,
        },
        images: image.map(|url| Picture { url: url.into(), alt: None }).into_iter().collect(),
        variants: vec![line],
        node: None,
    }
}

/// Whether the page calls itself a product.
pub(crate) fn is_product(survey: &Survey<'_>) -> bool {
    survey.meta(&["og:type"]).is_some_and(|kind| {
        let kind = kind.to_ascii_lowercase();
        kind.contains("product") && !kind.contains("group")
    })
}

fn price(survey: &Survey<'_>, style: Style) -> Option<Price> {
    let currency = survey.meta(&CURRENCY).and_then(money::currency_of);
    PRICE.iter().find_map(|&name| {
        let text = survey.meta(&[name])?;
        let is_price = || survey.meta(&["twitter:label1"]).is_some_and(|label| label.eq_ignore_ascii_case("price"));
        if name == "twitter:data1" && !is_price() { None } else { amount(text, style, currency) }
    })
}

fn amount(text: &str, style: Style, currency: Option<&'static str>) -> Option<Price> {
    let money = money::field(text, style, currency).filter(|money| money.amount > 0.0)?;
    let formatted = money.is_signed.then(|| words::name(text)).flatten();
    Some(Price { amount: money.amount, currency: money.currency.or(currency).map(str::to_owned), formatted })
}
