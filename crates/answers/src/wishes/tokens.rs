//! Words, numbers and paths of a prompt.

use std::ops::Range;

/// One token with its place in the prompt.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) place: Range<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// Word in lower case.
    Word(String),
    Number(f64),
    /// Path of a URL, as written.
    Path(String),
    /// Text between quotation marks, as written.
    Quoted(String),
    Comma,
    /// End of a sentence, a line or a list item.
    Break,
}

/// Numbers that are written as words.
const NUMBERS: [(&str, f64); 20] = [
    ("zero", 0.0),
    ("one", 1.0),
    ("two", 2.0),
    ("three", 3.0),
    ("four", 4.0),
    ("five", 5.0),
    ("six", 6.0),
    ("seven", 7.0),
    ("eight", 8.0),
    ("nine", 9.0),
    ("ten", 10.0),
    ("twelve", 12.0),
    ("fifteen", 15.0),
    ("twenty", 20.0),
    ("thirty", 30.0),
    ("forty", 40.0),
    ("fifty", 50.0),
    ("sixty", 60.0),
    ("hundred", 100.0),
    ("thousand", 1000.0),
];

/// Cuts a prompt into tokens.
pub(super) fn tokens(prompt: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(next) = prompt[at..].chars().next() {
        let start = at;
        at += next.len_utf8();
        match next {
            '\n' | ';' | '!' | '?' | '(' | ')' | '•' => push(&mut tokens, Kind::Break, start..at),
            ',' => push(&mut tokens, Kind::Comma, start..at),
            '"' | '“' | '”' | '`' | '\'' | '‘' | '’' => {
                if let Some(end) = closing(prompt, at) {
                    let text = prompt[at..end].trim();
                    let kind = if text.starts_with('/') { Kind::Path(text.into()) } else { Kind::Quoted(text.into()) };
                    at = end + prompt[end..].chars().next().map_or(0, char::len_utf8);
                    push(&mut tokens, kind, start..at);
                }
            }
            other if other.is_whitespace() => {}
            _ => {
                let end = prompt[start..].find(|c: char| c.is_whitespace() || ";!?()\"“”`".contains(c));
                at = end.map_or(prompt.len(), |end| start + end);
                at = before_comma(prompt, start..at);
                piece(&mut tokens, prompt, start..at);
            }
        }
    }
    tokens
}

fn push(tokens: &mut Vec<Token>, kind: Kind, place: Range<usize>) {
    tokens.push(Token { kind, place });
}

/// Returns the place of the quotation mark that closes one, on the same line and within 200 bytes.
fn closing(prompt: &str, from: usize) -> Option<usize> {
    let found = prompt[from..].char_indices().take(200).take_while(|(_, c)| *c != '\n');
    let mut marks = found.filter(|(_, c)| "\"“”`'‘’".contains(*c));
    marks.next().map(|(end, _)| from + end)
}

/// Cuts a piece at its first comma, unless that stands between digits.
fn before_comma(prompt: &str, piece: Range<usize>) -> usize {
    let bytes = prompt.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let comma = (piece.start + 1..piece.end).find(|at| bytes[*at] == b',' && !(is_digit(at - 1) && is_digit(at + 1)));
    comma.unwrap_or(piece.end)
}

/// Reads a piece of text without whitespace.
fn piece(tokens: &mut Vec<Token>, prompt: &str, place: Range<usize>) {
    let whole = &prompt[place.clone()];
    if matches!(whole, "-" | "–" | "—" | "*" | ".") {
        return push(tokens, Kind::Break, place);
    }
    let text = whole.trim_end_matches(['.', ':', '=']);
    if text.starts_with('/') && text.len() > 1 {
        push(tokens, Kind::Path(text.to_owned()), place.clone());
    } else if text.starts_with("http://") || text.starts_with("https://") {
        push(tokens, Kind::Quoted(text.to_owned()), place.clone());
    } else {
        words(tokens, text, &place);
    }
    if whole.ends_with('.') {
        push(tokens, Kind::Break, place.end..place.end);
    }
}

fn words(tokens: &mut Vec<Token>, text: &str, place: &Range<usize>) {
    let lower = text.to_lowercase().replace('’', "'");
    let mut add = |kind| push(tokens, kind, place.clone());
    let word = |text: &str| Kind::Word(text.to_owned());
    match lower.as_str() {
        "" => {}
        "don't" | "dont" | "do'nt" => ["do", "not"].map(word).into_iter().for_each(add),
        "sub-domains" | "sub-domain" => add(word("subdomains")),
        "i'd" => ["i", "would"].map(word).into_iter().for_each(add),
        "it's" => add(word("its")),
        "&" | "+" => add(word("and")),
        _ => {
            let digits = lower.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',').unwrap_or(lower.len());
            let (number, unit) = lower.split_at(digits);
            match (read_number(number), unit.trim_start_matches('-')) {
                (Some(number), "") => add(Kind::Number(number)),
                (Some(number), "k") => add(Kind::Number(number * 1000.0)),
                (Some(number), unit) if unit.chars().all(char::is_alphabetic) => {
                    add(Kind::Number(number));
                    add(word(unit));
                }
                _ => match NUMBERS.iter().find(|(name, _)| *name == lower) {
                    Some((_, number)) => add(Kind::Number(*number)),
                    None => add(Kind::Word(lower)),
                },
            }
        }
    }
}

/// Reads digits, with commas between groups of three or with one decimal point. `1.000` is none: it may be either.
fn read_number(text: &str) -> Option<f64> {
    let groups: Vec<&str> = text.split(',').collect();
    let grouped = groups.len() > 1 && (1..=3).contains(&groups[0].len()) && groups[1..].iter().all(|g| g.len() == 3);
    let ambiguous = text.split_once('.').is_some_and(|(_, decimals)| decimals.len() == 3);
    match text {
        _ if ambiguous || text.is_empty() || text.len() > 12 => None,
        _ if grouped => groups.concat().parse().ok(),
        _ => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(prompt: &str, expect: &[Kind]) {
        let found: Vec<Kind> = tokens(prompt).into_iter().map(|token| token.kind).collect();
        assert_eq!(found, expect, "{prompt}");
    }

    #[test]
    fn prompts_are_cut() {
        let word = |text: &str| Kind::Word(text.into());
        let path = |text: &str| Kind::Path(text.into());
        check("Only /Docs/API.", &[word("only"), path("/Docs/API"), Kind::Break]);
        check("1,000 pages, 2.5s", &[Kind::Number(1000.0), word("pages"), Kind::Comma, Kind::Number(2.5), word("s")]);
        check("don't /a,/b", &[word("do"), word("not"), path("/a"), Kind::Comma, path("/b")]);
        check("the 'My News' section", &[word("the"), Kind::Quoted("My News".into()), word("section")]);
        check("limit: 50\n- 1.000", &[word("limit"), Kind::Number(50.0), Kind::Break, Kind::Break, word("1.000")]);
        check("5k twenty", &[Kind::Number(5000.0), Kind::Number(20.0)]);
    }
}
