//! Visible product data: the heading, the price beside it, the buy button, the words about stock, and labelled codes.

pub(crate) mod labels;
mod phrases;
mod prices;
mod zones;

use page::{Index, Page, local_name};
use wire::Price;

use crate::money::{self, Style};
use crate::survey::Survey;
use crate::tags::{attribute, squeezed, text};

pub(crate) use labels::Labels;
pub(crate) use prices::{LIKELY, Offered, SURE};
pub(crate) use zones::Zones;

/// Length of the text of a button, in bytes.
const MAX_BUTTON: usize = 60;
/// Distance in nodes between a price and the button that buys for it.
const NEAR: usize = 400;
/// Length of a text about stock, in bytes.
const MAX_STOCK: usize = 90;

/// The shown parts of the main product.
#[derive(Debug, Default)]
pub(crate) struct VisibleProduct {
    pub(crate) title: Option<String>,
    /// The price, and how sure it is.
    pub(crate) offered: Option<Offered>,
    /// The buttons that buy something.
    pub(crate) buttons: Vec<Button>,
    pub(crate) in_stock: Option<bool>,
    pub(crate) stock_text: Option<String>,
    pub(crate) labels: Labels,
}

/// A button that puts something into the cart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Button {
    pub(crate) node: Index,
    pub(crate) is_enabled: bool,
}

/// Learns how the page writes its numbers, from the prices in its text.
pub(crate) fn style(page: &Page) -> Style {
    let digits = |text: &&str| text.len() < 200 && text.bytes().any(|b| b.is_ascii_digit());
    let mut numbers = Vec::new();
    for text in page.positions().filter_map(|node| page.text(node)).filter(digits) {
        for money in money::prices(text, Style::default()) {
            let written = &text[money.place];
            numbers.extend(money::next_number(written, 0).map(|place| &written[place]));
        }
        if numbers.len() > 400 {
            break;
        }
    }
    Style::of(numbers.into_iter())
}

/// Reads the shown parts. `title` is the name of the product, if it is known.
pub(crate) fn read_visible(survey: &Survey<'_>, title: Option<&str>, style: Style) -> VisibleProduct {
    let page = survey.page;
    let heading = heading(survey, title);
    let zones = Zones::of(page, heading);
    let buttons = buttons(page, &zones);
    let offered = prices::find(page, &zones, heading, &buttons, style);
    let mut shown = VisibleProduct {
        title: heading.map(|node| text(page, node)).filter(|text| !text.is_empty()),
        offered,
        labels: labels::read_labels(page, &zones, heading),
        ..VisibleProduct::default()
    };
    let anchor = shown.offered.as_ref().map(|offered| offered.node).or(heading);
    let near = |button: &&Button| anchor.is_some_and(|anchor| button.node.abs_diff(anchor) < NEAR);
    let can_buy = buttons.iter().filter(near).any(|button| button.is_enabled);
    // The words beside a button that works are about an option, a shop or another way to buy.
    if let Some(found) = stock(page, &zones, anchor).filter(|found| found.in_stock || !can_buy) {
        shown.in_stock = Some(found.in_stock);
        shown.stock_text = Some(found.text);
    }
    if shown.in_stock.is_none() && !buttons.is_empty() {
        shown.in_stock = Some(buttons.iter().any(|button| button.is_enabled));
    }
    shown.buttons = buttons;
    shown
}

/// Returns the heading of the product: the `<h1>` that is most like `title`, else the first one with a text.
fn heading(survey: &Survey<'_>, title: Option<&str>) -> Option<Index> {
    use crate::words::Words;
    let names: Vec<Words> =
        title.into_iter().chain(survey.meta(&["og:title"])).chain([survey.title.as_str()]).map(Words::of).collect();
    let mut best: Option<(Index, f64)> = None;
    for &node in &survey.headings {
        let own = Words::of(&text(survey.page, node));
        if own.len() == 0 {
            continue;
        }
        let fit = names.iter().map(|name| own.share_in(name).max(name.share_in(&own))).fold(0.0, f64::max);
        if best.is_none_or(|(_, other)| fit > other + 0.01) {
            best = Some((node, fit));
        }
    }
    best.map(|(node, _)| node)
}

fn buttons(page: &Page, zones: &Zones) -> Vec<Button> {
    let mut found = Vec::new();
    for node in zones.nodes(page) {
        let Some(name) = page.name(node) else { continue };
        let of = |name| attribute(page, node, name);
        let of_class =
            || of("class").is_some_and(|class| ["btn", "button", "buy"].iter().any(|word| class.contains(word)));
        let is_button = match *name {
            local_name!("div") | local_name!("span") => page.end(node) - node < 6 && of_class(),
            local_name!("button") | local_name!("a") => true,
            local_name!("input") => matches!(of("type"), Some("submit" | "button" | "image")),
            _ => of("role") == Some("button"),
        };
        if !is_button || page.end(node) - node > 60 {
            continue;
        }
        let label =
            if *name == local_name!("input") { of("value").unwrap_or_default().to_owned() } else { text(page, node) };
        let marks = [of("class"), of("id"), of("name"), of("data-action"), of("data-testid")];
        let leads_away = *name == local_name!("a") && of("href").is_some_and(|href| !href.starts_with('#'));
        let marked = !leads_away && marks.into_iter().flatten().any(phrases::marks_buying);
        let says = |text: &str| text.len() <= MAX_BUTTON && phrases::says_buy(text);
        if says(&label) || of("aria-label").is_some_and(says) || of("title").is_some_and(says) || marked {
            let disabled = of("disabled").is_some() || of("aria-disabled") == Some("true");
            let disabled = disabled || of("class").is_some_and(|class| class.split(' ').any(|one| one == "disabled"));
            found.push(Button { node, is_enabled: !disabled && !phrases::says_out(&label) });
        }
        if found.len() == 200 {
            break;
        }
    }
    found
}

/// Words about stock.
struct Stock {
    in_stock: bool,
    text: String,
}

/// Returns the words about stock that are nearest to the price or heading.
fn stock(page: &Page, zones: &Zones, anchor: Option<Index>) -> Option<Stock> {
    let anchor = anchor?;
    let mut best: Option<(usize, Stock)> = None;
    for node in zones.nodes(page) {
        let Some(own) = page.text(node).filter(|text| text.len() < 4 * MAX_STOCK) else { continue };
        let own = squeezed(own);
        if own.len() < 3 || own.len() > MAX_STOCK {
            continue;
        }
        let Some(in_stock) = phrases::stock(&own) else { continue };
        let distance = node.abs_diff(anchor) * if node < anchor { 2 } else { 1 };
        if distance < 1500 && best.as_ref().is_none_or(|(other, _)| distance < *other) {
            best = Some((distance, Stock { in_stock, text: own }));
        }
    }
    best.map(|(_, stock)| stock)
}

impl VisibleProduct {
    /// Returns the price as the contract has it.
    pub(crate) fn price(&self) -> Option<Price> {
        self.offered.as_ref().map(|offered| offered.price.clone())
    }
}
