//! The content of a page: the parts that the caller's selectors choose, without invisible machinery.

use page::{Element, Index, LocalName, Page, local_name};

use crate::hidden::Hidden;
use crate::markdown::media::has_unseen_label;
use crate::marks::is_row_of_tabs;

/// Value of the attribute `hidden` on elements that the browser found invisible; the crate `browser` writes it. Other
/// values of `hidden` do not count: on a page whose scripts have not run, they may hide what the scripts would show.
const UNSEEN: &str = "unseen";

/// Selection of content by the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentOptions {
    /// Whether to leave out navigation, headers, footers, side bars, banners and similar parts.
    pub only_main_content: bool,
    /// CSS selectors of the content; if empty, the whole page is content.
    pub include_tags: Vec<String>,
    /// CSS selectors of elements to leave out.
    pub exclude_tags: Vec<String>,
}

impl Default for ContentOptions {
    fn default() -> Self {
        ContentOptions { only_main_content: true, include_tags: Vec::new(), exclude_tags: Vec::new() }
    }
}

/// The selected part of a page. The page itself is not changed.
pub struct Content<'p> {
    page: &'p Page,
    /// Selected elements in document order, none inside another.
    roots: Vec<Index>,
    removed: Vec<bool>,
    /// Elements that the caller excluded, in document order.
    excluded: Vec<Index>,
    has_tabs: bool,
}

/// Visitor of the nodes of a [`Content`] in document order.
pub(crate) trait Visitor {
    /// Called at the start of an element. False skips its descendants and the call of [`Visitor::leave`].
    fn enter(&mut self, index: Index, name: &LocalName) -> bool;
    /// Called for a node that is not an element.
    fn text(&mut self, index: Index);
    /// Called at the end of an element.
    fn leave(&mut self, index: Index);
}

/// Selects the content of a page by the caller's selectors alone, without invisible machinery.
pub(crate) fn selected<'p>(page: &'p Page, options: &ContentOptions) -> Content<'p> {
    let excluded = page.select(&options.exclude_tags);
    let removed = vec![false; page.node_count()];
    let mut content = Content { page, roots: roots(page, options), removed, excluded, has_tabs: false };
    content.remove_machinery();
    for &index in &content.excluded {
        content.removed[index] = true;
    }
    content.use_noscript_if_richer();
    content
}

impl<'p> Content<'p> {
    /// Whether the content has no text.
    pub fn is_empty(&self) -> bool {
        !self.has_text()
    }

    /// Returns the same content without what readers do not see.
    #[must_use]
    pub fn without(&self, hidden: &Hidden) -> Self {
        let mut removed = self.removed.clone();
        hidden.nodes().iter().for_each(|&index| removed[index] = true);
        let roots = self.roots.iter().copied().filter(|&root| !hidden.covers(self.page, root)).collect();
        Self { page: self.page, roots, removed, excluded: self.excluded.clone(), has_tabs: self.has_tabs }
    }

    /// Whether readers see the whole content, so that its markdown is the same with and without what they do not see.
    pub fn is_all_seen(&self, hidden: &Hidden) -> bool {
        struct Search<'h> {
            page: &'h Page,
            hidden: &'h [Index],
            is_found: bool,
        }
        impl Visitor for Search<'_> {
            fn enter(&mut self, index: Index, _name: &LocalName) -> bool {
                self.text(index);
                self.is_found = self.is_found || self.page.element(index).is_some_and(has_unseen_label);
                !self.is_found
            }
            fn text(&mut self, index: Index) {
                self.is_found = self.is_found || self.hidden.binary_search(&index).is_ok();
            }
            fn leave(&mut self, _index: Index) {}
        }
        let is_found = self.roots.iter().any(|&root| hidden.covers(self.page, root));
        let mut search = Search { page: self.page, hidden: hidden.nodes(), is_found };
        self.walk(&mut search);
        !search.is_found
    }

    pub(crate) fn page(&self) -> &'p Page {
        self.page
    }

    /// Whether the page has a row of tabs.
    pub(crate) fn has_tabs(&self) -> bool {
        self.has_tabs
    }

    pub(crate) fn set_roots(&mut self, roots: Vec<Index>) {
        self.roots = roots;
    }

    /// Whether the node itself was removed; descendants of a removed node are not marked.
    pub(crate) fn is_removed(&self, index: Index) -> bool {
        self.removed[index]
    }

    /// Whether the caller excluded the node or one of its ancestors.
    pub(crate) fn is_excluded(&self, index: Index) -> bool {
        let is_named = |at: Index| self.excluded.binary_search(&at).is_ok();
        !self.excluded.is_empty() && std::iter::once(index).chain(self.page.ancestors(index)).any(is_named)
    }

    pub(crate) fn set_removed(&mut self, index: Index, removed: bool) {
        self.removed[index] = removed;
    }

    /// Visits the remaining nodes, without recursion.
    pub(crate) fn walk(&self, visitor: &mut impl Visitor) {
        let mut open: Vec<Index> = Vec::new();
        for &root in &self.roots {
            let mut at = root;
            while at < self.page.end(root) && !self.page.stop().is_set() {
                // Nodes are in document order and know the end of their subtree, so a stack of the open ones suffices.
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

    /// Removes scripts, styles, the parts of `<head>`, and elements that a browser found invisible.
    ///
    /// Looks for tabs in passing: a walk of its own over all attributes costs as much as this one.
    fn remove_machinery(&mut self) {
        for index in 0..self.page.node_count() {
            if let Some(element) = self.page.element(index) {
                self.removed[index] = is_machinery(&element.name.local) || is_unseen(element);
                self.has_tabs = self.has_tabs || is_row_of_tabs(element);
            }
        }
    }

    /// Restores `<noscript>` if it has more text than the rest: pages rendered by scripts often keep their text there.
    fn use_noscript_if_richer(&mut self) {
        let page = self.page;
        let may_stay = |index: &Index| self.excluded.binary_search(index).is_err();
        let all = (0..page.node_count()).filter(|&i| page.is(i, &local_name!("noscript")));
        let hidden: Vec<Index> = all.filter(may_stay).collect();
        let kept = hidden.iter().map(|&index| letters_of(page, page.subtree(index))).sum::<usize>();
        if kept == 0 {
            return;
        }
        struct TextBelow<'p>(&'p Page, usize);
        impl Visitor for TextBelow<'_> {
            fn enter(&mut self, _index: Index, _name: &LocalName) -> bool {
                true
            }
            fn text(&mut self, index: Index) {
                self.1 += letters_of(self.0, index..index + 1);
            }
            fn leave(&mut self, _index: Index) {}
        }
        let mut shown = TextBelow(page, 0);
        self.walk(&mut shown);
        if kept > shown.1 {
            hidden.into_iter().for_each(|index| self.removed[index] = false);
        }
    }
}

/// Whether a browser marked the element as invisible. Runs for every element, so it copies nothing.
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

/// Returns the outermost elements that the caller selects, or the whole page.
fn roots(page: &Page, options: &ContentOptions) -> Vec<Index> {
    if options.include_tags.is_empty() {
        return vec![0];
    }
    let mut roots: Vec<Index> = Vec::new();
    for index in page.select(&options.include_tags) {
        // `select` returns document order: an element that begins before the end of the last root is inside it.
        if roots.last().is_none_or(|&last| index >= page.end(last)) {
            roots.push(index);
        }
    }
    roots
}

/// Counts the letters of all text nodes in `range`, without white space.
fn letters_of(page: &Page, range: std::ops::Range<Index>) -> usize {
    range.filter_map(|index| page.text(index)).map(|text| text.chars().filter(|c| !c.is_whitespace()).count()).sum()
}
