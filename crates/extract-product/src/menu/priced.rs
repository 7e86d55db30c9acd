//! Lines that name a price.

use crate::money::Style;

use super::lines::{Line, TextRun};
use super::prices::{Amount, PriceNotation, amounts};
use super::words::LISTS;

/// Limit on the letters before a price in a line without further marks; longer ones are prose.
const MAX_BEFORE: usize = 160;
/// Limit on the letters after a price.
const MAX_AFTER: usize = 60;
/// Limit on the letters between two prices.
const MAX_BETWEEN: usize = 32;

/// One of the prices of an item.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Choice {
    /// Size or portion; empty if the page names none.
    pub(super) label: String,
    pub(super) value: f64,
    pub(super) currency: Option<&'static str>,
    /// Price as written.
    pub(super) shown: String,
}

/// The prices of a line, and the bytes of the text before and after them.
#[derive(Debug)]
pub(super) struct Priced {
    pub(super) choices: Vec<Choice>,
    pub(super) form: PriceNotation,
    /// End of the text before the first price.
    pub(super) before: usize,
    /// Start of the text after the last price.
    pub(super) after: usize,
}

/// Reads the prices of a line; `None` if it has none or is prose.
pub(super) fn priced(line: &Line, style: Style) -> Option<Priced> {
    let text = &line.text;
    let found = amounts(text, style);
    let (first, last) = (found.first()?, found.last()?);
    let own = part_at(line, first.place.start);
    let has_own = own.is_some_and(|part| {
        let others = part.range.len()
            - found
                .iter()
                .filter(|one| part.range.contains(&one.place.start))
                .map(|one| one.place.len())
                .sum::<usize>()
                .min(part.range.len());
        part.looks.is_price || (part.looks.element != 0 && others < 16)
    });
    let (before, after) = (&text[..first.place.start], &text[last.place.end..]);
    if !has_own && is_prose(text, &found) {
        return None;
    }
    let is_bare = first.form == PriceNotation::Bare;
    if is_bare
        && !(found.len() == 1 && after.trim().is_empty() && !before.trim_end().ends_with(|c: char| c.is_ascii_digit()))
    {
        return None;
    }
    let before_end = trimmed_end(before);
    let (name_end, label) = without_size(&before[..before_end]);
    // The size of an only price belongs to the name, unless the name ends before it.
    let is_apart = before[..before_end - label.len()].trim_end().ends_with([':', ',', '–', '-', '|']);
    let (name_end, label) = if found.len() > 1 || is_apart { (name_end, label) } else { (before_end, "") };
    let choices = choices(text, &found, label);
    Some(Priced { choices, form: first.form, before: name_end, after: last.place.end })
}

fn part_at(line: &Line, at: usize) -> Option<&TextRun> {
    line.parts.iter().find(|part| part.range.contains(&at))
}

fn is_prose(text: &str, found: &[Amount]) -> bool {
    let before = text[..found[0].place.start].chars().count();
    let after = text[found[found.len() - 1].place.end..].trim();
    let is_sentence = after.starts_with(['.', '!', '?', ';']) && after.chars().count() > 3;
    let between = found.windows(2).map(|pair| text[pair[0].place.end..pair[1].place.start].chars().count());
    before > MAX_BEFORE || after.chars().count() > MAX_AFTER || is_sentence || between.max().unwrap_or(0) > MAX_BETWEEN
}

/// The length of a text without the leader, dashes and colons at its end.
fn trimmed_end(text: &str) -> usize {
    let is_filler = |c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '.' | '…'
                    | '·'
                    | '_'
                    | '-'
                    | '–'
                    | '—'
                    | ':'
                    | '|'
                    | '/'
                    | ','
                    | '⋅'
                    | '•'
                    | '='
                    | '~'
                    | '»'
                    | '>'
                    | '\t'
            )
    };
    text.trim_end_matches(is_filler).len()
}

/// The size at the end of a name, if there is one, and the length of the name without it.
fn without_size(name: &str) -> (usize, &str) {
    let starts = name.char_indices().filter(|(_, c)| c.is_whitespace()).map(|(at, _)| at).chain([0]);
    let mut starts: Vec<usize> = starts.collect();
    starts.sort_unstable();
    let size = starts.into_iter().find(|&start| LISTS.size.are_all_words_of(&name[start..]));
    size.map_or((name.len(), ""), |start| (trimmed_end(&name[..start]), name[start..].trim()))
}

fn choices(text: &str, found: &[Amount], first_label: &str) -> Vec<Choice> {
    let mut choices = Vec::with_capacity(found.len());
    let mut label = first_label;
    for (at, amount) in found.iter().enumerate() {
        let (value, currency) = (amount.value, amount.currency);
        let shown = text[amount.place.clone()].trim().to_owned();
        choices.push(Choice { label: label.to_owned(), value, currency, shown });
        let next = found.get(at + 1).map_or(amount.place.end, |next| next.place.start);
        let is_edge = |c: char| !c.is_alphanumeric() && c != '½' && c != 'Ø';
        label = text[amount.place.end.min(next)..next].trim_matches(is_edge);
    }
    choices
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Line {
        let part = TextRun { range: 0..text.len(), looks: super::super::looks::TextStyle::default() };
        Line { text: text.to_owned(), parts: vec![part], node: 1, block: 0, heading: 0, aside: false, gap: false }
    }

    #[test]
    fn names_prices_and_sizes_are_told_apart() {
        let check = |text: &str, name: &str, choices: &[(&str, f64)]| {
            let line = line(text);
            let priced = priced(&line, Style::default()).expect(text);
            assert_eq!(&text[..priced.before], name, "{text}");
            let found: Vec<(&str, f64)> = priced.choices.iter().map(|one| (one.label.as_str(), one.value)).collect();
            assert_eq!(found, choices, "{text}");
        };
        check("Pancakes ........ 7.50", "Pancakes", &[("", 7.5)]);
        check("Cola 0,2 l 2,80 / 0,4 l 4,20", "Cola", &[("0,2 l", 2.8), ("0,4 l", 4.2)]);
        check("Cola 0,33 l 3,20 €", "Cola 0,33 l", &[("", 3.2)]);
        check("Margherita small 8 € large 11 €", "Margherita", &[("small", 8.0), ("large", 11.0)]);
        check("Steak – 32", "Steak", &[("", 32.0)]);
        check("€ 5,50", "", &[("", 5.5)]);
    }

    #[test]
    fn prose_has_no_prices() {
        let text = "At Luce the carbonara costs 13 € and the carpaccio 11 €. The menu changes weekly.";
        assert!(priced(&line(text), Style::default()).is_none());
    }
}
