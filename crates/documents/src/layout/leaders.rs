//! Leaders: the dots between a title and its page number, which hold an entry of a table of contents together.

use super::line::{Line, rows};

/// Minimum number of dots; three are an ellipsis.
const MIN_DOTS: usize = 5;
/// Maximum gap after a section number, in ems.
const AFTER_NUMBER: f32 = 4.0;
/// Maximum length of a number, in characters.
const MAX_NUMBER: usize = 7;

/// Joins lines that end in a leader with the page number after them and the section number before them.
pub(super) fn join(lines: &mut Vec<Line>) {
    if !lines.iter().any(ends_in_leader) {
        return;
    }
    let all: Vec<usize> = (0..lines.len()).collect();
    let mut gone = vec![false; lines.len()];
    for row in rows(lines, &all) {
        for (place, line) in row.lines.iter().enumerate() {
            if !ends_in_leader(&lines[*line]) {
                continue;
            }
            let near = |other: &usize| lines[*line].rect.x0 - lines[*other].rect.x1 < AFTER_NUMBER * lines[*line].size;
            let before = place.checked_sub(1).map(|before| row.lines[before]).filter(near);
            let after = row.lines.get(place + 1).copied();
            // More than one cell after the leader is a table row, unless the next one is the entry of another column.
            let last = row.lines[place + 1..].get(1).is_none_or(|next| ends_in_leader(&lines[*next]));
            let after = after.filter(|_| last);
            let free = |other: &usize| !gone[*other] && is_number(&lines[*other]);
            let numbers: Vec<usize> = [before, after].into_iter().flatten().filter(free).collect();
            for number in numbers {
                let part = lines[number].clone();
                lines[*line].merge(part);
                gone[number] = true;
            }
        }
    }
    let mut place = 0;
    lines.retain(|_| {
        place += 1;
        !gone[place - 1]
    });
}

/// Whether the line is a whole entry of a table of contents: it ends in a leader and a number.
pub(super) fn is_entry(line: &Line) -> bool {
    let texts = || line.words.iter().rev().map(|word| word.text.as_str());
    texts().next().is_some_and(is_number_text) && dots(texts().skip(1)) >= MIN_DOTS
}

fn ends_in_leader(line: &Line) -> bool {
    dots(line.words.iter().rev().map(|word| word.text.as_str())) >= MIN_DOTS
}

/// Counts the dots at the end of a text, given its words from the end.
fn dots<'a>(words: impl Iterator<Item = &'a str>) -> usize {
    let mut count = 0;
    for word in words {
        let rest = word.trim_end_matches('.');
        count += word.len() - rest.len();
        if !rest.is_empty() {
            break;
        }
    }
    count
}

fn is_number(line: &Line) -> bool {
    matches!(&line.words[..], [word] if is_number_text(&word.text))
}

/// Whether the text is a number: digits with dots between them, lower-case Roman digits, or the letter of an appendix.
fn is_number_text(text: &str) -> bool {
    let digits = text.split('.').all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    let digits = digits && text.starts_with(|letter: char| letter.is_ascii_digit());
    let roman = !text.is_empty() && text.bytes().all(|byte| b"ivxlc".contains(&byte));
    let letter = text.len() == 1 && text.bytes().all(|byte| byte.is_ascii_uppercase());
    text.len() <= MAX_NUMBER && (digits || roman || letter)
}
