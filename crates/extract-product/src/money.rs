//! Amounts and currencies, in the number formats of all languages.

mod currency;

use std::ops::Range;

pub(crate) use currency::{Currency, currency_at_end, currency_at_start, currency_of};

/// A price in a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Money {
    /// Amount in units of the currency.
    pub(crate) amount: f64,
    /// Currency, if its sign or code has one meaning.
    pub(crate) currency: Option<&'static str>,
    /// Whether a sign or code of a currency stands beside the number, even an ambiguous one.
    pub(crate) is_signed: bool,
    /// Byte range in the text, with the currency.
    pub(crate) place: Range<usize>,
}

/// Number format of a page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Style {
    /// Decimal point, if the page's other prices show it.
    pub(crate) point: Option<char>,
}

impl Style {
    /// Learns the decimal point from the prices of a page: those that have two decimals.
    pub(crate) fn of<'t>(prices: impl Iterator<Item = &'t str>) -> Style {
        let (mut points, mut commas) = (0, 0);
        for price in prices {
            let digits = price.bytes().rev().take_while(u8::is_ascii_digit).count();
            match price.as_bytes().get(price.len().wrapping_sub(digits + 1)) {
                Some(b'.') if digits == 2 => points += 1,
                Some(b',') if digits == 2 => commas += 1,
                _ => {}
            }
        }
        let point = if points > commas { Some('.') } else { (commas > points).then_some(',') };
        Style { point }
    }
}

/// Currencies with three decimals, from ISO 4217.
const THREE_DECIMALS: [&str; 7] = ["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"];

/// Reads a number such as `1.299,00`, `1 299`, `1'299.50`, `1,29,999` or `12.5`.
///
/// A single separator before three digits is a decimal point if the currency has three decimals or the page writes its
/// prices with this point; else it separates thousands: other prices have no third decimal.
pub(crate) fn amount(number: &str, style: Style, currency: Option<&str>) -> Option<f64> {
    let number = number.trim_end_matches(|c: char| !c.is_ascii_digit());
    let last = number.rfind(['.', ',']);
    let point = last.filter(|&place| is_point(number, place, style, currency));
    let (whole, decimals) = point.map_or((number, ""), |place| (&number[..place], &number[place + 1..]));
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    let whole = digits(whole);
    // More than 12 digits are a code of something.
    (!(whole.is_empty() && decimals.is_empty()) && whole.len() <= 12)
        .then(|| format!("{}.{}", if whole.is_empty() { "0" } else { &whole }, digits(decimals)))
        .and_then(|text| text.trim_end_matches('.').parse().ok())
}

/// Whether the last separator of a number is its decimal point.
fn is_point(number: &str, place: usize, style: Style, currency: Option<&str>) -> bool {
    let separator = char::from(number.as_bytes()[place]);
    let (before, after) = (&number[..place], &number[place + 1..]);
    if before.contains(separator) {
        return false;
    }
    if after.len() != 3 || after.contains(|c: char| !c.is_ascii_digit()) {
        return true;
    }
    let has_others = before.contains(|c: char| !c.is_ascii_digit());
    let starts_small = before.trim_start_matches('0').is_empty() || before.len() > 3;
    let by_currency = currency.is_some_and(|code| THREE_DECIMALS.contains(&code));
    (starts_small && !has_others) || by_currency || (!has_others && style.point == Some(separator))
}

/// Returns the place of the next number at or after `from`: digits with their separators.
pub(crate) fn next_number(text: &str, from: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let start = from + bytes.get(from..)?.iter().position(u8::is_ascii_digit)?;
    let mut end = start;
    while let Some(more) = text[end..].chars().next() {
        let is_part = more.is_ascii_digit() || (is_separator(more) && digits_follow(text, end + more.len_utf8(), more));
        if !is_part {
            break;
        }
        end += more.len_utf8();
    }
    Some(start..end)
}

fn is_separator(character: char) -> bool {
    matches!(character, '.' | ',' | '\'' | '’' | ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}' | '٬' | '٫')
}

/// Whether digits follow that make a separator of the character before them: blanks only separate groups of three.
fn digits_follow(text: &str, at: usize, separator: char) -> bool {
    let digits = text.as_bytes()[at..].iter().take_while(|b| b.is_ascii_digit()).count();
    match separator {
        '.' | ',' => digits > 0,
        _ => digits == 3,
    }
}

/// Finds the prices of a text: numbers with the sign or code of a currency beside them.
pub(crate) fn prices(text: &str, style: Style) -> Vec<Money> {
    let mut found: Vec<Money> = Vec::new();
    let mut from = 0;
    while let Some(place) = next_number(text, from) {
        from = place.end;
        // What stands before a price is not before the next one too.
        let before_start = found.last().map_or(0, |last| last.place.end);
        let before = currency_at_end(&text[before_start.min(place.start)..place.start]);
        // `1.299,- €`
        let tail = text[place.end..].trim_start_matches([',', '.']).trim_start_matches(['-', '–', '—']);
        let tail_start = if tail.len() + 1 < text.len() - place.end { text.len() - tail.len() } else { place.end };
        let after = currency_at_start(&text[tail_start..]);
        let sign = match (&before, &after) {
            (Some(before), Some(after)) if before.code.is_none() && after.code.is_some() => Some(after),
            (Some(before), _) => Some(before),
            (None, after) => after.as_ref(),
        };
        let Some(sign) = sign else { continue };
        let Some(amount) = amount(&text[place.clone()], style, sign.code) else { continue };
        let start = before.as_ref().map_or(place.start, |before| place.start - before.length);
        let end = after.as_ref().map_or(place.end, |after| tail_start + after.length);
        let end =
            if before.is_some() && after.as_ref().is_some_and(|after| after.code.is_none()) { place.end } else { end };
        from = end;
        found.push(Money { amount, currency: sign.code, is_signed: true, place: start..end });
    }
    found
}

/// Reads the price of a field: its only number, with or without a currency. Of a range (`10 – 20`) the first counts.
pub(crate) fn field(text: &str, style: Style, currency: Option<&str>) -> Option<Money> {
    if let Some(money) = prices(text, style).into_iter().next() {
        return Some(money);
    }
    let place = next_number(text, 0)?;
    let amount = amount(&text[place.clone()], style, currency)?;
    let is_negative = text[..place.start].trim_end().ends_with(['-', '−']);
    (!is_negative).then_some(Money { amount, currency: None, is_signed: false, place })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_all_languages() {
        let check = |text: &str, expect: f64| assert_eq!(amount(text, Style::default(), None), Some(expect), "{text}");
        check("12", 12.0);
        check("12.5", 12.5);
        check("12,50", 12.5);
        check("1.299,00", 1299.0);
        check("1,299.00", 1299.0);
        check("1 299,00", 1299.0);
        check("1\u{a0}299", 1299.0);
        check("1'299.50", 1299.5);
        check("1.299", 1299.0);
        check("1,299", 1299.0);
        check("1,29,999", 129_999.0);
        check("1.234.567", 1_234_567.0);
        check("0.125", 0.125);
        check("1299,-", 1299.0);
        check("1299.0000", 1299.0);
        assert_eq!(amount("1234567890123", Style::default(), None), None);
    }

    #[test]
    fn three_digits_follow_the_page_and_the_currency() {
        let point = Style { point: Some('.') };
        let comma = Style { point: Some(',') };
        assert_eq!(amount("1.299", comma, None), Some(1299.0));
        assert_eq!(amount("1.299", point, None), Some(1.299));
        assert_eq!(amount("12.500", Style::default(), Some("KWD")), Some(12.5));
        assert_eq!(Style::of(["1.299,00", "9,99", "$5"].into_iter()), comma);
        assert_eq!(Style::of(["1,299.00", "9.99"].into_iter()), point);
    }

    #[test]
    fn prices_in_texts() {
        let check = |text: &str, expect: &[(f64, Option<&str>, &str)]| {
            let found = prices(text, Style::default());
            let found: Vec<_> =
                found.iter().map(|money| (money.amount, money.currency, &text[money.place.clone()])).collect();
            assert_eq!(found, expect, "{text}");
        };
        check("now $12.50, was $20", &[(12.5, None, "$12.50"), (20.0, None, "$20")]);
        check("1.299,00 €", &[(1299.0, Some("EUR"), "1.299,00 €")]);
        check("1.299,- €", &[(1299.0, Some("EUR"), "1.299,- €")]);
        check("EUR 12", &[(12.0, Some("EUR"), "EUR 12")]);
        check("US$ 5 and CA$6", &[(5.0, Some("USD"), "US$ 5"), (6.0, Some("CAD"), "CA$6")]);
        check("12 pieces, 40 cm", &[]);
        check("10 zł", &[(10.0, Some("PLN"), "10 zł")]);
        check("Rs 1,29,999", &[(129_999.0, None, "Rs 1,29,999")]);
        check("$12.50 CAD", &[(12.5, Some("CAD"), "$12.50 CAD")]);
        check("R$ 1.759,99", &[(1759.99, Some("BRL"), "R$ 1.759,99")]);
        check("12 krone", &[]);
    }

    #[test]
    fn fields() {
        assert_eq!(field("1299", Style::default(), None).map(|money| money.amount), Some(1299.0));
        assert_eq!(field(" 10.00 - 20.00", Style::default(), None).map(|money| money.amount), Some(10.0));
        assert_eq!(field("-5", Style::default(), None), None);
        assert_eq!(field("on request", Style::default(), None), None);
    }
}
