//! Controls with which a visitor can open hidden parts of a page, as far as the markup tells.

use std::collections::HashSet;

use super::snapshot::{Document, Kind, Node, Snapshot, start};
use super::tree::Tree;

/// Maximum number of nodes inside an element that are searched for a control.
const MAX_NODES: usize = 40;
/// Maximum length of a class, a list of ids or a button's label that is examined, in bytes.
pub(super) const MAX_CLASS: usize = 300;
/// Values of `data-toggle` for components that script libraries open over the page or drop down.
const LAYERS: &[&str] = &["modal", "dropdown", "offcanvas", "popover", "tooltip"];
/// Words in class names of overlays and navigation.
const LAYER_CLASSES: &[&str] = &[
    "autocomplete",
    "consent",
    "cookie",
    "cookies",
    "dialog",
    "drawer",
    "dropdown",
    "flyout",
    "gdpr",
    "lightbox",
    "login",
    "megamenu",
    "menu",
    "modal",
    "nav",
    "navbar",
    "navigation",
    "newsletter",
    "offcanvas",
    "overlay",
    "popover",
    "popup",
    "search",
    "sidebar",
    "signin",
    "toast",
    "tooltip",
];
/// Roles of overlays, navigation and status messages.
const LAYER_ROLES: &[&str] = &[
    "alert",
    "alertdialog",
    "combobox",
    "dialog",
    "listbox",
    "log",
    "menu",
    "menubar",
    "navigation",
    "search",
    "status",
    "tooltip",
    "tree",
];
/// Words in class names of validation messages of forms.
const NOTICES: &[&str] = &["error", "feedback", "invalid", "validation"];
/// Beginnings of labels of "show more" buttons.
const MORE: &[&str] = &[
    "show more",
    "show all",
    "show full",
    "show answer",
    "show details",
    "show the rest",
    "read more",
    "read the rest",
    "read full",
    "read all",
    "see more",
    "see all",
    "see full",
    "view more",
    "view all",
    "view full",
    "expand",
    "continue reading",
    "more",
    "load more",
    "display more",
    "full text",
    "mehr",
    "weiterlesen",
    "alles anzeigen",
    "lire la suite",
    "voir plus",
    "afficher plus",
    "ver más",
    "mostrar más",
    "leer más",
    "ver mais",
    "leia mais",
    "mostra altro",
    "leggi tutto",
    "meer",
    "lees meer",
    "visa mer",
    "läs mer",
    "читать далее",
    "показать",
    "ещё",
    "展开",
    "更多",
    "もっと見る",
    "続きを読む",
    "더보기",
];

/// Visible controls of a document.
pub(super) struct Controls<'s> {
    snapshot: &'s Snapshot,
    document: &'s Document,
    tree: &'s Tree,
    /// Ids of the elements that they open.
    targets: HashSet<&'s str>,
    /// Ids of all elements.
    ids: HashSet<&'s str>,
    /// Ids of checkboxes and radio buttons.
    switches: HashSet<&'s str>,
}

impl<'s> Controls<'s> {
    pub(super) fn of(snapshot: &'s Snapshot, document: &'s Document, tree: &'s Tree) -> Self {
        let mut controls =
            Self { snapshot, document, tree, targets: HashSet::new(), ids: HashSet::new(), switches: HashSet::new() };
        for node in (0..tree.kinds.len()).filter(|&node| tree.kinds[node] == Kind::Element) {
            let id = snapshot.attribute(document, node, "id").filter(|id| id.len() <= MAX_CLASS);
            let switch = id.filter(|_| controls.is_switch(node));
            controls.ids.extend(id);
            controls.switches.extend(switch);
            let is_seen = tree.seen.shows[node] || tree.seen.is_laid[node];
            if is_seen && !controls.opens_layer(node) {
                controls.note(node);
            }
        }
        controls
    }

    fn note(&mut self, node: Node) {
        let is_tab = self.attribute(node, "role") == Some("tab");
        let toggles = ["data-toggle", "data-bs-toggle"].into_iter().any(|name| self.attribute(node, name).is_some());
        let names = |name: &str| {
            let names = self.snapshot.attribute(self.document, node, name).unwrap_or_default();
            start(names, MAX_CLASS).split_whitespace()
        };
        let mut targets: Vec<&'s str> = names("aria-controls").collect();
        for name in ["data-target", "data-bs-target"] {
            targets.extend(names(name).filter_map(|target| target.strip_prefix('#')));
        }
        if is_tab || toggles {
            targets.extend(names("href").filter_map(|target| target.strip_prefix('#')));
        }
        self.targets.extend(targets);
    }

    /// Whether the control opens an overlay or a dropdown.
    fn opens_layer(&self, node: Node) -> bool {
        let pops_up = self.attribute(node, "aria-haspopup").is_some_and(|kind| kind != "false");
        let library = ["data-toggle", "data-bs-toggle"].into_iter().filter_map(|name| self.attribute(node, name));
        let is_field = matches!(self.snapshot.name(self.document, node).as_ref(), "input" | "textarea" | "select")
            || self.attribute(node, "role") == Some("combobox");
        pops_up || is_field || library.into_iter().any(|kind| LAYERS.contains(&kind))
    }

    /// Whether the control names the element that it opens, so that it opens no other.
    fn opens_another(&self, node: Node) -> bool {
        let names = start(self.attribute(node, "aria-controls").unwrap_or_default(), MAX_CLASS);
        names.split_whitespace().any(|name| self.ids.contains(name))
    }

    /// Whether a control opens the element with this `id`.
    pub(super) fn opens(&self, id: &str) -> bool {
        id.len() <= MAX_CLASS && self.targets.contains(id)
    }

    /// Whether the node is or contains a control with the state "closed".
    pub(super) fn is_closed_toggle(&self, node: Node) -> bool {
        self.any_in(node, |at| {
            self.attribute(at, "aria-expanded") == Some("false") && !self.opens_layer(at) && !self.opens_another(at)
        })
    }

    /// Whether the node is or contains a clickable element that leads nowhere else.
    pub(super) fn is_usable(&self, node: Node) -> bool {
        self.any_in(node, |at| {
            let is_button = match self.snapshot.name(self.document, at).as_ref() {
                "button" | "summary" => true,
                "label" => self.has_switch(at),
                "a" => self.attribute(at, "href").is_none_or(|to| to.starts_with('#') || to.starts_with("javascript:")),
                _ => false,
            };
            let is_made = self.attribute(at, "role") == Some("button")
                || ["tabindex", "onclick"].into_iter().any(|name| self.attribute(at, name).is_some());
            (is_button || is_made) && !self.opens_layer(at) && !self.opens_another(at)
        })
    }

    /// Whether a label belongs to a checkbox or radio button. The label of a text field only focuses it.
    fn has_switch(&self, label: Node) -> bool {
        let named = self.attribute(label, "for").filter(|id| id.len() <= MAX_CLASS);
        named.is_some_and(|id| self.switches.contains(id)) || self.any_in(label, |at| self.is_switch(at))
    }

    fn is_switch(&self, node: Node) -> bool {
        let kind = self.attribute(node, "type").unwrap_or_default();
        self.snapshot.name(self.document, node) == "input"
            && ["checkbox", "radio"].iter().any(|switch| kind.eq_ignore_ascii_case(switch))
    }

    fn any_in(&self, node: Node, is_it: impl Fn(Node) -> bool) -> bool {
        // Breadth is limited together with the count, so that a node with very many children costs no more.
        let (mut left, mut count) = (vec![node], 0);
        while let Some(at) = left.pop().filter(|_| count < MAX_NODES) {
            count += 1;
            if self.tree.kinds[at] == Kind::Element && is_it(at) {
                return true;
            }
            let room = MAX_NODES.saturating_sub(count + left.len());
            left.extend(self.tree.children[at].iter().take(room));
        }
        false
    }

    fn attribute(&self, node: Node, name: &str) -> Option<&'s str> {
        self.snapshot.attribute(self.document, node, name)
    }
}

/// Whether an element is an overlay or navigation, such as a dialog or a menu.
pub(super) fn is_layer(snapshot: &Snapshot, document: &Document, node: Node) -> bool {
    let attribute = |name: &str| snapshot.attribute(document, node, name);
    let name = snapshot.name(document, node);
    let classes = start(attribute("class").unwrap_or_default(), MAX_CLASS).to_ascii_lowercase();
    let mut words = classes.split(|c: char| !c.is_ascii_alphanumeric());
    matches!(name.as_ref(), "dialog" | "nav" | "menu")
        || attribute("role").is_some_and(|role| LAYER_ROLES.contains(&role))
        || ["popover", "aria-modal"].into_iter().any(|name| attribute(name).is_some())
        || words.any(|word| LAYER_CLASSES.contains(&word))
}

/// Whether an element is a validation message of a form.
pub(super) fn is_notice(snapshot: &Snapshot, document: &Document, node: Node) -> bool {
    let attribute = |name: &str| snapshot.attribute(document, node, name);
    let classes = start(attribute("class").unwrap_or_default(), MAX_CLASS);
    let mut words = classes.split(|c: char| !c.is_ascii_alphanumeric());
    attribute("role") == Some("alert")
        || words.any(|word| NOTICES.iter().any(|notice| word.eq_ignore_ascii_case(notice)))
}

/// Whether a label in lower case is that of a "show more" button.
pub(super) fn is_more(text: &str) -> bool {
    let text = text.trim_start_matches(|c: char| !c.is_alphabetic());
    MORE.iter()
        .any(|more| text.strip_prefix(more).is_some_and(|rest| rest.chars().next().is_none_or(|c| !c.is_alphabetic())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buttons_behind_which_the_text_goes_on() {
        for text in ["show more", "read more…", "more", "+ show all 12 reviews", "weiterlesen", "続きを読む"] {
            assert!(is_more(text), "{text}");
        }
        for text in ["moreover", "show password", "share", "", "buy"] {
            assert!(!is_more(text), "{text}");
        }
    }
}
