//! Text layers of scans that are no text, as bad recognition leaves them.

use crate::content::page::{Flags, Glyph, PageContent};

/// Minimum number of words of a layer that is judged.
const MIN_WORDS: usize = 5;

/// Removes the invisible text of a page if most of its words are none.
pub(super) fn remove(content: &mut PageContent) {
    let hidden = |glyph: &Glyph| glyph.flags.has(Flags::HIDDEN);
    if content.images.is_empty() || !content.glyphs.iter().any(hidden) {
        return;
    }
    let (mut all, mut good) = (0, 0);
    let mut word = String::new();
    let mut judge = |word: &mut String| {
        if !word.is_empty() {
            all += 1;
            good += usize::from(is_word(word));
            word.clear();
        }
    };
    for glyph in content.glyphs.iter().filter(|glyph| hidden(glyph)) {
        if glyph.flags.has(Flags::SPACE) || glyph.flags.has(Flags::FIRST) {
            judge(&mut word);
        }
        if !glyph.flags.has(Flags::SPACE) {
            word.push(glyph.text);
        }
    }
    judge(&mut word);
    if all >= MIN_WORDS && 5 * good < 2 * all {
        content.glyphs.retain(|glyph| !hidden(glyph));
    }
}

/// Whether the text can be a word or number in some language. Only Latin letters are judged: a word of several has
/// vowels, and no more than five consonants in a row.
fn is_word(text: &str) -> bool {
    let bare = text.trim_matches(|letter: char| !letter.is_alphanumeric());
    if bare.is_empty()
        || bare
            .chars()
            .any(|letter| !letter.is_alphanumeric() && !matches!(letter, '-' | '\'' | '’' | '.' | ',' | '/' | ':'))
    {
        return false;
    }
    if bare.contains(|letter: char| letter.is_alphabetic() && !letter.is_ascii()) || !bare.contains(char::is_alphabetic)
    {
        return true;
    }
    let vowel = |letter: char| matches!(letter.to_ascii_lowercase(), 'a' | 'e' | 'i' | 'o' | 'u' | 'y');
    let consonants =
        bare.split(vowel).map(|run| run.chars().filter(char::is_ascii_alphabetic).count()).max().unwrap_or(0);
    let capitals = bare.chars().all(|letter| !letter.is_ascii_lowercase());
    let mixed = bare
        .as_bytes()
        .windows(2)
        .any(|pair| pair[0].is_ascii_lowercase() && (pair[1].is_ascii_uppercase() || pair[1].is_ascii_digit()));
    let short = bare.chars().count() == 1 && !bare.chars().all(vowel);
    !mixed && !short && (capitals || (bare.contains(vowel) && consonants <= 5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_from_noise() {
        for word in ["harbour", "Schlüssel", "12,50", "(see", "NASA", "don't", "a", "日本"] {
            assert!(is_word(word), "{word}");
        }
        for noise in ["|l", "x#k", "fGh", "qzxrtpl", "~", "k", "i1l|"] {
            assert!(!is_word(noise), "{noise}");
        }
    }
}
