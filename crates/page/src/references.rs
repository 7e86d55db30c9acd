//! Character references (`&amp;`, `&#x41;`) as the HTML standard decodes them.

use std::borrow::Cow;

use html5ever::data::{C1_REPLACEMENTS, NAMED_ENTITIES};
use memchr::memchr;

/// Length of the longest name, in bytes.
const MAX_NAME: usize = 32;
/// Length of the longest legacy name (one that needs no semicolon), in bytes.
const MAX_OLD_NAME: usize = 6;

/// Returns `text` with its references decoded as in the text of a page. Scripts hold some, which no parser decodes.
pub fn decoded(text: &str) -> Cow<'_, str> {
    if memchr(b'&', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    push_decoded(&mut out, text, false);
    Cow::Owned(out)
}

/// Appends `text` with its references decoded. In attributes `&copy=` and `&copyx` stay undecoded: URLs contain them.
pub(crate) fn push_decoded(out: &mut String, text: &str, in_attribute: bool) {
    let mut rest = text;
    while let Some(at) = memchr(b'&', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let used = match rest.as_bytes().first() {
            Some(b'#') => push_numeric(out, &rest[1..]).map(|used| used + 1),
            Some(first) if first.is_ascii_alphanumeric() => push_named(out, rest, in_attribute),
            _ => None,
        };
        match used {
            Some(used) => rest = &rest[used..],
            None => out.push('&'),
        }
    }
    out.push_str(rest);
}

/// Decodes the number after `&#`; returns the number of bytes consumed.
fn push_numeric(out: &mut String, text: &str) -> Option<usize> {
    let (radix, prefix) = if text.starts_with(['x', 'X']) { (16, 1) } else { (10, 0) };
    let digits = text[prefix..].bytes().take_while(|&b| char::from(b).is_digit(radix)).count();
    if digits == 0 {
        return None;
    }
    let end = prefix + digits;
    // Numbers that overflow are not characters either: they become U+FFFD below.
    let number = u32::from_str_radix(&text[prefix..end], radix).unwrap_or(u32::MAX);
    let replaced = number.checked_sub(0x80).and_then(|place| *C1_REPLACEMENTS.get(place as usize)?);
    let character = replaced.or(char::from_u32(number)).filter(|&c| c != '\0');
    out.push(character.unwrap_or(char::REPLACEMENT_CHARACTER));
    Some(end + usize::from(text[end..].starts_with(';')))
}

/// Decodes the longest name at the start of `text`; returns the number of bytes consumed.
fn push_named(out: &mut String, text: &str, in_attribute: bool) -> Option<usize> {
    let bytes = text.as_bytes();
    let letters = bytes.iter().take(MAX_NAME).take_while(|b| b.is_ascii_alphanumeric()).count();
    let known = |length: usize| NAMED_ENTITIES.get(&text[..length]).copied().filter(|&(first, _)| first != 0);
    // A name with its semicolon wins; else the longest legacy prefix counts: `&notit;` is `&not` and `it;`.
    let whole = if bytes.get(letters) == Some(&b';') { known(letters + 1).map(|c| (letters + 1, c)) } else { None };
    let old = || (2..=letters.min(MAX_OLD_NAME)).rev().find_map(|length| Some((length, known(length)?)));
    let (length, (first, second)) = whole.or_else(old)?;
    let next = bytes.get(length).copied();
    if in_attribute && whole.is_none() && next.is_some_and(|b| b == b'=' || b.is_ascii_alphanumeric()) {
        return None;
    }
    out.extend([first, second].into_iter().filter(|&c| c != 0).filter_map(char::from_u32));
    Some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, in_text: &str, in_attribute: &str) {
        for (attribute, expect) in [(false, in_text), (true, in_attribute)] {
            let mut out = String::new();
            push_decoded(&mut out, text, attribute);
            assert_eq!(out, expect, "{text}");
        }
    }

    #[test]
    fn references() {
        check("a &amp; b &lt;&gt;&quot;", "a & b <>\"", "a & b <>\"");
        check("&copy &copy= &copyx &copy;x", "© ©= ©x ©x", "© &copy= &copyx ©x");
        check("&notit; &notin; &noti", "¬it; ∉ ¬i", "&notit; ∉ &noti");
        check("& &; &x &unknown; &é &", "& &; &x &unknown; &é &", "& &; &x &unknown; &é &");
        check("&NotEqualTilde;&fjlig;", "≂̸fj", "≂̸fj");
        check("&#65;&#x41&#X41;&#65x", "AAAAx", "AAAAx");
        check("&#; &#x; &# &#xg", "&#; &#x; &# &#xg", "&#; &#x; &# &#xg");
        check(
            "&#0;&#xD800;&#99999999999;&#x110000",
            "\u{fffd}\u{fffd}\u{fffd}\u{fffd}",
            "\u{fffd}\u{fffd}\u{fffd}\u{fffd}",
        );
        check("&#128;&#x81;&#13;", "€\u{81}\r", "€\u{81}\r");
    }
}
