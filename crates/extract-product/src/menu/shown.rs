//! The lines of a page with their prices, and sums over them for every element.

use std::ops::Range;

use page::{Index, Page};

use crate::money::Style;

use super::lines::{Line, Lines, lines};
use super::priced::{Priced, priced};
use super::prices::PriceNotation;
use super::words::LISTS;

/// Limit on the lines with prices of one page; the rest are text.
const MAX_PRICED: usize = 4000;
/// Least number of prices without cents and currency that count; fewer are numbers of something else.
const MIN_BARE: usize = 4;

/// Lines of a page, with their prices.
pub(super) struct PageText<'p> {
    pub(super) page: &'p Page,
    pub(super) all: Lines,
    /// The prices of each line.
    pub(super) prices: Vec<Option<Priced>>,
    /// Prefix sums: the lines before each line by property.
    sums: Vec<Sums>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    priced: u32,
    named: u32,
    headings: u32,
    titles: u32,
}

impl<'p> PageText<'p> {
    pub(super) fn read(page: &'p Page) -> Self {
        let all = lines(page);
        let texts = all.lines.iter().map(|line| line.text.as_str());
        let style = Style::of(texts.filter(|text| text.len() < 200));
        let mut prices: Vec<Option<Priced>> = Vec::with_capacity(all.lines.len());
        let mut count = 0;
        for line in &all.lines {
            let found =
                if line.aside || count >= MAX_PRICED || page.stop().is_set() { None } else { priced(line, style) };
            count += usize::from(found.is_some());
            prices.push(found);
        }
        only_one_form(&mut prices);
        let mut shown = PageText { page, all, prices, sums: Vec::new() };
        shown.sum();
        shown
    }

    fn sum(&mut self) {
        let mut sums = Sums::default();
        let mut all = vec![sums];
        for at in 0..self.all.lines.len() {
            sums.priced += u32::from(self.prices[at].is_some());
            sums.named += u32::from(self.names(at));
            sums.headings += u32::from(self.line(at).heading > 0);
            sums.titles += u32::from(self.line(at).parts.iter().any(|part| part.looks.is_name));
            all.push(sums);
        }
        self.sums = all;
    }

    pub(super) fn line(&self, at: usize) -> &Line {
        &self.all.lines[at]
    }

    /// The lines inside of an element.
    pub(super) fn lines_of(&self, index: Index) -> Range<usize> {
        self.all.of(self.page, index)
    }

    pub(super) fn priced_in(&self, lines: &Range<usize>) -> u32 {
        self.sums[lines.end].priced - self.sums[lines.start].priced
    }

    pub(super) fn named_in(&self, lines: &Range<usize>) -> bool {
        self.sums[lines.end].named > self.sums[lines.start].named
    }

    pub(super) fn headings_in(&self, lines: &Range<usize>) -> u32 {
        self.sums[lines.end].headings - self.sums[lines.start].headings
    }

    /// Whether the class of a line says that it is a name.
    pub(super) fn is_titled(&self, lines: &Range<usize>) -> bool {
        self.sums[lines.end].titles > self.sums[lines.start].titles
    }

    /// The text of a line without its prices: what comes before them, or if that is nothing what follows them.
    fn text_beside_price(&self, at: usize) -> &str {
        let text = &self.line(at).text;
        let Some(priced) = &self.prices[at] else { return text };
        let (before, after) = (&text[..priced.before], &text[priced.after..]);
        if before.is_empty() && !is_unit(after) { after } else { before }
    }

    /// Whether a line has a text that can be the name of an item.
    pub(super) fn names(&self, at: usize) -> bool {
        let is_description = |line: &Line| line.parts.iter().all(|part| part.looks.is_description);
        is_name(self.text_beside_price(at)) && !is_description(self.line(at))
    }
}

/// Whether a text can be the name of an item: it has letters, and is neither a size nor a mark.
pub(super) fn is_name(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic());
    let is_word = letters.clone().count() >= 2 || letters.clone().any(|c| c > '\u{2e80}');
    let is_from = |text: &str| {
        matches!(
            text.to_lowercase().trim_end_matches('.'),
            "ab" | "from"
                | "à partir de"
                | "desde"
                | "da"
                | "vanaf"
                | "fra"
                | "från"
                | "price"
                | "preis"
                | "prix"
                | "prezzo"
                | "precio"
        )
    };
    is_word
        && !LISTS.size.are_all_words_of(text)
        && !LISTS.badge.are_all_of(text)
        && !LISTS.sold_out.are_all_of(text)
        && !is_from(text.trim())
}

/// Whether the text is the unit of a price: `per person`, `/ 100 g`.
pub(super) fn is_unit(text: &str) -> bool {
    let lower = text.trim().trim_start_matches(['/', '(', '（']).trim_end_matches(')').trim().to_lowercase();
    let starts = [
        "per ",
        "pro ",
        "p.p",
        "pp",
        "each",
        "/",
        "je ",
        "par ",
        "por ",
        "a persona",
        "p. p",
        "p. pers",
        "p.pers",
        "inkl",
        "incl",
        "税込",
        "税抜",
        "~",
        "～",
        "から",
        "and up",
        "+",
    ];
    starts.iter().any(|start| lower.starts_with(start)) && lower.chars().count() <= 28
}

/// Drops bare numbers where other prices have cents or a currency, or where there are few.
fn only_one_form(prices: &mut [Option<Priced>]) {
    let of = |form: PriceNotation| prices.iter().flatten().filter(|priced| priced.form == form).count();
    let (bare, better) = (of(PriceNotation::Bare), of(PriceNotation::Cents) + of(PriceNotation::Signed));
    if bare < MIN_BARE || better * 4 > bare {
        let is_bare =
            |priced: &Option<Priced>| priced.as_ref().is_some_and(|priced| priced.form == PriceNotation::Bare);
        prices.iter_mut().filter(|priced| is_bare(priced)).for_each(|priced| *priced = None);
    }
}
