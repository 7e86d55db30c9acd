//! Which part of a page is wanted: the caller's selectors, the main content, and what is never content.

use page::{Element, Index, LocalName, Page, local_name};

use crate::{furniture, main_content};

/// Value of the attribute `hidden` on what a browser has not shown. Another one says nothing: a page that scripts were not
/// run on may hide what they would show.
const UNSEEN: &str = "unseen";

/// What the caller wants of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentOptions {
    /// Leave out navigation, headers, footers, side bars, banners and the like.
    pub only_main_content: bool,
    /// CSS selectors; when there are any, only what matches is content.
    pub include_tags: Vec<String>,
    /// CSS selectors of what is not content.
    pub exclude_tags: Vec<String>,
}

impl Default for ContentOptions {
    fn default() -> Self {
        ContentOptions { only_main_content: true, include_tags: Vec::new(), exclude_tags: Vec::new() }
    }
}

/// The chosen part of a page. The page itself is not changed.
pub struct Content<'p> {
    page: &'p Page,
    /// In document order, none inside another.
    roots: Vec<Index>,
    removed: Vec<bool>,
    /// What the caller left out, in document order.
    excluded: Vec<Index>,
}

/// Receives the nodes of a content in document order.
pub(crate) trait Visitor {
    /// An element begins. False leaves out all below it; then there is no [`Visitor::leave`] either.
    fn enter(&mut self, index: Index, name: &LocalName) -> bool;
    /// A node that is not an element.
    fn text(&mut self, index: Index);
    /// An element ends.
    fn leave(&mut self, index: Index);
}

/// Chooses the content of `page`.
///
/// Never empty where the page has text, unless the selectors say so: when the main content cannot be told, the whole
/// body is taken; when that has no text, `<noscript>` counts.
pub fn content<'p>(page: &'p Page, options: &ContentOptions) -> Content<'p> {
    let excluded = page.select(&options.exclude_tags);
    let mut content = Content { page, roots: roots(page, options), removed: vec![false; page.node_count()], excluded };
    content.remove_machinery();
    for &index in &content.excluded {
        content.removed[index] = true;
    }
    content.use_noscript_if_richer();
    if options.only_main_content {
        main_content::keep_main(&mut content, options.include_tags.is_empty());
        furniture::remove(&mut content);
    }
    content
}

impl<'p> Content<'p> {
    /// Whether there is no text in it.
    pub fn is_empty(&self) -> bool {
        !self.has_text()
    }

    pub(crate) fn page(&self) -> &'p Page {
        self.page
    }

    pub(crate) fn set_roots(&mut self, roots: Vec<Index>) {
        self.roots = roots;
    }

    /// Whether the node was removed itself; nodes below a removed one do not say so.
    pub(crate) fn is_removed(&self, index: Index) -> bool {
        self.removed[index]
    }

    /// Whether the caller left out the node, or one around it.
    pub(crate) fn is_excluded(&self, index: Index) -> bool {
        let is_named = |at: Index| self.excluded.binary_search(&at).is_ok();
        !self.excluded.is_empty() && std::iter::once(index).chain(self.page.ancestors(index)).any(is_named)
    }

    pub(crate) fn set_removed(&mut self, index: Index, removed: bool) {
        self.removed[index] = removed;
    }

    /// Walks over what is left, without recursion.
    pub(crate) fn walk(&self, visitor: &mut impl Visitor) {
        let mut open: Vec<Index> = Vec::new();
        for &root in &self.roots {
            let mut at = root;
            while at < self.page.end(root) && !self.page.stop().is_set() {
                // Nodes are in document order, and each knows where its subtree ends: a stack of the open ones is all it takes.
                while open.last().is_some_and(|&above| self.page.end(above) <= at) {
                    open.pop().into_iter().for_each(|above| visitor.leave(above));
                }
                let mut descend = !self.removed[at];
                if descend {
                    match self.page.name(at) {
                        Some(name) => {
                            descend = visitor.enter(at, name);
                            if descend {
                                open.push(at);
                            }
                        }
                        None => visitor.text(at),
                    }
                }
                at = if descend { at + 1 } else { self.page.end(at) };
            }
            while let Some(above) = open.pop() {
                visitor.leave(above);
            }
        }
    }

    fn has_text(&self) -> bool {
        struct Search<'p>(&'p Page, bool);
        impl Visitor for Search<'_> {
            fn enter(&mut self, _index: Index, _name: &LocalName) -> bool {
                !self.1
            }
            fn text(&mut self, index: Index) {
                self.1 = self.1 || self.0.text(index).is_some_and(|text| !text.trim().is_empty());
            }
            fn leave(&mut self, _index: Index) {}
        }
        let mut search = Search(self.page, false);
        self.walk(&mut search);
        search.1
    }

    /// Scripts, styles and what belongs to the head; and what a browser that has shown the page says cannot be seen.
    fn remove_machinery(&mut self) {
        for index in 0..self.page.node_count() {
            let element = self.page.element(index);
            self.removed[index] =
                element.is_some_and(|element| is_machinery(&element.name.local) || is_unseen(element));
        }
    }

    /// Pages that are drawn by scripts often keep their text for readers without scripts.
    fn use_noscript_if_richer(&mut self) {
        let page = self.page;
        let may_stay = |index: &Index| self.excluded.binary_search(index).is_err();
        let all = (0..page.node_count()).filter(|&i| page.is(i, &local_name!("noscript")));
        let hidden: Vec<Index> = all.filter(may_stay).collect();
        let kept = hidden.iter().map(|&index| letters_of(page, page.subtree(index))).sum::<usize>();
        if kept == 0 {
            return;
        }
        struct Shown<'p>(&'p Page, usize);
        impl Visitor for Shown<'_> {
            fn enter(&mut self, _index: Index, _name: &LocalName) -> bool {
                true
            }
            fn text(&mut self, index: Index) {
                self.1 += letters_of(self.0, index..index + 1);
            }
            fn leave(&mut self, _index: Index) {}
        }
        let mut shown = Shown(page, 0);
        self.walk(&mut shown);
        if kept > shown.1 {
            hidden.into_iter().for_each(|index| self.removed[index] = false);
        }
    }
}

/// Looked at on every element of every page, so nothing is copied.
fn is_unseen(element: &Element) -> bool {
    element.attrs.iter().any(|attribute| attribute.name.local == local_name!("hidden") && &*attribute.value == UNSEEN)
}

fn is_machinery(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("script")
            | local_name!("style")
            | local_name!("noscript")
            | local_name!("meta")
            | local_name!("head")
            | local_name!("link")
            | local_name!("base")
            | local_name!("template")
    )
}

/// The outermost elements that the caller asks for, or the whole page.
fn roots(page: &Page, options: &ContentOptions) -> Vec<Index> {
    if options.include_tags.is_empty() {
        return vec![0];
    }
    let mut roots: Vec<Index> = Vec::new();
    for index in page.select(&options.include_tags) {
        // `select` returns document order, so what begins before the end of the last root stands inside it.
        if roots.last().is_none_or(|&last| index >= page.end(last)) {
            roots.push(index);
        }
    }
    roots
}

/// Letters of all text nodes in `range`.
fn letters_of(page: &Page, range: std::ops::Range<Index>) -> usize {
    range.filter_map(|index| page.text(index)).map(|text| text.chars().filter(|c| !c.is_whitespace()).count()).sum()
}
