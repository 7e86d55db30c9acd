//! Sections, items and offers of schema.org.

use page::{Page, absolute};
use serde_json::{Value as Json, json};
use wire::{Availability, MenuIdentifiers, MenuItem, Picture, Price, Section};

use crate::json_ld::{Ids, is_a, last_part};
use crate::money::{self, Style};
use crate::value::Value;
use crate::words;

use super::calories::energy;
use super::legend::diet_of;

/// Limit on the depth of nested sections; references may go in circles.
const MAX_DEPTH: usize = 8;
/// Limit on the sections and on the items of a menu.
const MAX_SECTIONS: usize = 500;
const MAX_ITEMS: usize = 3000;
/// Limit on the pictures, offers, diets and option groups of an item.
const MAX_PARTS: usize = 30;

/// Name of a section that nothing names.
pub(super) const UNNAMED: &str = "Menu";

/// Reads menus; follows references.
pub(super) struct Reader<'a, 'v, 'p> {
    pub(super) ids: &'a Ids<'v, 'p>,
    pub(super) page: &'a Page,
}

/// The sections that are collected, and what may still be read.
struct MenuOutput {
    sections: Vec<Section>,
    items: usize,
}

impl<'v, 'p> Reader<'_, 'v, 'p> {
    /// The sections of all menus of a place.
    pub(super) fn sections_of_place(&self, place: &'v Value<'p>) -> Vec<Section> {
        let mut out = MenuOutput { sections: Vec::new(), items: 0 };
        let menus =
            ["hasMenu", "menu"].into_iter().flat_map(|name| place.get(name).items()).map(|menu| self.ids.resolve(menu));
        menus.filter(|menu| menu.is_object()).for_each(|menu| self.menu(menu, &mut out));
        if out.sections.is_empty() {
            let catalogs = ["hasOfferCatalog", "makesOffer"].into_iter().flat_map(|name| place.get(name).items());
            let catalogs: Vec<_> = catalogs
                .map(|catalog| self.ids.resolve(catalog))
                .filter(|catalog| self.has_dishes(catalog, 0))
                .collect();
            catalogs.into_iter().for_each(|catalog| self.menu(catalog, &mut out));
        }
        out.sections
    }

    /// The sections of menus that belong to no place; of loose sections, and of loose items if there are several.
    pub(super) fn sections_without_place(
        &self,
        menus: &[&'v Value<'p>],
        sections: &[&'v Value<'p>],
        items: &[&'v Value<'p>],
    ) -> Vec<Section> {
        let mut out = MenuOutput { sections: Vec::new(), items: 0 };
        menus.iter().for_each(|menu| self.menu(menu, &mut out));
        if out.sections.is_empty() {
            sections.iter().for_each(|section| self.section(section, UNNAMED, 0, &mut out));
        }
        if out.sections.is_empty() && items.len() > 1 {
            self.push(UNNAMED.to_owned(), None, items.iter().copied(), &mut out);
        }
        out.sections
    }

    fn has_dishes(&self, catalog: &'v Value<'p>, depth: usize) -> bool {
        let inner = catalog.get("itemListElement").items().iter().chain(catalog.get("itemOffered").items());
        is_a(catalog, &["MenuItem", "MenuSection"])
            || (depth < 3 && inner.take(MAX_PARTS).any(|inner| self.has_dishes(self.ids.resolve(inner), depth + 1)))
    }

    fn menu(&self, menu: &'v Value<'p>, out: &mut MenuOutput) {
        let name = text_property(menu, "name").unwrap_or_else(|| UNNAMED.to_owned());
        self.section(menu, &name, 0, out);
    }

    /// Adds a section with its own items, then the sections inside of it.
    fn section(&self, section: &'v Value<'p>, outer: &str, depth: usize, out: &mut MenuOutput) {
        if depth > MAX_DEPTH || out.sections.len() >= MAX_SECTIONS {
            return;
        }
        let name = text_property(section, "name").unwrap_or_else(|| outer.to_owned());
        let members = ["hasMenuItem", "menuItem", "itemListElement", "hasPart"]
            .into_iter()
            .flat_map(|name| section.get(name).items());
        let members: Vec<&'v Value<'p>> = members.map(|item| self.offered(item)).collect();
        let is_section = |value: &&&'v Value<'p>| is_a(value, &["MenuSection", "OfferCatalog"]);
        let items = members.iter().filter(|value| !is_section(value)).copied();
        self.push(name.clone(), description(section), items, out);
        let inner = section.get("hasMenuSection").items().iter().map(|inner| self.ids.resolve(inner));
        for inner in inner.chain(members.iter().filter(is_section).copied()) {
            self.section(inner, &name, depth + 1, out);
        }
    }

    /// The item of an offer or of a list's entry.
    fn offered(&self, value: &'v Value<'p>) -> &'v Value<'p> {
        let value = self.ids.resolve(value);
        let inner = value.first_of(&["itemOffered", "item"]);
        if inner.is_object() && value.get("offers").is_null() && value.get("price").is_null() {
            self.ids.resolve(inner)
        } else {
            value
        }
    }

    fn push(
        &self,
        name: String,
        description: Option<String>,
        items: impl Iterator<Item = &'v Value<'p>>,
        out: &mut MenuOutput,
    ) {
        let left = MAX_ITEMS.saturating_sub(out.items);
        let items: Vec<MenuItem> = items.filter_map(|item| self.item(item)).take(left).collect();
        out.items += items.len();
        if !items.is_empty() {
            out.sections.push(Section { id: String::new(), name, description, items });
        }
    }

    fn item(&self, item: &'v Value<'p>) -> Option<MenuItem> {
        let inner = item.get("itemOffered");
        let thing = if inner.is_object() { self.ids.resolve(inner) } else { item };
        let name = text_property(thing, "name").or_else(|| text_property(item, "name"))?;
        let offers = self.offers(if inner.is_object() { item } else { thing }, inner.is_object());
        let url = thing
            .get("url")
            .text()
            .and_then(|url| absolute(self.page.base(), url))
            .filter(|url| self.is_elsewhere(url));
        Some(MenuItem {
            name,
            description: description(thing),
            price: lowest(&offers),
            availability: availability(&offers),
            calories: thing.get("nutrition").items().iter().find_map(|nutrition| self.calories(nutrition)),
            dietary: self.diets(thing),
            identifiers: id(thing).map(|id| MenuIdentifiers { merchant_item_id: Some(id) }),
            images: self.images(thing),
            option_groups: self.groups(thing, &offers),
            url: url.map(String::from),
            ..MenuItem::default()
        })
    }

    fn is_elsewhere(&self, url: &url::Url) -> bool {
        let without = |url: &url::Url| {
            let mut url = url.clone();
            url.set_fragment(None);
            url
        };
        matches!(url.scheme(), "http" | "https") && without(url) != without(self.page.url())
    }

    /// The offers of an item; an item that is an offer itself has its own price.
    fn offers(&self, item: &'v Value<'p>, is_offer: bool) -> Vec<Offer> {
        let mut found: Vec<&'v Value<'p>> = Vec::new();
        for offer in item.get("offers").items().iter().take(MAX_PARTS).map(|offer| self.ids.resolve(offer)) {
            let inner = offer.get("offers").items();
            if inner.is_empty() {
                found.push(offer);
            }
            found.extend(inner.iter().take(MAX_PARTS).map(|inner| self.ids.resolve(inner)));
        }
        if found.is_empty() && (is_offer || !item.get("price").is_null()) {
            found.push(item);
        }
        found.into_iter().map(|offer| self.offer(offer)).collect()
    }

    fn offer(&self, offer: &'v Value<'p>) -> Offer {
        let specifications = || offer.get("priceSpecification").items().iter().map(|one| self.ids.resolve(one));
        let currency_of = |value: &Value<'_>| {
            value.get("priceCurrency").items().first().and_then(Value::text).and_then(money::currency_of)
        };
        let currency = currency_of(offer).or_else(|| specifications().find_map(currency_of));
        let own = price(offer, &["price", "lowPrice", "minPrice"], currency);
        let price = own.or_else(|| specifications().find_map(|one| price(one, &["price", "minPrice"], currency)));
        let stock = offer.get("availability");
        let stock = stock.text().or_else(|| stock.get("@id").text()).map(last_part).filter(|term| !term.is_empty());
        let size = text_property(offer, "name")
            .or_else(|| offer.get("eligibleQuantity").first_of(&["name", "unitText"]).text().and_then(words::name));
        Offer { size, price, stock: stock.map(str::to_owned) }
    }

    fn calories(&self, nutrition: &'v Value<'p>) -> Option<f64> {
        let calories = self.ids.resolve(nutrition).get("calories");
        if calories.is_object() {
            let unit = calories.first_of(&["unitText", "unitCode"]).text().unwrap_or("kcal");
            return energy(&format!(
                "{} {}",
                calories.get("value").text()?,
                if unit.eq_ignore_ascii_case("KJO") { "kJ" } else { unit }
            ));
        }
        calories.items().first().and_then(Value::text).and_then(energy)
    }

    fn diets(&self, item: &'v Value<'p>) -> Vec<String> {
        let mut diets: Vec<String> = Vec::new();
        for diet in item.get("suitableForDiet").items().iter().take(MAX_PARTS) {
            let term =
                diet.text().or_else(|| diet.get("@id").text()).or_else(|| diet.first_of(&["url", "name"]).text());
            if let Some(diet) = term.and_then(diet_of_term).filter(|diet| !diets.contains(diet)) {
                diets.push(diet);
            }
        }
        diets
    }

    fn images(&self, item: &'v Value<'p>) -> Vec<Picture> {
        let mut images: Vec<Picture> = Vec::new();
        for image in
            item.first_of(&["image", "photo"]).items().iter().take(MAX_PARTS).map(|image| self.ids.resolve(image))
        {
            let url = image
                .text()
                .or_else(|| image.first_of(&["url", "contentUrl", "@id"]).items().first().and_then(Value::text));
            let url = url
                .and_then(|url| absolute(self.page.base(), url.trim()))
                .filter(|url| matches!(url.scheme(), "http" | "https"));
            let alt = ["caption", "name", "alternateName"].into_iter().find_map(|name| text_property(image, name));
            images.extend(url.map(|url| Picture { url: url.into(), alt }));
        }
        images.dedup_by(|left, right| left.url == right.url);
        images
    }

    /// The choices of an item: its add-ons, and its sizes if it has several offers.
    fn groups(&self, item: &'v Value<'p>, offers: &[Offer]) -> Vec<Json> {
        let add_ons = item.get("menuAddOn").items().iter().take(MAX_PARTS).map(|group| self.ids.resolve(group));
        let (groups, single): (Vec<_>, Vec<_>) = add_ons.partition(|group| !is_a(group, &["MenuItem"]));
        let mut found: Vec<Json> = groups.into_iter().filter_map(|group| self.group(group)).collect();
        let single: Vec<Json> = single.into_iter().filter_map(|item| self.option(item)).collect();
        if !single.is_empty() {
            found.push(json!({ "name": "Extras", "options": single }));
        }
        if offers.len() > 1 && offers.iter().all(|offer| offer.size.is_some()) {
            let options = offers.iter().map(|offer| json!({ "name": offer.size, "price": offer.price }));
            found.push(json!({ "name": "Size", "options": options.collect::<Vec<_>>() }));
        }
        found
    }

    fn group(&self, group: &'v Value<'p>) -> Option<Json> {
        let name = text_property(group, "name");
        let items = group.get("hasMenuItem").items().iter().take(MAX_PARTS * 3).map(|item| self.ids.resolve(item));
        let options: Vec<Json> = items.filter_map(|item| self.option(item)).collect();
        (name.is_some() || !options.is_empty())
            .then(|| json!({ "name": name.unwrap_or_else(|| "Options".to_owned()), "options": options }))
    }

    fn option(&self, item: &'v Value<'p>) -> Option<Json> {
        let name = text_property(item, "name")?;
        let price = lowest(&self.offers(item, false));
        Some(match price {
            Some(price) => json!({ "name": name, "price": price }),
            None => json!({ "name": name }),
        })
    }
}

/// An offer of an item.
struct Offer {
    size: Option<String>,
    price: Option<Price>,
    /// Availability, as the last part of a term of schema.org.
    stock: Option<String>,
}

impl Offer {
    fn is_gone(&self) -> bool {
        self.stock.as_deref().is_some_and(|term| matches!(term, "OutOfStock" | "SoldOut" | "Discontinued" | "Reserved"))
    }
}

/// The lowest price that is asked today; that of a sold-out item is its last one.
fn lowest(offers: &[Offer]) -> Option<Price> {
    let of = |gone: bool| {
        let prices = offers.iter().filter(|offer| offer.is_gone() == gone).filter_map(|offer| offer.price.as_ref());
        prices.min_by(|left, right| left.amount.total_cmp(&right.amount)).cloned()
    };
    of(false).or_else(|| of(true))
}

fn availability(offers: &[Offer]) -> Availability {
    let is_gone = !offers.is_empty() && offers.iter().all(Offer::is_gone);
    let text = offers.iter().find(|offer| offer.is_gone() == is_gone).and_then(|offer| offer.stock.clone());
    Availability { in_stock: !is_gone, text }
}

fn price(offer: &Value<'_>, names: &[&str], currency: Option<&'static str>) -> Option<Price> {
    let texts = names.iter().flat_map(|name| offer.get(name).items()).filter_map(Value::text);
    let money = texts.filter_map(|text| Some((text, money::field(text, Style::default(), currency)?)));
    let (text, money) = money.into_iter().find(|(_, money)| money.amount >= 0.0)?;
    let formatted = money.is_signed.then(|| words::name(text)).flatten();
    Some(Price { amount: money.amount, currency: currency.or(money.currency).map(str::to_owned), formatted })
}

fn text_property(value: &Value<'_>, name: &str) -> Option<String> {
    let member = value.get(name).items().iter().find(|item| !item.is_null())?;
    member.text().or_else(|| member.get("@value").text()).and_then(words::name)
}

fn description(value: &Value<'_>) -> Option<String> {
    let member = value.get("description").items().iter().find(|item| !item.is_null())?;
    member.text().or_else(|| member.get("@value").text()).and_then(words::description)
}

/// The id that the merchant gives an item.
fn id(item: &Value<'_>) -> Option<String> {
    let own = ["sku", "productID", "identifier", "mpn"].into_iter().flat_map(|name| item.get(name).items());
    let texts = own.filter_map(|value| value.text().or_else(|| value.first_of(&["value", "@value"]).text()));
    texts.into_iter().find_map(words::code)
}

/// The diet of a term of schema.org, such as `https://schema.org/VeganDiet`.
fn diet_of_term(term: &str) -> Option<String> {
    let name = last_part(term).trim_end_matches("Diet");
    let diet = match name {
        "Vegan" => "vegan",
        "Vegetarian" => "vegetarian",
        "GlutenFree" => "gluten-free",
        "LowLactose" => "lactose-free",
        "Halal" => "halal",
        "Kosher" => "kosher",
        "Hindu" => "hindu",
        "Diabetic" => "diabetic",
        "LowCalorie" => "low-calorie",
        "LowFat" => "low-fat",
        "LowSalt" => "low-salt",
        _ => return diet_of(term).map(str::to_owned),
    };
    Some(diet.to_owned())
}
