//! Comparison keys of lines: what differs only invisibly is equal.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::blocks::LineKind;
use super::lines::{Line, is_ignored};

/// Returns the line with everything taken out that its readers cannot see.
pub(super) fn key(line: Line<'_>) -> Cow<'_, str> {
    if line.kind == LineKind::Code || is_key(line.text) {
        return Cow::Borrowed(line.text);
    }
    // Ignored characters go first: one between a letter and its accent would keep the two apart.
    let composed: String = line.text.chars().filter(|letter| !is_ignored(*letter)).nfc().collect();
    let mut key = String::with_capacity(composed.len());
    let (mut begun, mut blank) = (false, false);
    for letter in composed.chars() {
        match if letter == '\u{a0}' { ' ' } else { letter } {
            // Indentation is visible.
            indent @ (' ' | '\t') if !begun => key.push(indent),
            ' ' | '\t' if blank => {}
            ' ' | '\t' => {
                key.push(' ');
                blank = true;
            }
            letter => {
                key.push(letter);
                (begun, blank) = (true, false);
            }
        }
    }
    Cow::Owned(key)
}

/// Whether a reader takes one line for the other. Text, code and fences look different where they are not the same
/// characters.
pub(super) fn looks_like(one: Line<'_>, other: Line<'_>) -> bool {
    one.text == other.text || (one.kind == other.kind && key(one) == key(other))
}

/// Whether the text is its own key, which nearly every line is.
pub(super) fn is_key(text: &str) -> bool {
    let bytes = text.as_bytes();
    let inside = bytes.iter().position(|byte| !matches!(byte, b' ' | b'\t')).unwrap_or(bytes.len());
    let single = |pair: &[u8]| !(pair[0] == b' ' && pair[1] == b' ') && pair[1] != b'\t';
    if !bytes[inside..].windows(2).all(single) {
        return false;
    }
    text.is_ascii()
        || (!text.chars().any(|letter| letter == '\u{a0}' || is_ignored(letter))
            && is_nfc_quick(text.chars()) == IsNormalized::Yes)
}
