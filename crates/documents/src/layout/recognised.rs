//! The layout of a page from words that were recognised on a picture of it.

use super::words::{Direction, Turn, Word};
use super::{PageLayout, Scene, figures, parts};
use crate::content::page::{Fill, PageContent, Style};
use crate::geometry::Rect;
use crate::model::{Quality, Source};
use crate::recognised::{RecognisedPage, RecognisedWord};
use crate::table::edges::Edges;

/// Words of one page that are taken.
const MAX_RECOGNISED: usize = 50_000;
/// How much thicker the strokes of bold letters are than those of most letters.
const BOLD: f32 = 1.3;
/// Height of letters above the baseline, and depth below it, as shares of the em.
const ASCENT: f32 = 0.78;
const DESCENT: f32 = 0.22;
/// Places of the styles that are told apart.
const PLAIN_STYLE: u16 = 0;
const BOLD_STYLE: u16 = 1;

/// How sure the characters of a page are: words in page space.
#[derive(Debug, Default)]
pub(crate) struct Recognition(Vec<(Rect, f32)>);

impl Recognition {
    /// Of the words inside a box.
    pub(crate) fn confidence(&self, rect: &Rect) -> Option<f32> {
        mean(self.0.iter().filter(|(word, _)| rect.holds(word.center())).map(|(_, sure)| *sure))
    }

    /// Of all words.
    pub(crate) fn mean(&self) -> Option<f32> {
        mean(self.0.iter().map(|(_, sure)| *sure))
    }
}

fn mean(values: impl Iterator<Item = f32>) -> Option<f32> {
    let (sum, count) = values.fold((0.0, 0_usize), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / count as f32)
}

/// Lays out a page that was recognised. What was embedded in it gives its links, and how much of it pictures cover.
pub(crate) fn recognised(page: &RecognisedPage, embedded: PageLayout) -> PageLayout {
    let direction = match page.turned % 4 {
        1 => Direction::Up,
        2 => Direction::Left,
        3 => Direction::Down,
        _ => Direction::Right,
    };
    let (width, height) = if page.turned % 2 == 1 { (page.height, page.width) } else { (page.width, page.height) };
    let turn = Turn { direction, page: (width, height) };
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
    let scene = Scene {
        content: &content,
        width: page.width,
        height: page.height,
        edges: Edges::of(&page.rules),
        fills: page.fills.iter().map(|rect| Fill { rect: *rect, white: false }).collect(),
        figures: figures::find(&page.pictures, &[], (page.width, page.height)),
    };
    let characters = words.iter().map(|word| word.text.chars().count()).sum();
    let mut parts = parts(words, &scene);
    parts.iter_mut().for_each(|part| part.turn_back(&turn));
    PageLayout {
        width,
        height,
        parts,
        links: embedded.links,
        areas: Vec::new(),
        quality: Quality { characters, readable: 1.0, hidden: false, ..embedded.quality },
        source: Source::Recognised,
        recognition: Recognition(sure),
        failure: None,
    }
}

fn words(page: &RecognisedPage, content: &PageContent, turn: &Turn) -> Vec<Word> {
    let usual = usual_weight(&page.words);
    let mut out = Vec::with_capacity(page.words.len());
    for (order, word) in (0..).zip(page.words.iter().take(MAX_RECOGNISED)) {
        let usable = [word.rect.x0, word.rect.y0, word.rect.x1, word.rect.y1, word.baseline, word.size];
        if word.text.is_empty() || !usable.iter().all(|value| value.is_finite()) || word.size <= 0.0 {
            continue;
        }
        let (y0, y1) = (word.baseline - ASCENT * word.size, word.baseline + DESCENT * word.size);
        out.push(Word {
            text: word.text.clone(),
            rect: Rect { x0: word.rect.x0, y0, x1: word.rect.x1, y1 },
            baseline: word.baseline,
            size: word.size,
            style: if word.weight > BOLD * usual { BOLD_STYLE } else { PLAIN_STYLE },
            order,
            spaced: true,
            joined: false,
            artifact: false,
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

/// The weight of the letter in the middle when all are sorted by weight; infinite if none is known.
fn usual_weight(words: &[RecognisedWord]) -> f32 {
    let mut weights: Vec<(f32, usize)> = words.iter().map(|word| (word.weight, word.text.chars().count())).collect();
    weights.retain(|(weight, _)| *weight > 0.0);
    weights.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = weights.iter().map(|(_, letters)| letters).sum::<usize>() / 2;
    let mut before = 0;
    let middle = weights.iter().find(|(_, letters)| {
        before += letters;
        before > half
    });
    middle.map_or(f32::INFINITY, |(weight, _)| *weight)
}
