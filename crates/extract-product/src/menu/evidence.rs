//! Whether a list of prices is a menu.

use crate::missing::Missing;
use crate::survey::Survey;

use super::sections::SectionDraft;
use super::shown::PageText;
use super::words::LISTS;

/// Least points of a menu.
const ENOUGH: f64 = 0.5;
/// Least share of items that are food or drink by their own words or by those of their section.
const MIN_FOOD: f64 = 0.25;
/// Largest mean number of words of a name; headlines and sentences have more.
const MAX_WORDS: f64 = 8.0;
/// Largest share of items that are services or goods.
const MAX_SERVICE: f64 = 0.25;

/// Page types found in the structured data.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Kinds {
    /// Whether it describes a restaurant, a café or another place that serves food.
    pub(super) is_place: bool,
    pub(super) is_recipe: bool,
    /// Whether it describes a product, a room, a salon or another thing that no menu lists.
    pub(super) is_other: bool,
}

/// Shares of the items, from 0 to 1, and counts.
#[derive(Debug, Default)]
struct Counts {
    items: f64,
    food: f64,
    service: f64,
    /// Items in sections that only menus have.
    courses: f64,
    packed: f64,
    priced: f64,
    /// Words of all names.
    words: f64,
}

/// Returns how sure it is that the sections are a menu, from 0 to 1.
///
/// # Errors
/// The reason why the sections are not a menu.
pub(super) fn judge(
    shown: &PageText<'_>,
    parts: &[SectionDraft],
    survey: &Survey<'_>,
    kinds: Kinds,
) -> Result<f64, Missing> {
    let counts = count(parts);
    if counts.items < 2.0 || counts.priced < 2.0 {
        return Err(if counts.items > 0.0 { Missing::Weak } else { Missing::Nothing });
    }
    let about = PageTopic::of(shown, parts, survey, kinds);
    if about.is_other(&counts, shown) {
        return Err(Missing::Other);
    }
    // No sign suffices alone: even a list of nothing but food (0.35) needs a menu in the title, a place, or courses.
    // The weights were set by hand.
    let points = 0.3 * f64::from(u8::from(about.names_menu))
        + 0.25 * f64::from(u8::from(about.is_place))
        + 0.1 * f64::from(u8::from(kinds.is_place))
        + 0.35 * counts.food
        + 0.3 * counts.courses;
    let has_context = about.names_menu || about.is_place || (counts.courses > 0.4 && parts.len() > 1);
    if counts.food < MIN_FOOD || points < ENOUGH || !has_context {
        return Err(if counts.food > counts.service { Missing::Weak } else { Missing::Other });
    }
    // From 0.58 for the least menu to 0.87: a list that is shown is never as sure as declared data.
    Ok((0.4 + 0.35 * points.min(1.2) + 0.05 * counts.priced.min(10.0) / 10.0).min(0.87))
}

fn count(parts: &[SectionDraft]) -> Counts {
    let mut counts = Counts::default();
    for part in parts {
        let is_food = LISTS.section.occur_in(&part.name) || LISTS.dish.occur_in(&part.name);
        let is_course = LISTS.course.occur_in(&part.name);
        let serves = LISTS.service.occur_in(&part.name) && !is_food;
        for item in &part.items {
            let is_never = LISTS.never.occur_in(&item.name) || LISTS.never.occur_in(&part.name);
            let is_dish = !is_never
                && (LISTS.dish.occur_in(&item.name) || item.description.iter().any(|text| LISTS.dish.occur_in(text)));
            let is_service = serves || is_never || LISTS.service.occur_in(&item.name);
            counts.items += 1.0;
            counts.words += item.name.split_whitespace().count() as f64;
            counts.priced += f64::from(u8::from(!item.choices.is_empty()));
            // The section may speak for an item, but less than its own words.
            counts.food += if is_dish {
                1.0
            } else if is_food && !is_service {
                0.8
            } else {
                0.0
            };
            counts.service += f64::from(u8::from(is_service && !is_dish));
            counts.courses += f64::from(u8::from(is_course));
            counts.packed += f64::from(u8::from(is_packed(&item.name)));
        }
    }
    let all = counts.items.max(1.0);
    Counts {
        food: counts.food / all,
        service: counts.service / all,
        courses: counts.courses / all,
        packed: counts.packed / all,
        ..counts
    }
}

/// Whether a name says how much is in a pack: `Gouda 400 g`, `6 x 330 ml`.
fn is_packed(name: &str) -> bool {
    let lower = name.to_lowercase();
    let mut words = lower
        .split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ','))
        .filter(|word| !word.is_empty())
        .peekable();
    while let Some(word) = words.next() {
        let unit = word.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | 'x' | '×'));
        let unit = if unit.is_empty() { words.peek().copied().unwrap_or_default() } else { unit };
        let is_amount = word.starts_with(|c: char| c.is_ascii_digit());
        if is_amount && matches!(unit, "g" | "kg" | "ml" | "pack" | "pcs" | "stück" | "lb" | "lbs" | "oz" | "pk") {
            return true;
        }
    }
    false
}

/// Page types suggested by the title, the headings and the URL.
struct PageTopic {
    names_menu: bool,
    is_place: bool,
    is_recipe: bool,
    is_shop: bool,
    is_service: bool,
    kinds: Kinds,
}

impl PageTopic {
    fn of(shown: &PageText<'_>, parts: &[SectionDraft], survey: &Survey<'_>, kinds: Kinds) -> Self {
        // Headings above the first item, but not those of the menu itself.
        let first = parts.iter().filter_map(|part| part.items.first()).map(|item| item.lines.start).min().unwrap_or(0);
        let is_top = |at: &usize| (1..=3).contains(&shown.line(*at).heading) && !shown.line(*at).aside;
        let heads: Vec<&str> = (0..first).filter(is_top).map(|at| shown.line(at).text.as_str()).collect();
        let site = survey.metas.iter().find(|meta| meta.name == "og:site_name").map_or("", |meta| meta.content);
        // An address or a notice names the place; other lines of a footer are links.
        let is_notice = |text: &&str| text.len() < 160 && text.contains([',', '©', '|']);
        let aside = shown.all.lines.iter().filter(|line| line.aside).map(|line| line.text.as_str()).filter(is_notice);
        let tops: Vec<&str> = [survey.title.as_str(), site].into_iter().chain(heads).collect();
        let url = shown.page.url();
        let any = |words: &super::words::Words| tops.iter().any(|text| words.occur_in(text));
        let is_many = any(&LISTS.plural);
        let in_address = LISTS.place.occur_in(url.host_str().unwrap_or_default())
            || aside.take(60).any(|text| LISTS.place.occur_in(text));
        let is_shop = any(&LISTS.shop);
        PageTopic {
            names_menu: any(&LISTS.menu)
                || LISTS.menu.occur_in(url.path())
                || parts.iter().any(|part| LISTS.menu.occur_in(&part.name)),
            is_place: kinds.is_place || !is_many && (any(&LISTS.place) || in_address),
            is_recipe: any(&LISTS.recipe)
                || kinds.is_recipe
                || parts.iter().any(|part| LISTS.recipe.occur_in(&part.name)),
            is_shop,
            is_service: any(&LISTS.service),
            kinds,
        }
    }

    /// Whether the list is certainly something else.
    fn is_other(&self, counts: &Counts, shown: &PageText<'_>) -> bool {
        let carts = shown.all.controls.iter().filter(|control| LISTS.cart.occur_in(control)).count();
        // A cart beside half of the items, or packs by weight, is a shop; a restaurant that delivers has carts as well.
        let sells = carts as f64 * 2.0 >= counts.items || counts.packed > 0.5 || self.is_shop;
        self.is_recipe
            || counts.words > MAX_WORDS * counts.items
            || (self.kinds.is_other && !self.kinds.is_place)
            || counts.service > MAX_SERVICE
            || counts.service >= counts.food
            || (self.is_service && counts.food < 0.6)
            || (sells && !(self.is_place && (self.names_menu || counts.courses > 0.3)))
    }
}
