//! The parts of one item: name, description, prices, marks.

use std::ops::Range;

use page::Index;

use super::calories::calories;
use super::legend::{Legend, diet_alone, diet_of};
use super::lines::SOFT;
use super::looks::TextStyle;
use super::priced::Choice;
use super::records::Record;
use super::shown::{PageText, is_name, is_unit};
use super::split::is_note;
use super::words::LISTS;

/// Limit on the letters of a name.
const MAX_NAME: usize = 200;
/// Limit on the letters of a description.
const MAX_DESCRIPTION: usize = 1000;

/// An item as it is read from the page.
#[derive(Debug, Clone, Default)]
pub(super) struct ItemDraft {
    pub(super) name: String,
    pub(super) description: Vec<String>,
    pub(super) choices: Vec<Choice>,
    pub(super) calories: Option<f64>,
    pub(super) diets: Vec<&'static str>,
    pub(super) sold_out: Option<String>,
    /// Number of the item on the menu.
    pub(super) number: Option<String>,
    pub(super) element: Option<Index>,
    pub(super) lines: Range<usize>,
}

/// A text of an item.
struct Text {
    text: String,
    looks: TextStyle,
    is_heading: bool,
}

/// Reads the item of a record.
pub(super) fn found(shown: &PageText<'_>, record: &Record, legend: &Legend) -> ItemDraft {
    let mut item = ItemDraft { element: record.element, lines: record.lines.clone(), ..ItemDraft::default() };
    let mut texts: Vec<Text> = Vec::new();
    let mut size = String::new();
    for at in record.lines.clone() {
        match &shown.prices[at] {
            Some(priced) => {
                texts.extend(
                    texts_of(shown, at, 0..priced.before).into_iter().filter_map(|text| label(text, &mut size)),
                );
                let mut choices = priced.choices.clone();
                if let Some(first) = choices.first_mut().filter(|first| first.label.is_empty()) {
                    first.label = std::mem::take(&mut size);
                }
                item.choices.extend(choices);
                let end = shown.line(at).text.len();
                texts.extend(texts_of(shown, at, priced.after..end).into_iter().filter(|text| !is_unit(&text.text)));
            }
            None => texts.extend(
                texts_of(shown, at, 0..shown.line(at).text.len()).into_iter().filter_map(|text| label(text, &mut size)),
            ),
        }
    }
    super::columns::label(shown, record.lines.clone(), &mut item.choices);
    label_single(&mut item, &mut texts);
    if let Some(element) = record.element {
        marks(shown, element, &mut item);
    }
    take(&mut item, texts, legend);
    item
}

/// The size of an item's only price describes the item.
fn label_single(item: &mut ItemDraft, texts: &mut Vec<Text>) {
    if let [only] = item.choices.as_mut_slice()
        && !only.label.is_empty()
    {
        texts.push(Text { text: std::mem::take(&mut only.label), looks: TextStyle::default(), is_heading: false });
    }
}

/// Keeps a size for the next price; a size is not part of the text.
fn label(text: Text, size: &mut String) -> Option<Text> {
    if LISTS.size.are_all_words_of(&text.text) && text.text.chars().any(char::is_alphabetic) {
        *size = text.text;
        return None;
    }
    Some(text)
}

/// The texts of a part of a line, one for each part that looks different.
fn texts_of(shown: &PageText<'_>, at: usize, range: Range<usize>) -> Vec<Text> {
    let line = shown.line(at);
    let is_heading = (1..SOFT).contains(&line.heading);
    let mut texts: Vec<Text> = Vec::new();
    for part in line.parts.iter().filter(|part| !part.looks.is_raised) {
        let place = part.range.start.max(range.start)..part.range.end.min(range.end);
        let Some(text) = line.text.get(place.clone()).filter(|_| place.start < place.end) else { continue };
        let continues = |last: &&mut Text| continues(&last.looks, &part.looks);
        match texts.last_mut().filter(continues) {
            Some(last) => {
                if line.text[..place.start].ends_with(' ') {
                    last.text.push(' ');
                }
                last.text.push_str(text);
            }
            None => texts.push(Text { text: text.to_owned(), looks: part.looks, is_heading }),
        }
    }
    texts
}

/// Whether a part of a line belongs to the same text as the part before it.
fn continues(left: &TextStyle, right: &TextStyle) -> bool {
    let kind = |looks: &TextStyle| (looks.is_strong, looks.is_small, looks.is_name, looks.is_description);
    kind(left) == kind(right)
}

fn take(item: &mut ItemDraft, texts: Vec<Text>, legend: &Legend) {
    let mut kept: Vec<Text> = Vec::new();
    for mut text in texts {
        if let Some((amount, rest)) = calories(&text.text) {
            item.calories = item.calories.or(Some(amount));
            text.text = rest;
        }
        let marked = legend.strip(&text.text);
        add_diets(item, &marked.diets);
        text.text = marked.rest.trim_matches(|c: char| c.is_whitespace() || matches!(c, '|' | '•' | '·')).to_owned();
        if LISTS.sold_out.are_all_of(&text.text) {
            item.sold_out = Some(text.text);
        } else if let Some(diets) = diets_alone(&text.text).filter(|_| !is_title(&text, &kept)) {
            add_diets(item, &diets);
        } else if is_codes(&text.text) {
            continue;
        } else if is_number(&text.text) && item.number.is_none() && kept.is_empty() {
            item.number = Some(text.text.trim_matches(|c: char| !c.is_alphanumeric()).to_owned());
        } else if text.text.chars().any(char::is_alphanumeric) && !LISTS.badge.are_all_of(&text.text) {
            kept.push(text);
        }
    }
    let of_heading = kept.iter().position(|text| text.is_heading && is_name(&text.text));
    let of_class = || kept.iter().position(|text| text.looks.is_name && is_name(&text.text));
    let first = || kept.iter().position(|text| is_name(&text.text) && !text.looks.is_description);
    if let Some(place) = of_heading.or_else(of_class).or_else(first).filter(|_| !kept.is_empty()) {
        item.name = shortened(without_day_price(trimmed(&kept.remove(place).text)), MAX_NAME);
    }
    let mut length = 0;
    for text in kept.into_iter().filter(|text| !is_note(&text.text) || text.looks.is_description) {
        length += text.text.len();
        if length < MAX_DESCRIPTION {
            item.description.push(text.text.trim_start_matches(is_filler).to_owned());
        }
    }
}

/// Whether a text is where the name of the item is expected.
fn is_title(text: &Text, before: &[Text]) -> bool {
    before.is_empty() && (text.is_heading || text.looks.is_strong || text.looks.is_name)
}

fn add_diets(item: &mut ItemDraft, diets: &[&'static str]) {
    for diet in diets {
        if !item.diets.contains(diet) {
            item.diets.push(diet);
        }
    }
}

/// The diets of a text that says nothing else: `Vegan`, `vegetarian, gluten free`.
fn diets_alone(text: &str) -> Option<Vec<&'static str>> {
    let parts: Vec<&str> =
        text.split([',', '/', '|', '•', '·', ';']).map(str::trim).filter(|part| !part.is_empty()).collect();
    if parts.is_empty() || text.chars().count() > 60 {
        return None;
    }
    parts.into_iter().map(diet_alone).collect()
}

/// Diets that pictures and titles of the item name.
fn marks(shown: &PageText<'_>, element: Index, item: &mut ItemDraft) {
    let page = shown.page;
    for at in page.subtree(element).take(400) {
        let named = ["alt", "title", "aria-label"].into_iter().filter_map(|name| page.attr(at, name));
        for text in named.filter(|text| text.split_whitespace().count() <= 3) {
            if let Some(diet) = diet_of(&text) {
                add_diets(item, &[diet]);
            }
        }
    }
}

/// Whether a text is a list of codes, such as the allergens `(A, C, G)`.
fn is_codes(text: &str) -> bool {
    let inner = text.trim_matches(['(', ')', '[', ']', ' ']);
    let codes: Vec<&str> = inner.split([',', ' ', '/', ';', '+']).filter(|code| !code.is_empty()).collect();
    let in_brackets = inner.len() < text.trim().len();
    // `0,5 l` is not a list of codes.
    let is_sign = |c: char| c.is_ascii_digit() || c.is_ascii_uppercase() || (in_brackets && c.is_ascii_lowercase());
    let is_code = |code: &&str| code.len() <= 2 && code.chars().all(is_sign);
    (in_brackets || codes.len() > 1) && !codes.is_empty() && codes.iter().all(is_code)
}

/// Whether a text is the number of an item on the menu: `12`, `12.`, `A4`, `No. 7`, `101a`.
pub(super) fn is_number(text: &str) -> bool {
    let text = text
        .trim()
        .trim_start_matches("No.")
        .trim_start_matches("Nr.")
        .trim_matches(|c: char| c.is_whitespace() || matches!(c, '.' | ')' | '(' | '#' | ':' | '-'));
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
    (1..=3).contains(&digits) && letters <= 1 && digits + letters == text.len()
}

/// A text without the signs and words around it that belong to the price.
fn trimmed(text: &str) -> &str {
    let text = text.trim_matches(is_filler);
    let froms = [" ab", " from", " à partir de", " desde", " da", " vanaf"];
    froms.iter().find_map(|from| text.strip_suffix(from)).unwrap_or(text).trim_end()
}

/// A name without the words for a price of the day.
fn without_day_price(name: &str) -> &str {
    static PRICES: [&str; 13] = [
        "market price",
        "(mp)",
        " mp",
        "tagespreis",
        "nach tagespreis",
        "nach gewicht",
        "preis nach gewicht",
        "prix du marché",
        "prezzo di mercato",
        "precio de mercado",
        "según mercado",
        "s/m",
        "時価",
    ];
    let lower = name.to_lowercase();
    let length = PRICES.iter().filter(|words| lower.ends_with(**words)).map(|words| words.len()).max().unwrap_or(0);
    let rest = name.get(..name.len().saturating_sub(length)).unwrap_or(name);
    if length > 0 { rest.trim_end_matches(is_filler) } else { name }
}

fn is_filler(c: char) -> bool {
    c.is_whitespace() || matches!(c, '.' | '…' | '·' | '|' | ':' | '•' | '_' | ',' | ';' | '–' | '—' | '-' | '*' | '/')
}

fn shortened(text: &str, limit: usize) -> String {
    text.char_indices().nth(limit).map_or(text, |(end, _)| &text[..end]).to_owned()
}
