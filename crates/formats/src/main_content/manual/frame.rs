//! The element that contains the text of a documentation page.

use page::{Index, Page, local_name};

use super::letters::Letters;
use super::{furniture, stands_in};

/// Share of an outer box's letters above which an inner box replaces it.
const NEARLY_ALL: f32 = 0.8;
/// Least letters of a declared box, as a share of the page's letters outside links.
const ENOUGH: f32 = 0.3;
/// Number of titles before the box that are checked.
const TITLES: usize = 8;
/// Limit on the letters of a header that is kept with its title: a lead, a date.
const LEAD: u32 = 600;

/// The element with the text of the page, and its title if that is outside of it.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) root: Index,
    /// Whether the page declares the element; otherwise it is the whole body.
    pub(super) declared: bool,
    pub(super) title: Option<Index>,
}

impl Frame {
    pub(super) fn of(page: &Page, letters: &Letters) -> Frame {
        let whole = page.first(&local_name!("body")).unwrap_or(0);
        let all = letters.plain(whole, page.end(whole));
        let is_enough = |&root: &Index| letters.all(root, page.end(root)) as f32 >= ENOUGH * all as f32;
        match declared(page, letters).filter(is_enough) {
            Some(root) => Frame { root, declared: true, title: title(page, letters, root) },
            None => Frame { root: whole, declared: false, title: None },
        }
    }

    pub(super) fn holds(&self, page: &Page, index: Index) -> bool {
        page.subtree(self.root).contains(&index)
    }
}

/// Returns the element that the page declares as its main part, or its only article.
fn declared(page: &Page, letters: &Letters) -> Option<Index> {
    let role = |index: Index, role: &str| page.attr(index, "role").is_some_and(|own| own.trim() == role);
    let is_main = |index: Index| page.is(index, &local_name!("main")) || role(index, "main");
    let is_article = |index: Index| page.is(index, &local_name!("article")) || role(index, "article");
    let (mut mains, mut articles) = (Vec::new(), Vec::new());
    for index in page.positions().filter(|&index| page.element(index).is_some()) {
        if is_main(index) && !furniture::is_hidden(page, index) {
            mains.push(index);
        } else if is_article(index) && !furniture::is_hidden(page, index) {
            articles.push(index);
        }
    }
    let size = |index: Index| letters.all(index, page.end(index));
    let main = mains.iter().copied().max_by_key(|&index| (size(index), std::cmp::Reverse(index)));
    // Of nested boxes, the innermost with nearly all of the text.
    let inner = |outer: Index, boxes: &[Index]| {
        let nearly = |&&index: &&Index| {
            page.subtree(outer).contains(&index) && size(index) as f32 > NEARLY_ALL * size(outer) as f32
        };
        boxes.iter().filter(nearly).copied().max().unwrap_or(outer)
    };
    match main {
        Some(main) => Some(inner(inner(main, &mains), &articles)),
        None => articles.first().copied().filter(|_| articles.len() == 1),
    }
}

/// Returns the title of the page if it is before the box and the box has none; with the header around it, if that is
/// small.
fn title(page: &Page, letters: &Letters, root: Index) -> Option<Index> {
    let is_title = |index: &Index| page.is(*index, &local_name!("h1"));
    if letters.titles(root, page.end(root)) > 0 {
        return None;
    }
    let outside = |&index: &Index| !stands_in(page, index, 0, |above| furniture::is_navigation(page, above));
    let title = (0..root).rev().filter(is_title).take(TITLES).find(outside)?;
    let around = page
        .ancestors(title)
        .find(|&above| matches!(page.name(above), Some(&(local_name!("header") | local_name!("hgroup")))));
    let small = |&header: &Index| {
        !page.subtree(header).contains(&root)
            && letters.plain(header, page.end(header)) <= LEAD
            && letters.linked(header, page.end(header)) * 3 < letters.all(header, page.end(header))
    };
    Some(around.filter(small).unwrap_or(title))
}
