//! Estimates of tokens, for endpoints and budgets that need a number before the endpoint has counted.

/// Thousandths of a token for one character, by its script, on the high side: an estimate that is too low overruns the
/// context window, one that is too high only makes a chunk shorter.
pub(crate) fn weight(character: char) -> u64 {
    match character {
        'a'..='z' | 'A'..='Z' => 250,
        '0'..='9' => 500,
        ' ' => 80,
        '\n' | '\t' => 300,
        '\0'..='\u{7f}' => 500,
        // Latin with accents, Greek, Cyrillic.
        '\u{80}'..='\u{52f}' => 450,
        // Hebrew, Arabic and their neighbours.
        '\u{530}'..='\u{8ff}' => 700,
        // Kana, ideographs, Hangul.
        '\u{3000}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' => 1100,
        // Symbols and scripts that vocabularies hold as single bytes.
        _ => 1500,
    }
}

/// Estimates the tokens of a text.
///
/// ```
/// let english = llm::tokens::estimate("The bakery opens at six and sells rye bread.");
/// assert!((9..16).contains(&english));
/// assert!(llm::tokens::estimate("場所：大阪") >= 5);
/// ```
#[must_use]
pub fn estimate(text: &str) -> u64 {
    text.chars().map(weight).sum::<u64>().div_ceil(1000)
}

#[cfg(test)]
mod tests {
    use super::estimate;

    #[test]
    fn estimates_lie_between_words_and_characters() {
        for text in [
            "This page is kept up to date by the people who run the place.",
            "| JX043-00000 | Halle 76 | 714.33 |",
            "Die Bäckerei öffnet um sechs Uhr und verkauft Roggenbrot.",
            "Булочная открывается в шесть часов.",
        ] {
            let (words, characters) = (text.split_whitespace().count() as u64, text.chars().count() as u64);
            assert!((words..characters).contains(&estimate(text)), "{text}: {}", estimate(text));
        }
        // Ideographs and emoji take a token or more each.
        assert!(estimate("東京都は日本の首都である。") >= 13 && estimate("👍👍") >= 2);
    }
}
