//! Removal of elements, texts and images from the content by the chosen blocks.

use page::{Index, LocalName, Page, local_name};

use super::outline::Outline;
use crate::content::Content;

/// Share of the surrounding text that must be kept for an image to be kept.
const COMPANY: f32 = 0.5;

/// Removes everything that is not in `chosen`, which has a flag for each block.
pub(crate) fn keep(content: &mut Content, outline: &Outline, chosen: &[bool]) {
    let kept = kept_letters(outline, chosen);
    let part = |group: usize| {
        let group = &outline.groups[group];
        let (kept, all) = (kept[group.end].0 - kept[group.first].0, kept[group.end].1 - kept[group.first].1);
        kept as f32 / all.max(1) as f32
    };
    for (at, group) in outline.groups.iter().enumerate().skip(1) {
        if !chosen[group.first..group.end].contains(&true) && part(group.parent) > 0.0 {
            content.set_removed(outline.groups[at].element, true);
        }
    }
    for (block, _) in outline.blocks.iter().zip(chosen).filter(|(_, chosen)| !**chosen) {
        for &text in &outline.texts[block.texts.clone()] {
            content.set_removed(text, true);
        }
    }
    remove_lonely_images(content, outline, part);
}

/// Returns prefix sums of the kept letters and of all letters.
fn kept_letters(outline: &Outline, chosen: &[bool]) -> Vec<(u32, u32)> {
    let mut sums = Vec::with_capacity(outline.blocks.len() + 1);
    let (mut kept, mut all) = (0, 0);
    sums.push((0, 0));
    for (block, chosen) in outline.blocks.iter().zip(chosen) {
        let letters = block.text.letters;
        all += letters;
        kept += if *chosen { letters } else { 0 };
        sums.push((kept, all));
    }
    sums
}

/// Removes images, players, rules and similar elements without text, unless most of the text around them is kept.
fn remove_lonely_images(content: &mut Content, outline: &Outline, part: impl Fn(usize) -> f32) {
    let page = content.page();
    let mut open: Vec<usize> = Vec::new();
    let mut groups = outline.groups.iter().enumerate().peekable();
    for index in page.positions() {
        while let Some((at, _)) = groups.next_if(|(_, group)| group.element <= index) {
            open.push(at);
        }
        while open.last().is_some_and(|&at| at > 0 && page.end(outline.groups[at].element) <= index) {
            open.pop();
        }
        if page.name(index).is_some_and(is_wordless) && open.last().is_some_and(|&at| part(at) < COMPANY) {
            content.set_removed(index, true);
        }
    }
}

fn is_wordless(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("img")
            | local_name!("picture")
            | local_name!("iframe")
            | local_name!("video")
            | local_name!("audio")
            | local_name!("embed")
            | local_name!("object")
            | local_name!("hr")
            | local_name!("input")
            | local_name!("math")
    )
}

/// Returns the smallest element that can stand alone and contains all chosen blocks.
pub(crate) fn root(page: &Page, outline: &Outline, chosen: &[bool]) -> Index {
    let first = chosen.iter().position(|&chosen| chosen).unwrap_or(0);
    let last = chosen.iter().rposition(|&chosen| chosen).unwrap_or(0);
    let holds = |group: &&super::outline::Group| group.holds(first) && group.holds(last);
    let Some(group) = outline.groups.iter().filter(holds).max_by_key(|group| group.level) else { return 0 };
    let innermost = group.innermost;
    std::iter::once(innermost).chain(page.ancestors(innermost)).find(|&index| may_stand_alone(page, index)).unwrap_or(0)
}

/// Whether an element keeps its meaning without its ancestors; parts of lists and tables and inline elements do not.
fn may_stand_alone(page: &Page, index: Index) -> bool {
    matches!(
        page.name(index),
        Some(
            &(local_name!("html")
                | local_name!("body")
                | local_name!("main")
                | local_name!("article")
                | local_name!("section")
                | local_name!("div")
                | local_name!("center")
                | local_name!("form")
                | local_name!("noscript"))
        )
    )
}
