//! Classification of a text by its words alone.

/// Words with which captions begin.
const CAPTIONS: [&str; 20] = [
    "figure",
    "fig",
    "table",
    "tab",
    "chart",
    "exhibit",
    "scheme",
    "algorithm",
    "listing",
    "map",
    "box",
    "plate",
    "photo",
    "image",
    "graph",
    "diagram",
    "abbildung",
    "tabelle",
    "tableau",
    "source",
];

/// Whether the text is a caption: `Figure 3: …`, `Table A.1 …`, `TextSource: …`.
pub(crate) fn is_caption(text: &str) -> bool {
    let text = text.trim_start_matches(['[', '(']);
    let word_end = text.find(|letter: char| !letter.is_alphabetic()).unwrap_or(text.len());
    let (word, rest) = text.split_at(word_end);
    if !word.starts_with(char::is_uppercase) {
        return false;
    }
    let word = word.to_lowercase();
    if word == "source" || word == "sources" {
        return rest.starts_with(':');
    }
    if !CAPTIONS.contains(&word.as_str()) {
        return false;
    }
    let rest = rest.trim_start_matches(['.', ' ', '\u{a0}']);
    let number_end = rest.find(|letter: char| letter.is_whitespace()).unwrap_or(rest.len());
    let (number, after) = rest.split_at(number_end);
    let closed = number.ends_with([':', '.', ')', '—', '–', '|'])
        || after.trim_start().starts_with([':', '–', '—', '-', '|', '(']);
    let bare = number.trim_end_matches([':', '.', ')', '—', '–', '|']);
    let numbered = !bare.is_empty() && bare.len() <= 8 && bare.bytes().any(|byte| byte.is_ascii_digit())
        || (1..=4).contains(&bare.len()) && bare.bytes().all(|byte| b"IVXABCDEF".contains(&byte));
    // `Table 3 shows` continues in lower case and is a sentence.
    let named = after.trim_start().starts_with(|letter: char| letter.is_uppercase() || letter.is_ascii_digit());
    numbered && (closed || named || after.trim().is_empty())
}

/// Whether the text is a mathematical formula.
pub(crate) fn is_formula(text: &str) -> bool {
    let letters = text.chars().count();
    if !(3..=240).contains(&letters) {
        return false;
    }
    let is_sign = |letter: char| {
        matches!(letter, '=' | '≤' | '≥' | '<' | '>' | '≈' | '∼' | '∈' | '→' | '←' | '⇒' | '∝' | '≡' | '≠' | ':')
            || is_operator(letter)
    };
    let relation = text.chars().any(|letter| is_sign(letter) && letter != ':');
    let strange = text.chars().filter(|letter| is_operator(*letter) || is_greek(*letter)).count();
    let words: Vec<&str> = text.split_whitespace().collect();
    let runs = || text.split(|letter: char| !letter.is_alphabetic()).filter(|run| !run.is_empty());
    let wordy = runs().filter(|run| run.chars().count() >= 4).count();
    let numbered = words.last().is_some_and(|word| {
        word.starts_with('(')
            && word.ends_with(')')
            && word.bytes().any(|byte| byte.is_ascii_digit())
            && word.len() <= 8
    });
    relation && wordy * 4 <= runs().count().max(words.len()) && (numbered || strange > 0 || text.contains('='))
}

fn is_operator(letter: char) -> bool {
    matches!(letter, '∀'..='⋿' | '±' | '×' | '÷' | '⟨' | '⟩' | '\u{1d400}'..='\u{1d7ff}' | '⎛'..='⎭')
}

fn is_greek(letter: char) -> bool {
    matches!(letter, 'Α'..='ω' | 'ϑ' | 'ϕ' | 'ϖ')
}

/// Returns the depth of the number that a heading begins with: 2 for `2.1`.
pub(crate) fn number_depth(text: &str) -> Option<usize> {
    let number = text.split_whitespace().next()?;
    let number = number.trim_end_matches(['.', ')', ':']);
    let parts: Vec<&str> = number.split('.').collect();
    let digits = |part: &&str| (1..=3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    let first = |part: &str| digits(&part) || (part.len() == 1 && part.bytes().all(|byte| byte.is_ascii_uppercase()));
    let rest = text.split_whitespace().nth(1)?;
    let named = rest.starts_with(|letter: char| letter.is_uppercase());
    (first(parts[0]) && parts[1..].iter().all(digits) && parts.len() <= 5 && named).then_some(parts.len())
}

/// Whether the text is a page number: `12`, `- 12 -`, `Page 12 of 30`, `xii`.
pub(crate) fn is_page_number(text: &str) -> bool {
    let bare = text.trim().trim_matches(['-', '–', '—', '|', '[', ']', ' ', '.']);
    let lower = bare.to_lowercase();
    let rest =
        ["page", "p.", "seite", "página", "pagina"].iter().find_map(|word| lower.strip_prefix(word)).unwrap_or(&lower);
    let parts: Vec<&str> =
        rest.split(|letter: char| letter.is_whitespace() || letter == '/').filter(|part| !part.is_empty()).collect();
    let digits = |part: &str| (1..=4).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    let roman = |part: &str| (1..=6).contains(&part.len()) && part.bytes().all(|byte| b"ivxlc".contains(&byte));
    match parts[..] {
        [only] => digits(only) || roman(only) && text.trim().bytes().all(|byte| byte.is_ascii_lowercase()),
        [a, "of" | "von" | "de" | "di", b] => digits(a) && digits(b),
        [a, b] => digits(a) && digits(b) && rest.contains('/'),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captions_have_a_number_and_a_text() {
        for (text, caption) in [
            ("Figure 3: A lever", true),
            ("Fig. 2. Results", true),
            ("Table A.1 Results of the test", true),
            ("TABLE IV", true),
            ("Table 3 shows that", false),
            ("Figures are large", false),
            ("figure 3: no", false),
            ("Source: World Bank", true),
            ("Table of contents", false),
            ("Figure 12", true),
        ] {
            assert_eq!(is_caption(text), caption, "{text}");
        }
    }

    #[test]
    fn formulas_have_signs_and_few_words() {
        for (text, formula) in [
            ("E = mc2 (1)", true),
            ("∑ x_i ≤ n", true),
            ("The price is = 3 dollars and more than that", false),
            ("Introduction", false),
        ] {
            assert_eq!(is_formula(text), formula, "{text}");
        }
    }

    #[test]
    fn page_numbers_stand_alone() {
        for (text, number) in [
            ("12", true),
            ("- 12 -", true),
            ("Page 3 of 10", true),
            ("3/10", true),
            ("xii", true),
            ("Civil", false),
            ("2010 results", false),
            ("12345", false),
        ] {
            assert_eq!(is_page_number(text), number, "{text}");
        }
    }

    #[test]
    fn numbers_of_headings_have_a_depth() {
        for (text, depth) in [
            ("2 Methods", Some(1)),
            ("2.1. Data", Some(2)),
            ("A.3 Proofs", Some(2)),
            ("2010 was", None),
            ("Methods", None),
        ] {
            assert_eq!(number_depth(text), depth, "{text}");
        }
    }
}
