//! Classes of elements by their role on the page.

use page::{Element, Index, LocalName, Page, local_name};

/// Attribute of elements that a rendered page hides until the reader uses a control; the crate `browser` writes it.
pub(crate) const COLLAPSED: &str = "data-collapsed";

/// Limit on the boxes around the body of `<details>`.
const BOXES: usize = 3;
/// Limit on the children of each such box that are checked.
const PARTS: usize = 8;
/// Length limit of a text that is trimmed for a check, in bytes: the check may run many times on one text.
const SPACES: usize = 500;

/// Whether an element is a plain block box in a browser: no heading, list, table row or control.
pub(crate) fn is_box(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("address")
            | local_name!("article")
            | local_name!("aside")
            | local_name!("blockquote")
            | local_name!("body")
            | local_name!("caption")
            | local_name!("center")
            | local_name!("dd")
            | local_name!("details")
            | local_name!("dialog")
            | local_name!("div")
            | local_name!("dl")
            | local_name!("fieldset")
            | local_name!("figcaption")
            | local_name!("figure")
            | local_name!("footer")
            | local_name!("form")
            | local_name!("header")
            | local_name!("hgroup")
            | local_name!("main")
            | local_name!("nav")
            | local_name!("noscript")
            | local_name!("option")
            | local_name!("p")
            | local_name!("section")
            | local_name!("table")
            | local_name!("tbody")
            | local_name!("tfoot")
            | local_name!("thead")
    )
}

/// Whether an element is a heading, `h1` to `h6`.
pub(crate) fn is_heading(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("h1")
            | local_name!("h2")
            | local_name!("h3")
            | local_name!("h4")
            | local_name!("h5")
            | local_name!("h6")
    )
}

/// Whether an element labels others: headings, terms, table headers, captions, summaries.
pub(crate) fn is_label(name: &LocalName) -> bool {
    is_heading(name)
        || matches!(
            *name,
            local_name!("dt")
                | local_name!("th")
                | local_name!("caption")
                | local_name!("figcaption")
                | local_name!("summary")
        )
}

/// Whether an element is marked as a footnote or a list of footnotes. Sphinx uses `<aside>` for them, others
/// `<footer>`.
pub(crate) fn holds_footnotes(element: &Element) -> bool {
    element.attrs.iter().any(|attribute| match &*attribute.name.local {
        "role" => matches!(attribute.value.trim(), "doc-footnote" | "doc-endnote" | "doc-endnotes"),
        "class" => names_footnote(&attribute.value),
        "data-footnotes" => true,
        _ => false,
    })
}

/// Whether a class attribute names footnotes.
pub(crate) fn names_footnote(class: &str) -> bool {
    let class = class.to_ascii_lowercase();
    class.contains("footnote") || class.contains("endnote")
}

/// Whether an element is small enough for a label: at most `nodes` nodes with at most `bytes` of text.
pub(crate) fn is_short(page: &Page, index: Index, nodes: usize, bytes: usize) -> bool {
    let length = |text: &str| if text.len() > SPACES { text.len() } else { text.trim().len() };
    page.end(index) - index <= nodes
        && page.subtree(index).filter_map(|at| page.text(at)).map(length).sum::<usize>() <= bytes
}

/// Whether the element at `index` is the whole body of a `<details>` below its summary, possibly inside boxes. Opening
/// the `<details>` shows such an element, however the page hides it.
pub(crate) fn is_body_of_details(page: &Page, index: Index) -> bool {
    let (mut at, mut boxes) = (index, 0);
    while let Some(parent) = page.parent(at).filter(|_| boxes < BOXES && !page.is(at, &local_name!("summary"))) {
        let says_nothing = |beside: Index| {
            beside == at
                || page.is(beside, &local_name!("summary"))
                || page.text(beside).is_some_and(|text| text.len() <= SPACES && text.trim().is_empty())
        };
        if !page.children(parent).take(PARTS).all(says_nothing) {
            return false;
        }
        if page.is(parent, &local_name!("details")) {
            return true;
        }
        (at, boxes) = (parent, boxes + 1);
    }
    false
}
