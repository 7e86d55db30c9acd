//! The option matrices of forms: WooCommerce's list of variations, and the options of Magento.

use std::collections::BTreeMap;

use url::Url;

use super::reader::Reader;
use super::{keys, variants};
use crate::draft::{Codes, VariantDraft};
use crate::money::Style;
use crate::schema::MAX_LINES;
use crate::value::Value;
use crate::words;

/// Nesting in which a matrix is looked for.
const MAX_LEVELS: usize = 8;

/// Returns the matrices of at least two variants in a value.
pub(super) fn find(value: &Value<'_>, style: Style, base: &Url) -> Vec<Vec<VariantDraft>> {
    let reader = Reader { style, base, currency: None };
    let mut found = Vec::new();
    walk(&reader, value, MAX_LEVELS, &mut found);
    found.retain(|lines| lines.len() > 1);
    found
}

fn walk(reader: &Reader<'_>, value: &Value<'_>, levels: usize, found: &mut Vec<Vec<VariantDraft>>) {
    let has = |value: &Value<'_>, name: &str| value.members().iter().any(|member| member.name == name);
    match value {
        Value::List(items)
            if items.first().is_some_and(|item| has(item, "variation_id") && has(item, "display_price")) =>
        {
            found.push(items.iter().take(MAX_LINES).map(|item| variants::line(reader, item, &[])).collect());
        }
        Value::Object(_) if has(value, "optionPrices") && has(value, "attributes") => {
            found.push(magento(reader, value))
        }
        Value::Object(members) if levels > 0 => {
            members.iter().take(200).for_each(|member| walk(reader, &member.value, levels - 1, found));
        }
        _ => {}
    }
}

/// Reads the options of Magento: prices by product, and the products that each option has.
fn magento(reader: &Reader<'_>, config: &Value<'_>) -> Vec<VariantDraft> {
    let mut values: BTreeMap<&str, BTreeMap<String, String>> = BTreeMap::new();
    for attribute in config.get("attributes").members().iter().map(|member| &member.value) {
        let Some(name) = reader.text(attribute, &["label", "code"]).and_then(|text| words::name(&text)) else {
            continue;
        };
        for option in attribute.get("options").items() {
            let Some(label) = reader.text(option, &["label"]).and_then(|text| words::name(&text)) else { continue };
            for product in option.get("products").items().iter().filter_map(Value::text).take(MAX_LINES) {
                values.entry(product).or_default().insert(name.clone(), label.clone());
            }
        }
    }
    let skus = config.first_of(&["sku", "skus"]);
    let line = |member: &crate::value::Member<'_>| {
        let of = |names: &[&str]| reader.price(keys::get(&member.value, names)?);
        VariantDraft {
            codes: Codes {
                id: words::code(&member.name),
                sku: skus.get(&member.name).text().and_then(words::code),
                ..Codes::default()
            },
            price: of(&["finalprice"]),
            original: of(&["oldprice"]),
            values: values.get(&*member.name).cloned().unwrap_or_default(),
            ..VariantDraft::default()
        }
    };
    config.get("optionPrices").members().iter().take(MAX_LINES).map(line).collect()
}
