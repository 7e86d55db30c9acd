//! The beginning and the end of a page's own text: links around the site that no markup tells.

use page::{Page, local_name};

use super::frame::Frame;
use super::names;
use crate::main_content::outline::{Block, Kind, Outline};

/// Words of a line that is more than a note of the site.
const LONG: u32 = 40;
/// Words of a label.
const LABEL: u32 = 8;
/// Blocks at the end that are looked at.
const END: usize = 12;
/// Part of a block that links fill when it is nothing else.
const ALL_LINKS: f32 = 0.7;

/// Leaves out the site's lines before the first heading and behind the last text, and labels of the site anywhere.
pub(super) fn trim(page: &Page, outline: &Outline, frame: &Frame, chosen: &mut [bool]) {
    let text = |block: &Block| {
        let nodes = &outline.texts[block.texts.clone()];
        nodes.iter().filter_map(|&node| page.text(node)).collect::<Vec<_>>().concat()
    };
    let blocks = &outline.blocks;
    if !frame.declared {
        let first = blocks.iter().zip(chosen.iter()).position(|(block, chosen)| *chosen && block.heading > 0);
        for at in 0..first.unwrap_or(0) {
            let leads_away = || is_linked(&blocks[at]) && !leads_within(page, outline, &blocks[at]);
            chosen[at] &= !(blocks[at].text.words <= LONG && (leads_away() || names::is_way(&text(&blocks[at]))));
        }
    }
    for (block, chosen) in blocks.iter().zip(chosen.iter_mut()).filter(|(block, chosen)| **chosen && is_label(block)) {
        *chosen = !names::is_label(&text(block));
    }
    let kept: Vec<usize> = (0..blocks.len()).rev().filter(|&at| chosen[at]).take(END).collect();
    for at in kept {
        let block = &blocks[at];
        let is_free = matches!(block.kind, Kind::Other | Kind::Paragraph | Kind::Item) && block.heading == 0;
        let words = text(block);
        let is_note = block.text.words <= LONG && is_free && names::is_note_of_site(&words);
        if !(is_note || names::is_way(&words) || stands_in_address(page, outline, block)) {
            break;
        }
        chosen[at] = false;
    }
}

fn is_label(block: &Block) -> bool {
    block.text.words <= LABEL && !matches!(block.kind, Kind::Code | Kind::Term)
}

fn is_linked(block: &Block) -> bool {
    block.linked as f32 > ALL_LINKS * block.text.letters as f32
}

/// Whether the first link of the block leads to another part of the page.
fn leads_within(page: &Page, outline: &Outline, block: &Block) -> bool {
    let Some(&first) = outline.texts.get(block.texts.start) else { return false };
    let link = page.ancestors(first).take(4).find(|&above| page.is(above, &local_name!("a")));
    link.and_then(|link| page.attr(link, "href")).is_some_and(|href| href.starts_with('#'))
}

/// `<address>` at the end of a page is who made it.
fn stands_in_address(page: &Page, outline: &Outline, block: &Block) -> bool {
    let first = outline.texts.get(block.texts.start);
    first.is_some_and(|&first| page.ancestors(first).take(4).any(|above| page.is(above, &local_name!("address"))))
}
