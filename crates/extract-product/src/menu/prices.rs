//! Amounts in a line of a menu.

use std::ops::Range;

use crate::money::{self, Style};

use super::words::LISTS;

/// Limit on the prices of one line.
const MAX_PRICES: usize = 12;
/// Largest amount without a currency that is taken for a price.
const MAX_BARE: f64 = 9_999.0;

/// Words after numbers other than prices.
const UNITS: &str = "l lt ltr liter litre cl ml dl g gr gram kg oz lb lbs cm mm km m kcal kj cal calories min mins \
    minutes uhr h am pm stück stk st pcs pc pieces piece pièces pz stuks personen persons people pers \
    person personnes personas persone vol inch gänge course courses x nights hours stunden jahre years 个 \
    人 個 本 枚 時 分";

/// Notation of a number, the least likely price first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PriceNotation {
    /// A number without cents or currency.
    Bare,
    /// A number with cents: `9,50` or `9,-`.
    Cents,
    /// A number with a currency.
    Signed,
}

/// A number that may be a price.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Amount {
    pub(super) value: f64,
    pub(super) currency: Option<&'static str>,
    pub(super) form: PriceNotation,
    /// Byte range in the text, with the currency.
    pub(super) place: Range<usize>,
}

/// Finds the numbers of a line that may be prices. Quantities, times, dates and percentages are skipped.
pub(super) fn amounts(text: &str, style: Style) -> Vec<Amount> {
    let mut found: Vec<Amount> = Vec::new();
    let mut from = 0;
    while let Some(number) = money::next_number(text, from) {
        from = number.end;
        if found.len() == MAX_PRICES {
            break;
        }
        let before = found.last().map_or(0, |last| last.place.end).min(number.start);
        if let Some(amount) = amount_at(text, before, number, style) {
            from = from.max(amount.place.end);
            found.push(amount);
        }
    }
    without_times(text, &mut found);
    spread_signs(text, &mut found);
    found
}

fn amount_at(text: &str, before: usize, number: Range<usize>, style: Style) -> Option<Amount> {
    let (left, right) = (&text[before..number.start], &text[number.end..]);
    let sign_before = money::currency_at_end(left);
    let tail = dash_after(right);
    let sign_after = sign_at_start(&right[tail..]);
    // Glued to a word, a number is a part of it (`A4`, `No.5`, `1/2`), unless dots lead to it.
    let is_glued = left.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '#' | '.' | ',' | ':' | '/' | '+'));
    if sign_before.is_none() && is_glued && !left.ends_with("..") && !left.ends_with(": ") && !is_leader(left) {
        return None;
    }
    if sign_before.is_none() && sign_after.is_none() && is_quantity(&right[tail..]) {
        return None;
    }
    let code = sign_before.as_ref().and_then(|sign| sign.code).or(sign_after.as_ref().and_then(|sign| sign.code));
    let mut value = money::amount(&text[number.clone()], style, code)?;
    let mut end = number.end + tail + sign_after.as_ref().map_or(0, |sign| sign.length);
    let start = number.start - sign_before.as_ref().map_or(0, |sign| sign.length);
    // `12€50`
    if let Some(cents) = sign_after.as_ref().and_then(|_| cents_after(&text[end..])) {
        value += cents / 100.0;
        end += 2;
    }
    let form = match (sign_before.is_some() || sign_after.is_some(), tail > 0 || has_cents(&text[number])) {
        (true, _) => PriceNotation::Signed,
        (_, true) => PriceNotation::Cents,
        _ => PriceNotation::Bare,
    };
    let is_likely = form == PriceNotation::Signed || value > 0.0 && value <= MAX_BARE;
    is_likely.then_some(Amount { value, currency: code, form, place: start..end })
}

/// A sign or code after a number; a word for the currency counts as well.
fn sign_at_start(text: &str) -> Option<money::Currency> {
    let word = text.trim_start();
    let names = [("euros", "EUR"), ("euro", "EUR"), ("€", "EUR"), ("บาท", "THB"), ("yen", "JPY")];
    let named = names.into_iter().find(|(name, _)| {
        word.get(..name.len()).is_some_and(|start| start.to_lowercase() == *name)
            && !(word[name.len()..].starts_with(char::is_alphabetic) && name.is_ascii())
    });
    let length = |name: &str| text.len() - word.len() + name.len();
    match named {
        Some((name, code)) if text.len() - word.len() <= 4 => {
            Some(money::Currency { code: Some(code), length: length(name) })
        }
        _ => money::currency_at_start(text),
    }
}

/// The length of `,-`, `.–` or `:-` after a whole number.
fn dash_after(right: &str) -> usize {
    let mut chars = right.chars();
    let (first, second) = (chars.next(), chars.next());
    let length = first.map_or(0, char::len_utf8) + second.map_or(0, char::len_utf8);
    let is_dash = matches!(first, Some(',' | '.' | ':')) && matches!(second, Some('-' | '–' | '—'));
    if is_dash && !right[length..].trim_start().starts_with(|c: char| c.is_ascii_digit()) { length } else { 0 }
}

fn cents_after(right: &str) -> Option<f64> {
    let digits: String = right.chars().take_while(char::is_ascii_digit).collect();
    (digits.len() == 2 && !right[2..].starts_with(char::is_alphanumeric)).then(|| digits.parse().ok()).flatten()
}

fn has_cents(number: &str) -> bool {
    let decimals = number.len() - number.rfind(['.', ',']).map_or(number.len(), |place| place + 1);
    decimals == 2
}

/// Whether what stands before a number fills the line up to it: `Soup .... 5`.
fn is_leader(left: &str) -> bool {
    let signs = left.chars().rev().take_while(|c| matches!(c, '.' | '…' | '·' | '_' | '-' | ' ' | ':' | '⋅')).count();
    signs >= 2 || left.ends_with(['…', ':', '·'])
}

/// Whether what follows a number makes it a quantity, a time, a date, an ordinal or a ratio.
fn is_quantity(right: &str) -> bool {
    let mut chars = right.chars();
    match chars.next() {
        None => return false,
        Some('%' | '°' | ':' | '″' | '"' | '×' | '‰' | '½' | '+') => return true,
        Some('.' | '/') if chars.next().is_some_and(|c| c.is_ascii_digit()) && !right.starts_with('/') => return true,
        Some(c) if c.is_alphabetic() && !is_price_suffix(right) => return true,
        _ => {}
    }
    if let Some(number) = after_dash(right) {
        // `11.00–14.30 Uhr`, `2–3 persons`
        return is_quantity(number);
    }
    let next = right.trim_start().to_lowercase();
    let word: String = next.chars().take_while(|c| c.is_alphanumeric()).collect();
    next.starts_with(['%', '°', '★', '☆', '⭐']) || UNITS.split(' ').any(|unit| unit == word)
}

/// Returns the text after a range such as `-12,50` at the start of `right`.
fn after_dash(right: &str) -> Option<&str> {
    let rest = right.trim_start().strip_prefix(['-', '–', '—'])?.trim_start();
    let number = rest.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ','));
    (number.len() < rest.len()).then_some(number)
}

/// Whether the letters after a number still belong to a price, such as an allergen right behind it.
fn is_price_suffix(right: &str) -> bool {
    let word: String = right.chars().take_while(|c| c.is_alphabetic()).collect();
    sign_at_start(&word).is_some()
}

/// Drops times of day: `17.00–23.00`, `11.30 Uhr`.
fn without_times(text: &str, found: &mut Vec<Amount>) {
    let minutes = |amount: &Amount| (amount.value.fract() * 100.0).round() % 5.0 == 0.0 && amount.value < 24.6;
    let is_dashed = |left: &Amount, right: &Amount| {
        let between = text[left.place.end.min(right.place.start)..right.place.start].trim().to_lowercase();
        matches!(
            between.as_str(),
            "-" | "–" | "—" | "bis" | "to" | "à" | "a" | "until" | "till" | "til" | "h -" | "uhr -" | "uhr –"
        )
    };
    let is_time = |at: usize| {
        let amount = &found[at];
        let is_plain = |other: &Amount| {
            other.form == PriceNotation::Cents && minutes(other) && text[other.place.clone()].contains('.')
        };
        let after = found.get(at + 1).is_some_and(|next| is_plain(next) && is_dashed(amount, next));
        let before = at > 0 && is_plain(&found[at - 1]) && is_dashed(&found[at - 1], amount);
        is_plain(amount) && (after || before)
    };
    let keep: Vec<bool> = (0..found.len()).map(|at| !is_time(at)).collect();
    let mut keep = keep.into_iter();
    found.retain(|_| keep.next().unwrap_or(true));
}

/// Keeps the numbers that are most like prices, and those beside them: `5 / 8 €` and `$5 | 8` have two prices.
fn spread_signs(text: &str, found: &mut Vec<Amount>) {
    let Some(best) = found.iter().max_by_key(|amount| amount.form).cloned() else { return };
    let best = Amount { currency: found.iter().find_map(|amount| amount.currency), ..best };
    let places: Vec<Range<usize>> = found.iter().map(|amount| amount.place.clone()).collect();
    for (at, amount) in found.iter_mut().enumerate().filter(|(_, amount)| amount.form != best.form) {
        let beside = [at.checked_sub(1), Some(at + 1)].into_iter().flatten().filter_map(|other| places.get(other));
        let is_beside = beside.into_iter().any(|other| {
            let (start, end) = (amount.place.end.min(other.end), amount.place.start.max(other.start));
            start <= end && is_between_prices(&text[start..end])
        });
        if is_beside || amount.form == PriceNotation::Cents {
            (amount.form, amount.currency) = (best.form, best.currency);
        }
    }
    found.retain(|amount| amount.form == best.form);
}

fn is_between_prices(text: &str) -> bool {
    let text = text
        .trim_matches(|c: char| c.is_whitespace() || matches!(c, '/' | '|' | '-' | '–' | '—' | '•' | '·' | ',' | ';'));
    text.is_empty() || LISTS.size.are_all_words_of(text)
}

/// Returns the currency that a sentence about prices names.
pub(super) fn named_currency(text: &str) -> Option<&'static str> {
    static NAMES: [(&str, &str); 24] = [
        ("us dollar", "USD"),
        ("u.s. dollar", "USD"),
        ("canadian dollar", "CAD"),
        ("australian dollar", "AUD"),
        ("new zealand dollar", "NZD"),
        ("singapore dollar", "SGD"),
        ("hong kong dollar", "HKD"),
        ("sterling", "GBP"),
        ("british pound", "GBP"),
        ("swiss franc", "CHF"),
        ("franken", "CHF"),
        ("francs suisses", "CHF"),
        ("norwegian kro", "NOK"),
        ("norske kro", "NOK"),
        ("swedish kro", "SEK"),
        ("svenska kro", "SEK"),
        ("danish kro", "DKK"),
        ("danske kro", "DKK"),
        ("日本円", "JPY"),
        ("renminbi", "CNY"),
        ("indian rupee", "INR"),
        ("baht", "THB"),
        ("forint", "HUF"),
        ("euro", "EUR"),
    ];
    let lower = text.to_lowercase();
    let of_word = |word: &str| {
        let is_code = word.len() == 3 && word.bytes().all(|b| b.is_ascii_uppercase());
        if is_code || !word.is_ascii() { money::currency_of(word) } else { None }
    };
    let words =
        || text.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '.' | ',' | ':' | ';' | '/' | '"'));
    NAMES.iter().find(|(name, _)| lower.contains(name)).map(|(_, code)| *code).or_else(|| words().find_map(of_word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_found_in_lines() {
        let check = |text: &str, expect: &[f64]| {
            let found: Vec<f64> = amounts(text, Style::default()).iter().map(|amount| amount.value).collect();
            assert_eq!(found, expect, "{text}");
        };
        check("Tagessuppe 5,80 €", &[5.8]);
        check("Pancakes ........ 7.50", &[7.5]);
        check("Soup ….5", &[5.0]);
        check("Steak (300 g) 24,-", &[24.0]);
        check("Cola 0,2 l 2,80 / 0,4 l 4,20", &[2.8, 4.2]);
        check("Cola 0,33l 3,20 Euro", &[3.2]);
        check("Menu du jour 12€50", &[12.5]);
        check("ラーメン 850円", &[850.0]);
        check("김치찌개 12,000원", &[12000.0]);
        check("Pizza kr 145", &[145.0]);
        check("Pizza 145 kr.", &[145.0]);
        check("Pizza 145:-", &[145.0]);
        check("Wine 5 / 8 €", &[5.0, 8.0]);
        check("8–12 €", &[8.0, 12.0]);
        check("Di–So 17.00–23.00", &[]);
        check("11.30 Uhr bis 14 Uhr", &[]);
        check("Mo–Fr 11.00–14.30 Uhr", &[]);
        check("Platte für 2–3 Personen 29,00", &[29.0]);
        check("Pils 4,9 % 0,5l 4,20", &[4.2]);
        check("Ihr Termin am 12.05.2024", &[]);
        check("540 kcal", &[]);
        check("A1 Frühlingsrollen 4,50", &[4.5]);
        check("12. Pho Bo 9,90", &[9.9]);
        check("Bami goreng € 13,50", &[13.5]);
        check("Bandeja paisa $ 38.000", &[38000.0]);
        check("CHF 24.50", &[24.5]);
        check("Fondue 24.50 Fr.", &[24.5]);
    }

    #[test]
    fn currencies_are_named_in_sentences() {
        let check = |text: &str, expect: Option<&str>| assert_eq!(named_currency(text), expect, "{text}");
        check("All prices in USD.", Some("USD"));
        check("Alle Preise in Euro inkl. MwSt.", Some("EUR"));
        check("Prix nets en euros", Some("EUR"));
        check("Prices (£) include VAT", Some("GBP"));
        check("Preise in Schweizer Franken", Some("CHF"));
        check("Prices may change", None);
        check("Prices in $", None);
    }
}
