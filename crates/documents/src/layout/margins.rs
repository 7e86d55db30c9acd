//! Numbers of lines in the margin, as on pleadings: they are no part of the text.

use super::drawings::Drawings;
use super::words::Word;

/// Minimum number of line numbers.
const MIN_NUMBERS: usize = 12;
/// Maximum number of lines of a page that are numbered.
const MAX_NUMBERS: u32 = 120;
/// Maximum distance of the edges of the numbers, in ems.
const SAME_EDGE: f32 = 0.7;
/// Minimum gap between a number and its line, in ems.
const GUTTER: f32 = 0.7;

/// Removes a column of numbers that count the lines of a page, outside of all text.
pub(super) fn remove_line_numbers(words: &mut Vec<Word>, scene: &Drawings<'_>) {
    let number = |word: &Word| -> Option<u32> {
        let digits = word.text.len() <= 3 && word.text.bytes().all(|byte| byte.is_ascii_digit());
        word.text.parse().ok().filter(|number| digits && *number <= MAX_NUMBERS)
    };
    let left = 0.25 * scene.size.width;
    let mut places: Vec<usize> = (0..words.len()).filter(|place| words[*place].rect.x1 < left).collect();
    places.retain(|place| number(&words[*place]).is_some());
    if places.len() < MIN_NUMBERS {
        return;
    }
    places.sort_by(|a, b| words[*a].baseline.total_cmp(&words[*b].baseline));
    let edge = |place: usize| words[place].rect.x1;
    let size = words[places[0]].size;
    let first = edge(places[0]);
    // Numbers of two digits are wider: they share the left, the right edge or the middle.
    places.retain(|place| (edge(*place) - first).abs() < SAME_EDGE * size);
    let values: Vec<u32> = places.iter().filter_map(|place| number(&words[*place])).collect();
    let counts = values.windows(2).all(|pair| pair[1] == pair[0] + 1);
    if places.len() < MIN_NUMBERS
        || !counts
        || values.first().is_none_or(|first| *first > 2)
        || !is_evenly(words, &places)
    {
        return;
    }
    let right = places.iter().map(|place| edge(*place)).fold(0.0, f32::max);
    let others = || (0..words.len()).filter(|place| !places.contains(place)).map(|place| &words[place]);
    let apart =
        others().all(|word| word.rect.x0 > right + GUTTER * size || word.baseline < words[places[0]].baseline - size);
    if apart && is_prose(words, &places) {
        let mut place = 0;
        words.retain(|_| {
            place += 1;
            !places.contains(&(place - 1))
        });
    }
}

/// Whether the numbers are at equal distances.
fn is_evenly(words: &[Word], places: &[usize]) -> bool {
    let steps: Vec<f32> = places.windows(2).map(|pair| words[pair[1]].baseline - words[pair[0]].baseline).collect();
    let mean = steps.iter().sum::<f32>() / steps.len().max(1) as f32;
    steps.iter().all(|step| (step - mean).abs() < 0.15 * mean)
}

/// Whether running text stands beside the numbers: lines with few wide gaps, which the rows of a table have.
fn is_prose(words: &[Word], places: &[usize]) -> bool {
    let (mut rows, mut cells) = (0, 0);
    for place in places {
        let number = &words[*place];
        let mut row: Vec<&Word> = words
            .iter()
            .filter(|word| (word.baseline - number.baseline).abs() < 0.5 * number.size && word.rect.x0 > number.rect.x1)
            .collect();
        row.sort_by(|a, b| a.rect.x0.total_cmp(&b.rect.x0));
        let wide = row.windows(2).filter(|pair| pair[0].gap_to(pair[1]) > 1.5 * pair[0].size).count();
        rows += usize::from(!row.is_empty());
        cells += wide;
    }
    3 * cells <= rows
}
