//! Reads the fields of the objects of a state.

use page::absolute;
use url::Url;
use wire::{Picture, Price};

use super::keys;
use crate::draft::{Codes, VariantDraft};
use crate::money::{self, Style};
use crate::schema::in_stock;
use crate::value::Value;
use crate::words;

/// Limit on pictures of a product.
const MAX_IMAGES: usize = 40;

/// Reads the fields of objects.
pub(super) struct Reader<'a> {
    pub(super) style: Style,
    pub(super) base: &'a Url,
    /// Currency that an outer object names.
    pub(super) currency: Option<&'static str>,
}

impl Reader<'_> {
    /// Returns a text, or the name of an object; of a list its only item.
    pub(super) fn text(&self, value: &Value<'_>, names: &[&str]) -> Option<String> {
        let found = keys::get(value, names)?;
        let found = match found {
            Value::List(items) if items.len() == 1 => &items[0],
            other => other,
        };
        let text = found.text().or_else(|| keys::get(found, &["name", "title", "label", "text", "value"])?.text());
        text.filter(|text| text.len() < 100_000).map(str::to_owned)
    }

    pub(super) fn codes(&self, value: &Value<'_>) -> Codes {
        let code = |names| self.text(value, names).and_then(|text| words::code(&text));
        Codes {
            sku: code(keys::SKU),
            gtin: code(keys::GTIN),
            mpn: code(keys::MPN),
            id: code(keys::ID).map(last_of_gid),
        }
    }

    pub(super) fn url(&self, value: &Value<'_>) -> Option<String> {
        let link = self.text(value, keys::URL)?;
        absolute(self.base, &link).filter(|url| matches!(url.scheme(), "http" | "https")).map(Into::into)
    }

    pub(super) fn images(&self, value: &Value<'_>) -> Vec<Picture> {
        let Some(found) = keys::get(value, keys::IMAGE) else { return Vec::new() };
        let mut all: Vec<Picture> = Vec::new();
        for item in found.items().iter().take(4 * MAX_IMAGES) {
            // GraphQL wraps each item of a list in `node`, others in `image`.
            let item = keys::get(item, &["node", "image"]).unwrap_or(item);
            let link = item
                .text()
                .or_else(|| keys::get(item, &["url", "src", "originalsrc", "large", "full", "href"])?.text());
            let url = link.filter(|link| link.contains(['/', '.'])).and_then(|link| absolute(self.base, link));
            let alt = keys::get(item, &["alt", "alttext", "caption"]).and_then(Value::text).and_then(words::name);
            let Some(url) = url.filter(|url| matches!(url.scheme(), "http" | "https")) else { continue };
            if all.len() < MAX_IMAGES && !all.iter().any(|other| other.url == url.as_str()) {
                all.push(Picture { url: url.into(), alt });
            }
        }
        all
    }

    /// Reads price and stock of a product or a variant.
    pub(super) fn line(&self, value: &Value<'_>) -> VariantDraft {
        let offer = keys::get(value, &["offers", "offer"]).map(|offers| offers.items().first().unwrap_or(offers));
        let price = keys::PRICE.iter().find_map(|key| self.price(keys::get(value, &[key])?));
        let price = price.or_else(|| self.price(keys::get(offer?, keys::PRICE)?));
        let original = keys::FORMER.iter().find_map(|key| self.price(keys::get(value, &[key])?));
        let nested = || keys::get(keys::get(value, &["price", "prices", "pricing"])?, keys::FORMER);
        VariantDraft {
            codes: self.codes(value),
            price,
            original: original.or_else(|| self.price(nested()?)),
            in_stock: stock(value).or_else(|| stock(offer?)),
            ..VariantDraft::default()
        }
    }

    /// Reads an amount: a number, a text, or an object that holds one.
    pub(super) fn price(&self, value: &Value<'_>) -> Option<Price> {
        let currency = self.text(value, keys::CURRENCY).and_then(|text| money::currency_of(&text)).or(self.currency);
        let amount = match value {
            Value::Object(_) => {
                let inner = Reader { currency, ..*self };
                return keys::AMOUNT.iter().find_map(|key| {
                    let price = inner.price(keys::get(value, &[key])?)?;
                    Some(if *key == "centamount" { Price { amount: price.amount / 100.0, ..price } } else { price })
                });
            }
            // Several prices are those of variants, countries or quantities: none of them is the price.
            Value::List(items) if items.len() == 1 => return self.price(&items[0]),
            Value::Number(text) | Value::Text(text) if text.len() < 60 => text,
            _ => return None,
        };
        let money = money::field(amount, self.style, currency).filter(|money| money.amount > 0.0)?;
        let formatted = money.is_signed.then(|| words::name(amount)).flatten();
        Some(Price { amount: money.amount, currency: money.currency.or(currency).map(str::to_owned), formatted })
    }
}

/// Whether an object says that there is something left.
fn stock(value: &Value<'_>) -> Option<bool> {
    let says = |value: &Value<'_>| match value {
        Value::Bool(flag) => Some(*flag),
        other => in_stock(other.text().or_else(|| keys::get(other, &["status", "value", "code"])?.text())?),
    };
    let out = keys::get(value, keys::OUT_OF_STOCK).and_then(says).map(|out| !out);
    out.or_else(|| keys::get(value, keys::IN_STOCK).and_then(says))
}

/// Returns the number at the end of an id such as `gid://shopify/Product/12`.
fn last_of_gid(id: String) -> String {
    id.strip_prefix("gid://").and_then(|rest| rest.rsplit('/').next()).map(str::to_owned).unwrap_or(id)
}
