//! The variants of a product in a state: lists of common shop systems, and the option matrix of Magento.

use std::collections::BTreeMap;

use super::keys;
use super::reader::Reader;
use crate::draft::VariantDraft;
use crate::schema::MAX_LINES;
use crate::value::Value;
use crate::words;

/// Options that a variant may have as members of its own.
const OPTIONS: [&str; 6] = ["color", "colour", "size", "material", "style", "flavor"];

/// Returns one line per variant; none if the object lists no variants with a price.
pub(super) fn lines(reader: &Reader<'_>, product: &Value<'_>) -> Vec<VariantDraft> {
    let Some(list) = keys::get(product, keys::VARIANTS) else { return Vec::new() };
    let list = keys::get(list, &["edges", "nodes", "items"]).unwrap_or(list);
    let names = option_names(product);
    let in_cents = has_cents(product, list);
    let own_price = reader.line(product).price;
    let mut lines = Vec::new();
    for variant in list.items().iter().take(MAX_LINES) {
        let variant = keys::get(variant, &["node"]).unwrap_or(variant);
        let mut line = line(reader, variant, &names);
        if !variant.is_object() || (line.codes.is_empty() && line.price.is_none()) {
            continue;
        }
        if in_cents {
            [&mut line.price, &mut line.original].into_iter().flatten().for_each(|price| price.amount /= 100.0);
        } else if line.price.is_none() {
            line.price.clone_from(&own_price);
        }
        lines.push(line);
    }
    lines
}

/// Reads one variant; `names` are those of the product's options, in their order.
pub(super) fn line(reader: &Reader<'_>, variant: &Value<'_>, names: &[String]) -> VariantDraft {
    let title = reader.text(variant, &["title", "name", "publictitle"]).and_then(|text| words::name(&text));
    VariantDraft {
        title: title.filter(|title| title != "Default Title"),
        values: values(reader, variant, names),
        images: reader.images(variant),
        ..reader.line(variant)
    }
}

/// Whether prices are whole cents: what Shopify's templates print, while its interfaces print texts with a point.
fn has_cents(product: &Value<'_>, variants: &Value<'_>) -> bool {
    let is_whole = |variant: &Value<'_>| matches!(keys::get(variant, &["price"]), Some(Value::Number(number)) if number.bytes().all(|b| b.is_ascii_digit()));
    let has = |value: &Value<'_>, name: &str| value.members().iter().any(|member| member.name == name);
    let is_shopify = ["compare_at_price", "price_min", "gid"].iter().any(|name| has(product, name))
        || (has(product, "vendor")
            && variants.items().iter().any(|one| has(one, "public_title") || has(one, "option1")));
    is_shopify && !variants.items().is_empty() && variants.items().iter().all(is_whole)
}

/// Returns the names of a product's options, in their order.
fn option_names(product: &Value<'_>) -> Vec<String> {
    let options = keys::get(product, &["options", "optionnames"]).map(Value::items).unwrap_or_default();
    let name =
        |option: &Value<'_>| option.text().or_else(|| keys::get(option, &["name", "title"])?.text()).map(str::to_owned);
    options.iter().take(12).filter_map(name).collect()
}

/// Returns the option values of a variant.
fn values(reader: &Reader<'_>, variant: &Value<'_>, names: &[String]) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    let mut add = |name: &str, value: &str| {
        if let (Some(name), Some(value)) = (words::name(name), words::name(value)) {
            values.insert(name, value);
        }
    };
    for (place, name) in names.iter().enumerate() {
        let numbered = format!("option{}", place + 1);
        if let Some(value) = reader.text(variant, &[numbered.as_str()]).filter(|value| value != "Default Title") {
            add(name, &value);
        }
    }
    let listed = keys::get(variant, &["selectedoptions", "optionvalues", "options", "attributes"]);
    match listed {
        Some(Value::Object(members)) => {
            for member in members.iter().take(12) {
                let name = member.name.trim_start_matches("attribute_").trim_start_matches("pa_");
                member.value.text().into_iter().for_each(|value| add(name, value));
            }
        }
        Some(Value::List(items)) => {
            for (place, item) in items.iter().take(12).enumerate() {
                let name =
                    reader.text(item, &["name", "displayname", "optionname"]).or_else(|| names.get(place).cloned());
                let value =
                    item.text().map(str::to_owned).or_else(|| reader.text(item, &["value", "label", "optionvalue"]));
                if let (Some(name), Some(value)) = (name, value) {
                    add(&name, &value);
                }
            }
        }
        _ => {}
    }
    if values.is_empty() {
        let own = OPTIONS.iter().filter_map(|name| Some(((*name).to_owned(), reader.text(variant, &[name])?)));
        values.extend(own.filter(|pair| pair.1.len() < 80));
    }
    values
}
