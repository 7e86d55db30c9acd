//! Removal of page furniture inside the main content: buttons, edit links, skip links.

use page::{Element, Index, LocalName, Page, local_name};

use crate::content::{Content, Visitor};
use crate::elements::is_label;
use crate::marks::{holds_any, is_copy_control};

/// Limit on the words of a button; a longer one is part of the text.
const MAX_WORDS: usize = 6;
/// Limit on the siblings of a link that are checked; a link among more is kept.
const BESIDE: usize = 200;
/// Classes of edit links, which lead to the source of a page.
const EDIT: [&str; 12] = [
    "mw-editsection",
    "theme-edit-this-page",
    "edit-this-page",
    "edit-page",
    "edit-page-link",
    "edit-link",
    "editlink",
    "edit-on-github",
    "edit-github",
    "page-edit",
    "page-edit-link",
    "md-content__button",
];
/// Classes of skip links, which jump over parts of the page.
const SKIP: [&str; 8] = [
    "skip-link",
    "skiplink",
    "skip-links",
    "skip-to-content",
    "skip-nav",
    "skip-to-main-content",
    "skip-to-main",
    "skiptocontent",
];
const EDIT_WORDS: [&str; 10] = [
    "edit this page",
    "edit page",
    "edit on git",
    "edit this article",
    "edit this doc",
    "suggest an edit",
    "suggest edits",
    "improve this page",
    "improve this doc",
    "propose changes",
];
const SKIP_WORDS: [&str; 5] = ["skip to content", "skip to main", "skip to the", "jump to content", "skip navigation"];

/// Removes page furniture from what is left of `content`.
pub(crate) fn remove(content: &mut Content) {
    let mut search = Search { page: content.page(), found: Vec::new() };
    content.walk(&mut search);
    search.found.into_iter().for_each(|index| content.set_removed(index, true));
}

struct Search<'p> {
    page: &'p Page,
    found: Vec<Index>,
}

impl Visitor for Search<'_> {
    fn enter(&mut self, index: Index, name: &LocalName) -> bool {
        let page = self.page;
        let is_found = match *name {
            local_name!("button") | local_name!("a") | local_name!("div") | local_name!("span") => {
                page.element(index).is_some_and(|element| is_furniture(page, index, element))
            }
            _ => false,
        };
        if is_found {
            self.found.push(index);
        }
        !is_found
    }

    fn text(&mut self, _index: Index) {}

    fn leave(&mut self, _index: Index) {}
}

fn is_furniture(page: &Page, index: Index, element: &Element) -> bool {
    match element.name.local {
        local_name!("button") => is_control(page, index, element),
        local_name!("a") => is_way_out(page, index, element),
        _ => element.attrs.iter().any(|attribute| match &*attribute.name.local {
            // A fast check first: most classes do not contain the word.
            "class" => attribute.value.contains("edit") && holds_any(element, &EDIT),
            "role" => is_button(element) && is_control(page, index, element),
            _ => false,
        }),
    }
}

fn is_button(element: &Element) -> bool {
    element.attr("role").is_some_and(|role| role.eq_ignore_ascii_case("button"))
}

/// Whether a button is only a control. Buttons that open or label a part of the text belong to the text.
fn is_control(page: &Page, index: Index, element: &Element) -> bool {
    if is_copy_control(element) {
        return true;
    }
    let opens = ["aria-controls", "aria-expanded", "data-toggle", "data-bs-toggle", "data-target", "data-bs-target"]
        .iter()
        .any(|name| element.attr(name).is_some());
    let is_tab = element.attr("role").is_some_and(|role| role.eq_ignore_ascii_case("tab"));
    if opens || is_tab || names_a_part(page, index) {
        return false;
    }
    let words: usize =
        page.subtree(index).filter_map(|at| page.text(at)).map(|text| text.split_whitespace().count()).sum();
    words <= MAX_WORDS
}

/// Whether a button is, or is inside, a heading, term, caption, paragraph or table cell.
fn names_a_part(page: &Page, index: Index) -> bool {
    let is_name = |at: Index| {
        page.name(at).is_some_and(|name| is_label(name) || matches!(*name, local_name!("p") | local_name!("td")))
    };
    page.ancestors(index).take(4).any(is_name) || page.subtree(index).skip(1).any(is_name)
}

/// Whether a link is an edit link or a skip link.
fn is_way_out(page: &Page, index: Index, element: &Element) -> bool {
    let Some(href) = element.attr("href") else { return false };
    if holds_any(element, &EDIT) {
        return true;
    }
    let is_inside = href.starts_with('#');
    if is_inside && holds_any(element, &SKIP) {
        return true;
    }
    if page.end(index) - index > 12 {
        return false;
    }
    let text = page.text_of(index);
    let text = text.trim();
    if text.len() > 60 || text.is_empty() {
        return false;
    }
    let text = text.to_lowercase();
    let begins = |words: &[&str]| words.iter().any(|start| text.starts_with(start));
    is_inside && begins(&SKIP_WORDS) || begins(&EDIT_WORDS) && !is_inside && is_alone(page, index)
}

/// Whether a link stands alone, rather than in a sentence.
fn is_alone(page: &Page, index: Index) -> bool {
    page.parent(index).is_some_and(|parent| {
        let mut beside = page.children(parent);
        let says_nothing = |child: Index| child == index || page.text(child).is_none_or(|text| text.trim().len() < 4);
        beside.by_ref().take(BESIDE).all(says_nothing) && beside.next().is_none()
    })
}
