//! The merging of the drafts into the product of the contract.

use wire::{Availability, Picture, Price, Product, Sale, Variant};

use super::choose::is_same;
use super::{Evidence, currency};
use crate::draft::{Codes, Draft, Line, complete};
use crate::shown::Shown;
use crate::survey::Survey;

/// Merges the drafts, best source first, and completes them by what is shown.
pub(super) fn product(survey: &Survey<'_>, evidence: &Evidence, drafts: Vec<Draft>, shown: &Shown) -> Option<Product> {
    let mut all = drafts.into_iter();
    let mut own = all.next()?;
    for other in all {
        add(&mut own, other);
    }
    complete(&mut own.codes.sku, &shown.labels.sku);
    complete(&mut own.brand, &shown.labels.brand);
    complete(&mut own.codes.mpn, &shown.labels.mpn);
    complete(&mut own.title, &shown.title);
    if own.category.is_none() {
        own.category = category(evidence);
    }
    let url = own.url.clone().filter(|_| survey.canonical.is_none());
    let url = survey.canonical.as_ref().map(ToString::to_string).or(url);
    let url = url.unwrap_or_else(|| survey.page.url().to_string());
    let mut lines = std::mem::take(&mut own.lines);
    if lines.is_empty() {
        lines.push(Line::default());
    }
    let is_only = lines.len() == 1;
    select(&mut lines, survey, evidence);
    let finisher = Finisher { own: &own, shown, is_only, page_currency: currency::of_page(survey) };
    Some(Product {
        title: own.title.clone()?,
        brand: own.brand.clone(),
        category: own.category.clone(),
        url,
        description: own.description.clone(),
        variants: lines.into_iter().map(|line| finisher.variant(line)).collect(),
    })
}

/// Adds a draft of a weaker source, if it is of the same product.
fn add(own: &mut Draft, other: Draft) {
    let no_title = other.title.is_none();
    if no_title || is_same(own, &other) || own.title.is_none() || fits_loosely(own, &other) {
        match (own.lines.as_mut_slice(), other.lines.as_slice()) {
            ([], _) => own.lines = other.lines.clone(),
            ([one], [more]) => complete_line(one, more),
            ([one], lines) if lines.len() > 1 && one.codes.is_empty() => own.lines = lines.to_vec(),
            _ => {}
        }
        complete_draft(own, &other);
    }
}

/// Whether one title has all words of the other: titles of `<meta>` have the name of the shop as well.
fn fits_loosely(own: &Draft, other: &Draft) -> bool {
    use crate::words::Words;
    let words = |draft: &Draft| Words::of(draft.title.as_deref().unwrap_or_default());
    let (first, second) = (words(own), words(other));
    first.share_in(&second).max(second.share_in(&first)) >= 0.7
}

/// Takes the fields of the product that are missing.
pub(super) fn complete_draft(own: &mut Draft, other: &Draft) {
    complete(&mut own.title, &other.title);
    complete(&mut own.brand, &other.brand);
    complete(&mut own.category, &other.category);
    complete(&mut own.description, &other.description);
    complete(&mut own.url, &other.url);
    own.codes.complete(&other.codes);
    if own.images.is_empty() {
        own.images.clone_from(&other.images);
    }
}

fn complete_line(own: &mut Line, other: &Line) {
    own.codes.complete(&other.codes);
    match (&mut own.price, &other.price) {
        (Some(price), Some(more)) if price.amount == more.amount => complete(&mut price.currency, &more.currency),
        (price, more) => complete(price, more),
    }
    complete(&mut own.original, &other.original);
    complete(&mut own.in_stock, &other.in_stock);
}

/// Returns the last breadcrumb before the product's own.
fn category(evidence: &Evidence) -> Option<String> {
    let crumbs = [&evidence.json_ld.crumbs, &evidence.items.crumbs].into_iter().find(|crumbs| crumbs.len() > 1)?;
    let last = crumbs.len() - 1;
    let own = evidence.subject.name_fit(&crumbs[last]) >= 0.9;
    let place = if own { last.checked_sub(1)? } else { last };
    (place > 0).then(|| crumbs[place].clone())
}

/// Puts the variant that the URL selects first.
fn select(lines: &mut [Line], survey: &Survey<'_>, evidence: &Evidence) {
    let url = survey.page.url();
    let values: Vec<String> = url.query_pairs().map(|pair| pair.1.into_owned()).collect();
    let fragment = url.fragment().unwrap_or_default();
    let by_code = |line: &Line| {
        line.codes.all().any(|code| {
            values.iter().any(|value| value == code)
                || (code.len() > 3 && fragment.split(['=', '&', '/']).any(|part| part == code))
                || evidence.subject.has_code(code)
        })
    };
    let by_url = |line: &Line| line.url.as_deref().is_some_and(|own| own == url.as_str());
    let place = lines.iter().position(by_url).or_else(|| lines.iter().position(by_code));
    if let Some(place) = place {
        lines[..=place].rotate_right(1);
    }
}

impl Draft {
    /// Gives the codes, the title and the pictures of the product to its only line, which becomes one of several.
    pub(super) fn label_lines(&mut self) {
        if let [line] = self.lines.as_mut_slice() {
            line.codes.complete(&self.codes);
            complete(&mut line.title, &self.title);
            if line.images.is_empty() {
                line.images.clone_from(&self.images);
            }
        }
    }
}

struct Finisher<'a> {
    own: &'a Draft,
    shown: &'a Shown,
    is_only: bool,
    page_currency: Option<&'static str>,
}

impl Finisher<'_> {
    fn variant(&self, mut line: Line) -> Variant {
        if self.is_only {
            line.codes.complete(&self.own.codes);
            if line.price.is_none() {
                line.price = self.shown.price();
            }
        }
        let in_stock = line.in_stock.or(self.shown.in_stock).unwrap_or(line.price.is_some());
        let text = self.shown.stock_text.clone().filter(|_| self.is_only && self.shown.in_stock == Some(in_stock));
        let price = line.price.map(|price| self.priced(price));
        let images = if line.images.is_empty() { self.own.images.clone() } else { line.images };
        Variant {
            sku: sku(&line.codes),
            id: line.codes.id.or(line.codes.gtin),
            title: line.title.filter(|_| !self.is_only),
            values: (!line.values.is_empty()).then_some(line.values),
            sale: self.sale(price.as_ref(), line.original),
            price,
            availability: Availability { in_stock, text },
            images: Some(images).filter(|images: &Vec<Picture>| !images.is_empty()),
        }
    }

    /// Completes a price by its currency and by how it is shown.
    fn priced(&self, mut price: Price) -> Price {
        if let Some(shown) = self.shown.price().filter(|shown| (shown.amount - price.amount).abs() < 0.005) {
            complete(&mut price.currency, &shown.currency);
            complete(&mut price.formatted, &shown.formatted);
        }
        price.currency = price.currency.or(self.page_currency.map(str::to_owned));
        price
    }

    /// Returns the discount: only if the former price is higher and in the same currency.
    fn sale(&self, price: Option<&Price>, original: Option<Price>) -> Option<Sale> {
        let price = price?;
        let offered = self.shown.offered.as_ref().filter(|offered| (offered.price.amount - price.amount).abs() < 0.005);
        let shown = offered.and_then(|offered| offered.original.clone()).filter(|_| self.is_only);
        let mut original = original.or(shown)?;
        complete(&mut original.currency, &price.currency);
        (original.amount > price.amount && original.currency == price.currency)
            .then_some(Sale { original_price: original })
    }
}

fn sku(codes: &Codes) -> Option<String> {
    [&codes.sku, &codes.mpn].into_iter().find_map(Clone::clone)
}
