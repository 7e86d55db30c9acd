//! Words of a text, and the form in which they are compared.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Longest word that is indexed, in bytes: longer ones are encoded data.
const LONGEST: usize = 64;

/// Word of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    pub(crate) text: &'a str,
    /// Whether it is one or two characters of a script without blanks.
    pub(crate) pair: bool,
}

/// Calls `found` with each word: runs of letters and digits, and pairs of neighbours in scripts without blanks.
pub(crate) fn words<'a>(text: &'a str, mut found: impl FnMut(Word<'a>)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if byte < 0x80 && !byte.is_ascii_alphanumeric() {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len() && bytes[at].is_ascii_alphanumeric() {
            at += 1;
        }
        if at < bytes.len() && bytes[at] >= 0x80 {
            at = word_end(text, start, at, &mut found);
        } else {
            at += named_by_signs(&bytes[start..], at - start);
            push(&text[start..at], &mut found);
            at += possessive(&bytes[at..]);
        }
    }
}

fn push<'a>(text: &'a str, found: &mut impl FnMut(Word<'a>)) {
    if !text.is_empty() && text.len() <= LONGEST {
        found(Word { text, pair: false });
    }
}

/// Returns the length of the signs that end a name of one letter: `C++`, `c#`.
fn named_by_signs(bytes: &[u8], length: usize) -> usize {
    match &bytes[length..] {
        [b'+', b'+', ..] if length == 1 && bytes[0].is_ascii_alphabetic() => 2,
        [b'#', ..] if length == 1 && bytes[0].is_ascii_alphabetic() => 1,
        _ => 0,
    }
}

/// Returns the length of an English possessive ending: `'s` or `’s` before the end of a word.
fn possessive(rest: &[u8]) -> usize {
    let length = match rest {
        [b'\'', b's' | b'S', ..] => 2,
        [0xe2, 0x80, 0x99, b's' | b'S', ..] => 4,
        _ => return 0,
    };
    if rest.get(length).is_some_and(|next| next.is_ascii_alphanumeric() || *next >= 0x80) { 0 } else { length }
}

/// Reads on from a character that is not ASCII. Returns where the next word may start.
fn word_end<'a>(text: &'a str, start: usize, from: usize, found: &mut impl FnMut(Word<'a>)) -> usize {
    for (offset, c) in text[from..].char_indices() {
        let at = from + offset;
        if is_unspaced(c) {
            push(&text[start..at], found);
            return pairs(text, at, found);
        }
        if !(c.is_alphanumeric() || at > start && is_combining_mark(c)) {
            push(&text[start..at], found);
            return at + if c == '’' { possessive(&text.as_bytes()[at..]).max(3) } else { c.len_utf8() };
        }
    }
    push(&text[start..], found);
    text.len()
}

/// Reads a run of characters of scripts without blanks. Returns where it ends.
fn pairs<'a>(text: &'a str, from: usize, found: &mut impl FnMut(Word<'a>)) -> usize {
    let end = text[from..].find(|c: char| !is_unspaced(c)).map_or(text.len(), |length| from + length);
    let run = &text[from..end];
    let mut starts = run.char_indices().map(|(at, _)| at);
    let mut first = starts.next();
    let mut rest = starts.chain([run.len()]).peekable();
    if let (Some(0), Some(&second), 1) = (first, rest.peek(), run.chars().take(2).count()) {
        found(Word { text: &run[..second], pair: true });
        return end;
    }
    while let (Some(start), Some(second)) = (first, rest.next()) {
        if let Some(&third) = rest.peek() {
            found(Word { text: &run[start..third], pair: true });
        }
        first = Some(second);
    }
    end
}

/// Returns whether a character belongs to a script that is written without blanks between words.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Adds a word in lower case.
pub(crate) fn lower_into(word: &str, out: &mut String) {
    if word.is_ascii() {
        out.push_str(word);
        let start = out.len() - word.len();
        if let Some(added) = out.get_mut(start..) {
            added.make_ascii_lowercase();
        }
        return;
    }
    out.extend(word.chars().flat_map(char::to_lowercase));
}

/// Adds a word in lower case without accents, so that `lefèvre` and `lefevre` are equal.
pub(crate) fn fold_into(word: &str, out: &mut String) {
    if word.is_ascii() {
        out.push_str(word);
        return;
    }
    for c in word.nfkd() {
        match c {
            '\u{300}'..='\u{36f}' => {}
            'ß' => out.push_str("ss"),
            'æ' => out.push_str("ae"),
            'œ' => out.push_str("oe"),
            'ø' => out.push('o'),
            'đ' | 'ð' => out.push('d'),
            'ł' => out.push('l'),
            'ı' => out.push('i'),
            'þ' => out.push_str("th"),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        let mut out = Vec::new();
        words(text, |word| {
            let (mut lower, mut folded) = (String::new(), String::new());
            lower_into(word.text, &mut lower);
            if word.pair {
                folded = lower
            } else {
                fold_into(&lower, &mut folded)
            }
            out.push(folded);
        });
        out
    }

    #[test]
    fn texts_are_cut_into_words() {
        for (text, expected) in [
            ("The Cat's  pyjamas, and the cat’s!", "the|cat|pyjamas|and|the|cat"),
            ("tokio::task::spawn_blocking(work)", "tokio|task|spawn|blocking|work"),
            ("C++, C# and F#; a+b", "c++|c#|and|f#|a|b"),
            ("L’été à Lefèvre, Straße Øre", "l|ete|a|lefevre|strasse|ore"),
            ("東京タワー", "東京|京タ|タワ|ワー"),
            ("車 and 電車", "車|and|電車"),
            ("v1.95は速い", "v1|95|は速|速い"),
            ("naïve", "naive"),
            ("", ""),
        ] {
            assert_eq!(of(text).join("|"), expected, "{text}");
        }
        assert_eq!(of(&"x".repeat(65)), Vec::<String>::new());
    }

    proptest::proptest! {
        #[test]
        fn words_of_any_text_are_parts_of_it(text in "\\PC{0,60}|[a-z'’ 東京あé+#s]{0,40}") {
            words(&text, |word| assert!(!word.text.is_empty() && text.contains(word.text)));
        }
    }
}
