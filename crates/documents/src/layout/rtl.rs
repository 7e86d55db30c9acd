//! Text from right to left: from the order on the page to the order of reading.

use super::words::{Word, is_rtl};

/// Converts letters from visual order, right to left, to logical order: numbers and Latin words run the other way.
pub(super) fn logical(letters: &[char]) -> String {
    let mirror = mirrors(letters);
    let mut text = String::new();
    let mut place = 0;
    while let Some(letter) = letters.get(place) {
        let length = run_length(&letters[place..]);
        if length > 0 {
            text.extend(letters[place..place + length].iter().rev());
            place += length;
        } else {
            text.push(if mirror { mirrored(*letter) } else { *letter });
            place += 1;
        }
    }
    text
}

/// Returns the length of the run from left to right that letters begin with, in visual order from right to left.
fn run_length(letters: &[char]) -> usize {
    let opens = |letter: &char| is_forward(*letter);
    let sign =
        letters.first().is_some_and(|letter| is_sign(*letter)) && letters.get(1).is_some_and(|next| is_digit(*next));
    if !sign && !letters.first().is_some_and(opens) {
        return 0;
    }
    let inner = |letter: char| {
        is_forward(letter) || is_sign(letter) || matches!(letter, '.' | ',' | ':' | '/' | '-' | '_' | '@')
    };
    let length = letters.iter().take_while(|letter| inner(**letter)).count();
    // Marks at the end of the run belong to the text around it, except for the sign of an amount.
    let last = letters[..length].iter().rposition(opens).map_or(0, |last| last + 1);
    let signed = letters.get(last).is_some_and(|letter| is_sign(*letter))
        && letters[..last].last().is_some_and(|last| is_digit(*last));
    last + usize::from(signed)
}

fn is_digit(letter: char) -> bool {
    letter.is_ascii_digit() || matches!(letter, '\u{660}'..='\u{669}' | '\u{6f0}'..='\u{6f9}')
}

/// Whether the letter runs from left to right: Latin letters and digits of all scripts.
fn is_forward(letter: char) -> bool {
    is_digit(letter) || (letter.is_alphanumeric() && !is_rtl(letter))
}

fn is_sign(letter: char) -> bool {
    matches!(letter, '%' | '$' | '€' | '£' | '₪' | '+' | '#')
}

/// Whether the brackets of a word are given as they look rather than as they are meant: an opening one, which looks
/// like `)` to the right of its text, begins a word, and a closing one ends it.
fn mirrors(letters: &[char]) -> bool {
    let edge = |letter: &&char| !matches!(letter, '.' | ',' | ':' | ';' | '!' | '?' | '"' | '\'');
    let (first, last) = (letters.iter().find(edge), letters.iter().rev().find(edge));
    let opening = |letter: Option<&char>| matches!(letter, Some('(' | '[' | '{' | '«'));
    let closing = |letter: Option<&char>| matches!(letter, Some(')' | ']' | '}' | '»'));
    !(opening(first) || closing(last))
}

fn mirrored(letter: char) -> char {
    match letter {
        '(' => ')',
        ')' => '(',
        '[' => ']',
        ']' => '[',
        '{' => '}',
        '}' => '{',
        '«' => '»',
        '»' => '«',
        other => other,
    }
}

/// Returns words from right to left, with runs of Latin words in their own order. A number after a Latin word belongs
/// to its run.
pub(super) fn in_reading_order(words: &[Word]) -> Vec<&Word> {
    let latin = |word: &Word| !word.is_rtl() && word.text.contains(char::is_alphabetic);
    let number = |word: &Word| !word.is_rtl() && word.text.contains(is_digit);
    let mut order: Vec<&Word> = Vec::with_capacity(words.len());
    let mut end = words.len();
    while end > 0 {
        // The longest run that ends here and begins with a Latin word.
        let forward = words[..end].iter().rev().take_while(|word| latin(word) || number(word)).count();
        let start = words[end - forward..end].iter().position(latin).map_or(end, |first| end - forward + first);
        if start < end {
            order.extend(&words[start..end]);
            end = start;
        } else {
            end -= 1;
            order.push(&words[end]);
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_brackets_keep_their_order_inside_a_text_from_right_to_left() {
        for (visual, text) in [
            ("60-ו", "ו-60"),
            (".60-ו", "ו-60."),
            ("25%", "25%"),
            ("$12.50", "$12.50"),
            ("(םולש)", "(שלום)"),
            ("ם(ולש)", "(שלו)ם"),
            ("PDF-ה", "ה-PDF"),
            ("٢٥", "٢٥"),
        ] {
            let letters: Vec<char> = visual.chars().rev().collect();
            assert_eq!(logical(&letters), text);
        }
        // A font that names its brackets by what they mean: nothing is mirrored.
        let letters: Vec<char> = ")םולש(".chars().rev().collect();
        assert_eq!(logical(&letters), "(שלום)");
    }
}
