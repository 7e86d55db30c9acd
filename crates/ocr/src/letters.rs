//! Size and stroke thickness of letters.

use std::ops::Range;

use crate::grey::Grey;
use crate::hocr::{Box4, Line, Word};

/// Height of capitals, digits and ascenders above the baseline, as a share of the em; 0.66 to 0.73 in common fonts.
const TALL: f32 = 0.7;
/// Height of ideographs, as a share of the em.
const IDEOGRAPH: f32 = 0.92;
/// Height from the lowest to the highest letters of a line, as a share of the em.
const FULL: f32 = 0.93;
// Scans and JPEG leave a grain of 5 to 10 per cent on flat areas.
/// Changes of shade below this share of the contrast are noise.
const NOISE: f32 = 0.12;
/// Maximum number of pixels of a word that is measured.
const MAX_LOOKED: usize = 400_000;

/// Returns the em height of a line, in pixels: the median of its words.
pub(crate) fn size(line: &Line) -> f32 {
    let mut sizes: Vec<f32> = line.words.iter().filter_map(|word| word_size(line, word)).collect();
    sizes.sort_by(f32::total_cmp);
    match sizes.get(sizes.len() / 2) {
        Some(size) => *size,
        None => (line.height / FULL).max(1.0),
    }
}

/// Returns the y position of the baseline at a given x.
pub(crate) fn baseline(line: &Line, x: f32) -> f32 {
    let (slope, offset) = line.baseline;
    line.bounds[3] + offset + slope * (x - line.bounds[0])
}

fn word_size(line: &Line, word: &Word) -> Option<f32> {
    let [x0, y0, x1, y1] = word.bounds;
    let above = baseline(line, f32::midpoint(x0, x1)) - y0;
    if word.text.chars().any(is_ideograph) {
        return Some((y1 - y0) / IDEOGRAPH).filter(|size| *size > 2.0);
    }
    let tall = |letter: char| letter.is_uppercase() || letter.is_ascii_digit() || "bdfhkl".contains(letter);
    // Accented capitals and brackets rise above the cap height.
    let higher = |letter: char| "()[]{}|/\\$".contains(letter) || (letter.is_uppercase() && !letter.is_ascii());
    let tells = word.text.chars().any(tall) && !word.text.chars().any(higher);
    (tells && above > 2.0).then_some(above / TALL)
}

fn is_ideograph(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// Returns the stroke thickness in a box, in pixels: the mean length of the dark runs along its rows. 0 if there are
/// none.
pub(crate) fn thickness(picture: &Grey, bounds: Box4) -> f32 {
    let clamp = |value: f32, most: usize| (value.max(0.0) as usize).min(most);
    let (x0, x1) = (clamp(bounds[0], picture.width()), clamp(bounds[2], picture.width()));
    let (y0, y1) = (clamp(bounds[1], picture.height()), clamp(bounds[3], picture.height()));
    if x1 <= x0 + 1 || y1 <= y0 || (x1 - x0) * (y1 - y0) > MAX_LOOKED {
        return 0.0;
    }
    let (ink, paper) = shades(picture, x0..x1, y0..y1);
    // A tenth of the range of shades: less contrast is no writing.
    if paper < ink + 24.0 {
        return 0.0;
    }
    let dark = |value: u8| ((paper - f32::from(value)) / (paper - ink)).clamp(0.0, 1.0);
    // Grey pixels count in part, so the edges of strokes are exact to less than a pixel: `area` sums the darkness,
    // `edges` the changes of it.
    let (mut area, mut edges) = (0.0, 0.0);
    for y in y0..y1 {
        let mut last = 0.0;
        for value in &picture.row(y)[x0..x1] {
            let here = dark(*value);
            let here = if here < NOISE { 0.0 } else { here };
            area += here;
            let change: f32 = here - last;
            edges += if change.abs() < NOISE { 0.0 } else { change.abs() };
            last = here;
        }
        edges += last;
    }
    // Each dark run has two edges, so `edges / 2` is the number of runs.
    if edges > 0.0 { 2.0 * area / edges } else { 0.0 }
}

/// Returns the shades of ink and paper in a box: the 5th and the 80th percentile.
fn shades(picture: &Grey, columns: Range<usize>, rows: Range<usize>) -> (f32, f32) {
    let mut counts = [0_usize; 256];
    let total = columns.len() * rows.len();
    for y in rows {
        for value in &picture.row(y)[columns.clone()] {
            counts[usize::from(*value)] += 1;
        }
    }
    let at = |share: usize| {
        let mut before = 0;
        let place = counts.iter().position(|count| {
            before += count;
            before * 100 > total * share
        });
        place.unwrap_or(255) as f32
    };
    // Text covers 10 to 20 per cent of its box, so the 5th is ink and the 80th is paper, both without outliers.
    (at(5), at(80))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thick_strokes_are_told_from_thin_ones() {
        let strokes = |thick: usize| {
            let pixels = (0..200 * 30).map(|place| if (place % 200) % 12 < thick { 10 } else { 250 }).collect();
            thickness(&Grey::new(200, 30, pixels).unwrap(), [0.0, 0.0, 198.0, 30.0])
        };
        assert!((strokes(2) - 2.0).abs() < 0.2 && (strokes(4) - 4.0).abs() < 0.3);
        let blank = Grey::new(20, 20, vec![250; 400]).unwrap();
        assert!(thickness(&blank, [0.0, 0.0, 20.0, 20.0]) == 0.0);
    }

    #[test]
    fn sizes_come_from_tall_letters() {
        let word = |text: &str, y0, y1| Word { text: text.into(), bounds: [0.0, y0, 50.0, y1], confidence: 90.0 };
        let line = |words| Line {
            bounds: [0.0, 10.0, 200.0, 40.0],
            baseline: (0.0, -6.0),
            height: 28.0,
            words,
            ..Line::default()
        };
        assert_eq!(size(&line(vec![word("ace", 20.0, 34.0), word("Hand", 13.0, 34.0)])), 30.0);
        // Without a tall letter, the line height from tesseract is used.
        assert!((size(&line(vec![word("ace", 20.0, 34.0)])) - 30.1).abs() < 0.1);
    }
}
