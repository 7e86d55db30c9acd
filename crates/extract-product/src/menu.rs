//! The `menu` format.

mod calories;
mod columns;
mod described;
mod dishes;
mod evidence;
mod finish;
mod items;
mod legend;
mod lines;
mod looks;
mod merchant;
mod plain;
mod priced;
mod prices;
mod records;
mod sections;
mod shown;
mod split;
mod words;

use page::Page;
use wire::{Menu, MenuItem};

use crate::lenient::Budget;
use crate::missing::Missing;
use crate::survey::Survey;
use crate::{json_ld, microdata};

use described::{Described, described};
use plain::{PageFacts, shown_menu};
use words::LISTS;

/// Returns the menu of a page: the one that its structured data describes, else the one that it shows.
///
/// Prices are the lowest of an item; its sizes are a group of options. `confidence` is at least 0.9 for a described menu,
/// and at most 0.87 for one that is only shown.
///
/// # Errors
/// [`Missing`]: the reason for a page without a menu.
pub fn menu(page: &Page) -> Result<Menu, Missing> {
    let mut budget = Budget::new(page.stop());
    let mut roots = json_ld::read_scripts(page, &mut budget);
    roots.extend(microdata::read_items(page, &mut budget));
    let described = described(&roots, page)?;
    let survey = Survey::of(page);
    if page.stop().is_set() {
        return Err(Missing::Stopped);
    }
    let found = if described.sections.is_empty() {
        let Described { merchant, currency, kinds, .. } = described;
        shown_menu(page, &survey, PageFacts { merchant, currency, kinds })
    } else {
        described_menu(page, &survey, described)
    };
    if page.stop().is_set() { Err(Missing::Stopped) } else { found }
}

fn described_menu(page: &Page, survey: &Survey<'_>, described: Described) -> Result<Menu, Missing> {
    let Described { merchant, mut sections, currency, kinds } = described;
    let items = || sections.iter().flat_map(|section| &section.items);
    let (count, foods) = (items().count(), items().filter(|item| is_food(item)).count());
    let services = items().filter(|item| LISTS.service.occur_in(&item.name) && !is_food(item)).count();
    let priced = items().filter(|item| item.price.is_some()).count();
    let is_navigation = priced == 0 && foods == 0 && !kinds.is_place;
    if is_navigation
        || services > foods
        || (services * 2 >= count && !kinds.is_place)
        || (kinds.is_other && !kinds.is_place && foods == 0)
    {
        return Err(Missing::Other);
    }
    let is_named = merchant.is_some();
    let merchant = merchant.unwrap_or_else(|| merchant::shown_merchant(page, survey, &lines::lines(page)));
    finish::finish(&mut sections, page.url().as_str());
    let currency = finish::main_currency(&sections).or(currency);
    for price in sections.iter_mut().flat_map(|section| &mut section.items).filter_map(|item| item.price.as_mut()) {
        price.currency = price.currency.take().or_else(|| currency.clone());
    }
    let share = priced as f64 / count.max(1) as f64;
    let confidence = 0.9 + 0.05 * share + if kinds.is_place { 0.03 } else { 0.0 } + if is_named { 0.01 } else { 0.0 };
    Ok(Menu { is_menu: true, confidence, source_url: page.url().to_string(), merchant, currency, sections })
}

fn is_food(item: &MenuItem) -> bool {
    LISTS.dish.occur_in(&item.name) || item.description.as_deref().is_some_and(|text| LISTS.dish.occur_in(text))
}
