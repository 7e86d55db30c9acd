//! Main content by measuring text: noise is removed, then the element is found that holds nearly all of the rest.
//!
//! Text counts in full outside links and a little inside them. Nothing is removed that holds most of a page's text,
//! whatever its name; when too little is left, a weaker filter is used, down to the whole body.

use std::collections::HashMap;

use dom_query::local_name;

use crate::boilerplate::{Noise, judge};
use crate::content::Content;
use crate::page::{Index, Page};

/// Elements that hold more than this part of the page for one reason are content although they are called noise.
const CERTAIN_LIMIT: f64 = 0.5;
const LIKELY_LIMIT: f64 = 0.3;
/// The filtered page must keep this part of the whole, or at least [`ENOUGH`] letters.
const KEPT: f64 = 0.1;
const ENOUGH: f64 = 250.0;
/// `<main>` is trusted when it holds this part of what is left …
const TRUSTED_MAIN: f64 = 0.3;
/// … and `<article>` when it holds this part of `<main>` or of the page.
const TRUSTED_ARTICLE: f64 = 0.45;
/// A child with this part of its parent's text stands for the parent.
const DOMINANT: f64 = 0.8;
/// What a letter inside a link counts.
const LINKED: f64 = 0.25;
/// A block with more than this part of its text in links is a list of links …
const LINK_LIST: f64 = 0.7;
/// … and leaves a page that is mostly prose when it is no larger than this part of it.
const SMALL: f64 = 0.15;

/// Reduces the content to its main part. `free` says that the part may be chosen; otherwise only noise is removed.
pub(crate) fn keep_main(content: &mut Content, free: bool) {
    let whole = Measures::of(content);
    let noise = judgements(content, &whole);
    let total = whole.weight_of(content);
    for only_certain in [false, true] {
        let removed = remove_noise(content, &noise, only_certain);
        let rest = Measures::of(content);
        let left = rest.weight_of(content);
        if left > 0.0 && (left >= ENOUGH || left >= KEPT * total) {
            if free {
                choose_root(content, &rest);
                remove_link_lists(content, &rest);
            }
            return;
        }
        for index in removed {
            content.set_removed(index, false);
        }
    }
}

/// Letters below every node.
struct Measures {
    text: Vec<u32>,
    linked: Vec<u32>,
}

impl Measures {
    fn of(content: &Content) -> Measures {
        let page = content.page();
        let mut text = vec![0_u32; page.len()];
        let mut linked = vec![0_u32; page.len()];
        for index in (0..page.len()).rev() {
            if content.is_removed(index) {
                text[index] = 0;
                linked[index] = 0;
                continue;
            }
            if let Some(own) = page.text(index) {
                text[index] = letters(&own);
            } else if page.is(index, &local_name!("a")) {
                linked[index] = text[index];
            }
            if let Some(parent) = page.parent(index) {
                text[parent] += text[index];
                linked[parent] += linked[index];
            }
        }
        Measures { text, linked }
    }

    fn weight(&self, index: Index) -> f64 {
        let linked = f64::from(self.linked[index]);
        f64::from(self.text[index]) - linked + LINKED * linked
    }

    fn weight_of(&self, content: &Content) -> f64 {
        content.roots().iter().map(|&root| self.weight(root)).sum()
    }

    /// The part of the text that stands in links.
    fn linked(&self, index: Index) -> f64 {
        f64::from(self.linked[index]) / f64::from(self.text[index].max(1))
    }
}

/// Letters of all text nodes in `range`.
pub(crate) fn letters_of(page: &Page, range: std::ops::Range<Index>) -> usize {
    range.filter_map(|index| page.text(index)).map(|text| letters(&text) as usize).sum()
}

fn letters(text: &str) -> u32 {
    text.chars().filter(|c| !c.is_whitespace()).count() as u32
}

/// Elements that look like noise, in document order, without those whose reason covers too much of the page: where half
/// of the text stands in "comments", comments are what the page is about.
fn judgements(content: &Content, whole: &Measures) -> Vec<(Index, Noise)> {
    let page = content.page();
    let titles: Vec<Index> = (0..page.len()).filter(|&i| page.is(i, &local_name!("h1"))).collect();
    let mut found = Vec::new();
    let mut sums: HashMap<&'static str, (f64, Index)> = HashMap::new();
    for &root in content.roots() {
        // A root that the caller chose is never noise itself.
        for at in root + 1..page.end(root) {
            let Some(noise) = page.element(at).and_then(|element| judge(&element)) else {
                continue;
            };
            if !noise.certain && (holds_any(page, at, &titles) || is_header_of_part(page, at)) {
                continue;
            }
            let (sum, end) = sums.entry(noise.reason).or_default();
            if at >= *end {
                *sum += whole.weight(at);
                *end = page.end(at);
            }
            found.push((at, noise));
        }
    }
    let total = whole.weight_of(content).max(1.0);
    let limit = |noise: Noise| if noise.certain { CERTAIN_LIMIT } else { LIKELY_LIMIT };
    found.retain(|(_, noise)| sums.get(noise.reason).is_none_or(|(sum, _)| *sum <= limit(*noise) * total));
    found
}

fn holds_any(page: &Page, index: Index, sorted: &[Index]) -> bool {
    let first = sorted.partition_point(|&i| i < index);
    sorted.get(first).is_some_and(|&i| i < page.end(index))
}

/// The header of an article holds its title and author, not the site's navigation.
fn is_header_of_part(page: &Page, index: Index) -> bool {
    page.is(index, &local_name!("header"))
        && page.ancestors(index).any(|above| {
            page.is(above, &local_name!("article"))
                || page.is(above, &local_name!("main"))
                || page.is(above, &local_name!("section"))
        })
}

/// Removes what is noise; returns what was removed.
fn remove_noise(content: &mut Content, noise: &[(Index, Noise)], only_certain: bool) -> Vec<Index> {
    let chosen = noise.iter().filter(|(_, noise)| noise.certain || !only_certain).map(|(index, _)| *index);
    let fresh: Vec<Index> = chosen.filter(|&index| !content.is_removed(index)).collect();
    fresh.iter().for_each(|&index| content.set_removed(index, true));
    fresh
}

/// Starts at the landmark that holds the content and goes down as long as one child holds nearly all of it.
fn choose_root(content: &mut Content, rest: &Measures) {
    let page = content.page();
    let mut at = 0;
    for (landmark, part) in [(local_name!("main"), TRUSTED_MAIN), (local_name!("article"), TRUSTED_ARTICLE)] {
        let by_role = landmark == local_name!("main");
        let trusted = page
            .subtree(at)
            .filter(|&i| page.is(i, &landmark) || by_role && has_role_main(page, i))
            .max_by(|&a, &b| rest.weight(a).total_cmp(&rest.weight(b)))
            .filter(|&i| rest.weight(i) >= part * rest.weight(at));
        at = trusted.unwrap_or(at);
    }
    while let Some(child) = dominant_child(page, rest, at) {
        at = child;
    }
    let mut roots = vec![at];
    let has_title = page.subtree(at).any(|i| page.is(i, &local_name!("h1")) && rest.text[i] > 0);
    let title = (0..at).find(|&i| page.is(i, &local_name!("h1")) && rest.text[i] > 0 && page.end(i) <= at);
    if let Some(title) = title.filter(|&title| !has_title && is_kept(content, title)) {
        roots.insert(0, title);
    }
    content.set_roots(roots);
}

fn has_role_main(page: &Page, index: Index) -> bool {
    page.attr(index, "role").is_some_and(|role| role.trim().eq_ignore_ascii_case("main"))
}

fn dominant_child(page: &Page, rest: &Measures, at: Index) -> Option<Index> {
    let weight = rest.weight(at);
    let best = page.children(at).max_by(|&a, &b| rest.weight(a).total_cmp(&rest.weight(b)))?;
    (weight > 0.0 && rest.weight(best) >= DOMINANT * weight && may_stand_alone(page, best)).then_some(best)
}

fn is_kept(content: &Content, index: Index) -> bool {
    !content.is_removed(index) && !content.page().ancestors(index).any(|above| content.is_removed(above))
}

/// Lists, tables and text-level elements lose their meaning without what is around them.
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

/// Small lists of links in a page of prose: related pages, tags, contents of the section.
fn remove_link_lists(content: &mut Content, rest: &Measures) {
    let page = content.page();
    let Some(&root) = content.roots().last() else { return };
    if rest.linked(root) > 0.4 {
        return;
    }
    let largest = SMALL * f64::from(rest.text[root]);
    let mut at = root + 1;
    while at < page.end(root) {
        let block = matches!(
            page.name(at),
            Some(
                &(local_name!("ul")
                    | local_name!("ol")
                    | local_name!("div")
                    | local_name!("section")
                    | local_name!("aside"))
            )
        );
        let links = block && rest.linked(at) > LINK_LIST && f64::from(rest.text[at]) <= largest;
        if links && page.subtree(at).filter(|&i| page.is(i, &local_name!("a"))).nth(2).is_some() {
            content.set_removed(at, true);
        }
        at = if content.is_removed(at) { page.end(at) } else { at + 1 };
    }
}
