//! The price of the main product among all prices that are shown.

use page::{Index, Page, local_name};
use wire::Price;

use super::{Button, Zones, phrases};
use crate::money::{self, Money, Style};
use crate::tags::attribute;

/// Length of a text that may be a price, in bytes.
const MAX_TEXT: usize = 80;
/// Elements around a number that are examined.
const MAX_LEVELS: usize = 4;
/// Limit on the candidates of a page.
const MAX_CANDIDATES: usize = 3000;

/// The price that a page asks for its main product.
#[derive(Debug, Clone)]
pub(crate) struct Offered {
    pub(crate) price: Price,
    pub(crate) original: Option<Price>,
    pub(crate) node: Index,
    /// Confidence. From [`SURE`], the price alone is evidence of a product.
    pub(crate) score: f64,
    /// Whether it is neither in a list nor one of three prices that could be meant as well.
    pub(crate) stands_out: bool,
}

/// Score of a price that a product may be founded on.
pub(crate) const SURE: f64 = 6.0;
/// Score that suffices beside an article number.
pub(crate) const LIKELY: f64 = 4.0;

/// Candidates whose surroundings are examined.
const MAX_JUDGED: usize = 300;
/// Difference in score of prices that could be meant as well.
const CLOSE: f64 = 0.4;
/// Distance in nodes of prices that are compared.
const NEAR: usize = 60;
/// Penalty of a price whose class marks it as a former price.
const MARKED: f64 = 4.0;
/// Penalty of a price in one of several cards.
const LISTED: f64 = 6.0;
/// Children of one element that are compared.
const MAX_SIBLINGS: usize = 200;
/// Nodes of a card.
const MAX_CARD: usize = 400;

struct Candidate {
    node: Index,
    price: Price,
    score: f64,
    is_former: bool,
    /// Whether its class says so; the classes of templates outlive their meaning.
    is_marked_former: bool,
    /// Whether it is called a price with or without tax: a note beside the price that the shop asks.
    is_tax_note: bool,
    is_listed: bool,
}

/// Finds the price.
pub(super) fn find(
    page: &Page,
    zones: &Zones,
    heading: Option<Index>,
    buttons: &[Button],
    style: Style,
) -> Option<Offered> {
    let place = PriceContext { page, heading, buttons };
    let mut candidates: Vec<Candidate> = Vec::new();
    let mut last = 0;
    for node in zones.nodes(page) {
        let has_digit = page.text(node).is_some_and(|text| text.bytes().any(|b| b.is_ascii_digit()));
        if !has_digit || node < last || candidates.len() > MAX_CANDIDATES {
            continue;
        }
        // An element around a price that was found already has another number in it, such as a discount.
        let Some(found) = priced(page, node, style).filter(|found| found.node >= last) else { continue };
        last = page.end(found.node);
        for money in &found.moneys {
            candidates.push(place.candidate(&found, money));
        }
    }
    // `is_listed` looks at the surroundings and is slow, and it only lowers scores. So candidates are judged from the
    // best down, until the best judged one is at least as good as the next unjudged one.
    judge_marks(&mut candidates);
    let nodes: Vec<Index> = candidates.iter().map(|candidate| candidate.node).collect();
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.retain(|&place| !candidates[place].is_former && candidates[place].price.amount > 0.0);
    order.sort_by(|&a, &b| candidates[b].score.total_cmp(&candidates[a].score));
    let mut best: Option<usize> = None;
    for &likely in order.iter().take(MAX_JUDGED) {
        if best.is_some_and(|best| candidates[best].score >= candidates[likely].score) {
            break;
        }
        if place.is_listed(candidates[likely].node, &nodes) {
            candidates[likely].score -= LISTED;
            candidates[likely].is_listed = true;
        }
        if best.is_none_or(|best| candidates[likely].score > candidates[best].score) {
            best = Some(likely);
        }
    }
    let best = &candidates[asked_first(&candidates, best?)];
    let rivals = candidates.iter().filter(|other| {
        !other.is_former && other.score > best.score - CLOSE && other.price.amount != best.price.amount
    });
    let original = candidates
        .iter()
        .filter(|other| (other.is_former || other.is_marked_former) && other.price.amount > best.price.amount)
        .filter(|other| other.node.abs_diff(best.node) < NEAR)
        .min_by_key(|other| other.node.abs_diff(best.node));
    Some(Offered {
        price: best.price.clone(),
        original: original.map(|other| other.price.clone()),
        node: best.node,
        score: best.score,
        stands_out: !best.is_listed && rivals.take(2).count() < 2,
    })
}

/// Returns the first of two prices with and without tax: the one that the shop asks; the other one is a note.
fn asked_first(candidates: &[Candidate], best: usize) -> usize {
    let chosen = &candidates[best];
    // Taxes on sales are between 0 and 27 per cent of the price; 0.7 to 1.4 leaves room for rounding and fees.
    let is_pair = |other: &Candidate| {
        let ratio = chosen.price.amount / other.price.amount;
        other.is_tax_note
            && other.node + NEAR > chosen.node
            && other.score > chosen.score - 1.0
            && (0.7..1.4).contains(&ratio)
    };
    let earlier = candidates[..best].iter().position(is_pair).filter(|_| chosen.is_tax_note);
    earlier.unwrap_or(best)
}

/// Lowers the score of prices whose class calls them former, where a lower one stands beside them.
fn judge_marks(candidates: &mut [Candidate]) {
    let current: Vec<CurrentPrice> = candidates
        .iter()
        .filter(|one| !one.is_former && !one.is_marked_former && !one.is_tax_note && one.score > 0.0)
        .map(|one| CurrentPrice { node: one.node, amount: one.price.amount })
        .collect();
    for candidate in candidates.iter_mut().filter(|one| one.is_marked_former) {
        let near = current.partition_point(|other| other.node + NEAR < candidate.node);
        let mut beside = current[near..].iter().take_while(|other| other.node < candidate.node + NEAR);
        if beside.any(|other| other.amount < candidate.price.amount) {
            candidate.score -= MARKED;
        }
    }
}

struct CurrentPrice {
    node: Index,
    amount: f64,
}

/// Returns the text right before an element, if it is short: a label.
fn text_before(page: &Page, node: Index) -> String {
    let texts = (node.saturating_sub(4)..node).rev().filter_map(|node| page.text(node)).map(crate::tags::squeezed);
    let is_label = |text: &String| text.len() <= 40 && !text.bytes().any(|b| b.is_ascii_digit());
    texts.take(2).find(|text| !text.is_empty()).filter(is_label).unwrap_or_default()
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
            // Elements separate words, but never the parts of a number.
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
struct PriceContext<'a> {
    page: &'a Page,
    heading: Option<Index>,
    buttons: &'a [Button],
}

impl PriceContext<'_> {
    fn candidate(&self, found: &Priced, money: &Money) -> Candidate {
        let (page, node) = (self.page, found.node);
        let before = &found.text[..money.place.start];
        let after = &found.text[money.place.end..];
        // The score sums what speaks for a price: a currency (2), the names of its element and of those around it, the
        // words beside it, and its place. `SURE` and the other limits are on this scale, which was set by hand.
        let mut score = if money.is_signed { 2.0 } else { 0.0 };
        let mut is_former = phrases::says_former(before);
        let mut is_marked_former = false;
        for (level, element) in std::iter::once(node).chain(page.ancestors(node)).take(5).enumerate() {
            let Some(name) = page.name(element) else { break };
            is_former |= level < 3 && matches!(*name, local_name!("del") | local_name!("s") | local_name!("strike"));
            let Some(mark) = marks(page, element) else { continue };
            // 1, 2/3, 1/2, 2/5, 1/3: the further out, the less a name says about this one price.
            let weight = 1.0 / (1.0 + level as f64 * 0.5);
            is_marked_former |= level < 2 && phrases::marks_former(&mark);
            score += weight * phrases::price_marks(&mark);
        }
        let label = if before.trim().is_empty() { text_before(page, node) } else { before.to_owned() };
        is_former |= phrases::says_former(&label);
        let is_tax_note = phrases::says_tax(&label) || phrases::says_tax(after);
        score -= if is_tax_note { 1.0 } else { 0.0 };
        score += phrases::around(&label, "");
        score += phrases::around("", after);
        score += self.nearness(node);
        let written = crate::tags::squeezed(&found.text[money.place.clone()]);
        let price = Price {
            amount: money.amount,
            currency: money.currency.map(str::to_owned),
            formatted: money.is_signed.then_some(written),
        };
        Candidate { node, price, score, is_former, is_marked_former, is_tax_note, is_listed: false }
    }

    /// Whether a price stands in one of at least three like elements, apart from the heading, that all have a price, a
    /// picture and a link to another page: the cards of a list.
    fn is_listed(&self, node: Index, prices: &[Index]) -> bool {
        let page = self.page;
        let has_price = |element: Index| {
            let first = prices.partition_point(|&price| price < element);
            prices.get(first).is_some_and(|&price| price < page.end(element))
        };
        let kind = |element: Index| {
            let class = attribute(page, element, "class").unwrap_or_default();
            (page.name(element), class.split_ascii_whitespace().next())
        };
        let outer = page
            .ancestors(node)
            .take_while(|&outer| self.heading.is_none_or(|heading| !page.subtree(outer).contains(&heading)));
        // From the price outwards: one of the elements may be a card, whose siblings are then compared.
        for element in std::iter::once(node).chain(outer) {
            let Some(parent) = page.parent(element) else { return false };
            let own = kind(element);
            if !self.is_card(element) {
                continue;
            }
            let alike = page.children(parent).take(MAX_SIBLINGS).filter(|&child| {
                page.name(child).is_some() && kind(child) == own && has_price(child) && self.is_card(child)
            });
            if alike.take(3).count() == 3 {
                return true;
            }
        }
        false
    }

    /// Whether an element has a picture and a link to another page.
    fn is_card(&self, element: Index) -> bool {
        let page = self.page;
        let (mut has_picture, mut has_link) = (false, false);
        for node in page.subtree(element).take(MAX_CARD) {
            let Some(name) = page.name(node) else { continue };
            has_picture |= matches!(*name, local_name!("img") | local_name!("picture"));
            let link = Some(node).filter(|_| *name == local_name!("a")).and_then(|node| attribute(page, node, "href"));
            has_link |= link
                .and_then(|link| page::absolute(page.base(), link))
                .is_some_and(|url| url.path() != page.url().path() && !matches!(url.scheme(), "mailto" | "tel"));
            if has_picture && has_link {
                return true;
            }
        }
        false
    }

    /// Returns how near a price is to the heading and to a buy button, from −3 to 5.
    fn nearness(&self, node: Index) -> f64 {
        let page = self.page;
        let total = page.node_count() as f64;
        let mut score = 0.0;
        if let Some(heading) = self.heading {
            let common = page.ancestors(node).find(|&outer| page.subtree(outer).contains(&heading)).unwrap_or(0);
            // How small the smallest element around both is, and how far apart the two stand. A price before the
            // heading is more often that of something else.
            score += 2.5 * (1.0 - (page.end(common) - common) as f64 / total);
            let distance = node.abs_diff(heading) as f64;
            score -= (distance / 250.0).min(3.0);
            score += if node > heading { 0.5 } else { -0.5 };
        }
        let nearest = self.buttons.iter().map(|button| button.node.abs_diff(node)).min();
        score + nearest.map_or(0.0, |distance| 2.0 * (1.0 - (distance as f64 / 200.0).min(1.0)))
    }
}
