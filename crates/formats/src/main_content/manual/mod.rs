//! Main content of documentation: pages whose text is in one element, and where each short line counts.
//!
//! A manual page is told by the program that made it or by what pages of the press and of shops never lack ([`signs`]).
//! First its frame is found ([`frame`]): the box that the page itself declares, or the body. What stands in the frame is
//! content unless it is furniture for a strong reason ([`furniture`]): links around the site, buttons, what no reader can
//! open. No model is asked: a step of two words says too little about itself.

mod ends;
mod frame;
mod furniture;
mod letters;
mod names;
mod signs;
#[cfg(test)]
mod tests;

use page::{Index, Page, local_name};

use self::frame::Frame;
use self::furniture::Furniture;
use self::letters::Letters;
use super::outline::{Block, Outline};
use crate::content::Content;

/// What is left must have at least as many letters as this part of the letters of the page that are no links; otherwise its
/// marks mislead.
const LEAST: f32 = 0.2;

/// What of a documentation page is its own text.
#[derive(Debug)]
pub(crate) struct Choice {
    /// Whether each block is content.
    pub(crate) chosen: Vec<bool>,
    /// Elements that are furniture, also such as stand inside blocks that are content.
    pub(crate) removed: Vec<Index>,
}

/// The own text of a documentation page; none for other pages, and where the marks of the page contradict its text.
pub(crate) fn choice(content: &Content, outline: &Outline) -> Option<Choice> {
    let page = content.page();
    if !signs::is_manual(page) {
        return None;
    }
    let letters = Letters::of(content);
    let frame = Frame::of(page, &letters);
    let furniture = Furniture::of(page, &letters, &frame);
    let mut chosen: Vec<bool> = outline.blocks.iter().map(|block| furniture.shows(outline, block)).collect();
    ends::trim(page, outline, &frame, &mut chosen);
    let plain = |block: &Block| block.text.letters.saturating_sub(block.linked);
    let kept = outline.blocks.iter().zip(&chosen).filter(|(_, chosen)| **chosen);
    let kept: u32 = kept.map(|(block, _)| block.text.letters).sum();
    let all: u32 = outline.blocks.iter().map(plain).sum();
    if !chosen.contains(&true) || (kept as f32) < LEAST * all as f32 {
        return None;
    }
    let mut removed = furniture.elements;
    removed.extend(rules_at_the_ends(page, outline, &chosen));
    Some(Choice { chosen, removed })
}

/// Lines that part the text from links around the site, which are gone.
fn rules_at_the_ends(page: &Page, outline: &Outline, chosen: &[bool]) -> Vec<Index> {
    let mut texts = outline.blocks.iter().zip(chosen).filter(|(_, chosen)| **chosen).map(|(block, _)| &block.texts);
    let first = texts.next().and_then(|texts| outline.texts.get(texts.start)).copied().unwrap_or(0);
    let last = texts.next_back().and_then(|texts| outline.texts.get(texts.end - 1)).copied().unwrap_or(first);
    page.positions().filter(|&at| page.is(at, &local_name!("hr")) && (at < first || at > last)).collect()
}

/// Whether `index` stands in an element for which `is` holds, no further up than `root`.
fn stands_in(page: &Page, index: Index, root: Index, is: impl Fn(Index) -> bool) -> bool {
    page.ancestors(index).take_while(|&above| above != root).any(is)
}
