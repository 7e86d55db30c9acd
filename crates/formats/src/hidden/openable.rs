//! Hidden parts that a reader opens with a click: tab panels, accordions, the text behind "show more".

use std::collections::HashSet;

use page::{Element, Index, Page};

use super::sheet::Sheets;
use crate::elements::{COLLAPSED, is_body_of_details};

/// Ancestors of a hidden part, and only children in it, whose ids are looked up.
const NEAR: usize = 3;
/// Attributes with the id of what a control opens.
const TARGETS: [&str; 6] =
    ["aria-controls", "data-target", "data-bs-target", "data-toggle-target", "data-tab", "data-collapse-target"];
/// Words in classes of what expands in place.
const CLASSES: [&str; 19] = [
    "accordion",
    "answer",
    "collapse",
    "collapsed",
    "collapsible",
    "details",
    "disclosure",
    "expandable",
    "expander",
    "faq",
    "foldable",
    "mw-collapsed",
    "spoiler",
    "tab",
    "tabbed",
    "tabcontent",
    "tabpanel",
    "tabs",
    "toggle",
];

/// What the controls of a page open.
pub(super) struct Controls {
    ids: HashSet<String>,
}

impl Controls {
    /// Looks for the controls of a page.
    pub(super) fn of(page: &Page) -> Self {
        let mut ids = HashSet::new();
        for element in page.positions().filter_map(|index| page.element(index)) {
            let targets = element.attrs.iter().filter(|attribute| TARGETS.contains(&&*attribute.name.local));
            for target in targets {
                ids.extend(target.value.split_ascii_whitespace().map(|id| id.trim_start_matches('#').to_owned()));
            }
            if is_control(element)
                && let Some(id) = element.attr("href").as_deref().and_then(|href| href.strip_prefix('#'))
            {
                ids.insert(id.to_owned());
            }
        }
        ids.remove("");
        Self { ids }
    }

    /// Whether a click shows the hidden element at `index`.
    pub(super) fn open(&self, page: &Page, index: Index, sheets: &Sheets) -> bool {
        let Some(element) = page.element(index) else { return false };
        let says = |name: &str, value: &str| element.attr(name).is_some_and(|found| found.eq_ignore_ascii_case(value));
        if says("hidden", "until-found") || says("role", "tabpanel") || element.attr(COLLAPSED).is_some() {
            return true;
        }
        self.names(page, index) || expands(element) || sheets.may_show(element) || is_body_of_details(page, index)
    }

    /// Whether a control names the element, or one close around it or alone in it.
    fn names(&self, page: &Page, index: Index) -> bool {
        let inner = std::iter::successors(Some(index), |&at| only_child(page, at)).take(NEAR);
        let outer = page.ancestors(index).take(NEAR);
        let is_named = |at: Index| page.attr(at, "id").is_some_and(|id| self.ids.contains(&*id));
        !self.ids.is_empty() && inner.chain(outer).any(is_named)
    }
}

/// Whether a link in the page opens what it leads to.
fn is_control(element: &Element) -> bool {
    element.attrs.iter().any(|attribute| match &*attribute.name.local {
        "role" => matches!(&*attribute.value, "tab" | "button"),
        "data-toggle" | "data-bs-toggle" | "aria-expanded" => true,
        _ => false,
    })
}

/// Whether the class of an element says that it expands in place.
fn expands(element: &Element) -> bool {
    element.attr("class").is_some_and(|class| {
        let mut words = class.split(|c: char| !c.is_ascii_alphanumeric());
        words.any(|word| CLASSES.iter().any(|name| word.eq_ignore_ascii_case(name)))
    })
}

fn only_child(page: &Page, index: Index) -> Option<Index> {
    let is_blank = |at: Index| page.text(at).is_some_and(|text| text.trim_start().is_empty());
    let mut children = page.children(index).take(NEAR + 2).filter(|&child| !is_blank(child));
    let child = children.next()?;
    (children.next().is_none() && page.element(child).is_some()).then_some(child)
}
