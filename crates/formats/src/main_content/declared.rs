//! Pages with little prose: nothing to measure, so only what the markup itself calls navigation and the like is left out.

use super::hints::{Hint, Hints};
use super::outline::{Block, Outline};

/// Marks that part a block from the content, wherever they stand above it.
const OUTSIDE: [Hint; 12] = [
    Hint::Nav,
    Hint::Navigation,
    Hint::Footer,
    Hint::Bottom,
    Hint::Aside,
    Hint::Side,
    Hint::Related,
    Hint::Popup,
    Hint::Advert,
    Hint::Share,
    Hint::SignUp,
    Hint::Hidden,
];
/// A mark of furniture that covers more than this part of the letters outside of links is ignored.
const TOO_MUCH: f32 = 0.5;
/// The box that the page calls its main part is believed from this part of those letters on.
const ENOUGH: f32 = 0.3;

/// Which blocks the markup does not call noise; all of them when that would be none.
pub(crate) fn chosen(outline: &Outline) -> Vec<bool> {
    let marks = marks(outline);
    // Thirty links beside two sentences are no more than that.
    let letters = |part: &dyn Fn(Hints) -> bool| -> f32 {
        let those = outline.blocks.iter().zip(&marks).filter(|(_, marks)| part(**marks));
        those.map(|(block, _)| block.text.letters.saturating_sub(block.linked) as f32).sum()
    };
    let all = letters(&|_| true);
    let main: u32 = outline
        .blocks
        .iter()
        .zip(&marks)
        .filter(|(_, marks)| marks.has(Hint::Main))
        .map(|(block, _)| block.text.letters)
        .sum();
    let in_main = |marks: &Hints| main == 0 || (main as f32) < ENOUGH * all || marks.has(Hint::Main);
    let meant: Vec<Hint> =
        OUTSIDE.into_iter().filter(|&hint| letters(&|marks| marks.has(hint)) <= TOO_MUCH * all).collect();
    let has_title = |(block, marks): (&Block, &Hints)| block.heading == 1 && marks.has(Hint::Header);
    let header_is_content = outline.blocks.iter().zip(&marks).any(has_title);
    let is_outside =
        |marks: &Hints| meant.iter().any(|&hint| marks.has(hint)) || !header_is_content && is_in_site_header(*marks);
    let chosen: Vec<bool> = marks.iter().map(|marks| in_main(marks) && !is_outside(marks)).collect();
    if chosen.contains(&true) { chosen } else { vec![true; outline.blocks.len()] }
}

/// The header of an article holds its title and author, that of the page the way around the site.
fn is_in_site_header(marks: Hints) -> bool {
    marks.has(Hint::Header) && ![Hint::Main, Hint::ArticleTag, Hint::Section].into_iter().any(|part| marks.has(part))
}

/// The marks of every block and of all above it.
fn marks(outline: &Outline) -> Vec<Hints> {
    let mut above: Vec<Hints> = Vec::with_capacity(outline.groups.len());
    for (at, group) in outline.groups.iter().enumerate() {
        let mut hints = if at == 0 { Hints::default() } else { above[group.parent] };
        hints.union(group.hints);
        above.push(hints);
    }
    let of = |block: &Block| {
        let mut hints = above[block.group];
        hints.union(block.hints);
        hints
    };
    outline.blocks.iter().map(of).collect()
}
