//! Layout of a page from words recognised by OCR.

use std::collections::HashMap;

use super::drawings::Drawings;
use super::words::{Direction, Rotation, Word};
use super::{DirectedText, PageLayout, Recognition, figures, parts, turned};
use crate::content::page::{Fill, PageContent, Style};
use crate::geometry::{Rect, Size};
use crate::model::{Quality, TextSource};
use crate::recognised::{RecognisedPage, RecognisedWord};
use crate::table::edges::Edges;

/// Maximum number of words of one page.
const MAX_RECOGNISED: usize = 50_000;
/// Minimum ratio of the stroke thickness of bold letters to that of most letters.
const BOLD: f32 = 1.3;
// Common fonts of text: letters take 0.7 to 0.8 of the em above the baseline, and 0.2 to 0.25 below.
/// Height of letters above the baseline and depth below it, as shares of the em.
const ASCENT: f32 = 0.78;
const DESCENT: f32 = 0.22;
// The height of letters is measured in pixels: on a scan of 200 dpi one pixel more or less is 5 per cent of 7 points.
/// Maximum relative difference of sizes that are treated as equal.
const SAME_SIZE: f32 = 0.07;
/// Minimum width of a gutter between columns, in ems.
const GUTTER: f32 = 0.5;
/// Distance above and below a line within which lines count as neighbours, in ems.
const AROUND: f32 = 3.2;
/// Maximum ratio of a gap in stretched text to the median gap.
const STRETCHED: f32 = 3.5;
/// Maximum number of lines whose sizes are compared; the comparison is at least quadratic.
const MAX_LINES: usize = 1500;
/// Indices of the two styles that are distinguished.
const PLAIN_STYLE: u16 = 0;
const BOLD_STYLE: u16 = 1;

/// Lays out a recognised page after `RecognisedPage::sound` has dropped its invalid parts. The embedded layout supplies
/// the links and the share of the page that images cover.
pub(crate) fn recognised(page: &RecognisedPage, embedded: PageLayout) -> PageLayout {
    let size = Size { width: page.width, height: page.height };
    // The words of a turned page are laid out upright, and the finished parts are turned back.
    let Size { width, height } = if page.turned % 2 == 1 { size.turned() } else { size };
    let turn = Rotation { direction: direction(page), page: Size { width, height } };
    let style = |bold| Style { font: if bold { "bold" } else { "plain" }.to_owned(), bold, ..Style::default() };
    let content = PageContent {
        width,
        height,
        styles: vec![style(false), style(true)],
        links: embedded.areas,
        ..PageContent::default()
    };
    let words = words(page, &content, &turn);
    let sure = page.words.iter().map(|word| (turn.rect_back(&word.rect), word.confidence)).collect();
    let scene = Drawings {
        content: &content,
        size,
        turned: false,
        edges: Edges::of(&page.rules),
        fills: page.fills.iter().map(|rect| Fill { rect: *rect, white: false }).collect(),
        figures: figures::find(&page.pictures, &[], size),
    };
    let characters = words.iter().map(|word| word.text.chars().count()).sum();
    let mut texts = [DirectedText { turn: Rotation { direction: Direction::Right, page: size }, words }];
    let tables = turned::tables(&scene, &mut texts);
    let [DirectedText { words, .. }] = texts;
    let mut parts = parts(words, tables, &scene);
    parts.iter_mut().for_each(|part| part.turn_back(&turn));
    PageLayout {
        width,
        height,
        parts,
        links: embedded.links,
        areas: Vec::new(),
        quality: Quality { characters, readable: 1.0, hidden: false, ..embedded.quality },
        source: TextSource::Recognised,
        recognition: Recognition(sure),
        failure: None,
    }
}

/// Returns the direction of the text on the visible page.
pub(super) fn direction(page: &RecognisedPage) -> Direction {
    match page.turned {
        1 => Direction::Up,
        2 => Direction::Left,
        3 => Direction::Down,
        _ => Direction::Right,
    }
}

fn words(page: &RecognisedPage, content: &PageContent, turn: &Rotation) -> Vec<Word> {
    let taken: Vec<&RecognisedWord> = page.words.iter().take(MAX_RECOGNISED).collect();
    // Heights come from the size of the line, not from the box of the word: a word without tall letters has a low box.
    let looks = LineStyles::of(&taken);
    let joints = joints(&taken);
    let mut out = Vec::with_capacity(taken.len());
    for ((order, word), joined) in (0..).zip(taken).zip(joints) {
        let look = looks.get(word);
        let (y0, y1) = (word.baseline - ASCENT * look.size, word.baseline + DESCENT * look.size);
        out.push(Word {
            text: word.text.clone(),
            rect: Rect { x0: word.rect.x0, y0, x1: word.rect.x1, y1 },
            baseline: word.baseline,
            size: look.size,
            style: if look.bold { BOLD_STYLE } else { PLAIN_STYLE },
            turns: Vec::new(),
            order,
            spaced: true,
            joined,
            artifact: false,
            tagged: false,
            column: false,
            begins_run: false,
            seams: Vec::new(),
            link: None,
        });
    }
    for (place, area) in (0_u16..).zip(&content.links) {
        let rect = turn.rect_to(&area.rect);
        for word in out.iter_mut().filter(|word| rect.holds(word.rect.center())) {
            word.link = Some(place);
        }
    }
    out
}

/// Returns for each word whether it continues the line of the word before, however wide the gap, as in justified text:
/// if all gaps of the line are equal, if words in the lines around block the gap, or if it is a long stretched line.
/// Between columns none of this holds.
fn joints(words: &[&RecognisedWord]) -> Vec<bool> {
    let mut by_height: Vec<&RecognisedWord> = words.to_vec();
    by_height.sort_by(|a, b| a.baseline.total_cmp(&b.baseline));
    let mut out = vec![false; words.len()];
    let mut start = 0;
    while start < words.len() {
        let length = words[start..].iter().take_while(|word| word.line == words[start].line).count();
        let line = &words[start..start + length];
        let even = is_even(line);
        let gaps: Vec<Gap> = line.windows(2).map(|pair| Gap::between(pair[0], pair[1], &by_height)).collect();
        let widest = widest_of_text(line, &gaps);
        for (joint, gap) in out[start + 1..].iter_mut().zip(&gaps) {
            *joint = gap.width > 0.0 && (even || gap.bridged || gap.width < widest);
        }
        start += length;
    }
    out
}

/// Gap between two words of a line, in points.
struct Gap {
    width: f32,
    /// Whether it is wider than a space.
    wide: bool,
    bridged: bool,
}

impl Gap {
    fn between(left: &RecognisedWord, right: &RecognisedWord, by_height: &[&RecognisedWord]) -> Self {
        let width = right.rect.x0 - left.rect.x1;
        // As for drawn text: above a stretched space, below the gap between columns.
        let wide = width > 0.6 * right.size;
        Self { width, wide, bridged: wide && is_bridged(left.rect.x1, right, by_height) }
    }
}

/// Returns the width below which the gaps of a line are spaces, if it is stretched text: many words, most of them with
/// letters, mostly wide gaps, and at least a fifth of these bridged. 0 for other lines.
fn widest_of_text(line: &[&RecognisedWord], gaps: &[Gap]) -> f32 {
    let wide: Vec<f32> = gaps.iter().filter(|gap| gap.wide).map(|gap| gap.width).collect();
    let bridged = gaps.iter().filter(|gap| gap.bridged).count();
    let lettered = line.iter().filter(|word| word.text.contains(char::is_alphabetic)).count();
    // Fewer words or gaps show no usual gap; less than three quarters of words with letters is a row of numbers.
    if line.len() < 7 || wide.len() < 5 || bridged < 2 || 5 * bridged < wide.len() || 4 * lettered < 3 * line.len() {
        return 0.0;
    }
    middle(wide.into_iter().map(|width| (width, 1))).map_or(0.0, |usual| STRETCHED * usual)
}

/// Whether all gaps of a line are about equal.
fn is_even(line: &[&RecognisedWord]) -> bool {
    let gaps: Vec<f32> = line.windows(2).map(|pair| pair[1].rect.x0 - pair[0].rect.x1).collect();
    let Some(usual) = middle(gaps.iter().map(|gap| (*gap, 1))) else { return false };
    let size = line[0].size;
    // A fifth of a space is not seen, hence the second limit; it decides where the gaps are narrow.
    gaps.len() >= 4 && gaps.iter().all(|gap| (gap - usual).abs() < (0.2 * usual).max(0.2 * size))
}

/// Whether words in the lines above or below leave no space through which a gutter could run, in the gap between `left`
/// and a word.
fn is_bridged(left: f32, word: &RecognisedWord, by_height: &[&RecognisedWord]) -> bool {
    let first = by_height.partition_point(|other| other.baseline < word.baseline - AROUND * word.size);
    let around = by_height[first..].iter().take_while(|other| other.baseline <= word.baseline + AROUND * word.size);
    let (mut above, mut below) = (Vec::new(), Vec::new());
    for other in around {
        let lower = other.baseline - word.baseline;
        // Nearer words are in the line itself, or are its superscripts.
        if lower.abs() > 0.6 * word.size {
            if lower < 0.0 { above.push(other.rect) } else { below.push(other.rect) }
        }
    }
    let sides = [above, below].map(|side| is_closed(left, word.rect.x0, side, GUTTER * word.size));
    // One side must be closed, and none may be open; a side without lines says nothing.
    sides.contains(&Some(true)) && !sides.contains(&Some(false))
}

/// Whether boxes leave at most `most` of a range free; `None` if they do not span it.
fn is_closed(from: f32, to: f32, mut boxes: Vec<Rect>, most: f32) -> Option<bool> {
    let (left, right) = boxes.iter().fold((f32::INFINITY, f32::NEG_INFINITY), |(a, b), r| (a.min(r.x0), b.max(r.x1)));
    if left > from || right < to {
        return None;
    }
    boxes.sort_by(|a, b| a.x0.total_cmp(&b.x0));
    let mut end = from;
    let mut widest: f32 = 0.0;
    for other in boxes.iter().filter(|other| other.x1 > from && other.x0 < to) {
        widest = widest.max(other.x0 - end);
        end = end.max(other.x1);
    }
    Some(widest.max(to - end) <= most)
}

/// Look of each line. Measurements on an image vary from line to line of one text, so similar sizes are made equal, and
/// bold is only what is clearly thicker than most of the page.
struct LineStyles(HashMap<u32, LineStyle>);

#[derive(Debug, Clone, Copy)]
struct LineStyle {
    size: f32,
    bold: bool,
    letters: usize,
    weight: f32,
}

impl LineStyles {
    fn of(words: &[&RecognisedWord]) -> Self {
        let mut lines: HashMap<u32, Vec<&RecognisedWord>> = HashMap::new();
        words.iter().copied().for_each(|word| lines.entry(word.line).or_default().push(word));
        let mut looks: Vec<(u32, LineStyle)> = lines.iter().map(|(line, words)| (*line, measured(words))).collect();
        looks.sort_by_key(|(line, _)| *line);
        let usual =
            middle(looks.iter().filter(|(_, look)| look.weight > 0.0).map(|(_, look)| (look.weight, look.letters)));
        looks.iter_mut().for_each(|(_, look)| look.bold = usual.is_some_and(|usual| look.weight > BOLD * usual));
        equalise(&mut looks);
        Self(looks.into_iter().collect())
    }

    fn get(&self, word: &RecognisedWord) -> LineStyle {
        self.0.get(&word.line).copied().unwrap_or(measured(&[word]))
    }
}

fn measured(words: &[&RecognisedWord]) -> LineStyle {
    let letters = |word: &RecognisedWord| word.text.chars().count();
    let known = words.iter().filter(|word| word.weight > 0.0);
    LineStyle {
        size: middle(words.iter().map(|word| (word.size, letters(word)))).unwrap_or(0.0),
        bold: false,
        letters: words.iter().map(|word| letters(word)).sum(),
        weight: middle(known.map(|word| (word.weight, letters(word)))).unwrap_or(0.0),
    }
}

/// Gives lines of similar size one size, starting with the size of most letters.
fn equalise(looks: &mut [(u32, LineStyle)]) {
    if looks.len() > MAX_LINES {
        return;
    }
    let mut open: Vec<usize> = (0..looks.len()).collect();
    while !open.is_empty() {
        let near = |place: usize, size: f32| (looks[place].1.size / size - 1.0).abs() <= SAME_SIZE;
        let members = |size: f32| open.iter().copied().filter(move |place| near(*place, size));
        let letters = |place: usize| members(looks[place].1.size).map(|other| looks[other].1.letters).sum::<usize>();
        let Some(most) = open.iter().copied().max_by_key(|place| letters(*place)) else { return };
        let group: Vec<usize> = members(looks[most].1.size).collect();
        let size = middle(group.iter().map(|place| (looks[*place].1.size, looks[*place].1.letters)));
        let size = size.unwrap_or(looks[most].1.size);
        group.iter().for_each(|place| looks[*place].1.size = size);
        open.retain(|place| *place != most && !group.contains(place));
    }
}

/// Returns the median, weighted by letters.
fn middle(values: impl Iterator<Item = (f32, usize)>) -> Option<f32> {
    let mut values: Vec<(f32, usize)> = values.collect();
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = values.iter().map(|(_, letters)| letters).sum::<usize>() / 2;
    let mut before = 0;
    let found = values.iter().find(|(_, letters)| {
        before += letters;
        before > half
    });
    found.or(values.last()).map(|(value, _)| *value)
}
