//! The beginning and the end of a page's own text: links around the site that no markup tells.

use page::{Index, Page, local_name};

use super::frame::Frame;
use super::names;
use crate::main_content::outline::{Block, Kind, Outline};

/// Words of a line that is more than a note of the site …
const LONG: u32 = 40;
/// … and of one on rights.
const RIGHTS: u32 = 120;
/// Words of a label.
const LABEL: u32 = 8;
/// Blocks between the name of the site and the title of the page.
const NEAR: usize = 20;
/// Blocks at the end that are looked at.
const END: usize = 12;
/// Texts of a block whose links are looked at.
const LINKS: usize = 12;
/// Part of a block that links fill when it is nothing else.
const ALL_LINKS: f32 = 0.7;

/// Leaves out the site's lines before the first heading and behind the last text, and labels of the site anywhere.
pub(super) fn trim(page: &Page, outline: &Outline, frame: &Frame, chosen: &mut [bool]) {
    let text = |block: &Block| {
        // With the spaces between links, which are no texts of the block.
        let nodes = &outline.texts[block.texts.clone()];
        let all = nodes.first().zip(nodes.last()).map(|(&first, &last)| first..last + 1);
        all.into_iter().flatten().filter_map(|node| page.text(node)).collect::<String>()
    };
    let blocks = &outline.blocks;
    if !frame.declared {
        let leads_away = |block: &Block| is_linked(block) && !leads_within(page, outline, block);
        let headings = || (0..blocks.len()).filter(|&at| chosen[at] && blocks[at].heading > 0);
        // The name of the site may be a heading too, which leads to its first page.
        let (first, second) = (headings().next(), headings().nth(1));
        let is_title = |at: &usize| blocks[*at].heading == 1;
        let is_near = |first: usize| second.filter(is_title).is_some_and(|second| second <= first + NEAR);
        let name = first.filter(|&first| is_title(&first) && leads_away(&blocks[first]) && is_near(first));
        let first = if name.is_some() { second } else { first };
        for at in 0..first.unwrap_or(0) {
            let block = &blocks[at];
            let is_motto = name.is_some_and(|name| at > name) && block.text.words <= LABEL;
            let words = text(block);
            let is_of_site = leads_away(block) || is_motto || names::is_way(&words) || names::is_note_of_site(&words);
            chosen[at] &= !(block.text.words <= LONG && is_of_site);
        }
    }
    for (block, chosen) in blocks.iter().zip(chosen.iter_mut()).filter(|(block, chosen)| **chosen && is_label(block)) {
        *chosen = !names::is_label(&text(block));
    }
    for (block, chosen) in blocks.iter().zip(chosen.iter_mut()).filter(|(block, chosen)| **chosen && block.linked > 0) {
        *chosen = !(block.linked * 2 > block.text.letters && leads_on(page, outline, block));
    }
    let kept: Vec<usize> = (0..blocks.len()).rev().filter(|&at| chosen[at]).take(END).collect();
    for at in kept {
        let block = &blocks[at];
        let is_free = matches!(block.kind, Kind::Other | Kind::Paragraph | Kind::Item) && block.heading == 0;
        let words = text(block);
        let long = if words.contains('©') { RIGHTS } else { LONG };
        let is_note = block.text.words <= long && is_free && names::is_note_of_site(&words);
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

/// Whether the block begins with a link to another part of the page.
fn leads_within(page: &Page, outline: &Outline, block: &Block) -> bool {
    let first = outline.texts.get(block.texts.start).and_then(|&text| link_around(page, text));
    first.and_then(|link| page.attr(link, "href")).is_some_and(|href| href.starts_with('#'))
}

/// Whether a link of the block leads to the page before or behind this one, by its own words.
fn leads_on(page: &Page, outline: &Outline, block: &Block) -> bool {
    let leads = |link: Index| {
        let says = |name: &str, words: &[&str]| {
            page.attr(link, name).is_some_and(|own| own.split_ascii_whitespace().any(|own| words.contains(&own)))
        };
        says("rel", &["next", "prev", "previous", "up"]) || says("accesskey", &["n", "p", "u"])
    };
    outline.texts[block.texts.clone()].iter().take(LINKS).filter_map(|&text| link_around(page, text)).any(leads)
}

fn link_around(page: &Page, text: Index) -> Option<Index> {
    page.ancestors(text).take(4).find(|&above| page.is(above, &local_name!("a")))
}

/// `<address>` at the end of a page is who made it.
fn stands_in_address(page: &Page, outline: &Outline, block: &Block) -> bool {
    let first = outline.texts.get(block.texts.start);
    first.is_some_and(|&first| page.ancestors(first).take(4).any(|above| page.is(above, &local_name!("address"))))
}
