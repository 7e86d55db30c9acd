//! Tables of a grid, and the text in them that runs in another direction, such as headers that run upwards.

use super::drawings::Drawings;
use super::lines::lines;
use super::words::{Rotation, Word};
use super::{DirectedText, MAX_WORDS};
use crate::geometry::Rect;
use crate::table::PlacedTable;
use crate::table::grid::{Lattice, nets, read_table};

/// Maximum number of lines in other directions that are considered.
const MAX_TURNED: usize = 400;

/// Returns the tables in the grids of a page, and removes their words from the texts. The first text is the one that the
/// scene belongs to.
pub(super) fn tables(scene: &Drawings<'_>, texts: &mut [DirectedText]) -> Vec<PlacedTable> {
    let Some((main, others)) = texts.split_first_mut() else { return Vec::new() };
    if main.words.len() > MAX_WORDS {
        return Vec::new();
    }
    let nets = nets(&scene.edges);
    let mut turned: Vec<Word> = if nets.is_empty() { Vec::new() } else { turned_lines(main.turn, others) };
    let mut found = Vec::new();
    let mut taken: Vec<Rect> = Vec::new();
    for net in nets {
        let (inside, outside): (Vec<Word>, Vec<Word>) = turned.into_iter().partition(|word| holds(&net, word));
        turned = outside;
        let areas: Vec<Rect> = inside.iter().map(|word| word.rect).collect();
        let before = main.words.len();
        main.words.extend(inside);
        match read_table(&net, &mut main.words, &scene.content.links) {
            Some(table) => {
                found.push(table);
                taken.extend(areas);
            }
            None => main.words.truncate(before),
        }
    }
    for text in others {
        let back = |word: &Word| main.turn.rect_to(&text.turn.rect_back(&word.rect)).center();
        text.words.retain(|word| !taken.iter().any(|area| area.holds(back(word))));
    }
    found
}

fn holds(net: &Lattice, word: &Word) -> bool {
    net.rect().holds(word.rect.center())
}

/// Returns the lines in other directions, each as one word of the main text. They come after all of its words, so that
/// they can be removed again.
fn turned_lines(main: Rotation, others: &[DirectedText]) -> Vec<Word> {
    let mut out = Vec::new();
    for text in others.iter().filter(|text| text.words.len() <= MAX_TURNED) {
        for line in lines(text.words.clone()) {
            let Some(first) = line.words.first() else { continue };
            let rect = main.rect_to(&text.turn.rect_back(&line.rect));
            out.push(Word {
                text: line.text(),
                rect,
                baseline: rect.y1,
                size: line.size,
                order: u32::MAX,
                turns: Vec::new(),
                seams: Vec::new(),
                ..first.clone()
            });
        }
    }
    out
}
