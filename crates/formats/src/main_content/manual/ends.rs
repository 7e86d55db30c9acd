//! The beginning and the end of a page's own text: links around the site that no markup tells.

use page::{Index, Page, local_name};

use super::frame::Frame;
use super::names;
use crate::main_content::hints::Hint;
use crate::main_content::outline::{Block, Kind, Outline};

/// Words of a line that is more than a note of the site …
const LONG: u32 = 40;
/// … and of one on rights.
const RIGHTS: u32 = 120;
/// Words of a label.
const LABEL: u32 = 8;
/// Links from which on a list below a title is the page's own table of contents.
const FEW: usize = 2;
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
        let headings = || (0..blocks.len()).filter(|&at| chosen[at] && is_heading(outline, &blocks[at]));
        // The name of the site may be a heading too, which leads to its first page.
        let (first, second) = (headings().next(), headings().nth(1));
        let is_title = |at: &usize| (1..3).contains(&blocks[*at].heading);
        let is_near = |first: usize| second.filter(is_title).is_some_and(|second| second <= first + NEAR);
        let is_name = |&first: &usize| blocks[first].heading == 1 && leads_home(page, outline, &blocks[first]);
        let name = first.filter(|first| is_name(first) && is_near(*first));
        let first = if name.is_some() { second } else { first };
        for at in 0..first.unwrap_or(0) {
            let block = &blocks[at];
            let is_motto = name.is_some_and(|name| at > name) && block.text.words <= LABEL;
            let words = text(block);
            let is_of_site = leads_away(block) || is_motto || names::is_way(&words) || names::is_note_of_site(&words);
            chosen[at] &= !(block.text.words <= LONG && is_of_site);
        }
    }
    for at in 0..blocks.len() {
        let block = &blocks[at];
        if !chosen[at] || block.text.words > LABEL || matches!(block.kind, Kind::Code | Kind::Term | Kind::Cell) {
            continue;
        }
        let words = text(block);
        let (asks, opens) = (names::is_question(&words), names::opens_contents(&words));
        let follows = |block: &Block| {
            asks && block.text.words <= LABEL && names::is_answer(&text(block))
                || opens && is_linked(block) && leads_within(page, outline, block)
        };
        let behind = blocks[at + 1..].iter().take_while(|block| follows(block)).count();
        // One word may be the text of a heading, an item or a paragraph.
        let may_be =
            if block.text.words > 1 { block.heading == 0 || opens } else { block.heading == 0 && is_linked(block) };
        if may_be && names::is_label(&words) || behind >= FEW {
            chosen[at..=at + behind].fill(false);
        }
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
        let is_way = block.heading == 0 && (is_free || is_linked(block)) && names::is_way(&words);
        if !(is_note || is_way || stands_in_address(page, outline, block)) {
            break;
        }
        chosen[at] = false;
    }
}

/// By its tag, or a box that is called a title.
fn is_heading(outline: &Outline, block: &Block) -> bool {
    let group = &outline.groups[block.group];
    block.heading > 0 || block.hints.has(Hint::Title) || group.end - group.first == 1 && group.hints.has(Hint::Title)
}

fn is_linked(block: &Block) -> bool {
    block.linked as f32 > ALL_LINKS * block.text.letters as f32
}

/// Whether the block is a link to the first page of the site.
fn leads_home(page: &Page, outline: &Outline, block: &Block) -> bool {
    let first = outline.texts.get(block.texts.start).and_then(|&text| link_around(page, text));
    let href = first.and_then(|link| page.attr(link, "href"));
    is_linked(block)
        && href.is_some_and(|href| {
            let file = href.trim_start_matches("../").trim_start_matches("./");
            matches!(file, "" | "/" | "index.html" | "index.htm" | "/index.html")
        })
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
        says("rel", &["contents", "next", "prev", "previous", "start", "up"]) || says("accesskey", &["n", "p", "u"])
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
