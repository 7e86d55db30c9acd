//! Offers of schema.org.

use wire::Price;

use super::{Context, MAX_LINES, in_stock};
use crate::draft::VariantDraft;
use crate::json_ld::{is_a, last_part};
use crate::money;
use crate::value::Value;
use crate::words;

/// Kinds of a price that is not asked any more, from schema.org's PriceTypeEnumeration.
const FORMER: [&str; 6] = ["ListPrice", "StrikethroughPrice", "SRP", "MSRP", "RegularPrice", "SuggestedRetailPrice"];

impl<'v, 'p> Context<'v, 'p> {
    /// Returns the offers of a product; those inside of an aggregate instead of it, if they have prices.
    pub(super) fn offers(&self, product: &'v Value<'p>) -> Vec<&'v Value<'p>> {
        let mut found = Vec::new();
        for offer in product.get("offers").items().iter().map(|offer| self.ids.resolve(offer)) {
            let inner = offer.get("offers").items().iter().map(|offer| self.ids.resolve(offer));
            let inner: Vec<_> = inner.filter(|offer| self.price(offer).is_some()).take(MAX_LINES).collect();
            if inner.is_empty() {
                found.push(offer);
            }
            found.extend(inner);
            if found.len() >= MAX_LINES {
                break;
            }
        }
        found.retain(|offer| offer.is_object() && !is_a(offer, &["Demand"]));
        found
    }

    /// Returns one line per variant that the offers are for. Offers that differ in nothing but the seller are one.
    pub(super) fn lines_of_offers(&self, offers: &[&'v Value<'p>]) -> Vec<VariantDraft> {
        let mut lines: Vec<VariantDraft> = offers.iter().map(|offer| self.line(offer)).collect();
        let is_known = |line: &VariantDraft| !line.codes.is_empty() || line.title.is_some() || line.url.is_some();
        let same = |a: &VariantDraft, b: &VariantDraft| a.codes == b.codes && a.title == b.title && a.url == b.url;
        if lines.len() > 1 && (!lines.iter().all(is_known) || lines.windows(2).all(|pair| same(&pair[0], &pair[1]))) {
            let best = lines.iter().position(|line| line.price.is_some() && line.in_stock != Some(false));
            lines = vec![lines.swap_remove(best.unwrap_or(0))];
        }
        lines
    }

    fn line(&self, offer: &'v Value<'p>) -> VariantDraft {
        let item = self.first(offer.get("itemOffered"));
        let codes = if item.is_object() { self.codes(item) } else { Default::default() };
        let mut line = VariantDraft { codes, ..VariantDraft::default() };
        line.codes.complete(&self.codes(offer));
        line.title = self.name_of(item.get("name")).or_else(|| self.name_of(offer.get("name")));
        line.url = self.url(offer).filter(|url| !url.contains('#') || url.contains('='));
        line.values = if item.is_object() { self.values(item) } else { Default::default() };
        line.images = self.images(item.get("image"));
        line.price = self.price(offer);
        line.original = self.former(offer);
        let stock = self.first(offer.first_of(&["availability", "inventoryLevel"]));
        let stock = stock.text().or_else(|| stock.first_of(&["@id", "name", "value"]).text());
        line.in_stock = stock.and_then(in_stock);
        line
    }

    /// Returns the price of an offer. That of an aggregate is its lowest one.
    fn price(&self, offer: &'v Value<'p>) -> Option<Price> {
        let currency = self.currency(offer);
        let own = self.amount(offer, &["price"], currency);
        own.or_else(|| {
            let specifications = self.specifications(offer).filter(|one| !is_former(one) && !is_per_unit(one));
            let mut prices = specifications
                .filter_map(|one| self.amount(one, &["price", "minPrice"], self.currency(one).or(currency)));
            prices.next()
        })
        .or_else(|| self.amount(offer, &["lowPrice", "minPrice", "highPrice"], currency))
    }

    fn former(&self, offer: &'v Value<'p>) -> Option<Price> {
        let currency = self.currency(offer);
        let mut former = self.specifications(offer).filter(|one| is_former(one));
        former.find_map(|one| self.amount(one, &["price"], self.currency(one).or(currency)))
    }

    fn specifications(&self, offer: &'v Value<'p>) -> impl Iterator<Item = &'v Value<'p>> {
        offer.get("priceSpecification").items().iter().map(|one| self.ids.resolve(one))
    }

    fn currency(&self, value: &'v Value<'p>) -> Option<&'static str> {
        self.first(value.get("priceCurrency")).text().and_then(money::currency_of)
    }

    /// Reads the first of the members that is an amount above 0: shops write 0 where there is no price.
    fn amount(&self, value: &'v Value<'p>, names: &[&str], currency: Option<&'static str>) -> Option<Price> {
        let texts = names.iter().flat_map(|name| value.get(name).items()).filter_map(Value::text);
        let mut found = texts.filter_map(|text| Some((text, money::field(text, self.style, currency)?)));
        let (text, money) = found.find(|(_, money)| money.amount > 0.0)?;
        let formatted = money.is_signed.then(|| words::name(text)).flatten();
        Some(Price { amount: money.amount, currency: currency.or(money.currency).map(str::to_owned), formatted })
    }
}

fn is_former(specification: &Value<'_>) -> bool {
    let kind = specification.get("priceType").items().iter().filter_map(Value::text);
    kind.into_iter().any(|kind| FORMER.contains(&last_part(kind)))
}

/// Whether a price is one per kilogram, metre or month.
fn is_per_unit(specification: &Value<'_>) -> bool {
    let has = |name: &str| !specification.get(name).is_null();
    let one_piece = ["unitCode", "unitText"].iter().any(|name| specification.get(name).text() == Some("C62"));
    (has("referenceQuantity") && !one_piece) || has("billingDuration") || has("billingIncrement")
}
