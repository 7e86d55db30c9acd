//! Selection on pages with little prose: there is nothing to measure, so only blocks that the markup itself calls
//! navigation and similar furniture are left out.

use super::hints::{Hint, Hints};
use super::outline::{Block, Outline};

/// Hints of furniture; they count on every element above a block.
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
/// Share of the letters outside links above which a hint of furniture is ignored: it covers the content itself.
const TOO_MUCH: f32 = 0.5;
/// Share of those letters from which on the declared main part is trusted.
const ENOUGH: f32 = 0.3;

/// Returns which blocks the markup does not call furniture; all of them if none would remain.
pub(crate) fn chosen(outline: &Outline) -> Vec<bool> {
    let marks = marks(outline);
    // Letters of links do not count: thirty links weigh no more than the two sentences beside them.
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

/// Whether a block is in the header of the site (navigation), not in that of an article (title and author).
fn is_in_site_header(marks: Hints) -> bool {
    marks.has(Hint::Header) && ![Hint::Main, Hint::ArticleTag, Hint::Section].into_iter().any(|part| marks.has(part))
}

/// Returns the hints of every block, including those of all groups above it.
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
