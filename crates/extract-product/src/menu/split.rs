//! Items whose lines follow each other: a name, perhaps a description, and a price.

use std::ops::Range;

use super::lines::SOFT;
use super::shown::PageText;

/// First line of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ItemStart {
    /// A `dt`.
    Term,
    /// A heading.
    Heading,
    /// The line directly before the price: names and descriptions look alike, and descriptions come last.
    Last,
    /// The line after the previous price.
    AfterPrice,
}

/// Splits lines into those of the single items. Lines before a name, such as headings, are left out.
pub(super) fn split(shown: &PageText<'_>, lines: Range<usize>) -> Vec<Range<usize>> {
    let prices: Vec<usize> = lines.clone().filter(|&at| shown.prices[at].is_some()).collect();
    let groups = groups(shown, &prices, lines.start);
    let start = start(shown, &groups, prices.last().map_or(lines.end, |last| last + 1)..lines.end);
    let mut found: Vec<Range<usize>> = Vec::new();
    for group in &groups {
        let begin = begin(shown, group, start, found.is_empty());
        match (begin, found.last_mut()) {
            (Some(begin), last) => {
                if let Some(last) = last.filter(|_| start != ItemStart::AfterPrice) {
                    last.end = trailing_end(shown, last.end, begin);
                }
                found.push(begin..group.end);
            }
            // A further price of the item before.
            (None, Some(last)) => last.end = group.end,
            (None, None) => found.push(group.end - 1..group.end),
        }
    }
    if let Some(last) = found.last_mut().filter(|_| start != ItemStart::AfterPrice) {
        last.end = trailing_end(shown, last.end, lines.end);
    }
    found
}

/// The lines up to and with each price.
fn groups(shown: &PageText<'_>, prices: &[usize], from: usize) -> Vec<Range<usize>> {
    let mut from = from;
    let mut groups: Vec<Range<usize>> = Vec::new();
    for &price in prices {
        let group = from..price + 1;
        from = price + 1;
        // A price after nothing but a size is a further price of the same item.
        match groups.last_mut().filter(|_| !group.clone().any(|at| shown.names(at))) {
            Some(last) => last.end = group.end,
            None => groups.push(group),
        }
    }
    groups
}

fn is_term(shown: &PageText<'_>, at: usize) -> bool {
    shown.page.name(shown.line(at).block).is_some_and(|name| &**name == "dt")
}

fn is_heading(shown: &PageText<'_>, at: usize) -> bool {
    let heading = shown.line(at).heading;
    (1..SOFT).contains(&heading) || (heading == SOFT && is_emphasised(shown, at))
}

fn is_emphasised(shown: &PageText<'_>, at: usize) -> bool {
    shown.line(at).parts.iter().all(|part| part.looks.is_strong || part.looks.is_name)
}

fn start(shown: &PageText<'_>, groups: &[Range<usize>], rest: Range<usize>) -> ItemStart {
    let all =
        |test: fn(&PageText<'_>, usize) -> bool| groups.iter().all(|group| group.clone().any(|at| test(shown, at)));
    if all(is_term) {
        return ItemStart::Term;
    }
    // From the surest to the weakest sign; each must hold for all groups, as a list is written in one way.
    let has_further = groups.len() > 1 || groups.iter().any(|group| group.len() > 2);
    if has_further && all(is_heading) && !has_names_after_headings(shown, groups) {
        return ItemStart::Heading;
    }
    let names = |group: &Range<usize>| group.clone().filter(|&at| shown.names(at) && !is_heading(shown, at)).count();
    let has_rest = rest.clone().next().is_some_and(|at| shown.names(at) && !is_heading(shown, at));
    let is_last =
        groups.len() > 1 && names(&groups[0]) == 1 && groups[1..].iter().all(|group| names(group) >= 2) && has_rest;
    if is_last { ItemStart::Last } else { ItemStart::AfterPrice }
}

/// Whether the headings name sections: each has an item below it whose first line is a name of its own.
fn has_names_after_headings(shown: &PageText<'_>, groups: &[Range<usize>]) -> bool {
    let ranks: Vec<u8> = groups
        .iter()
        .filter_map(|group| group.clone().rev().find(|&at| is_heading(shown, at)))
        .map(|at| shown.line(at).heading)
        .collect();
    groups.len() == 1 && ranks.first().is_some_and(|rank| *rank <= 2)
}

/// The first line of the item in a group; `None` if the group has a further price of the item before.
fn begin(shown: &PageText<'_>, group: &Range<usize>, start: ItemStart, is_first: bool) -> Option<usize> {
    let mut reversed = group.clone().rev();
    match start {
        ItemStart::Term => group.clone().find(|&at| is_term(shown, at)),
        ItemStart::Heading => reversed.find(|&at| is_heading(shown, at)),
        ItemStart::Last => reversed.find(|&at| shown.names(at)),
        ItemStart::AfterPrice => {
            let after_heading =
                group.clone().rev().skip(1).find(|&at| is_section(shown, at, group)).map_or(group.start, |at| at + 1);
            let begin = (after_heading..group.end).find(|&at| shown.names(at));
            // The page's text before the first item is not part of it.
            let gap = (after_heading..group.end).rev().find(|&at| at > after_heading && shown.line(at).gap);
            gap.filter(|&gap| (is_first || shown.names(gap)) && shown.names(gap)).or(begin)
        }
    }
}

/// Whether a heading before the name of an item names a section: another name follows it.
fn is_section(shown: &PageText<'_>, at: usize, group: &Range<usize>) -> bool {
    shown.line(at).heading > 0 && (at + 1..group.end).any(|next| shown.names(next))
}

/// The end of the description after a price: before the first heading.
fn trailing_end(shown: &PageText<'_>, from: usize, to: usize) -> usize {
    (from..to)
        .find(|&at| shown.line(at).heading > 0 || shown.line(at).gap || is_note(&shown.line(at).text))
        .unwrap_or(to)
}

/// Whether a text is about the whole list: prices, taxes, allergens.
pub(super) fn is_note(text: &str) -> bool {
    static NOTES: [&str; 34] = [
        "prices",
        "preise",
        "alle preis",
        "prix",
        "prezzi",
        "precios",
        "priser",
        "preços",
        "prijzen",
        "vat",
        "mwst",
        "tva",
        "iva ",
        "i.v.a",
        "service charge",
        "servicio",
        "allerg",
        "zusatzstoff",
        "please",
        "bitte",
        "ask your",
        "ask our",
        "inform",
        "gratuity",
        "gluten-free =",
        "税込",
        "税抜",
        "価格",
        "opening",
        "öffnungszeiten",
        "reserv",
        "copyright",
        "©",
        "http",
    ];
    let lower = text.to_lowercase();
    NOTES.iter().any(|note| lower.contains(note)) || lower.matches(" = ").count() > 0
}
