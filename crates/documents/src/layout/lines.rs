//! Grouping of words into lines.
//!
//! A [`Line`] is the words on one baseline without a wide gap: a line of a paragraph, a cell of a table, the part of a
//! line in one of two columns. Words are joined in drawing order first, which distinguishes a wide space in justified
//! text from the gap between two columns. The rest is joined by geometry.

use super::leaders;
use super::line::{Line, remove, rows};
use super::words::Word;
use crate::geometry::Rect;

// All distances are in ems, that is, relative to the size of the text. For orientation: a space is about 0.25 em (0.2
// to 0.33 by font), and justified text stretches it to twice that, in narrow columns to much more. Columns of text are
// rarely closer than 1 em, columns of tables than 0.7 em. The values between were set by hand. Where the file gives
// evidence (a drawn space, the order of drawing), much wider gaps are allowed than by geometry alone.

/// Maximum gap inside a line that is covered by a single space character, in ems; justified text has such spaces.
const WIDE_SPACE: f32 = 12.0;
/// Maximum gap between words that are drawn one after the other without a space character, in ems.
const SPACE: f32 = 1.0;
/// Maximum gap between words that are not drawn one after the other, in ems.
// Above the stretched space of ordinary justified text, below the gap between columns of a table. Further words of a
// justified line are joined by `evenly_spaced`.
const LOOSE_SPACE: f32 = 0.62;
/// Maximum difference of baselines in one line, in ems, because of superscripts and subscripts.
// Common programs raise superscripts by 0.33 to 0.41 em.
const SHIFT: f32 = 0.45;
/// Maximum difference of baselines of smaller text, in ems. Some programs raise the marks of notes by half an em.
const SMALL_SHIFT: f32 = 0.55;
/// Ratio of sizes below which text is smaller than that beside it.
const SMALL: f32 = 0.85;
/// Shift beyond which text is raised or lowered, in ems.
const ON_LINE: f32 = 0.2;
/// Minimum ratio of its size to that of the line; a letter that is larger still is an initial.
const SMALLEST: f32 = 0.35;
/// Maximum gap after the mark of a list item, in ems.
// Word processors put the text of an item at a tab stop: half an inch at most, which is 3.6 em of 10 points.
const AFTER_MARK: f32 = 4.0;

/// Returns the lines of a page, by height and then from left to right.
pub(crate) fn lines(words: Vec<Word>) -> Vec<Line> {
    // From the strongest evidence to the weakest: each step sees the lines that the one before has made. Initials go
    // first, as their size and baseline would otherwise join them to a line further down.
    let mut lines = by_drawing(words);
    lines.sort_by(|a, b| a.baseline.total_cmp(&b.baseline).then(a.rect.x0.total_cmp(&b.rect.x0)));
    set_initials(&mut lines);
    // Twice, as a line joined in the first pass may bridge two others in the second.
    let mut lines = evenly_spaced(by_geometry(by_geometry(lines)));
    leaders::join(&mut lines);
    lines
}

/// Maximum number of lines of a page for which initials are searched; the search is quadratic.
const MAX_FOR_INITIALS: usize = 3000;
/// Minimum ratio of an initial's size to that of its text.
const INITIAL: f32 = 1.8;

/// Puts initials, large first letters of a text, in front of the first line beside them.
fn set_initials(lines: &mut Vec<Line>) {
    let is_letter = |line: &Line| {
        let mut letters = line.words.first().map_or("", |word| word.text.as_str()).chars();
        line.words.len() == 1 && letters.next().is_some_and(char::is_uppercase) && letters.next().is_none()
    };
    let mut place = 0;
    while place < lines.len() && lines.len() <= MAX_FOR_INITIALS {
        let initial = &lines[place];
        let (rect, size) = (initial.rect, initial.size);
        let beside = |line: &Line| {
            let gap = line.rect.x0 - rect.x1;
            let low = line.words.first().is_some_and(|word| word.text.starts_with(char::is_alphabetic));
            // The initial reaches over the baseline of the line, and its right edge almost touches the text.
            size > INITIAL * line.size
                && (-0.1 * size..0.5 * size).contains(&gap)
                && rect.y0 < line.baseline
                && line.baseline < rect.y1
                && low
        };
        let first = (0..lines.len()).filter(|other| is_letter(initial) && *other != place && beside(&lines[*other]));
        let first = first.min_by(|a, b| lines[*a].baseline.total_cmp(&lines[*b].baseline));
        let Some(first) = first else {
            place += 1;
            continue;
        };
        let mut letter = lines[place].words[0].clone();
        let line = &lines[first];
        // The initial takes the baseline and size of its line, so that it does not change the measure of the line.
        (letter.baseline, letter.size, letter.style) = (line.baseline, line.size, line.style);
        letter.rect = Rect { x0: letter.rect.x0, x1: line.rect.x0, ..line.rect };
        lines[first].words.insert(0, letter);
        lines[first].measure();
        lines.remove(place);
    }
}

/// Joins words with equal gaps: a line of justified text that was drawn word by word.
///
/// Table columns rarely have equal gaps, unless all their cells are equally wide, such as years; see [`is_wordy`].
fn evenly_spaced(mut lines: Vec<Line>) -> Vec<Line> {
    let all: Vec<usize> = (0..lines.len()).collect();
    let mut gone = vec![false; lines.len()];
    for row in rows(&lines, &all) {
        let mut start = 0;
        while start + 1 < row.lines.len() {
            let end = even_end(&lines, &row.lines, start);
            // Three equal gaps: two may be equal by chance.
            let run = &row.lines[start..=end];
            if run.len() >= 4 && is_wordy(&lines, run) {
                for place in &run[1..] {
                    let part = lines[*place].clone();
                    lines[run[0]].merge(part);
                    gone[*place] = true;
                }
            }
            start = end.max(start + 1);
        }
    }
    remove(&mut lines, &gone);
    lines
}

/// Returns the last line of a row up to which all gaps equal the first one.
fn even_end(lines: &[Line], row: &[usize], start: usize) -> usize {
    let gap = |place: usize| lines[row[place + 1]].rect.x0 - lines[row[place]].rect.x1;
    let size = lines[row[start]].size;
    let first = gap(start);
    // Programs round the positions that they write, hence the tolerance of 0.14 em.
    let even =
        |place: &usize| (gap(*place) - first).abs() < 0.14 * size && (lines[row[place + 1]].size - size).abs() < 0.3;
    // Beyond the widest space of justified text, equal gaps are columns.
    if first > WIDE_SPACE * size {
        return start;
    }
    start + (start..row.len() - 1).take_while(even).count()
}

/// Whether the lines are words of different lengths, mostly with letters, as in running text.
fn is_wordy(lines: &[Line], run: &[usize]) -> bool {
    let widths = || run.iter().map(|place| lines[*place].rect.width());
    let (narrow, wide) = (widths().fold(f32::INFINITY, f32::min), widths().fold(0.0, f32::max));
    let alphabetic = |place: &&usize| lines[**place].words.iter().any(|word| word.text.contains(char::is_alphabetic));
    // Years, prices and the like have one width; words of a text hardly ever do.
    wide > 1.6 * narrow && run.iter().filter(alphabetic).count() * 4 >= run.len() * 3
}

/// Joins words that are drawn one after the other.
fn by_drawing(words: Vec<Word>) -> Vec<Line> {
    let mut lines: Vec<Vec<Word>> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if line.last().is_some_and(|last| follows(last, &word)) => line.push(word),
            _ => lines.push(vec![word]),
        }
    }
    lines.into_iter().map(Line::new).collect()
}

fn follows(last: &Word, word: &Word) -> bool {
    let size = last.size.max(word.size);
    let gap = last.gap_to(word);
    let wide = if word.joined { WIDE_SPACE } else { SPACE };
    let shift = (last.baseline - word.baseline).abs();
    if word.column || (shift > ON_LINE * size && last.size.min(word.size) < SMALLEST * size) {
        return false;
    }
    // A small negative gap is kerning or an italic overhang; a larger one starts a new line.
    shift < max_shift(last.size, word.size) && gap > -0.3 * size && gap < wide * size
}

/// Returns the maximum difference of baselines of two texts of these sizes in one line.
fn max_shift(one: f32, other: f32) -> f32 {
    let (large, small) = (one.max(other), one.min(other));
    large * if small < SMALL * large { SMALL_SHIFT } else { SHIFT }
}

/// Joins lines on one baseline that are close to each other, in any drawing order.
fn by_geometry(lines: Vec<Line>) -> Vec<Line> {
    let mut joined: Vec<Line> = Vec::with_capacity(lines.len());
    let mut open = 0;
    for line in lines {
        // The lines are sorted by baseline, so those far above can match none of the rest; this keeps the search short.
        while joined.get(open).is_some_and(|early| early.rect.y1 < line.rect.y0 - 2.0 * line.size) {
            open += 1;
        }
        let near = joined[open..].iter().position(|other| belongs(other, &line) || belongs(&line, other));
        match near {
            Some(place) => joined[open + place].merge(line),
            None => joined.push(line),
        }
    }
    joined
}

/// Whether `right` continues the line `left`.
fn belongs(left: &Line, right: &Line) -> bool {
    let (large, small) = (left.size.max(right.size), left.size.min(right.size));
    let shift = (left.baseline - right.baseline).abs();
    let gap = right.rect.x0 - left.rect.x1;
    if right.words.first().is_some_and(|word| word.column) {
        return false;
    }
    // A negative gap is an overlap: italics and kerning reach 0.3 em into the next word, more is text printed over
    // text.
    if shift > max_shift(left.size, right.size) || gap < -0.35 * large {
        return false;
    }
    // A superscript or subscript is smaller than its base, close to it, and short.
    if shift > ON_LINE * large {
        return (SMALLEST..SMALL).contains(&(small / large))
            && gap < 0.25 * large
            && (left.letters().min(right.letters()) <= 6);
    }
    let marked = (left.words.len() == 1 && left.mark().is_some()) || left.label() == left.words.len();
    let mark = marked && right.mark().is_none();
    gap < LOOSE_SPACE * large || (mark && gap < AFTER_MARK * large) || is_numbered(left, right, gap / large)
}

/// Whether this is a heading after its number: same style, and a gap (in ems) as typesetters put there.
fn is_numbered(number: &Line, heading: &Line, gap: f32) -> bool {
    let [word] = &number.words[..] else { return false };
    let digits =
        word.text.split('.').all(|part| (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit()));
    // A number with dots, as in 2.1, is hardly anything but the number of a heading, so that its gap may be wider.
    let widest = if word.text.contains('.') { 2.5 } else { 1.35 };
    let named = heading.words.first().is_some_and(|word| word.text.starts_with(char::is_uppercase));
    digits && gap < widest && named && number.style == heading.style && heading.letters() >= 3
}
