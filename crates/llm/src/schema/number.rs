//! Numbers that models write as text.

use serde_json::{Number, Value};

/// Reads a number from a text: `12.5`, `1,299.00`, `1.299,00`, `89,90 €`, `1 200`, `-3 %`. `None` for texts that hold
/// anything else.
pub(super) fn read(text: &str) -> Option<Value> {
    let text = text.trim_matches(|character: char| character.is_whitespace() || "€$£¥₹₽%".contains(character));
    if let Ok(number) = text.parse::<Number>() {
        return Some(Value::Number(number));
    }
    let (sign, digits) = match text.strip_prefix(['-', '\u{2212}']) {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let is_digit = |character: char| character.is_ascii_digit();
    if !digits.starts_with(is_digit) || !digits.ends_with(is_digit) {
        return None;
    }
    let plain = if digits.contains([' ', '\u{a0}', '\u{202f}', '\'', '_']) {
        ungrouped(digits, &[' ', '\u{a0}', '\u{202f}', '\'', '_'])?
    } else {
        digits.to_owned()
    };
    let plain = with_point(&plain)?;
    format!("{sign}{plain}").parse::<Number>().ok().map(Value::Number)
}

/// Returns a number with a point as decimal mark and without groups.
fn with_point(text: &str) -> Option<String> {
    match (text.rfind('.'), text.rfind(',')) {
        (None, None) => Some(text.to_owned()),
        // Of two different marks the last one is the decimal mark.
        (Some(point), Some(comma)) if point > comma => ungrouped_before(text, point, ','),
        (Some(_), Some(comma)) => ungrouped_before(text, comma, '.'),
        // A single comma with three digits after it groups thousands, as in `1,299`; with others it is a decimal mark.
        (None, Some(comma)) => match ungrouped(text, &[',']) {
            Some(whole) => Some(whole),
            None => ungrouped_before(text, comma, '.'),
        },
        (Some(_), None) => ungrouped(text, &['.']).filter(|_| text.matches('.').count() > 1).or_else(|| decimal(text)),
    }
}

fn decimal(text: &str) -> Option<String> {
    text.parse::<Number>().ok().map(|_| text.to_owned())
}

fn ungrouped_before(text: &str, mark: usize, group: char) -> Option<String> {
    let (whole, fraction) = (&text[..mark], &text[mark + 1..]);
    let whole = if whole.contains(group) { ungrouped(whole, &[group])? } else { whole.to_owned() };
    let is_plain = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    (is_plain(&whole) && is_plain(fraction)).then(|| format!("{whole}.{fraction}"))
}

/// Removes separators from groups of three digits; `None` when they are elsewhere.
fn ungrouped(text: &str, separators: &[char]) -> Option<String> {
    let (whole, fraction) =
        match text.find(['.', ',']).filter(|mark| !separators.iter().any(|s| text[*mark..].starts_with(*s))) {
            Some(mark) => text.split_at(mark),
            None => (text, ""),
        };
    let mut groups = whole.split(separators);
    let first = groups.next()?;
    let is_number = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let is_first = (1..=3).contains(&first.len()) && is_number(first);
    let rest: Vec<&str> = groups.collect();
    let is_grouped = is_first && !rest.is_empty() && rest.iter().all(|group| group.len() == 3 && is_number(group));
    is_grouped.then(|| format!("{first}{}{fraction}", rest.concat()))
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn numbers_of_every_custom_are_read() {
        for (text, expect) in [
            ("12.50", "12.50"),
            ("12", "12"),
            ("-3", "-3"),
            ("\u{2212}3.5", "-3.5"),
            ("1,299.00", "1299.00"),
            ("1,299", "1299"),
            ("1,299,000", "1299000"),
            ("1.299,00", "1299.00"),
            ("12.450,50 €", "12450.50"),
            ("1.299.000", "1299000"),
            ("1.299", "1.299"),
            ("89,90", "89.90"),
            ("1 200", "1200"),
            ("1\u{202f}200,5", "1200.5"),
            ("1'200.50", "1200.50"),
            ("$ 5", "5"),
            ("12 %", "12"),
        ] {
            let expect: serde_json::Value = serde_json::from_str(expect).unwrap();
            assert_eq!(read(text).as_ref().and_then(serde_json::Value::as_f64), expect.as_f64(), "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_numbers() {
        for text in ["", "about 12", "12 kg", "3-4", "1,2,3", "12,34,567", "N/A", "1..2", ",5", "2026-11-03", "1 2"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
