//! Menus that a page shows without structured data.

use page::{Index, Page, absolute, local_name};
use serde_json::json;
use wire::{Availability, Menu, MenuIdentifiers, MenuItem, Merchant, Picture, Price, Section};

use crate::missing::Missing;
use crate::money;
use crate::survey::Survey;

use super::dishes::UNNAMED;
use super::evidence::{Kinds, judge};
use super::finish;
use super::items::ItemDraft;
use super::legend::Legend;
use super::merchant::{is_menu_word, shown_merchant};
use super::priced::Choice;
use super::prices::named_currency;
use super::records::{Piece, pieces};
use super::sections::{SectionDraft, sections};
use super::shown::PageText;
use super::words::LISTS;

/// Data known about the page before its text is read.
pub(super) struct PageFacts {
    pub(super) merchant: Option<Merchant>,
    pub(super) currency: Option<String>,
    pub(super) kinds: Kinds,
}

/// Reads the menu that a page shows.
///
/// # Errors
/// The reason why the page has no menu.
pub(super) fn shown_menu(page: &Page, survey: &Survey<'_>, known: PageFacts) -> Result<Menu, Missing> {
    let shown = PageText::read(page);
    if shown.prices.iter().flatten().take(2).count() < 2 {
        return Err(Missing::Nothing);
    }
    let pieces = pieces(&shown);
    let outside = pieces.iter().filter_map(|piece| match piece {
        Piece::Line(at) => Some(shown.line(*at).text.as_str()),
        Piece::Item(_) => None,
    });
    let legend = Legend::read(outside.clone());
    let currency = known.currency.or_else(|| currency_of(&shown, outside).map(str::to_owned));
    let mut parts = sections(&shown, &pieces, &legend);
    parts.iter_mut().for_each(|part| part.items.retain(|item| !LISTS.charge.occur_in(&item.name)));
    parts.retain(|part| !part.items.is_empty());
    drop_services(&mut parts);
    let confidence = judge(&shown, &parts, survey, known.kinds)?;
    let merchant = known.merchant.unwrap_or_else(|| shown_merchant(page, survey, &shown.all));
    numbered(&mut parts);
    let unnamed = menu_name(&shown);
    let mut sections: Vec<Section> = Vec::new();
    for part in parts {
        add(section(page, part, &merchant, &unnamed, currency.as_deref()), &mut sections);
    }
    finish::finish(&mut sections, page.url().as_str());
    let currency = finish::main_currency(&sections);
    Ok(Menu { is_menu: true, confidence, source_url: page.url().to_string(), merchant, currency, sections })
}

/// Returns the currency that the page names: in a sentence about its prices, or as the only sign beside them.
fn currency_of<'t>(shown: &PageText<'_>, outside: impl Iterator<Item = &'t str>) -> Option<&'static str> {
    const PRICES: [&str; 14] = [
        "price", "preis", "prix", "prezz", "precio", "preço", "priser", "prijz", "ceny", "цены", "価格", "价格",
        "currency", "all in",
    ];
    let is_about = |text: &&str| {
        let lower = text.to_lowercase();
        text.len() < 400 && (PRICES.iter().any(|word| lower.contains(word)) || money::currency_of(text).is_some())
    };
    let named = outside.filter(is_about).find_map(named_currency);
    let mut beside =
        shown.prices.iter().flatten().flat_map(|priced| &priced.choices).filter_map(|choice| choice.currency);
    let first = beside.next();
    named.or_else(|| first.filter(|first| beside.all(|other| other == *first)))
}

/// Drops the sections of services, such as rooms and vouchers, beside those of food.
fn drop_services(parts: &mut Vec<SectionDraft>) {
    let serves = |part: &SectionDraft| {
        let names =
            part.items.iter().filter(|item| LISTS.service.occur_in(&item.name) && !LISTS.dish.occur_in(&item.name));
        let is_food = LISTS.section.occur_in(&part.name) || LISTS.dish.occur_in(&part.name);
        let is_other = LISTS.never.occur_in(&part.name) || LISTS.service.occur_in(&part.name) && !is_food;
        is_other || names.count() * 2 > part.items.len()
    };
    if parts.iter().any(|part| !serves(part)) && parts.iter().filter(|part| serves(part)).count() * 2 <= parts.len() {
        parts.retain(|part| !serves(part));
    }
}

/// Takes the numbers off the names if most items have one: `12. Pho Bo`.
fn numbered(parts: &mut [SectionDraft]) {
    let split = |item: &ItemDraft| {
        let (first, rest) = item.name.split_once([' ', '.', ')', ':'])?;
        let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '.' | ')' | ':' | '-' | '–'));
        let is_number = super::items::is_number(first) && rest.chars().any(char::is_alphabetic);
        is_number.then(|| (first.to_owned(), rest.to_owned()))
    };
    let items = || parts.iter().flat_map(|part| &part.items);
    let with = items().filter(|item| split(item).is_some()).count();
    if with < 2 || with * 10 < items().count() * 6 {
        return;
    }
    for item in parts.iter_mut().flat_map(|part| &mut part.items) {
        if let Some((number, rest)) = split(item) {
            (item.number, item.name) = (Some(number), rest);
        }
    }
}

/// The heading that names the menu, for items without a section.
fn menu_name(shown: &PageText<'_>) -> String {
    let lines = shown.all.lines.iter().filter(|line| (1..=4).contains(&line.heading) && !line.aside);
    let mut names = lines.map(|line| line.text.as_str()).filter(|text| LISTS.menu.occur_in(text) && is_menu_word(text));
    names.next().map_or_else(|| UNNAMED.to_owned(), str::to_owned)
}

/// Adds a section; one with the name of the section before it continues that one.
fn add(section: Section, sections: &mut Vec<Section>) {
    match sections.last_mut().filter(|last| last.name == section.name) {
        Some(last) => last.items.extend(section.items),
        None => sections.push(section),
    }
}

fn section(page: &Page, part: SectionDraft, merchant: &Merchant, unnamed: &str, currency: Option<&str>) -> Section {
    let is_merchant = part.name.to_lowercase() == merchant.name.to_lowercase();
    let name = if part.name.is_empty() || is_merchant { unnamed.to_owned() } else { part.name };
    let items = part.items.into_iter().map(|item| menu_item(page, item, currency)).collect();
    Section { id: String::new(), name, description: Some(part.description).filter(|text| !text.is_empty()), items }
}

fn menu_item(page: &Page, found: ItemDraft, currency: Option<&str>) -> MenuItem {
    let element = found.element;
    let description = found.description.join(joint(&found.description));
    let id = found.number.filter(|number| !number.is_empty());
    MenuItem {
        name: found.name,
        description: Some(description).filter(|text| !text.is_empty()),
        price: price(&found.choices, currency),
        availability: Availability { in_stock: found.sold_out.is_none(), text: found.sold_out },
        calories: found.calories,
        dietary: found.diets.into_iter().map(str::to_owned).collect(),
        identifiers: id.map(|id| MenuIdentifiers { merchant_item_id: Some(id) }),
        images: element.map(|element| images(page, element)).unwrap_or_default(),
        option_groups: sizes(&found.choices, currency),
        url: element.and_then(|element| link(page, element)),
        ..MenuItem::default()
    }
}

/// Texts that are sentences are set one after the other, others as a list.
fn joint(texts: &[String]) -> &'static str {
    let is_sentence = |text: &String| text.ends_with(['.', '!', '?', ',', ':', '。']);
    if texts.iter().rev().skip(1).any(is_sentence) { " " } else { ", " }
}

/// The lowest price, in the currency of the first one.
fn price(choices: &[Choice], currency: Option<&str>) -> Option<Price> {
    let first = choices.first()?;
    let alike = choices.iter().filter(|choice| choice.currency == first.currency);
    let lowest = alike.min_by(|left, right| left.value.total_cmp(&right.value))?;
    Some(priced(lowest, currency))
}

fn priced(choice: &Choice, currency: Option<&str>) -> Price {
    Price {
        amount: choice.value,
        currency: choice.currency.or(currency).map(str::to_owned),
        formatted: Some(choice.shown.clone()).filter(|shown| !shown.is_empty()),
    }
}

fn sizes(choices: &[Choice], currency: Option<&str>) -> Vec<serde_json::Value> {
    let labelled = choices.iter().filter(|choice| !choice.label.is_empty()).count();
    if choices.len() < 2 || labelled + 1 < choices.len() {
        return Vec::new();
    }
    let options = choices.iter().map(|choice| json!({ "name": choice.label, "price": priced(choice, currency) }));
    vec![json!({ "name": "Size", "options": options.collect::<Vec<_>>() })]
}

fn images(page: &Page, element: Index) -> Vec<Picture> {
    let mut images: Vec<Picture> = Vec::new();
    for at in page.subtree(element).filter(|&at| page.is(at, &local_name!("img"))).take(8) {
        let attr = |name| page.attr(at, name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let is_small = ["width", "height"]
            .iter()
            .any(|side| attr(side).and_then(|size| size.parse::<u32>().ok()).is_some_and(|size| size < 40));
        let source = attr("src").filter(|source| !page::is_embedded(source));
        let lazy = || ["data-src", "data-lazy-src", "data-original"].into_iter().find_map(attr);
        let url = source.or_else(lazy).and_then(|url| absolute(page.base(), &url));
        let alt = attr("alt");
        let is_mark = alt
            .as_deref()
            .is_some_and(|alt| super::legend::diet_of(alt).is_some() && alt.split_whitespace().count() <= 2);
        if let Some(url) = url.filter(|url| matches!(url.scheme(), "http" | "https") && !is_small && !is_mark) {
            images.push(Picture { url: url.into(), alt });
        }
    }
    images.dedup_by(|left, right| left.url == right.url);
    images
}

/// The page of the item: the only link in its element.
fn link(page: &Page, element: Index) -> Option<String> {
    let around = page.is(element, &local_name!("a")).then_some(element);
    let links = page.subtree(element).filter(|&at| page.is(at, &local_name!("a")));
    let mut targets: Vec<url::Url> = around
        .into_iter()
        .chain(links)
        .take(20)
        .filter_map(|at| page.attr(at, "href"))
        .filter(|href| !href.trim_start().starts_with('#'))
        .filter_map(|href| absolute(page.base(), href.trim()))
        .filter(|url| matches!(url.scheme(), "http" | "https"))
        .collect();
    targets.dedup();
    (targets.len() == 1).then(|| targets.remove(0).into())
}
