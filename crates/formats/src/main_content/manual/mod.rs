//! Main content of documentation: pages whose text is in one element, and on which every short line counts.
//!
//! A documentation page is recognised by the program that generated it, or by lacking what news and shop pages always
//! have ([`signs`]). Its frame ([`frame`]) is the main part that the page declares, or the body. Everything in the
//! frame is content unless there is a strong reason to call it furniture ([`furniture`]): navigation links, buttons,
//! text that no reader can open. The model is not used: a step of two words has too few features.

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

/// Least letters of the result, as a share of the page's letters outside links. With fewer, the markup is misleading.
const LEAST: f32 = 0.2;

/// Selection of the text of a documentation page.
#[derive(Debug)]
pub(crate) struct Choice {
    /// Whether each block is content.
    pub(crate) chosen: Vec<bool>,
    /// Elements that are furniture, including those inside content blocks.
    pub(crate) removed: Vec<Index>,
}

/// Selects the text of a documentation page. Returns `None` for other pages, and if the markup misleads.
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

/// Returns the `<hr>` before and after the text, which separated it from removed navigation.
fn rules_at_the_ends(page: &Page, outline: &Outline, chosen: &[bool]) -> Vec<Index> {
    let mut texts = outline.blocks.iter().zip(chosen).filter(|(_, chosen)| **chosen).map(|(block, _)| &block.texts);
    let first = texts.next().and_then(|texts| outline.texts.get(texts.start)).copied().unwrap_or(0);
    let last = texts.next_back().and_then(|texts| outline.texts.get(texts.end - 1)).copied().unwrap_or(first);
    page.positions().filter(|&at| page.is(at, &local_name!("hr")) && (at < first || at > last)).collect()
}

/// Whether `is` holds for an ancestor of `index` below `root`.
fn stands_in(page: &Page, index: Index, root: Index, is: impl Fn(Index) -> bool) -> bool {
    page.ancestors(index).take_while(|&above| above != root).any(is)
}
