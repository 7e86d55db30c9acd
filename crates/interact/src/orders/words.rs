//! Splitting of prompts into words.

/// Word or quotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// Original text, without quotation marks.
    pub(super) text: String,
    /// Text in lower case.
    pub(super) small: String,
    pub(super) is_quoted: bool,
    /// Whether a comma, full stop or similar mark follows.
    pub(super) ends: bool,
}

/// Opening and closing quotation marks.
const QUOTES: &[(char, char)] = &[('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”'), ('‘', '’'), ('«', '»'), ('„', '“')];

/// Splits a text into words.
pub(super) fn words(text: &str) -> Vec<Word> {
    let characters: Vec<char> = text.chars().collect();
    let (mut words, mut at) = (Vec::<Word>::new(), 0);
    while let Some(first) = characters.get(at) {
        if first.is_whitespace() {
            // A line break ends a sentence.
            if *first == '\n'
                && let Some(last) = words.last_mut()
            {
                last.ends = true;
            }
            at += 1;
            continue;
        }
        let quotation =
            QUOTES.iter().find(|(open, _)| open == first).and_then(|(_, close)| closing(&characters, at + 1, *close));
        let end = quotation.unwrap_or_else(|| {
            characters[at..].iter().position(|c| c.is_whitespace()).map_or(characters.len(), |length| at + length)
        });
        match quotation {
            Some(end) => {
                words.push(word(characters[at + 1..end].iter().collect(), true));
                at = end + 1;
            }
            None => {
                words.extend(plain(&characters[at..end]));
                at = end;
            }
        }
        at = marks(&characters, at, &mut words);
    }
    words
}

/// Returns the end of a quotation: a closing mark that is not followed by a letter or digit, as apostrophes are.
fn closing(characters: &[char], from: usize, close: char) -> Option<usize> {
    (from..characters.len()).find(|at| {
        let next = characters.get(at + 1);
        characters[*at] == close && *at > from && next.is_none_or(|next| !next.is_alphanumeric())
    })
}

fn plain(characters: &[char]) -> Option<Word> {
    let text: String = characters.iter().collect();
    let bare = text.trim_end_matches([',', ';', '.', '!', '?', ':']);
    let ends = bare.len() < text.len();
    (!bare.is_empty()).then(|| Word { ends, ..word(bare.to_owned(), false) })
}

/// Skips the marks after a quotation, and records them.
fn marks(characters: &[char], from: usize, words: &mut [Word]) -> usize {
    let length = characters[from..].iter().take_while(|c| matches!(c, ',' | ';' | '.' | '!' | '?' | ':')).count();
    if length > 0
        && let Some(last) = words.last_mut()
    {
        last.ends = true;
    }
    from + length
}

fn word(text: String, is_quoted: bool) -> Word {
    let small = text.to_lowercase();
    Word { text, small, is_quoted, ends: false }
}

/// Joins the original texts of words.
pub(super) fn join(words: &[Word]) -> String {
    words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// Returns the words after `start`, if the words begin with it.
pub(super) fn after<'a>(words: &'a [Word], start: &[&str]) -> Option<&'a [Word]> {
    let begins = words.len() >= start.len()
        && words.iter().zip(start).all(|(word, expected)| !word.is_quoted && word.small == **expected);
    begins.then(|| &words[start.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotations_stay_together() {
        let read =
            |text: &str| words(text).into_iter().map(|word| (word.text, word.is_quoted, word.ends)).collect::<Vec<_>>();
        let word = |text: &str, is_quoted: bool, ends: bool| (text.to_owned(), is_quoted, ends);
        assert_eq!(
            read("Click \"Sign in\", then don't stop."),
            [
                word("Click", false, false),
                word("Sign in", true, true),
                word("then", false, false),
                word("don't", false, false),
                word("stop", false, true)
            ]
        );
        assert_eq!(
            read("type 'it's' “here”"),
            [word("type", false, false), word("it's", true, false), word("here", true, false)]
        );
        assert_eq!(
            read("go to http://a.b/c.html?d=1."),
            [word("go", false, false), word("to", false, false), word("http://a.b/c.html?d=1", false, true)]
        );
        assert_eq!(read("\" '"), [word("\"", false, false), word("'", false, false)]);
    }
}
