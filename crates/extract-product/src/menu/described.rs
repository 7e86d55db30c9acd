//! Menus of schema.org, in JSON-LD and microdata.

use serde_json::{Map, Value as Json, json};
use wire::{Merchant, Section};

use crate::json_ld::{Ids, Root, is_a, last_part};
use crate::missing::Missing;
use crate::value::Value;
use crate::words;

use super::dishes::Reader;
use super::evidence::Kinds;

/// Types of places that serve food or drink.
const PLACES: [&str; 11] = [
    "FoodEstablishment",
    "Restaurant",
    "CafeOrCoffeeShop",
    "BarOrPub",
    "Bakery",
    "FastFoodRestaurant",
    "IceCreamShop",
    "Brewery",
    "Winery",
    "Distillery",
    "FoodTruck",
];
/// Types that have lists of prices which are no menus.
const OTHERS: [&str; 26] = [
    "Product",
    "ProductGroup",
    "HealthAndBeautyBusiness",
    "BeautySalon",
    "HairSalon",
    "NailSalon",
    "DaySpa",
    "HealthClub",
    "TattooParlor",
    "AutomotiveBusiness",
    "AutoRepair",
    "AutoWash",
    "TireShop",
    "MedicalBusiness",
    "Dentist",
    "SportsActivityLocation",
    "ExerciseGym",
    "DryCleaningOrLaundry",
    "GroceryStore",
    "OnlineStore",
    "Store",
    "Event",
    "Course",
    "Movie",
    "SoftwareApplication",
    "PetStore",
];
/// Limit on the values that are searched for menus.
const MAX_VISITS: usize = 200_000;

/// Menu in the structured data of a page.
#[derive(Debug, Default)]
pub(super) struct Described {
    pub(super) merchant: Option<Merchant>,
    /// Sections without ids, in order.
    pub(super) sections: Vec<Section>,
    pub(super) currency: Option<String>,
    pub(super) kinds: Kinds,
}

/// The values of interest, in the order of the page.
#[derive(Default)]
struct MenuNodes<'v, 'p> {
    places: Vec<&'v Value<'p>>,
    menus: Vec<&'v Value<'p>>,
    sections: Vec<&'v Value<'p>>,
    items: Vec<&'v Value<'p>>,
    kinds: Kinds,
    visits: usize,
}

/// Reads the menu that `roots` describe. No menu leaves the sections empty.
///
/// # Errors
/// The page describes the menus of several places.
pub(super) fn described(roots: &[Root<'_>], page: &page::Page) -> Result<Described, Missing> {
    let ids = Ids::of(roots.iter().map(|root| &root.value));
    let mut seen = MenuNodes::default();
    roots.iter().for_each(|root| seen.visit(&root.value, Nesting::default()));
    let reader = Reader { ids: &ids, page };
    let with_menus: Vec<(usize, Vec<Section>)> = (0..seen.places.len())
        .map(|at| (at, reader.sections_of_place(seen.places[at])))
        .filter(|(_, sections)| !sections.is_empty())
        .collect();
    let mut found = Described { kinds: seen.kinds, ..Described::default() };
    let place = match with_menus.as_slice() {
        [] => seen.places.first().copied(),
        [(at, _)] => Some(seen.places[*at]),
        several => {
            let first = seen.places[several[0].0];
            let is_same = several.iter().all(|(at, _)| seen.places[*at].get("name") == first.get("name"));
            if !is_same {
                return Err(Missing::Ambiguous);
            }
            Some(first)
        }
    };
    found.sections = match with_menus.into_iter().next() {
        Some((_, sections)) => sections,
        None => reader.sections_without_place(&seen.menus, &seen.sections, &seen.items),
    };
    found.merchant = place.and_then(|place| merchant(&ids, place));
    found.currency = place.and_then(|place| place.get("currenciesAccepted").text()).and_then(one_currency);
    found.kinds.is_place |= place.is_some_and(|place| is_a(place, &PLACES));
    Ok(found)
}

/// Kinds of nodes that enclose a value.
#[derive(Debug, Clone, Copy, Default)]
struct Nesting {
    menu: bool,
    section: bool,
    item: bool,
}

impl<'v, 'p> MenuNodes<'v, 'p> {
    fn visit(&mut self, value: &'v Value<'p>, inside: Nesting) {
        self.visits += 1;
        if self.visits > MAX_VISITS {
            return;
        }
        match value {
            Value::List(items) => items.iter().for_each(|item| self.visit(item, inside)),
            Value::Object(members) => {
                let inside = self.note(value, inside);
                members.iter().for_each(|member| self.visit(&member.value, inside));
            }
            _ => {}
        }
    }

    fn note(&mut self, value: &'v Value<'p>, mut inside: Nesting) -> Nesting {
        let has_menu = !value.first_of(&["hasMenu", "menu"]).is_null() && !is_a(value, &["Menu", "MenuSection"]);
        if has_menu || is_a(value, &PLACES) {
            self.places.push(value);
            self.kinds.is_place |= is_a(value, &PLACES);
        }
        self.kinds.is_recipe |= is_a(value, &["Recipe"]);
        self.kinds.is_other |= is_a(value, &OTHERS) && !inside.menu && !inside.section;
        if is_a(value, &["Menu"]) {
            self.menus.extend(Some(value).filter(|_| !inside.menu));
            inside.menu = true;
        } else if is_a(value, &["MenuSection"]) {
            self.sections.extend(Some(value).filter(|_| !inside.menu && !inside.section && !inside.item));
            inside.section = true;
        } else if is_a(value, &["MenuItem"]) {
            self.items.extend(Some(value).filter(|_| !inside.menu && !inside.section && !inside.item));
            inside.item = true;
        }
        inside
    }
}

fn merchant(ids: &Ids<'_, '_>, place: &Value<'_>) -> Option<Merchant> {
    let name = place.get("name").items().first().and_then(Value::text).and_then(words::name)?;
    let kinds = place.get("@type").items().iter().filter_map(Value::text).map(last_part);
    let kind =
        kinds.map(kind_of).find(|kind| !kind.is_empty()).or_else(|| super::merchant::kind_of(&name).map(str::to_owned));
    Some(Merchant { name, kind, location: location(ids, place) })
}

/// A type of schema.org as words: `FastFoodRestaurant` is `fast food restaurant`.
fn kind_of(kind: &str) -> String {
    match kind {
        "CafeOrCoffeeShop" => return "cafe".to_owned(),
        "BarOrPub" => return "bar".to_owned(),
        "LocalBusiness" | "Organization" | "Place" | "FoodEstablishment" => return String::new(),
        _ => {}
    }
    let mut words = String::new();
    for c in kind.chars().filter(char::is_ascii_alphabetic) {
        if c.is_ascii_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.push(c.to_ascii_lowercase());
    }
    words
}

fn location(ids: &Ids<'_, '_>, place: &Value<'_>) -> Option<Json> {
    let address = place.get("address").items().first()?;
    if let Some(text) = address.text().and_then(words::name) {
        return Some(json!({ "formatted": text }));
    }
    // References of a place's own address are followed as well.
    let address = resolved(ids, address);
    let mut found = Map::new();
    for (name, member) in [
        ("street", "streetAddress"),
        ("postalCode", "postalCode"),
        ("city", "addressLocality"),
        ("region", "addressRegion"),
        ("country", "addressCountry"),
    ] {
        let value = address.get(member);
        let text = value.text().or_else(|| value.get("name").text()).and_then(words::name);
        found.extend(text.map(|text| (name.to_owned(), text.into())));
    }
    let geo = place.get("geo");
    for name in ["latitude", "longitude"] {
        let number =
            geo.get(name).text().and_then(|text| text.trim().parse::<f64>().ok()).filter(|number| number.is_finite());
        found.extend(number.map(|number| (name.to_owned(), number.into())));
    }
    (!found.is_empty()).then_some(Json::Object(found))
}

fn resolved<'a>(ids: &Ids<'a, 'a>, value: &'a Value<'a>) -> &'a Value<'a> {
    ids.resolve(value)
}

fn one_currency(text: &str) -> Option<String> {
    let mut codes = text.split([',', ' ', ';', '/']).filter(|part| !part.is_empty());
    let code = codes.next().and_then(crate::money::currency_of)?;
    codes.next().is_none().then(|| code.to_owned())
}
