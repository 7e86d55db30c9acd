//! Menus of small pages, made after the kinds of pages that restaurants have.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod builders;
mod described;
mod languages;
mod none;
mod plain;

use std::fmt::Write;

use serde_json::Value;
use wire::{Menu, MenuItem, Section};

/// Checks the menu of a page against its outline: `merchant | currency`, `# section | description`, then a line for each
/// item: `name | price | description | details`. Empty parts at the end are left out.
#[track_caller]
fn check(html: &str, outline: &str) {
    let menu = extract_product::menu(&page(html));
    let found = menu.as_ref().map_or_else(|missing| format!("none: {missing}"), outline_of);
    let expected: Vec<&str> = outline.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(found.lines().collect::<Vec<_>>(), expected, "{found}");
    check_ids(menu.as_ref().ok());
}

/// Checks that a page has no menu.
#[track_caller]
fn check_none(html: &str) {
    let menu = extract_product::menu(&page(html));
    assert!(menu.is_err(), "{}", menu.as_ref().map(outline_of).unwrap_or_default());
}

fn page(html: &str) -> page::Page {
    page::Page::parse(html, &url::Url::parse("https://place.test/page").unwrap())
}

#[track_caller]
fn check_ids(menu: Option<&Menu>) {
    let Some(menu) = menu else { return };
    let sections = menu.sections.iter().map(|section| &section.id);
    let items = menu.sections.iter().flat_map(|section| &section.items).map(|item| &item.id);
    let mut ids: Vec<&String> = sections.chain(items).collect();
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count);
    assert!(menu.is_menu && (0.0..=1.0).contains(&menu.confidence) && menu.source_url == "https://place.test/page");
}

fn outline_of(menu: &Menu) -> String {
    let mut out = String::new();
    let currency = menu.currency.as_deref().unwrap_or_default();
    writeln!(out, "{}", joined(&[&menu.merchant.name, currency])).unwrap();
    for Section { name, description, items, .. } in &menu.sections {
        writeln!(out, "# {}", joined(&[name, description.as_deref().unwrap_or_default()])).unwrap();
        for item in items {
            writeln!(out, "{}", outline_of_item(item, currency)).unwrap();
        }
    }
    out
}

fn outline_of_item(item: &MenuItem, main: &str) -> String {
    let price = item.price.as_ref().map(|price| {
        let other = price.currency.as_deref().filter(|code| *code != main).unwrap_or_default();
        format!("{}{other}", price.amount)
    });
    let number = item.identifiers.as_ref().and_then(|ids| ids.merchant_item_id.as_deref()).map(|id| format!("no {id}"));
    let kcal = item.calories.map(|kcal| format!("{kcal} kcal"));
    let stock = (!item.availability.in_stock).then(|| "sold out".to_owned());
    let images = item.images.iter().map(|image| image.url.clone());
    let details = item.dietary.iter().cloned().chain(kcal).chain(stock).chain(number).chain(images);
    let details: Vec<String> = details.chain(item.option_groups.iter().map(group)).chain(item.url.clone()).collect();
    joined(&[
        &item.name,
        &price.unwrap_or_default(),
        item.description.as_deref().unwrap_or_default(),
        &details.join("; "),
    ])
}

fn group(group: &Value) -> String {
    let option = |option: &Value| {
        format!("{} {}", option["name"].as_str().unwrap(), option["price"]["amount"].as_f64().unwrap())
    };
    let options: Vec<String> = group["options"].as_array().unwrap().iter().map(option).collect();
    format!("{}: {}", group["name"].as_str().unwrap(), options.join(" / "))
}

fn joined(parts: &[&str]) -> String {
    parts.join(" | ").replace("|  |", "| |").replace("|  |", "| |").trim_end_matches([' ', '|']).to_owned()
}
