//! Main content by measuring text: noise is removed, then the element is found that holds nearly all of the rest.
//!
//! Text outside links ("prose") is what counts. Nothing is removed that holds most of a page's prose, whatever its name,
//! and when too little is left a weaker filter is used, down to the whole body.

use dom_query::local_name;

use crate::boilerplate::{Noise, judge};
use crate::content::Content;
use crate::page::Index;

/// An element with more than this part of the page's prose is content although it is called noise.
const CERTAIN_LIMIT: f64 = 0.5;
const LIKELY_LIMIT: f64 = 0.3;
/// The filtered page must keep this part of the prose, or at least [`ENOUGH`] letters.
const KEPT: f64 = 0.1;
const ENOUGH: usize = 250;
/// A child with this part of its parent's prose stands for the parent.
const DOMINANT: f64 = 0.8;

/// Reduces the content to its main part. `free` says that the part may be chosen; otherwise only noise is removed.
pub(crate) fn keep_main(content: &mut Content, free: bool) {
    let whole = Measures::of(content);
    let total = whole.prose_of(content);
    for strictest in [Noise::Likely, Noise::Certain] {
        let removed = remove_noise(content, &whole, strictest);
        let rest = Measures::of(content);
        let left = rest.prose_of(content);
        let enough = left >= ENOUGH || left as f64 >= KEPT * total as f64;
        if rest.text_of(content) > 0 && enough {
            if free {
                choose_root(content, &rest);
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
            match page.name(index) {
                None => text[index] = page.text(index).map_or(0, |text| letters(&text)),
                Some(&local_name!("a")) => linked[index] = text[index],
                Some(_) => {}
            }
            if let Some(parent) = page.parent(index) {
                text[parent] += text[index];
                linked[parent] += linked[index];
            }
        }
        Measures { text, linked }
    }

    fn prose(&self, index: Index) -> usize {
        self.text[index].saturating_sub(self.linked[index]) as usize
    }

    fn prose_of(&self, content: &Content) -> usize {
        content.roots().iter().map(|&root| self.prose(root)).sum()
    }

    fn text_of(&self, content: &Content) -> usize {
        content.roots().iter().map(|&root| self.text[root] as usize).sum()
    }
}

fn letters(text: &str) -> u32 {
    text.chars().filter(|c| !c.is_whitespace()).count() as u32
}

/// Removes what is at least as noisy as `strictest` and small enough; returns what was removed.
fn remove_noise(content: &mut Content, whole: &Measures, strictest: Noise) -> Vec<Index> {
    let page = content.page();
    let total = whole.prose_of(content).max(1) as f64;
    let mut removed = Vec::new();
    for root in content.roots().to_vec() {
        // A root that the caller chose is never noise itself.
        let mut at = root + 1;
        while at < page.end(root) {
            if content.is_removed(at) {
                at = page.end(at);
                continue;
            }
            let noise = page.element(at).map_or(Noise::None, |element| judge(&element));
            let share = whole.prose(at) as f64 / total;
            let limit = if noise == Noise::Certain { CERTAIN_LIMIT } else { LIKELY_LIMIT };
            if noise >= strictest && noise > Noise::None && share <= limit {
                content.set_removed(at, true);
                removed.push(at);
                at = page.end(at);
            } else {
                at += 1;
            }
        }
    }
    removed
}

/// Goes down from the body as long as one child holds nearly all prose.
fn choose_root(content: &mut Content, rest: &Measures) {
    let page = content.page();
    let mut at = 0;
    loop {
        let prose = rest.prose(at) as f64;
        let best = page.children(at).filter(|&child| page.name(child).is_some()).max_by_key(|&child| rest.prose(child));
        match best {
            Some(child) if prose > 0.0 && rest.prose(child) as f64 >= DOMINANT * prose && may_stand_alone(content, child) => at = child,
            _ => break,
        }
    }
    let mut roots = vec![at];
    let title = page.first(&local_name!("h1"));
    if let Some(title) = title.filter(|&title| title < at && !is_hidden(content, title) && !page.subtree(at).any(|i| page.is(i, &local_name!("h1")))) {
        roots.insert(0, title);
    }
    content.set_roots(roots);
}

fn is_hidden(content: &Content, index: Index) -> bool {
    content.is_removed(index) || content.page().ancestors(index).any(|above| content.is_removed(above))
}

/// Lists, tables and text-level elements lose their meaning without what is around them.
fn may_stand_alone(content: &Content, index: Index) -> bool {
    matches!(
        content.page().name(index),
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
