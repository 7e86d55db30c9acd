//! Sentences: the boundaries of UAX #29, without those after abbreviations.

use std::ops::Range;

use base::Stop;
use unicode_segmentation::UnicodeSegmentation;

use crate::language::Language;

/// Longest sentence in bytes. Text without an end of a sentence is cut at a blank before it.
const LONGEST: usize = 1200;

/// Bytes around an end of a sentence that the rules are applied to. Bounds the time for text such as `. ) ) ) …`, for
/// which `unicode-segmentation` looks ahead from each character.
const BEFORE: usize = 8;
const AFTER: usize = 64;

/// Calls `found` with each sentence of a text, without the blanks around it. Ends early when `stop` is set.
pub(crate) fn sentences(text: &str, language: &Language, stop: &Stop, mut found: impl FnMut(Range<usize>)) {
    let (mut start, mut at) = (0, 0);
    while at < text.len() && !stop.is_set() {
        let end = next_boundary(text, at);
        if end == text.len() || is_boundary(&text[start..end], language) {
            if let Some(range) = trimmed(text, start..end) {
                cut(text, range, &mut found);
            }
            start = end;
        }
        at = end;
    }
}

/// Returns where the next sentence starts by UAX #29, or where the text ends. Only what may end a sentence is looked
/// at.
fn next_boundary(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    while at < bytes.len() {
        let length = match bytes[at] {
            b'\n' => return at + 1,
            b'.' | b'!' | b'?' => 1,
            // The first bytes of letters of the Latin, Greek and Cyrillic scripts are lower.
            0xd8.. => text[at..].chars().next().filter(|c| is_terminator(*c)).map_or(0, char::len_utf8),
            _ => 0,
        };
        if length > 0
            && let Some(end) = boundary_after(text, at, at + length)
        {
            return end;
        }
        at += length.max(1);
        while at < bytes.len() && bytes[at] & 0xc0 == 0x80 {
            at += 1;
        }
    }
    bytes.len()
}

/// Returns the first boundary after a terminator, if it is near.
fn boundary_after(text: &str, terminator: usize, after: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(b'\n');
    let dot = bytes[terminator] == b'.';
    // The common cases, decided as the rules do (SB6, SB7, SB8, SB8a, SB11).
    match (byte(after), byte(after + 1)) {
        (b'.' | b'!' | b'?' | b',' | b':' | b'-', _) => return None,
        (next, _) if dot && next.is_ascii_alphanumeric() => return None,
        (b' ', b'.' | b'!' | b'?' | b',') => return None,
        (b' ', next) if dot && next.is_ascii_lowercase() => return None,
        (b' ', next) if next.is_ascii_uppercase() || (!dot && next.is_ascii_lowercase()) => return Some(after + 1),
        _ => {}
    }
    let start = floor(text, terminator.saturating_sub(BEFORE));
    let end = floor(text, (after + AFTER).min(text.len()));
    text[start..end]
        .split_sentence_bound_indices()
        .map(|(offset, piece)| start + offset + piece.len())
        .find(|boundary| *boundary >= after)
        .filter(|boundary| *boundary < end || end == text.len())
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Returns whether a character ends sentences in a script other than the Latin one.
fn is_terminator(c: char) -> bool {
    matches!(
        c,
        '。' | '！'
            | '？'
            | '｡'
            | '．'
            | '।'
            | '॥'
            | '؟'
            | '۔'
            | '\u{61e}'
            | '\u{104b}'
            | '\u{1362}'
            | '\u{1367}'
            | '\u{17d4}'
            | '\u{203c}'
            | '\u{203d}'
            | '\u{2047}'..='\u{2049}' | '\u{2028}' | '\u{2029}'
    )
}

/// Returns whether a sentence ends here, or only an abbreviation, an initial or the number of an item.
fn is_boundary(sentence: &str, language: &Language) -> bool {
    if sentence.ends_with('\n') {
        return true;
    }
    let sentence = sentence.trim_end();
    let Some(body) = sentence.strip_suffix('.') else { return has_letters(sentence) };
    let word = body.rsplit(|c: char| c.is_whitespace() || matches!(c, '(' | '[' | '"' | '„' | '“' | '/')).next();
    let word = word.unwrap_or_default();
    let mut letters = word.chars();
    if let (Some(initial), None) = (letters.next(), letters.next())
        && (initial.is_uppercase() || (initial.is_alphabetic() && language.is_abbreviation(word)))
    {
        return false;
    }
    if !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()) {
        let alone = body.len() == word.len();
        return word.len() > 2 || !(alone || language.has_dotted_ordinals());
    }
    !language.is_abbreviation(word)
}

/// Returns whether the end of a sentence has letters or digits. Looks at the end alone, as the sentence may be all
/// signs.
fn has_letters(sentence: &str) -> bool {
    sentence.chars().rev().take(64).any(char::is_alphanumeric)
}

fn trimmed(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let part = &text[range.clone()];
    let edge = |c: char| c.is_whitespace() || c == '|';
    let start = range.start + (part.len() - part.trim_start_matches(edge).len());
    let end = start + text[start..range.end].trim_end_matches(edge).len();
    (start < end).then_some(start..end)
}

fn cut(text: &str, mut range: Range<usize>, found: &mut impl FnMut(Range<usize>)) {
    while range.len() > LONGEST {
        let mut limit = range.start + LONGEST;
        while !text.is_char_boundary(limit) {
            limit -= 1;
        }
        let end =
            text[range.start..limit].rfind(' ').filter(|at| *at > LONGEST / 2).map_or(limit, |at| range.start + at);
        found(range.start..end);
        range.start = end + (text[end..range.end].len() - text[end..range.end].trim_start().len());
    }
    if !range.is_empty() {
        found(range);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split<'a>(text: &'a str, tag: &str) -> Vec<&'a str> {
        let mut found = Vec::new();
        sentences(text, Language::known(tag).unwrap(), &Stop::new(), |range| found.push(&text[range]));
        found
    }

    #[test]
    fn abbreviations_end_no_sentence() {
        for (tag, text, count) in [
            ("en", "Dr. Smith met J. K. Brown. They talked, e.g. about tea. Done?", 3),
            ("de", "Am 3. Mai kam z. B. Herr Dr. Kunz. Er blieb bis ca. 19 Uhr.", 2),
            ("fr", "M. Dupont est né av. J.-C. selon lui. Il est mort.", 2),
            ("es", "El Sr. Pérez vive en EE. UU. Desde 1990 trabaja.", 1),
            ("it", "Il sig. Rossi arriva. Il dott. Bianchi no.", 2),
            ("pt", "O Sr. Silva chegou. A Dra. Lima saiu.", 2),
            ("nl", "Dhr. Jansen kwam. Mevr. De Vries ging.", 2),
            ("ru", "В 1990 г. Иванов уехал. Он вернулся.", 2),
            ("pl", "Dr. Nowak i prof. Kowalski są tu. Nie ma ul. Długiej.", 2),
            ("zh", "今天天气很好。我们去公园！你来吗？", 3),
            ("ja", "今日は天気です。行きます。", 2),
        ] {
            assert_eq!(split(text, tag).len(), count, "{text}: {:?}", split(text, tag));
        }
    }

    #[test]
    fn text_without_an_end_is_cut_at_blanks() {
        let text = "word ".repeat(2000);
        let found = split(&text, "en");
        assert!(found.len() > 5 && found.iter().all(|part| part.len() <= LONGEST && part.ends_with("word")));
        assert!(split(&"x".repeat(10_000), "en").iter().all(|part| part.len() <= LONGEST));
    }
}
