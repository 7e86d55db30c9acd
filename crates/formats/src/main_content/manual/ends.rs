//! Removal of site furniture at the beginning and end of a documentation page that no markup declares: navigation
//! links, notes of the site, labels.

use page::{Index, LocalName, Page, local_name};

use super::frame::Frame;
use super::names;
use crate::elements::is_short;
use crate::main_content::hints::Hint;
use crate::main_content::outline::{Block, BlockKind, Outline};
use crate::markdown::media::is_id;

/// Limit on the words of a note of the site.
const LONG: u32 = 40;
/// Limit on the words of a copyright notice.
const RIGHTS: u32 = 120;
/// Limit on the words of a label.
const LABEL: u32 = 8;
/// Least links of a line that lists the sections of the page.
const ROW: u16 = 3;
/// Least links of a list that is a table of contents.
const FEW: usize = 2;
/// Limit on the blocks between the name of the site and the title of the page.
const NEAR: usize = 20;
/// Number of blocks at the end that are checked.
const END: usize = 12;
/// Number of texts of a block whose links are checked.
const LINKS: usize = 12;
/// Number of ancestors of a link that are checked.
const AROUND: usize = 3;
/// Limits of the check for labels in a list: items, and nodes and bytes of each.
const ITEMS: usize = 64;
const NODES: usize = 12;
const BYTES: usize = 200;
/// Share of linked letters above which a block is nothing but links.
const ALL_LINKS: f32 = 0.7;

/// Removes the site's lines before the first heading and after the last text, and labels of the site anywhere.
pub(super) fn trim(page: &Page, outline: &Outline, frame: &Frame, chosen: &mut [bool]) {
    let lines = Lines { page, outline };
    if !frame.declared {
        lines.trim_beginning(chosen);
    }
    lines.leave_out_labels(chosen);
    lines.leave_out_ways(chosen);
    lines.trim_end(chosen);
}

struct Lines<'a> {
    page: &'a Page,
    outline: &'a Outline,
}

impl Lines<'_> {
    /// Returns the text of a block with the spaces between its links, which are not among the texts of the block.
    fn text(&self, block: &Block) -> String {
        let nodes = &self.outline.texts[block.texts.clone()];
        let all = nodes.first().zip(nodes.last()).map(|(&first, &last)| first..last + 1);
        all.into_iter().flatten().filter_map(|node| self.page.text(node)).collect()
    }

    fn trim_beginning(&self, chosen: &mut [bool]) {
        let blocks = &self.outline.blocks;
        let mut headings = (0..blocks.len()).filter(|&at| chosen[at] && self.is_heading(&blocks[at]));
        let (Some(first), second) = (headings.next(), headings.next()) else { return };
        // The name of the site may be a heading too, linked to the home page.
        let title = second.filter(|&at| (1..3).contains(&blocks[at].heading) && at <= first + NEAR);
        let title = title.filter(|_| blocks[first].heading == 1 && self.leads_home(&blocks[first]));
        for at in 0..title.unwrap_or(first) {
            let block = &blocks[at];
            if block.text.words > LONG {
                continue;
            }
            let words = self.text(block);
            let leads_away = is_linked(block) && !self.leads_within(block);
            let is_motto = title.is_some() && at > first && block.text.words <= LABEL;
            chosen[at] &= !(leads_away || is_motto || names::is_way(&words) || names::is_note_of_site(&words));
        }
    }

    /// Removes labels, with the links or answers that belong to them.
    fn leave_out_labels(&self, chosen: &mut [bool]) {
        let blocks = &self.outline.blocks;
        for at in 0..blocks.len() {
            if self.page.stop().is_set() {
                return;
            }
            let block = &blocks[at];
            if !chosen[at]
                || block.text.words > LABEL
                || matches!(block.kind, BlockKind::Code | BlockKind::Term | BlockKind::Cell)
            {
                continue;
            }
            let words = self.text(block);
            let (asks, opens) = (names::is_question(&words), names::opens_contents(&words));
            let follows = |block: &Block| {
                asks && block.text.words <= LABEL && names::is_answer(&self.text(block))
                    || opens
                        && block.heading == 0
                        && is_linked(block)
                        && self.leads_within(block)
                        && !self.leads_to_itself(block)
            };
            let behind = blocks[at + 1..].iter().take_while(|block| follows(block)).count();
            // A single unlinked word may be regular text: an item or a paragraph.
            let is_free = block.heading == 0 && (block.text.words > 1 || is_linked(block));
            if (is_free || opens) && names::is_label(&words) && !self.is_name(block) || behind >= FEW {
                chosen[at..=at + behind].fill(false);
            }
        }
    }

    /// Removes links to the previous and next page, and a line of links to the page's own sections below the title.
    fn leave_out_ways(&self, chosen: &mut [bool]) {
        let mut headings = 0;
        for (block, chosen) in self.outline.blocks.iter().zip(chosen).filter(|(_, chosen)| **chosen) {
            let leads_on = block.linked * 2 > block.text.letters && self.leads_on(block);
            *chosen = !(leads_on || headings < 2 && self.is_row_of_parts(block));
            headings += usize::from(block.heading > 0);
        }
    }

    fn trim_end(&self, chosen: &mut [bool]) {
        let blocks = &self.outline.blocks;
        let Some(heading) = (0..blocks.len()).find(|&at| chosen[at] && blocks[at].heading > 0) else { return };
        let kept: Vec<usize> = (heading + 1..blocks.len()).rev().filter(|&at| chosen[at]).take(END).collect();
        for at in kept {
            if !self.is_of_site(&blocks[at]) {
                return;
            }
            chosen[at] = false;
        }
    }

    /// Whether a line at the end of the page is navigation or a note of the site.
    fn is_of_site(&self, block: &Block) -> bool {
        if block.heading > 0 || block.text.words > RIGHTS {
            return false;
        }
        let is_free = matches!(block.kind, BlockKind::Other | BlockKind::Paragraph | BlockKind::Item);
        let words = self.text(block);
        let long = if words.contains('©') { RIGHTS } else { LONG };
        let says_note = || names::is_note_of_site(&words);
        let is_note = block.text.words <= long && is_free && says_note();
        let is_way = || (is_free || is_linked(block)) && names::is_way(&words);
        is_note || is_way() || self.stands_in_address(block) && says_note()
    }

    /// Whether the block is a heading by its tag, or by a class that calls it a title.
    fn is_heading(&self, block: &Block) -> bool {
        let group = &self.outline.groups[block.group];
        let alone = group.end - group.first == 1;
        block.heading > 0 || block.hints.has(Hint::Title) || alone && group.hints.has(Hint::Title)
    }

    /// Whether the block is a link to the home page.
    fn leads_home(&self, block: &Block) -> bool {
        let is_home = |href: &str| {
            let file = href.trim_start_matches("../").trim_start_matches("./");
            matches!(file, "" | "/" | "index.html" | "index.htm" | "/index.html")
        };
        is_linked(block) && self.first_link(block).is_some_and(|href| is_home(&href))
    }

    /// Whether the block begins with a link within the page.
    fn leads_within(&self, block: &Block) -> bool {
        self.first_link(block).is_some_and(|href| href.starts_with('#'))
    }

    /// Whether the block begins with a link to itself: a permalink.
    fn leads_to_itself(&self, block: &Block) -> bool {
        let Some(link) = self.outline.texts.get(block.texts.start).and_then(|&first| self.link_around(first)) else {
            return false;
        };
        let href = self.page.attr(link, "href").unwrap_or_default();
        let Some(place) = href.trim().strip_prefix('#') else { return false };
        let mut around = std::iter::once(link).chain(self.page.ancestors(link).take(AROUND));
        around.any(|at| self.page.attr(at, "id").is_some_and(|own| is_id(place, &own)))
    }

    /// Whether a single word is a regular item of a list rather than a button: it is code, or most items are not
    /// labels.
    fn is_name(&self, block: &Block) -> bool {
        if block.kind != BlockKind::Item || block.text.words > 1 {
            return false;
        }
        let page = self.page;
        let above = |is: fn(&LocalName) -> bool| {
            let first = self.outline.texts.get(block.texts.start).copied();
            first.and_then(|first| page.ancestors(first).take(AROUND * 2).find(|&at| page.name(at).is_some_and(is)))
        };
        if above(|name| *name == local_name!("code")).is_some() {
            return true;
        }
        let list = above(|name| *name == local_name!("li")).and_then(|item| page.parent(item));
        let items =
            list.into_iter().flat_map(|list| page.children(list).take(ITEMS * 4)).filter(|&at| page.name(at).is_some());
        let is_label = |at: Index| is_short(page, at, NODES, BYTES) && names::is_label(&page.text_of(at));
        let (all, labels) =
            items.take(ITEMS).fold((0, 0), |(all, labels), at| (all + 1, labels + usize::from(is_label(at))));
        labels * 2 <= all
    }

    /// Returns the target of the link that the block begins with.
    fn first_link(&self, block: &Block) -> Option<String> {
        let first = self.outline.texts.get(block.texts.start)?;
        self.page.attr(self.link_around(*first)?, "href").map(|href| href.to_string())
    }

    /// Whether a link of the block leads to the previous or next page, by its `rel` or `accesskey`.
    fn leads_on(&self, block: &Block) -> bool {
        let leads = |link: Index| {
            let says = |name: &str, words: &[&str]| {
                self.page
                    .attr(link, name)
                    .is_some_and(|own| own.split_ascii_whitespace().any(|own| words.contains(&own)))
            };
            says("rel", &["contents", "next", "prev", "previous", "start", "up"]) || says("accesskey", &["n", "p", "u"])
        };
        let texts = self.outline.texts[block.texts.clone()].iter().take(LINKS);
        texts.filter_map(|&text| self.link_around(text)).any(leads)
    }

    /// Whether the block is a line of links to the sections of the page.
    fn is_row_of_parts(&self, block: &Block) -> bool {
        let is_free = matches!(block.kind, BlockKind::Other | BlockKind::Paragraph) && block.heading == 0;
        is_free && block.links >= ROW && is_linked(block) && self.leads_within(block)
    }

    fn link_around(&self, text: Index) -> Option<Index> {
        self.page.ancestors(text).take(4).find(|&above| self.page.is(above, &local_name!("a")))
    }

    /// Whether the block is in an `<address>`: the author of the page, or the subject of a contact page.
    fn stands_in_address(&self, block: &Block) -> bool {
        let Some(&first) = self.outline.texts.get(block.texts.start) else { return false };
        self.page.ancestors(first).take(4).any(|above| self.page.is(above, &local_name!("address")))
    }
}

fn is_linked(block: &Block) -> bool {
    block.linked as f32 > ALL_LINKS * block.text.letters as f32
}
