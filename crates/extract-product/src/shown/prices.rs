//! The price of the main product among all prices that are shown.

use page::{Index, Page, local_name};
use wire::Price;

use super::{Button, Zones, phrases};
use crate::money::{self, Money, Style};
use crate::tags::attribute;

/// Length of a text that may be a price, in bytes.
const MAX_TEXT: usize = 80;
/// Elements around a number that are looked at.
const MAX_LEVELS: usize = 4;
/// Limit on the candidates of a page.
const MAX_CANDIDATES: usize = 3000;

/// The price that a page asks for its main product.
#[derive(Debug, Clone)]
pub(crate) struct Offered {
    pub(crate) price: Price,
    pub(crate) original: Option<Price>,
    pub(crate) node: Index,
    /// How much speaks for it; above [`SURE`] a product may stand on it.
    pub(crate) score: f64,
}

/// Score of a price that a product may be founded on.
pub(crate) const SURE: f64 = 7.0;

struct Candidate {
    node: Index,
    price: Price,
    score: f64,
    is_former: bool,
}

/// Finds the price.
pub(super) fn find(
    page: &Page,
    zones: &Zones,
    heading: Option<Index>,
    buttons: &[Button],
    style: Style,
) -> Option<Offered> {
    let place = Place { page, heading, buttons };
    let mut candidates: Vec<Candidate> = Vec::new();
    let mut last = 0;
    for node in zones.nodes(page) {
        let has_digit = page.text(node).is_some_and(|text| text.bytes().any(|b| b.is_ascii_digit()));
        if !has_digit || node < last || candidates.len() > MAX_CANDIDATES {
            continue;
        }
        let Some(found) = priced(page, node, style) else { continue };
        last = page.end(found.node);
        for money in &found.moneys {
            candidates.push(place.candidate(&found, money));
        }
    }
    let mut best: Option<&Candidate> = None;
    for candidate in candidates.iter().filter(|candidate| !candidate.is_former && candidate.price.amount > 0.0) {
        if best.is_none_or(|other| candidate.score > other.score) {
            best = Some(candidate);
        }
    }
    let best = best?;
    let original = candidates
        .iter()
        .filter(|other| other.is_former && other.price.amount > best.price.amount)
        .filter(|other| other.node.abs_diff(best.node) < 60)
        .min_by_key(|other| other.node.abs_diff(best.node));
    Some(Offered {
        price: best.price.clone(),
        original: original.map(|other| other.price.clone()),
        node: best.node,
        score: best.score,
    })
}

/// An element that holds prices and little else.
struct Priced {
    node: Index,
    text: String,
    moneys: Vec<Money>,
}

/// Returns the smallest element around a text node that holds a price with its currency; else the one that is marked as
/// a price and holds a bare number.
fn priced(page: &Page, node: Index, style: Style) -> Option<Priced> {
    let mut bare: Option<Priced> = None;
    for element in page.ancestors(node).take(MAX_LEVELS) {
        if page.end(element) - element > 60 {
            break;
        }
        let text = price_text(page, element);
        if text.len() > MAX_TEXT {
            break;
        }
        let moneys = money::prices(&text, style);
        if !moneys.is_empty() {
            return Some(Priced { node: element, text, moneys });
        }
        if bare.is_none() && marks(page, element).is_some_and(|mark| mark.contains("price")) {
            let money = money::field(&text, style, None).filter(|money| {
                let rest = text.len() - money.place.len();
                rest <= 8 && money.amount > 0.0
            });
            bare = money.map(|money| Priced { node: element, text, moneys: vec![money] });
        }
    }
    bare
}

/// Returns the text of an element, with a point before decimals that stand in an element of their own:
/// `<b>12</b><sup>99</sup>` is 12.99.
fn price_text(page: &Page, element: Index) -> String {
    let mut out = String::new();
    for node in page.subtree(element) {
        if let Some(text) = page.text(node) {
            let decimals = text.trim();
            let is_decimals = decimals.len() == 2 && decimals.bytes().all(|b| b.is_ascii_digit());
            if is_decimals && out.ends_with(|c: char| c.is_ascii_digit()) {
                out.push('.');
                out.push_str(decimals);
                continue;
            }
            for character in text.chars() {
                if !character.is_whitespace() {
                    out.push(character);
                } else if !out.is_empty() && !out.ends_with(' ') {
                    out.push(' ');
                }
            }
            if out.len() > 2 * MAX_TEXT {
                break;
            }
        } else if !out.ends_with(|c: char| c == ' ' || c.is_ascii_digit() || c == '.' || c == ',') && !out.is_empty() {
            out.push(' ');
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// Returns the class, id and property of an element, in lower case.
fn marks(page: &Page, node: Index) -> Option<String> {
    let marks = ["class", "id", "itemprop", "data-testid", "data-qa", "data-automation"];
    let mut all: String = marks.iter().filter_map(|name| attribute(page, node, name)).collect::<Vec<_>>().join(" ");
    all.truncate(all.floor_char_boundary(300));
    all.make_ascii_lowercase();
    Some(all).filter(|all| !all.is_empty())
}

/// The surroundings that a price is judged by.
struct Place<'a> {
    page: &'a Page,
    heading: Option<Index>,
    buttons: &'a [Button],
}

impl Place<'_> {
    fn candidate(&self, found: &Priced, money: &Money) -> Candidate {
        let (page, node) = (self.page, found.node);
        let before = &found.text[..money.place.start];
        let after = &found.text[money.place.end..];
        let mut score = if money.is_signed { 2.0 } else { 0.0 };
        let mut is_former = phrases::says_former(before);
        for (level, element) in std::iter::once(node).chain(page.ancestors(node)).take(5).enumerate() {
            let Some(name) = page.name(element) else { break };
            is_former |= level < 3 && matches!(*name, local_name!("del") | local_name!("s") | local_name!("strike"));
            let Some(mark) = marks(page, element) else { continue };
            let weight = 1.0 / (1.0 + level as f64 * 0.5);
            is_former |= level < 2 && phrases::marks_former(&mark);
            score += weight * phrases::price_marks(&mark);
        }
        score += phrases::around(before, after);
        score += self.nearness(node);
        let written = crate::tags::squeezed(&found.text[money.place.clone()]);
        let price = Price {
            amount: money.amount,
            currency: money.currency.map(str::to_owned),
            formatted: money.is_signed.then_some(written),
        };
        Candidate { node, price, score, is_former }
    }

    /// Returns how near a price is to the heading and to a buy button, from −3 to 5.
    fn nearness(&self, node: Index) -> f64 {
        let page = self.page;
        let total = page.node_count() as f64;
        let mut score = 0.0;
        if let Some(heading) = self.heading {
            let common = page.ancestors(node).find(|&outer| page.subtree(outer).contains(&heading)).unwrap_or(0);
            score += 2.5 * (1.0 - (page.end(common) - common) as f64 / total);
            let distance = node.abs_diff(heading) as f64;
            score -= (distance / 250.0).min(3.0);
            score += if node > heading { 0.5 } else { -0.5 };
        }
        let nearest = self.buttons.iter().map(|button| button.node.abs_diff(node)).min();
        score + nearest.map_or(0.0, |distance| 2.0 * (1.0 - (distance as f64 / 200.0).min(1.0)))
    }
}
