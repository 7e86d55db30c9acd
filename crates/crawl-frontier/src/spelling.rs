//! The normal form of percent-encoding (RFC 3986 section 6.2.2).

use std::borrow::Cow;

/// Normalises a path: escapes of letters, digits and `-._~` are decoded, other escapes are in upper case, and a `%` without
/// an escape becomes `%25`. The result means the same to every server, and normalising it again changes nothing.
pub(crate) fn path(raw: &str) -> Cow<'_, str> {
    if !raw.contains('%') {
        return Cow::Borrowed(raw);
    }
    let mut text = String::with_capacity(raw.len() + 2);
    let mut rest = raw;
    while let Some(at) = rest.find('%') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        match escape(rest.as_bytes()) {
            Some(byte) => {
                push_unless_unreserved(&mut text, byte);
                rest = &rest[3..];
            }
            None => {
                text.push_str("%25");
                rest = &rest[1..];
            }
        }
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// Decodes an escape at the beginning of `text`.
pub(crate) fn escape(text: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = text else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()
}

/// Appends `%XX` in upper case.
pub(crate) fn push_escaped(text: &mut String, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    text.push('%');
    text.push(char::from(DIGITS[usize::from(byte >> 4)]));
    text.push(char::from(DIGITS[usize::from(byte & 15)]));
}

/// Returns whether a byte is unreserved and never needs an escape (RFC 3986 section 2.3).
pub(crate) fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// Decodes all escapes for display and search; invalid UTF-8 becomes U+FFFD.
pub(crate) fn readable(raw: &str) -> Cow<'_, str> {
    if !raw.contains('%') {
        return Cow::Borrowed(raw);
    }
    let mut bytes = Vec::with_capacity(raw.len());
    let mut rest = raw.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        match escape(rest) {
            Some(byte) => {
                bytes.push(byte);
                rest = &rest[3..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

/// Appends a byte that was escaped: decoded if it is unreserved, otherwise as an escape.
pub(crate) fn push_unless_unreserved(text: &mut String, byte: u8) {
    if is_unreserved(byte) {
        text.push(char::from(byte));
    } else {
        push_escaped(text, byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, expect: &str) {
        assert_eq!(path(input), expect, "{input}");
        assert_eq!(path(expect), expect, "{input} again");
    }

    #[test]
    fn one_spelling() {
        check("/a/b", "/a/b");
        check("/%7Eme/%41%2d", "/~me/A-");
        check("/r%c3%a9sum%c3%a9", "/r%C3%A9sum%C3%A9");
        check("/AC%2fDC", "/AC%2FDC");
        check("/100%", "/100%25");
        check("/%zz%1", "/%25zz%251");
        check("/%%34%31", "/%2541");
        check("/%2541", "/%2541");
    }

    #[test]
    fn text_behind_the_escapes() {
        assert_eq!(readable("/r%C3%A9sum%c3%a9%20x%"), "/résumé x%");
        assert_eq!(readable("%ff"), "\u{fffd}");
    }
}
