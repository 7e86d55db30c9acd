//! The merging of the drafts into the product of the contract.

use wire::{Availability, Picture, Price, Product, Sale, Variant};

use super::same::is_same;
use super::{Evidence, currency};
use crate::draft::{Codes, Draft, VariantDraft, complete};
use crate::shown::{LIKELY, VisibleProduct, labels};
use crate::survey::Survey;

/// Merges the drafts, best source first, and completes them by what is shown.
pub(super) fn product(
    survey: &Survey<'_>,
    evidence: &Evidence,
    drafts: Vec<Draft>,
    shown: &VisibleProduct,
) -> Option<Product> {
    let mut all = drafts.into_iter();
    let mut own = all.next()?;
    for other in all {
        add(&mut own, &other);
    }
    if let [matrix] = evidence.state.matrices.as_slice() {
        add_lines(&mut own.variants, matrix, None);
    }
    complete(&mut own.codes.sku, &shown.labels.sku);
    complete(&mut own.brand, &shown.labels.brand);
    own.brand = own.brand.as_deref().and_then(labels::brand);
    complete(&mut own.codes.mpn, &shown.labels.mpn);
    complete(&mut own.title, &shown.title);
    if own.category.is_none() {
        own.category = category(evidence);
    }
    // The canonical URL, then the one that the source declares, then the page's own.
    let url = own.url.clone().filter(|_| survey.canonical.is_none());
    let url = survey.canonical.as_ref().map(ToString::to_string).or(url);
    let url = url.unwrap_or_else(|| survey.page.url().to_string());
    let mut lines = std::mem::take(&mut own.variants);
    if lines.is_empty() {
        lines.push(VariantDraft::default());
    }
    collapse(&mut lines, &own);
    let is_only = lines.len() == 1;
    // After `collapse`, which looks at the first line as the source wrote it.
    select(&mut lines, survey, evidence);
    complete(&mut own.codes.id, &evidence.subject.product_id(survey));
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
fn add(own: &mut Draft, other: &Draft) {
    let no_title = other.title.is_none();
    if no_title || is_same(own, other) || own.title.is_none() || fits_loosely(own, other) {
        add_lines(&mut own.variants, &other.variants, own.codes.sku.as_deref());
        complete_draft(own, other);
    }
}

/// Completes the lines by those of a weaker source; its variants replace a single line that one of them agrees with.
fn add_lines(own: &mut Vec<VariantDraft>, others: &[VariantDraft], sku: Option<&str>) {
    match (own.as_mut_slice(), others) {
        ([], _) => *own = others.to_vec(),
        ([one], [more]) => complete_line(one, more),
        // The variants must be those of the same product: they have its code, and one of them its price. Scripts name
        // the currency once for the page, declared data at every price.
        ([one], lines) if lines.len() > 1 => {
            let agrees = |line: &VariantDraft| amount(line) == amount(one) || amount(one).is_none();
            let sku = sku.map(|sku| one.codes.sku.as_deref().unwrap_or(sku));
            let has_code = sku.is_none_or(|sku| lines.iter().any(|line| line.codes.all().any(|code| code == sku)));
            if has_code && lines.iter().any(agrees) {
                let currency = one.price.as_ref().and_then(|price| price.currency.clone());
                *own = lines.to_vec();
                let prices = own.iter_mut().filter_map(|line| line.price.as_mut());
                prices.for_each(|price| complete(&mut price.currency, &currency));
            }
        }
        (lines, others) => {
            for line in lines {
                let same =
                    |other: &&VariantDraft| other.codes.all().any(|code| line.codes.all().any(|own| own == code));
                if let Some(other) = others.iter().find(same) {
                    complete_line(line, other);
                }
            }
        }
    }
}

fn amount(line: &VariantDraft) -> Option<f64> {
    line.price.as_ref().map(|price| price.amount)
}

/// Makes one line of those that differ in nothing but a number that continues the product's own: they are pieces in
/// stock, not variants that a reader could choose from.
fn collapse(lines: &mut Vec<VariantDraft>, own: &Draft) {
    let Some(sku) = own.codes.sku.as_deref().filter(|_| lines.len() > 1) else { return };
    let is_bare = |line: &VariantDraft| {
        line.values.is_empty()
            && line.images.is_empty()
            && line.codes.sku.as_deref().is_some_and(|code| code.starts_with(sku))
            && line.title.as_ref().is_none_or(|title| Some(title) == own.title.as_ref())
    };
    let price = amount(&lines[0]);
    if lines.iter().all(|line| is_bare(line) && amount(line) == price) {
        let best = lines.iter().position(|line| line.in_stock != Some(false)).unwrap_or(0);
        let mut line = lines.swap_remove(best);
        line.codes = Codes::default();
        *lines = vec![line];
    }
}

/// Divides amounts of scripts by 100 where they are cents: a better source, or what is shown, has the same amount in
/// whole units.
pub(super) fn scale(drafts: &mut [Draft], declared: usize, shown: &VisibleProduct) {
    let known: Vec<f64> = drafts[..declared]
        .iter()
        .flat_map(|draft| draft.variants.iter().filter_map(amount))
        .chain(shown.price().map(|price| price.amount))
        .collect();
    let is_known = |value: f64| known.iter().any(|known| (known - value).abs() < 0.005);
    for draft in &mut drafts[declared..] {
        let amounts: Vec<f64> = draft.variants.iter().filter_map(amount).collect();
        // Whole numbers only, none of which is known as it is. One that matches after the division proves it for all.
        let in_cents = amounts.iter().any(|&value| is_known(value / 100.0))
            && !amounts.iter().any(|&value| is_known(value))
            && amounts.iter().all(|value| value.fract() == 0.0);
        if in_cents {
            let prices = draft.variants.iter_mut().flat_map(|line| [&mut line.price, &mut line.original]);
            prices.flatten().for_each(|price| price.amount /= 100.0);
        }
    }
}

/// Whether one title has all words of the other: titles of `<meta>` have the name of the shop as well.
fn fits_loosely(own: &Draft, other: &Draft) -> bool {
    use crate::words::Words;
    let words = |draft: &Draft| Words::of(draft.title.as_deref().unwrap_or_default());
    let (first, second) = (words(own), words(other));
    !first.contradicts(&second) && first.share_in(&second).max(second.share_in(&first)) >= 0.7
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

fn complete_line(own: &mut VariantDraft, other: &VariantDraft) {
    own.codes.complete(&other.codes);
    match (&mut own.price, &other.price) {
        (Some(price), Some(more)) if price.amount == more.amount => complete(&mut price.currency, &more.currency),
        (price, more) => complete(price, more),
    }
    complete(&mut own.original, &other.original);
    complete(&mut own.in_stock, &other.in_stock);
    complete(&mut own.title, &other.title);
    if own.values.is_empty() {
        own.values.clone_from(&other.values);
    }
    if own.images.is_empty() {
        own.images.clone_from(&other.images);
    }
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
fn select(lines: &mut [VariantDraft], survey: &Survey<'_>, evidence: &Evidence) {
    let url = survey.page.url();
    let values: Vec<String> = url.query_pairs().map(|pair| pair.1.into_owned()).collect();
    let fragment = url.fragment().unwrap_or_default();
    let by_code = |line: &VariantDraft| {
        line.codes.all().any(|code| {
            values.iter().any(|value| value == code)
                // Short codes would be found in many fragments.
                || (code.len() > 3 && fragment.split(['=', '&', '/']).any(|part| part == code))
                || evidence.subject.has_code(code)
        })
    };
    let have_urls = lines.windows(2).any(|pair| pair[0].url != pair[1].url);
    let by_url = |line: &VariantDraft| have_urls && line.url.as_deref().is_some_and(|own| own == url.as_str());
    let place = lines.iter().position(by_url).or_else(|| lines.iter().position(by_code));
    // Shops select the first variant that can be bought.
    let place = place.or_else(|| lines.iter().position(|line| line.in_stock != Some(false)));
    if let Some(place) = place {
        lines[..=place].rotate_right(1);
    }
}

impl Draft {
    /// Gives the codes, the title and the pictures of the product to its only line, which becomes one of several.
    pub(super) fn label_lines(&mut self) {
        if let [line] = self.variants.as_mut_slice() {
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
    shown: &'a VisibleProduct,
    is_only: bool,
    page_currency: Option<&'static str>,
}

impl Finisher<'_> {
    fn variant(&self, mut line: VariantDraft) -> Variant {
        if self.is_only {
            let offered = std::mem::replace(&mut line.codes, self.own.codes.clone());
            line.codes.complete(&offered);
            if line.price.is_none() {
                line.price = self.shown.price();
            }
            self.undo_strike(&mut line);
        }
        let in_stock = line.in_stock.or(self.shown.in_stock).unwrap_or(line.price.is_some());
        let text = self.shown.stock_text.clone().filter(|_| self.is_only && self.shown.in_stock == Some(in_stock));
        let price = line.price.map(|price| self.priced(price));
        let images = if line.images.is_empty() { self.own.images.clone() } else { line.images };
        Variant {
            id: line.codes.id.or(line.codes.gtin),
            sku: line.codes.sku,
            title: line.title.filter(|_| !self.is_only),
            values: (!line.values.is_empty()).then_some(line.values),
            sale: self.sale(price.as_ref(), line.original),
            price,
            availability: Availability { in_stock, text },
            images: Some(images).filter(|images: &Vec<Picture>| !images.is_empty()),
        }
    }

    /// Takes the shown price where the page strikes out the one that its data has.
    fn undo_strike(&self, line: &mut VariantDraft) {
        let Some(offered) = self.shown.offered.as_ref().filter(|offered| offered.score >= LIKELY) else { return };
        let Some(struck) = offered.original.as_ref() else { return };
        if amount(line).is_some_and(|amount| (amount - struck.amount).abs() < 0.005) {
            let former = line.price.replace(offered.price.clone());
            line.original = former;
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
