//! Cells of a table that touch: a run of text that begins where a column begins, close to the text before it or inside
//! a word.

use super::line::is_mark;
use super::words::Word;
use crate::geometry::Rect;

/// Minimum gap before a word that begins a column, in ems.
const GUTTER: f32 = 1.0;
/// Minimum number of other words that begin the column.
const MIN_STARTS: usize = 3;
/// Maximum distance of the left edges of a column, in points.
const SAME_EDGE: f32 = 0.8;

/// Marks the words that begin a column although they touch the text before, and splits words at the columns that begin
/// inside them. Only in rows that have another column, so that no line of running text is parted.
pub(super) fn part(words: &mut Vec<Word>) {
    let mut order: Vec<usize> = (0..words.len()).collect();
    order.sort_by(|a, b| {
        let (a, b) = (&words[*a], &words[*b]);
        a.baseline.total_cmp(&b.baseline).then(a.rect.x0.total_cmp(&b.rect.x0))
    });
    let level = |a: &usize, b: &usize| (words[*a].baseline - words[*b].baseline).abs() < 0.1 * words[*a].size;
    let rows: Vec<&[usize]> = order.chunk_by(level).collect();
    let is_start = |pair: &&[usize]| words[pair[0]].gap_to(&words[pair[1]]) > GUTTER * words[pair[0]].size;
    let mut starts: Vec<f32> =
        rows.iter().flat_map(|row| row.windows(2).filter(is_start)).map(|pair| words[pair[1]].rect.x0).collect();
    starts.sort_by(f32::total_cmp);
    let begins = |x: f32| {
        let first = starts.partition_point(|start| *start < x - SAME_EDGE);
        starts[first..].iter().take_while(|start| **start <= x + SAME_EDGE).take(MIN_STARTS).count() >= MIN_STARTS
    };
    let mut columns: Vec<usize> = Vec::new();
    let mut splits: Vec<(usize, usize, f32)> = Vec::new();
    let in_columns = |row: &&&[usize]| {
        let mut gaps = row.windows(2).filter(is_start).map(|pair| begins(words[pair[1]].rect.x0)).peekable();
        gaps.peek().is_some() && gaps.all(|aligned| aligned)
    };
    for row in rows.iter().filter(in_columns) {
        let marked = |pair: &&[usize]| is_mark(&words[pair[0]].text);
        let close = row.windows(2).filter(|pair| !is_start(pair) && !marked(pair)).map(|pair| pair[1]);
        columns.extend(close.filter(|place| words[*place].begins_run && begins(words[*place].rect.x0)));
        let seam =
            |place: &usize| words[*place].seams.iter().find(|(_, x)| begins(*x)).map(|(at, x)| (*place, *at, *x));
        splits.extend(row.iter().filter_map(seam));
    }
    columns.into_iter().for_each(|place| words[place].column = true);
    // From the last word on, so that the places before stay what they are.
    splits.sort_unstable_by_key(|(place, ..)| std::cmp::Reverse(*place));
    for (place, at, x) in splits {
        split(words, place, at, x);
    }
}

fn split(words: &mut Vec<Word>, place: usize, at: usize, x: f32) {
    let word = &mut words[place];
    let Some((left, right)) = word.text.split_at_checked(at) else { return };
    let (left, right) = (left.to_owned(), right.to_owned());
    word.seams.clear();
    word.turns.clear();
    let second = Word { text: right, rect: Rect { x0: x, ..word.rect }, spaced: true, column: true, ..word.clone() };
    (word.text, word.rect.x1) = (left, x);
    words.insert(place + 1, second);
}
