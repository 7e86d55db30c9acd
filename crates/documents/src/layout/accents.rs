//! Accents that are drawn over letters.
//!
//! Older fonts have no accented letters: the accent is a separate glyph, drawn over the letter before or after it.

use unicode_normalization::char::compose;

/// Maximum distance between the middles of an accent and its letter, in ems.
const OVER: f32 = 0.3;

/// Letter of a word.
#[derive(Debug, Clone, Copy)]
pub(super) struct Letter {
    pub(super) x0: f32,
    pub(super) x1: f32,
    pub(super) text: char,
}

/// Returns the text of letters from left to right, with accents composed with their letters.
pub(super) fn composed(letters: &[Letter], size: f32) -> String {
    let mut text = String::with_capacity(letters.len());
    let mut place = 0;
    while let Some(letter) = letters.get(place) {
        place += 1;
        let joined = letters.get(place).and_then(|next| pair(letter, next, size).or_else(|| pair(next, letter, size)));
        match joined {
            Some(joined) => {
                text.push(joined);
                place += 1;
            }
            None => text.push(letter.text),
        }
    }
    text
}

/// Whether one of two letters is an accent over the other.
pub(super) fn stand_over(one: &Letter, other: &Letter, size: f32) -> bool {
    pair(one, other, size).or_else(|| pair(other, one, size)).is_some()
}

/// Returns the composed letter, if the accent is over the letter.
fn pair(accent: &Letter, letter: &Letter, size: f32) -> Option<char> {
    let mark = combining(accent.text)?;
    let middle = |letter: &Letter| f32::midpoint(letter.x0, letter.x1);
    let over = (middle(accent) - middle(letter)).abs() < OVER * size;
    let base = match letter.text {
        'ı' => 'i',
        'ȷ' => 'j',
        other => other,
    };
    compose(base, mark).filter(|_| over)
}

fn combining(accent: char) -> Option<char> {
    Some(match accent {
        '´' | 'ˊ' => '\u{301}',
        '`' | 'ˋ' => '\u{300}',
        '^' | 'ˆ' => '\u{302}',
        '~' | '˜' => '\u{303}',
        '¨' => '\u{308}',
        '¯' | 'ˉ' => '\u{304}',
        '˘' => '\u{306}',
        '˙' => '\u{307}',
        '˚' => '\u{30a}',
        '˝' => '\u{30b}',
        'ˇ' => '\u{30c}',
        '¸' => '\u{327}',
        '˛' => '\u{328}',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accents_join_the_letter_that_they_stand_over() {
        let letter = |text, x0: f32| Letter { x0, x1: x0 + 5.0, text };
        for (letters, text) in [
            (vec![letter('J', 0.0), letter('´', 5.2), letter('a', 5.0), letter('n', 10.0)], "Ján"),
            (vec![letter('c', 0.0), letter('ˇ', 0.4)], "č"),
            (vec![letter('´', 0.0), letter('ı', 0.0)], "í"),
            (vec![letter('x', 0.0), letter('^', 5.0), letter('a', 10.0)], "x^a"),
            (vec![letter('a', 0.0), letter('´', 9.0)], "a´"),
        ] {
            assert_eq!(composed(&letters, 10.0), text);
        }
    }
}
