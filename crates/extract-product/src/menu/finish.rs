//! Ids, currency and URLs of a menu.

use std::collections::{BTreeMap, HashSet};

use wire::{MenuItem, Section};

/// Limit on the letters of an id.
const MAX_ID: usize = 80;

/// Gives sections and items their ids and their page.
///
/// Ids come from names, so that they stay when an item moves or another one comes before it. Items of the same name are
/// told apart by their description and price, and only equal ones by their order.
pub(super) fn finish(sections: &mut [Section], page: &str) {
    let mut taken = HashSet::new();
    for section in sections.iter_mut() {
        let text = section.description.clone().unwrap_or_default();
        section.id = unique(slug(&section.name), &text, &mut taken);
    }
    for section in sections {
        for item in &mut section.items {
            let price = item.price.as_ref().map(|price| price.amount.to_string()).unwrap_or_default();
            let text = format!("{}|{price}", item.description.as_deref().unwrap_or_default());
            item.id = unique(format!("{}/{}", section.id, slug(&item.name)), &text, &mut taken);
            item.source_url = page.to_owned();
        }
    }
}

/// Returns the currency of most prices; of two with the same number, that of the first price.
pub(super) fn main_currency(sections: &[Section]) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let all = || sections.iter().flat_map(|section| &section.items).filter_map(currency);
    all().for_each(|code| *counts.entry(code).or_default() += 1);
    let most = counts.values().max()?;
    all().find(|code| counts.get(code) == Some(most)).map(str::to_owned)
}

fn currency(item: &MenuItem) -> Option<&str> {
    item.price.as_ref()?.currency.as_deref()
}

/// Letters and digits in lower case, other runs as a hyphen.
fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.chars().flat_map(char::to_lowercase).take(MAX_ID) {
        if c.is_alphanumeric() {
            slug.push(c);
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
    }
    slug.truncate(slug.trim_end_matches('-').len());
    if slug.is_empty() { "item".to_owned() } else { slug }
}

/// Returns `id`, or if it is taken one that the other texts tell apart.
fn unique(id: String, text: &str, taken: &mut HashSet<String>) -> String {
    if taken.insert(id.clone()) {
        return id;
    }
    let by_text = format!("{id}-{:08x}", hash(text));
    let mut found = by_text.clone();
    let mut number = 1;
    while !taken.insert(found.clone()) {
        number += 1;
        found = format!("{by_text}-{number}");
    }
    found
}

/// FNV-1a: small, and the same everywhere.
fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_come_from_the_content() {
        let item = |name: &str, description: &str| MenuItem {
            name: name.to_owned(),
            description: Some(description.to_owned()),
            ..MenuItem::default()
        };
        let make = |items: Vec<MenuItem>| {
            let mut sections = [Section { id: String::new(), name: "Hot Drinks".to_owned(), description: None, items }];
            finish(&mut sections, "https://a.test/");
            sections[0].items.iter().map(|item| item.id.clone()).collect::<Vec<_>>()
        };
        let first = make(vec![item("Tea", "green"), item("Café au lait", ""), item("Tea", "black")]);
        assert_eq!(first[..2], ["hot-drinks/tea", "hot-drinks/café-au-lait"]);
        let second = make(vec![item("Cocoa", ""), item("Tea", "green"), item("Tea", "black")]);
        assert_eq!(first[2], second[2]);
        let equal = make(vec![item("Tea", ""), item("Tea", ""), item("Tea", "")]);
        assert_eq!(equal.iter().collect::<HashSet<_>>().len(), 3);
    }
}
