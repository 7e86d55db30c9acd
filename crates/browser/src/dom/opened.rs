//! Hidden content that a control on the page opens: accordions, tab panels, `details`, text behind "show more". Menus,
//! dialogs and parts without a control are not included.

use std::collections::HashMap;

use super::controls::{Controls, MAX_CLASS, is_layer, is_more, is_notice};
use super::snapshot::{Document, Kind, Node, Snapshot, start};
use super::tree::Tree;

/// Number of nested only children of a hidden element whose ids are matched with controls.
const WITHIN: usize = 4;
/// Number of ancestors of a hidden element whose ids are matched with controls.
const AROUND: usize = 2;
/// Maximum number of siblings, ancestors or descendants that are examined.
const NEAR: usize = 64;
/// Maximum number of nodes in a hidden part that are searched for a form.
const MAX_NODES: usize = 2000;
/// Maximum length of a style that is examined, in bytes.
const MAX_STYLE: usize = 2000;
/// Minimum number of letters of hidden content without a named control.
const MIN_LETTERS: usize = 12;
/// Maximum number of letters of a button.
const MAX_BUTTON: usize = 40;
/// Share of letters in links above which a part is a menu.
const LINKS: f64 = 0.6;
/// Words in class names of content that expands in place.
const COLLAPSIBLE: &[&str] = &[
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
    "spoiler",
    "tab",
    "tabbed",
    "tabcontent",
    "tabpanel",
    "tabs",
];

/// Kind of an element: the numbers of its name and its class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Make {
    name: i32,
    class: i32,
}

/// Kinds of a hidden element and of the control before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Pair {
    hidden: Make,
    control: Make,
}

/// Hidden parts of a document that a control opens.
pub(super) struct Opened<'s> {
    snapshot: &'s Snapshot,
    document: &'s Document,
    tree: &'s Tree,
    controls: Controls<'s>,
    /// By node: index among the children of its parent.
    places: Vec<usize>,
    /// By node: number of letters in it.
    letters: Vec<usize>,
    /// By node: number of letters that are in links.
    linked: Vec<usize>,
    /// Number of occurrences of each pair of a control and a hidden element.
    pairs: HashMap<Pair, usize>,
    /// By node: whether its class says that it expands in place.
    collapsible: Vec<bool>,
}

impl<'s> Opened<'s> {
    pub(super) fn of(snapshot: &'s Snapshot, document: &'s Document, tree: &'s Tree) -> Self {
        let count = tree.kinds.len();
        let mut opened = Self {
            snapshot,
            document,
            tree,
            controls: Controls::of(snapshot, document, tree),
            places: vec![0; count],
            letters: vec![0; count],
            linked: vec![0; count],
            pairs: HashMap::new(),
            collapsible: Vec::new(),
        };
        for (place, &child) in tree.children.iter().flat_map(|children| children.iter().enumerate()) {
            opened.places[child] = place;
        }
        opened.collapsible = (0..count).map(|node| opened.has_collapsible_class(node)).collect();
        opened.count_letters();
        opened.count_pairs();
        opened
    }

    fn count_letters(&mut self) {
        // Cached by the number of the text: many nodes can share one long text.
        let mut known = HashMap::new();
        // Parents precede their children, so that the reverse order sums bottom-up.
        for node in (0..self.tree.kinds.len()).rev() {
            if self.tree.kinds[node] == Kind::Text && self.tree.seen.has_content[node] {
                let text = self.snapshot.value(self.document, node);
                let count = || text.chars().filter(|c| c.is_alphanumeric()).count();
                let number = self.snapshot.value_number(self.document, node);
                self.letters[node] = *known.entry(number).or_insert_with(count);
            }
            if self.tree.kinds[node] == Kind::Element && self.name(node) == "a" {
                self.linked[node] = self.letters[node];
            }
            if let Some(parent) = self.document.parent(node) {
                self.letters[parent] += self.letters[node];
                self.linked[parent] += self.linked[node];
            }
        }
    }

    fn count_pairs(&mut self) {
        let hidden = (0..self.tree.kinds.len()).filter(|&node| self.is_outermost(node));
        let pairs: Vec<_> = hidden.filter_map(|node| self.pair(node)).collect();
        for pair in pairs {
            *self.pairs.entry(pair).or_default() += 1;
        }
    }

    fn is_outermost(&self, node: Node) -> bool {
        let is_in_hidden = self.document.parent(node).is_some_and(|parent| self.tree.seen.hides(parent));
        self.tree.kinds[node] == Kind::Element && self.tree.seen.hides(node) && !is_in_hidden
    }

    /// Whether a control opens this hidden node.
    pub(super) fn is_opened(&self, node: Node) -> bool {
        if self.is_in_closed_details(node) && (!self.is_shut(node) || self.is_all_of_details(node)) {
            return true;
        }
        if self.tree.kinds[node] != Kind::Element || self.is_shut_component(node) || self.is_in_menu(node) {
            return false;
        }
        // Validation messages are shown by the form, not by a control.
        if is_notice(self.snapshot, self.document, node) {
            return false;
        }
        if self.is_named(node) {
            return !is_layer(self.snapshot, self.document, node);
        }
        let is_text = self.letters[node] >= MIN_LETTERS && !self.is_menu(node) && !self.has_form(node);
        is_text && !is_layer(self.snapshot, self.document, node) && self.stands_behind_control(node)
    }

    /// Whether its own attributes keep the node hidden when its parent is opened.
    pub(super) fn is_shut(&self, node: Node) -> bool {
        let style = start(self.attribute(node, "style").unwrap_or_default(), MAX_STYLE).replace(' ', "");
        self.tree.kinds[node] == Kind::Element
            && (self.attribute(node, "hidden").is_some()
                || style.contains("display:none")
                || is_layer(self.snapshot, self.document, node))
    }

    /// Whether the markup names a control that opens the node.
    fn is_named(&self, node: Node) -> bool {
        let inner = std::iter::successors(Some(node), |&at| self.only_child(at)).take(WITHIN);
        let outer = std::iter::successors(self.document.parent(node), |&at| self.document.parent(at)).take(AROUND);
        if inner.clone().any(|at| self.is_panel(at)) {
            return true;
        }
        let is_target = inner.chain(outer).any(|at| self.attribute(at, "id").is_some_and(|id| self.controls.opens(id)));
        is_target && !self.is_menu(node)
    }

    /// Whether the node is a tab panel, or opens when a search in the page finds it.
    fn is_panel(&self, node: Node) -> bool {
        let is_found = self.attribute(node, "hidden").is_some_and(|how| how.eq_ignore_ascii_case("until-found"));
        is_found || self.attribute(node, "role") == Some("tabpanel")
    }

    /// Whether the node is a custom element with `aria-hidden`, which stays hidden.
    fn is_shut_component(&self, node: Node) -> bool {
        self.name(node).contains('-') && self.attribute(node, "aria-hidden") == Some("true")
    }

    /// Whether a control next to the node seems to open it (heuristics).
    fn stands_behind_control(&self, node: Node) -> bool {
        let before = self.before(node);
        let is_collapsible =
            || [Some(node), self.document.parent(node)].into_iter().flatten().any(|at| self.collapsible[at]);
        let is_one_of_several =
            || self.pair(node).is_some_and(|pair| self.pairs.get(&pair).is_some_and(|count| *count > 1));
        before.is_some_and(|control| self.controls.is_closed_toggle(control) || is_collapsible())
            || self.follows_switch(node)
            || is_one_of_several()
            || self.has_more_button(node)
    }

    fn is_in_closed_details(&self, node: Node) -> bool {
        let mut above = self.document.parent(node);
        // Skips the slots of the `details` shadow tree.
        while let Some(at) = above.filter(|&at| self.tree.kinds[at] == Kind::Other || self.name(at) == "slot") {
            above = self.document.parent(at);
        }
        above.is_some_and(|at| self.name(at) == "details" && self.attribute(at, "open").is_none())
    }

    /// Whether the node is the only content of its `details` besides the summary. Scripts that open both hide it by a
    /// style of its own.
    fn is_all_of_details(&self, node: Node) -> bool {
        let says_more = |&at: &Node| at != node && self.letters[at] > 0 && self.name(at) != "summary";
        self.tree.kinds[node] == Kind::Element
            && self.name(node) != "summary"
            && !is_layer(self.snapshot, self.document, node)
            && !self.siblings(node).iter().take(NEAR).any(says_more)
    }

    fn is_in_menu(&self, node: Node) -> bool {
        let mut above = std::iter::successors(self.document.parent(node), |&at| self.document.parent(at)).take(NEAR);
        above.any(|at| {
            let role = self.attribute(at, "role").unwrap_or_default();
            self.name(at) == "nav" || matches!(role, "navigation" | "menu" | "menubar" | "listbox" | "search")
        })
    }

    fn is_menu(&self, node: Node) -> bool {
        self.linked[node] as f64 > self.letters[node] as f64 * LINKS
    }

    fn has_form(&self, node: Node) -> bool {
        let (mut left, mut count) = (vec![node], 0);
        while let Some(at) = left.pop().filter(|_| count < MAX_NODES) {
            count += 1;
            if matches!(self.name(at).as_ref(), "form" | "textarea" | "select") {
                return true;
            }
            let room = MAX_NODES.saturating_sub(count + left.len());
            left.extend(self.tree.children[at].iter().take(room));
        }
        false
    }

    /// Returns the kinds of a hidden element and of the usable control before it. A summary only opens its `details`,
    /// not what is hidden inside.
    fn pair(&self, node: Node) -> Option<Pair> {
        let control = self.before(node)?;
        let is_control = self.name(control) != "summary" && self.controls.is_usable(control);
        is_control.then(|| Pair { hidden: self.make(node), control: self.make(control) })
    }

    fn make(&self, node: Node) -> Make {
        Make {
            name: self.snapshot.name_number(self.document, node),
            class: self.snapshot.attribute_number(self.document, node, "class"),
        }
    }

    /// Returns the nearest visible element before the node.
    fn before(&self, node: Node) -> Option<Node> {
        self.earlier(node).find(|&at| self.is_seen_element(at))
    }

    /// Returns the siblings before the node, nearest first.
    fn earlier(&self, node: Node) -> impl Iterator<Item = Node> {
        self.siblings(node)[..self.places[node]].iter().rev().take(NEAR).copied()
    }

    /// Whether a "show more" button stands next to the node. A button after another hidden part belongs to that part.
    fn has_more_button(&self, node: Node) -> bool {
        let is_free = |button: &Node| {
            let before = self.earlier(*button).find(|&at| self.tree.kinds[at] == Kind::Element);
            before.is_none_or(|at| !self.tree.seen.hides(at))
        };
        let before = self.before(node).filter(is_free);
        let after = [Some(node), self.document.parent(node)].into_iter().flatten().flat_map(|at| {
            let later = self.siblings(at).iter().skip(self.places[at] + 1).take(NEAR).copied();
            later.filter(|&sibling| self.is_seen_element(sibling)).take(2)
        });
        before
            .into_iter()
            .chain(after)
            .any(|near| self.letters[near] <= MAX_BUTTON && self.controls.is_usable(near) && is_more(&self.text(near)))
    }

    /// Whether a radio button or checkbox before the node shows it by CSS alone. One before the whole page opens its
    /// menu.
    fn follows_switch(&self, node: Node) -> bool {
        let parent = self.document.parent(node);
        let around = parent.filter(|&at| self.collapsible[at]);
        let is_in_body = parent.is_none_or(|at| self.name(at) == "body");
        let places = [Some(node).filter(|_| !is_in_body), around];
        places.into_iter().flatten().any(|at| self.earlier(at).any(|sibling| self.is_switch(sibling)))
    }

    fn is_switch(&self, node: Node) -> bool {
        self.tree.kinds[node] == Kind::Element
            && self.name(node) == "input"
            && matches!(self.attribute(node, "type"), Some("checkbox" | "radio"))
    }

    fn has_collapsible_class(&self, node: Node) -> bool {
        let class = start(self.attribute(node, "class").unwrap_or_default(), MAX_CLASS);
        let mut words = class.split(|c: char| !c.is_ascii_alphanumeric());
        words.any(|word| COLLAPSIBLE.iter().any(|name| word.eq_ignore_ascii_case(name)))
    }

    fn siblings(&self, node: Node) -> &[Node] {
        self.document.parent(node).map_or(&[], |parent| &self.tree.children[parent])
    }

    fn only_child(&self, node: Node) -> Option<Node> {
        let mut with_content = self.tree.children[node].iter().copied().filter(|&child| self.letters[child] > 0);
        let child = with_content.next()?;
        (with_content.next().is_none() && self.tree.kinds[child] == Kind::Element).then_some(child)
    }

    fn is_seen_element(&self, node: Node) -> bool {
        self.tree.kinds[node] == Kind::Element && self.tree.seen.shows[node]
    }

    fn text(&self, node: Node) -> String {
        let (mut text, mut left, mut count) = (String::new(), vec![node], 0);
        while let Some(at) = left.pop().filter(|_| count < NEAR) {
            count += 1;
            if self.tree.kinds[at] == Kind::Text {
                text.push_str(start(self.snapshot.value(self.document, at), MAX_CLASS));
                text.push(' ');
            }
            let room = NEAR.saturating_sub(count + left.len());
            left.extend(self.tree.children[at].iter().take(room).rev());
        }
        text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
    }

    fn name(&self, node: Node) -> std::borrow::Cow<'s, str> {
        self.snapshot.name(self.document, node)
    }

    fn attribute(&self, node: Node, name: &str) -> Option<&'s str> {
        self.snapshot.attribute(self.document, node, name)
    }
}
