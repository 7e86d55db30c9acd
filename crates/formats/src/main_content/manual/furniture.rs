//! Detection of site furniture inside the frame of a documentation page.

use std::collections::HashSet;

use base::Fnv;
use page::{Element, Index, Page, local_name};

use super::frame::Frame;
use super::letters::Letters;
use super::names::{self, Mark};
use crate::elements::{self, COLLAPSED, holds_footnotes, is_body_of_details};
use crate::main_content::hints::hides;
use crate::main_content::outline::{Block, Outline};

/// Limit on the letters of a box that is furniture by its name alone; applies if the page declares no main part.
const SHORT: u32 = 200;
/// Number of nodes at the start of a box that are searched for its heading.
const BEGIN: usize = 40;
/// Number of siblings of an `aside` that are checked.
const BESIDE: usize = 400;
/// Limit on the text of a permalink, in bytes.
const MARK: usize = 40;

/// Elements that are furniture, and all nodes that are not content.
pub(super) struct Furniture {
    pub(super) elements: Vec<Index>,
    covered: Vec<bool>,
}

/// Decides which elements are furniture.
struct FurnitureJudge<'a> {
    page: &'a Page,
    letters: &'a Letters,
    frame: &'a Frame,
    /// Hashes of the ids of elements that controls of the page open.
    opened: HashSet<u64>,
}

impl Furniture {
    pub(super) fn of(page: &Page, letters: &Letters, frame: &Frame) -> Furniture {
        let judge = FurnitureJudge { page, letters, frame, opened: opened(page) };
        let mut found = Furniture { elements: Vec::new(), covered: vec![false; page.node_count()] };
        let mut details_until = 0;
        let mut at = 0;
        while at < page.node_count() && !page.stop().is_set() {
            let inside = frame.holds(page, at) || frame.title.is_some_and(|title| page.subtree(title).contains(&at));
            if judge.is_furniture(at) {
                found.elements.push(at);
                found.covered[page.subtree(at)].fill(true);
                at = page.end(at);
                continue;
            }
            if page.is(at, &local_name!("details")) {
                details_until = details_until.max(page.end(at));
            }
            found.covered[at] = !inside && at >= details_until;
            // Classes inside code belong to the syntax highlighter, so only line numbers and buttons are removed there.
            let is_code = page.is(at, &local_name!("pre"));
            if is_code {
                let covered = found.covered[at];
                found.covered[page.subtree(at)].fill(covered);
                found.numbers_of_lines(page, at);
            }
            at = if is_code { page.end(at) } else { at + 1 };
        }
        found
    }

    /// Whether any part of the block is content.
    pub(super) fn shows(&self, outline: &Outline, block: &Block) -> bool {
        outline.texts[block.texts.clone()].iter().any(|&text| !self.covered[text])
    }

    /// Marks line numbers and buttons inside code as furniture.
    fn numbers_of_lines(&mut self, page: &Page, code: Index) {
        for index in page.subtree(code) {
            let Some(element) = page.element(index) else { continue };
            let is_number = || names::tokens(element).any(|token| names::mark(token) == Some(Mark::LineNumber));
            if element.name.local == local_name!("button") || is_number() {
                self.elements.push(index);
                self.covered[page.subtree(index)].fill(true);
            }
        }
    }
}

impl FurnitureJudge<'_> {
    fn is_furniture(&self, index: Index) -> bool {
        let Some(element) = self.page.element(index) else { return false };
        let (page, frame) = (self.page, self.frame);
        if page.subtree(index).contains(&frame.root) || frame.title == Some(index) {
            return false;
        }
        if is_navigation(page, index) || self.is_closed(index, element) {
            return true;
        }
        match element.name.local {
            local_name!("aside") | local_name!("footer") if holds_footnotes(element) => return false,
            local_name!("footer") => return !stands_in_quote(page, index),
            local_name!("aside") => return self.is_aside_of_site(index, element),
            local_name!("header") => return self.is_header_of_site(index),
            _ if role_is(element, "banner") => return self.is_header_of_site(index),
            local_name!("button") => return !self.opens_text(index, element),
            local_name!("select") | local_name!("option") | local_name!("datalist") => return true,
            local_name!("a") if is_permalink(page, index, element) => return true,
            _ if is_ligature(page, index, element) => return true,
            _ => {}
        }
        self.is_furniture_by_name(index, element)
    }

    fn is_furniture_by_name(&self, index: Index, element: &Element) -> bool {
        let name = &element.name.local;
        let says_little = elements::is_heading(name)
            || matches!(
                *name,
                local_name!("html")
                    | local_name!("body")
                    | local_name!("main")
                    | local_name!("article")
                    | local_name!("code")
                    | local_name!("pre")
                    | local_name!("tr")
                    | local_name!("tbody")
            );
        if says_little || is_callout_element(element) {
            return false;
        }
        let inline = matches!(*name, local_name!("a") | local_name!("span") | local_name!("em") | local_name!("b"));
        names::tokens(element).any(|token| match names::mark(token) {
            Some(Mark::Site) => !self.is_named_after_its_heading(index, token),
            Some(Mark::LineNumber) => true,
            Some(Mark::Place) if !inline => self.is_place_of_links(index),
            Some(Mark::Top) if !inline => self.is_top_of_site(index),
            _ => false,
        })
    }

    /// Whether a name is only the slug of the element's heading: a chapter called "Navigation" is not navigation.
    fn is_named_after_its_heading(&self, index: Index, token: &str) -> bool {
        let heading = self.page.subtree(index).take(BEGIN).find(|&below| is_heading(self.page, below));
        heading.is_some_and(|heading| {
            let text = self.page.text_of(heading).to_lowercase();
            names::parts(token).all(|part| text.contains(&part.to_lowercase()))
                && self.letters.linked(index, self.page.end(index)) * 2 < self.letters.all(index, self.page.end(index))
        })
    }

    /// Whether an element named `sidebar`, `menu` or similar is furniture: if most of its text is links, or if it is
    /// short on a page that declares no main part.
    fn is_place_of_links(&self, index: Index) -> bool {
        let end = self.page.end(index);
        let (all, linked) = (self.letters.all(index, end), self.letters.linked(index, end));
        let short = !self.frame.declared && all <= SHORT && !self.page.is(index, &local_name!("p"));
        if self.is_list_of_chapters(index) {
            return false;
        }
        (linked * 2 > all && !self.holds_the_text(index)) || short && self.letters.headings(index, end) == 0
    }

    /// Whether an element is a table of contents that is content: a list or table of links to other pages below a
    /// heading.
    fn is_list_of_chapters(&self, index: Index) -> bool {
        let page = self.page;
        let is_table = page.is(index, &local_name!("table"));
        if !is_table && !matches!(page.name(index), Some(&(local_name!("ul") | local_name!("ol") | local_name!("dl"))))
        {
            return false;
        }
        let says_toc = |token: &str| names::parts(token).any(|part| part.eq_ignore_ascii_case("toc"));
        let named = is_table || page.element(index).is_some_and(|element| names::tokens(element).any(says_toc));
        let link = page.subtree(index).take(BEGIN).find_map(|below| page.attr(below, "href"));
        named && self.letters.headings(self.frame.root, index) > 0 && link.is_some_and(|href| !href.starts_with('#'))
    }

    /// Whether an element is a short box without a heading, before the title.
    fn is_top_of_site(&self, index: Index) -> bool {
        let end = self.page.end(index);
        !self.frame.declared
            && self.letters.all(index, end) <= SHORT
            && self.letters.headings(index, end) == 0
            && self.letters.titles(end, self.page.end(self.frame.root)) > 0
    }

    /// Whether an element contains most of the text. A wrapper may be named after one of its parts, and the list of
    /// links of a landing page is its text.
    fn holds_the_text(&self, index: Index) -> bool {
        let (end, root) = (self.page.end(index), self.frame.root);
        let behind = self.page.end(root);
        let most_text = self.letters.plain(index, end) * 2 > self.letters.plain(root, behind);
        let most_of_all = self.frame.declared && self.letters.all(index, end) * 2 > self.letters.all(root, behind);
        most_text || most_of_all
    }

    /// Whether an element is hidden, and no control of the page opens it.
    fn is_closed(&self, index: Index, element: &Element) -> bool {
        if !is_hidden(self.page, index) || is_body_of_details(self.page, index) {
            return false;
        }
        let id = element.attr("id").map(|id| hash(&id));
        let is_part = names::tokens(element).any(|token| names::mark(token) == Some(Mark::Opens));
        !(id.is_some_and(|id| self.opened.contains(&id)) || is_part || role_is(element, "tabpanel"))
    }

    /// Whether an `aside` belongs to the site: it consists of links or stands outside the text. Notes of the text are
    /// `aside` elements too.
    fn is_aside_of_site(&self, index: Index, element: &Element) -> bool {
        if is_callout_element(element) || role_is(element, "note") {
            return false;
        }
        let end = self.page.end(index);
        let among_text = self.page.parent(index).is_some_and(|parent| {
            self.page.children(parent).take(BESIDE).any(|beside| self.page.is(beside, &local_name!("p")))
        });
        !among_text || self.letters.linked(index, end) * 2 > self.letters.all(index, end)
    }

    /// Whether a header belongs to the site. One with a heading usually belongs to the text.
    fn is_header_of_site(&self, index: Index) -> bool {
        let end = self.page.end(index);
        let has_heading = self.letters.headings(index, end) > 0;
        let linked = self.letters.linked(index, end) * 2 > self.letters.all(index, end);
        if has_heading { linked && !self.frame.declared } else { !self.frame.declared || linked }
    }

    /// Whether a button labels the text that it opens, as in accordions and tabs.
    fn opens_text(&self, index: Index, element: &Element) -> bool {
        let controls = element.attr("aria-controls").is_some() || element.attr("aria-expanded").is_some();
        let in_heading = self.page.ancestors(index).take(2).any(|above| is_heading(self.page, above));
        role_is(element, "tab") || in_heading || controls && self.frame.declared
    }
}

/// Whether an element is navigation by its tag or role, or a popup. An open dialog is part of the page like any other
/// box.
pub(super) fn is_navigation(page: &Page, index: Index) -> bool {
    let Some(element) = page.element(index) else { return false };
    let is_dialog = element.name.local == local_name!("dialog");
    let is_open = is_dialog && element.attr("open").is_some();
    element.name.local == local_name!("nav")
        || is_dialog && !is_open
        || element.attr("role").is_some_and(|role| match role.trim() {
            "dialog" | "alertdialog" => !is_open,
            role => matches!(role, "navigation" | "search" | "menu" | "menubar" | "contentinfo" | "toolbar"),
        })
}

/// Whether the markup hides the element permanently, so that no control of a rendered page shows it.
pub(super) fn is_hidden(page: &Page, index: Index) -> bool {
    let Some(element) = page.element(index) else { return false };
    let hidden = element.attr("hidden").is_some_and(|value| !value.eq_ignore_ascii_case("until-found"));
    (hidden || element.attr("style").is_some_and(|style| hides(&style))) && element.attr(COLLAPSED).is_none()
}

fn is_heading(page: &Page, index: Index) -> bool {
    page.name(index).is_some_and(elements::is_heading)
}

fn role_is(element: &Element, role: &str) -> bool {
    element.attr("role").is_some_and(|own| own.trim() == role)
}

fn is_callout_element(element: &Element) -> bool {
    names::tokens(element).any(names::is_callout)
}

fn stands_in_quote(page: &Page, index: Index) -> bool {
    let is_quote = |above| matches!(page.name(above), Some(&(local_name!("blockquote") | local_name!("figure"))));
    page.ancestors(index).take(4).any(is_quote)
}

/// Whether a link is a permalink sign such as `¶`.
fn is_permalink(page: &Page, index: Index, element: &Element) -> bool {
    let here = element.attr("href").is_some_and(|href| href.starts_with('#'));
    if !here || page.end(index) - index > 6 {
        return false;
    }
    let text = page.text_of(index);
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\u{200b}');
    text.len() <= MARK
        && matches!(text, "¶" | "#" | "§" | "🔗" | "Permalink" | "Link to this heading" | "Link to this section")
}

/// Whether an element's text is a ligature: icon fonts show words such as `expand_more` as icons.
fn is_ligature(page: &Page, index: Index, element: &Element) -> bool {
    page.end(index) - index <= 2
        && (&*element.name.local == "mat-icon"
            || names::tokens(element)
                .any(|token| token.starts_with("material-icons") || token.starts_with("material-symbols")))
}

fn hash(id: &str) -> u64 {
    Fnv::default().with(id.as_bytes()).value()
}

/// Returns the hashes of the ids that controls and links of the page refer to.
fn opened(page: &Page) -> HashSet<u64> {
    let mut found = HashSet::new();
    for index in page.positions() {
        let Some(element) = page.element(index) else { continue };
        for name in ["aria-controls", "data-bs-target", "data-target"] {
            if let Some(ids) = element.attr(name) {
                found.extend(ids.split_ascii_whitespace().map(|id| hash(id.trim_start_matches('#'))));
            }
        }
        if element.name.local == local_name!("a")
            && let Some(id) = element.attr("href").and_then(|href| href.strip_prefix('#').map(hash))
        {
            found.insert(id);
        }
    }
    found
}
