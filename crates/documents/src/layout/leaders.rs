//! Leaders: the dots between a title or item and its page number or amount, which hold the entry together. Contents
//! lists without dots are given the same sign.

use super::line::{Line, rows};
use super::words::Word;
use crate::geometry::Rect;

/// Sign of a leader in the text, whatever its length on the page.
pub(crate) const LEADER: &str = ".....";
/// Minimum number of dots; three are an ellipsis.
const MIN_DOTS: usize = 5;
/// Maximum gap after a section number, in ems.
const AFTER_NUMBER: f32 = 4.0;
/// Maximum length of a number, in characters.
const MAX_NUMBER: usize = 7;
/// Maximum length of an amount, in characters.
const MAX_AMOUNT: usize = 18;
/// Minimum number of entries of a contents list without leaders.
const MIN_ENTRIES: usize = 3;
/// Minimum gap before the page number of such an entry, in ems.
const BEFORE_PAGE: f32 = 1.5;
/// Maximum distance of the edges of numbers in a column, in points.
const SAME_COLUMN: f32 = 2.0;
/// Maximum distance of two such entries, in ems.
const FAR: f32 = 3.5;

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
            let free = |other: &usize| !gone[*other];
            let before = before.filter(|other| free(other) && is_number(&lines[*other]));
            let after = after.filter(|other| free(other) && (is_number(&lines[*other]) || is_amount(&lines[*other])));
            let numbers: Vec<usize> = [before, after].into_iter().flatten().collect();
            for number in numbers {
                let part = lines[number].clone();
                lines[*line].merge(part);
                gone[number] = true;
            }
        }
    }
    keep(lines, &gone);
    let aligned = aligned(lines);
    lines.iter_mut().zip(aligned).filter(|(_, aligned)| *aligned).for_each(|(line, _)| shorten(line));
}

/// Returns for each line whether it is an entry whose number is in the column of most of them. Dots before numbers that
/// are in no column are not drawn to lead there, but a part of the text.
fn aligned(lines: &[Line]) -> Vec<bool> {
    let edges: Vec<Option<[f32; 2]>> = lines
        .iter()
        .map(|line| line.words.last().filter(|_| is_entry(line)).map(|word| [word.rect.x0, word.rect.x1]))
        .collect();
    let count = edges.iter().flatten().count();
    let same = |edge: f32, side: usize| {
        edges.iter().flatten().filter(|other| (other[side] - edge).abs() < SAME_COLUMN).count()
    };
    let led = |edge: [f32; 2]| (0..2).any(|side| same(edge[side], side) >= 2.max((2 * count).div_ceil(3)));
    edges.iter().map(|edge| edge.is_some_and(led)).collect()
}

fn keep(lines: &mut Vec<Line>, gone: &[bool]) {
    let mut place = 0;
    lines.retain(|_| {
        place += 1;
        !gone[place - 1]
    });
}

/// Replaces the dots of a leader by its sign.
fn shorten(line: &mut Line) {
    let length = |text: &str| text.chars().filter(|letter| is_dot(*letter)).count();
    if line.words.iter().map(|word| length(&word.text)).sum::<usize>() < MIN_DOTS {
        return;
    }
    let mut out: Vec<Word> = Vec::with_capacity(line.words.len());
    let mut words = std::mem::take(&mut line.words).into_iter().flat_map(apart).peekable();
    while let Some(mut word) = words.next() {
        let mut count = if word.text.chars().all(is_dot) { length(&word.text) } else { 0 };
        let mut dots = vec![];
        while count > 0
            && let Some(next) = words.next_if(|next| next.text.chars().all(is_dot))
        {
            count += length(&next.text);
            dots.push(next);
        }
        if count < MIN_DOTS {
            out.push(word);
            out.extend(dots);
            continue;
        }
        word.rect = dots.iter().fold(word.rect, |rect, next| rect.union(&next.rect));
        (word.text, word.spaced) = (LEADER.to_owned(), true);
        word.turns.clear();
        out.push(word);
        if let Some(next) = words.peek_mut() {
            next.spaced = true;
        }
    }
    line.words = out;
}

/// Splits the dots of a leader from a word that they are drawn with.
fn apart(word: Word) -> Vec<Word> {
    let whole: Vec<char> = word.text.chars().collect();
    let start =
        (0..whole.len()).find(|start| whole[*start..].iter().take_while(|letter| is_dot(**letter)).count() >= MIN_DOTS);
    let Some(start) = start.filter(|_| !whole.iter().all(|letter| is_dot(*letter))) else { return vec![word] };
    let end = start + whole[start..].iter().take_while(|letter| is_dot(**letter)).count();
    let width = word.rect.width() / whole.len().max(1) as f32;
    let piece = |from: usize, to: usize| {
        let (x0, x1) = (word.rect.x0 + width * from as f32, word.rect.x0 + width * to as f32);
        let text: String = whole[from..to].iter().collect();
        let rect = Rect { x0, x1, ..word.rect };
        (from < to).then(|| Word { text, rect, turns: Vec::new(), seams: Vec::new(), ..word.clone() })
    };
    [piece(0, start), piece(start, end), piece(end, whole.len())].into_iter().flatten().collect()
}

/// Joins the entries of a contents list without leaders: titles with growing page numbers at one right edge.
pub(super) fn join_contents(lines: &mut Vec<Line>) {
    let all: Vec<usize> = (0..lines.len()).collect();
    let rows: Vec<Vec<usize>> = rows(lines, &all).into_iter().map(|row| row.lines).collect();
    let mut gone = vec![false; lines.len()];
    let mut start = 0;
    while start < rows.len() {
        let length = rows[start..].iter().enumerate().take_while(|(place, row)| {
            is_page_row(lines, row) && (*place == 0 || follows(lines, &rows[start + place - 1], row))
        });
        let length = length.count();
        let entries = &rows[start..start + length];
        if is_contents(lines, entries) {
            for row in entries {
                join_entry(lines, row);
                row[1..].iter().for_each(|place| gone[*place] = true);
            }
        }
        start += length.max(1);
    }
    keep(lines, &gone);
}

/// Whether a row is a title, with its number or without, and a page number far behind it.
fn is_page_row(lines: &[Line], row: &[usize]) -> bool {
    let [.., title, page] = row else { return false };
    let (title, page) = (&lines[*title], &lines[*page]);
    let numbered = row.len() == 2 || (row.len() == 3 && is_number(&lines[row[0]]));
    let gap = page.rect.x0 - title.rect.x1;
    numbered && page_of(page).is_some() && gap > BEFORE_PAGE * title.size && title.text().contains(char::is_alphabetic)
}

fn page_of(line: &Line) -> Option<u32> {
    let [word] = &line.words[..] else { return None };
    word.text.parse().ok().filter(|page| *page < 10_000)
}

/// Whether the page numbers of two rows are in one column, and the rows near each other.
fn follows(lines: &[Line], above: &[usize], below: &[usize]) -> bool {
    let (Some(above), Some(below)) = (above.last(), below.last()) else { return false };
    let (above, below) = (&lines[*above], &lines[*below]);
    (above.rect.x1 - below.rect.x1).abs() < 2.0 && below.baseline - above.baseline < FAR * below.size
}

fn is_contents(lines: &[Line], entries: &[Vec<usize>]) -> bool {
    let pages: Vec<u32> = entries.iter().filter_map(|row| page_of(&lines[*row.last()?])).collect();
    pages.len() >= MIN_ENTRIES && pages.is_sorted() && pages.first() < pages.last()
}

/// Joins the lines of a row, with the sign of a leader before the page number.
fn join_entry(lines: &mut [Line], row: &[usize]) {
    let [first, .., title, page] = row else {
        return if let [title, page] = row {
            join_parts(lines, *title, &[], *page)
        };
    };
    join_parts(lines, *first, &[*title], *page);
}

fn join_parts(lines: &mut [Line], first: usize, titles: &[usize], page: usize) {
    for place in titles {
        let title = lines[*place].clone();
        lines[first].merge(title);
    }
    let mut page = lines[page].clone();
    if let Some(number) = page.words.first().cloned() {
        let rect = Rect { x0: lines[first].rect.x1 + 1.0, x1: number.rect.x0 - 1.0, ..number.rect };
        page.words[0].spaced = true;
        page.words.insert(0, Word { text: LEADER.to_owned(), rect, spaced: true, turns: Vec::new(), ..number });
    }
    lines[first].merge(page);
}

/// Whether the line is a whole entry of a table of contents: it ends in a leader and a number.
pub(super) fn is_entry(line: &Line) -> bool {
    let texts = || line.words.iter().rev().map(|word| word.text.as_str());
    let led = |skip: usize| dots(texts().skip(skip)) >= MIN_DOTS;
    let texts_end = |count: usize| texts().take(count).all(is_amount_text);
    (texts().next().is_some_and(is_number_text) && led(1)) || (1..=2).any(|count| texts_end(count) && led(count))
}

fn ends_in_leader(line: &Line) -> bool {
    dots(line.words.iter().rev().map(|word| word.text.as_str())) >= MIN_DOTS
}

/// Counts the dots at the end of a text, given its words from the end.
fn dots<'a>(words: impl Iterator<Item = &'a str>) -> usize {
    let mut count = 0;
    for word in words {
        let rest = word.trim_end_matches(is_dot);
        count += word.chars().count() - rest.chars().count();
        if !rest.is_empty() {
            break;
        }
    }
    count
}

fn is_dot(letter: char) -> bool {
    matches!(letter, '.' | '…' | '‥' | '·')
}

/// Whether the line is an amount: a number with its currency or percent sign.
fn is_amount(line: &Line) -> bool {
    line.words.len() <= 3
        && line.words.iter().all(|word| is_amount_text(&word.text))
        && line.words.iter().any(|word| word.text.contains(|letter: char| letter.is_ascii_digit()))
}

fn is_amount_text(text: &str) -> bool {
    let sign =
        |letter: char| matches!(letter, '.' | ',' | '-' | '–' | '−' | '(' | ')' | '%' | '$' | '€' | '£' | '¥' | '\'');
    let currency = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_uppercase());
    text.len() <= MAX_AMOUNT
        && (currency || text.chars().all(|letter| letter.is_ascii_digit() || sign(letter)))
        && !text.chars().all(is_dot)
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
