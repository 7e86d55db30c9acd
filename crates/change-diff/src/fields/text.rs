//! Strings by what they say.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use crate::text::is_ignored;

/// Returns the string in NFC, without characters that have no width, with one blank for each run of white space inside
/// and none at both ends.
pub(super) fn canonical(text: &str) -> Cow<'_, str> {
    if is_canonical(text) {
        return Cow::Borrowed(text);
    }
    let composed: String = text.chars().filter(|letter| !is_ignored(*letter)).nfc().collect();
    let mut canonical = String::with_capacity(composed.len());
    for word in composed.split_whitespace() {
        if !canonical.is_empty() {
            canonical.push(' ');
        }
        canonical.push_str(word);
    }
    Cow::Owned(canonical)
}

fn is_canonical(text: &str) -> bool {
    let mut blank = true;
    for letter in text.chars() {
        if is_ignored(letter) || (letter.is_whitespace() && (blank || letter != ' ')) {
            return false;
        }
        blank = letter == ' ';
    }
    (text.is_empty() || !blank) && (text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes)
}
